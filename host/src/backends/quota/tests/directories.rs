//! Over directories: links and special files, records that are lost, and threads nobody uses.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode};

use super::site::Site;
use super::*;
use crate::backends::{AgentFiles, DeleteError, Turn};

#[tokio::test]
async fn of_a_thread_that_nobody_uses_nothing_is_made() {
    let site = Site::new();
    let quota = site.quota(QuotaLimits { bytes: Some(5), files: Some(2), file_bytes: None });
    assert_eq!(quota.usage().await, Ok(taken(0, 0)));
    assert_eq!(quota.recount().await, Ok(taken(0, 0)));
    let dry = WriteRequest { dry_run: true, ..request("/a", 5) };
    assert!(quota.write(dry).await.is_ok());
    assert_eq!(write(&quota, "/a", 6).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(append(&quota, "/a/b/c", 1).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(quota.remove("/a", true).await, Err(ErrorCode::NotFound));
    assert_eq!(quota.remove("/", true).await, Err(ErrorCode::NotPermitted));
    assert_eq!(quota.rename("/a", "/b/c", false).await, Err(ErrorCode::NotFound));
    assert!(!site.root().exists());
    write(&quota, "/a", 5).await.expect("room");
    assert!(site.record().exists());
    assert_eq!(site.checked(&quota).await, taken(5, 1));
}

#[tokio::test]
async fn what_was_there_before_counts() {
    let site = Site::new();
    fs::create_dir_all(site.inside("d/e")).expect("made");
    fs::write(site.inside("d/f"), "12345").expect("made");
    fs::hard_link(site.inside("d/f"), site.inside("d/g")).expect("made");
    symlink("d/f", site.inside("link")).expect("made");
    symlink("/", site.inside("out")).expect("made");
    rustix::fs::mknodat(CWD, site.inside("fifo"), FileType::Fifo, Mode::RWXU, 0).expect("made");
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    fs::create_dir(site.inside("").join(name)).expect("made");
    fs::write(site.inside("").join(name).join("inner"), "123").expect("made");
    let quota = site.quota(bytes(14));
    assert_eq!(site.checked(&quota).await, taken(13, 9));
    assert_eq!(write(&quota, "/a", 2).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(write(&quota, "/a", 1).await, Ok(()));
    for path in ["/fifo", "/link", "/out", "/d", "/a"] {
        quota.remove(path, true).await.expect("removed");
        site.checked(&quota).await;
    }
}

#[tokio::test]
async fn links_are_charged_for_what_they_are() {
    let site = Site::new();
    fs::create_dir_all(site.inside("real/sub")).expect("made");
    symlink("real", site.inside("dir")).expect("made");
    symlink("real/file", site.inside("file")).expect("made");
    symlink("nowhere", site.inside("broken")).expect("made");
    symlink("../../out", site.inside("out")).expect("made");
    let quota = site.quota(files(100));
    write(&quota, "/dir/file", 7).await.expect("written");
    assert_eq!(site.checked(&quota).await, taken(7, 7));
    write(&quota, "/file", 9).await.expect("written");
    append(&quota, "/dir/x/y/z", 1).await.expect("written");
    assert_eq!(site.checked(&quota).await, taken(10, 10));
    for path in ["/broken", "/broken/x", "/out", "/out/x/y"] {
        write(&quota, path, 1).await.expect_err(path);
        site.checked(&quota).await;
    }
    // Links are replaced and moved as themselves.
    for link in ["/broken", "/out", "/dir", "/file"] {
        write(&quota, "/new", 3).await.expect("written");
        quota.rename("/new", link, true).await.expect(link);
        site.checked(&quota).await;
    }
    symlink("real/sub", site.inside("last")).expect("made");
    quota.recount().await.expect("counted");
    quota.rename("/last", "/file", true).await.expect("moved");
    site.checked(&quota).await;
    quota.rename("/real", "/p/q/real", false).await.expect("moved");
    site.checked(&quota).await;
    assert!(quota.rename("/p", "/file", true).await.is_err());
    assert!(quota.rename("/new", "/p", true).await.is_err());
    site.checked(&quota).await;
}

#[tokio::test]
async fn a_move_into_itself_by_way_of_a_link_makes_nothing() {
    let site = Site::new();
    fs::create_dir_all(site.inside("a/b")).expect("made");
    symlink("a/b", site.inside("link")).expect("made");
    let quota = site.quota(files(100));
    let before = site.checked(&quota).await;
    for to in ["/link/a", "/link/x/y"] {
        let moved = quota.rename("/a", to, false).await;
        assert!(matches!(moved, Err(ErrorCode::InvalidPath(_))), "{moved:?}");
        assert_eq!(site.checked(&quota).await, before);
    }
}

#[tokio::test]
async fn without_links_it_is_limited_too() {
    let site = Site::new();
    fs::create_dir_all(site.inside("real")).expect("made");
    symlink("real", site.inside("link")).expect("made");
    let quota = site.quota(bytes(10));
    let strict = quota.without_links().expect("there can be links");
    assert_eq!(strict.write(request("/link/a", 1)).await.map(drop), Err(ErrorCode::NotFound));
    let full = Err(ErrorCode::QuotaExceeded);
    assert_eq!(strict.write(request("/real/a", 11)).await.map(drop), full);
    assert_eq!(strict.write(request("/real/a", 10)).await.map(drop), Ok(()));
    assert_eq!(write(&quota, "/b", 1).await, full, "it is one ledger");
    assert_eq!(site.checked(&quota).await, taken(10, 3));
    assert!(in_memory(NONE).without_links().is_none());
}

#[tokio::test]
async fn two_names_of_one_file_become_one() {
    let site = Site::new();
    fs::create_dir_all(site.inside("")).expect("made");
    fs::write(site.inside("a"), "12345").expect("made");
    fs::hard_link(site.inside("a"), site.inside("b")).expect("made");
    let quota = site.quota(files(100));
    assert_eq!(site.checked(&quota).await, taken(10, 2));
    quota.rename("/a", "/b", true).await.expect("moved");
    assert_eq!(site.checked(&quota).await, taken(5, 1));
}

#[tokio::test]
async fn over_a_limit_no_parents_are_left() {
    let site = Site::new();
    let quota = site.quota(QuotaLimits { bytes: Some(4), files: Some(4), file_bytes: None });
    write(&quota, "/a", 4).await.expect("room");
    for over in [request("/d/e", 1), request("/d/e/f/g", 0)] {
        let path = over.path.clone();
        assert_eq!(quota.append(over.clone()).await.map(drop), Err(ErrorCode::QuotaExceeded));
        assert_eq!(quota.write(over).await.map(drop), Err(ErrorCode::QuotaExceeded), "{path}");
    }
    assert!(quota.rename("/a", "/d/e/f/g/h", false).await.is_err());
    assert_eq!(fs::read_dir(site.inside("")).expect("a directory").count(), 1);
    assert_eq!(site.checked(&quota).await, taken(4, 1));
}

#[tokio::test]
async fn a_record_that_makes_no_sense_is_counted_again() {
    let site = Site::new();
    let quota = site.quota(bytes(20));
    write(&quota, "/d/a", 10).await.expect("room");
    let whole = fs::read(site.record()).expect("a record");
    let mut busy = whole.clone();
    busy[4] = 1;
    let mut state = whole.clone();
    state[4] = 2;
    let mut other = whole.clone();
    other[8] = 3;
    for wrong in [&[][..], &whole[..12], &whole[..31], &busy, &state, &other, &[0xff; 64]] {
        fs::write(site.record(), wrong).expect("written");
        assert_eq!(write(&quota, "/b", 11).await, Err(ErrorCode::QuotaExceeded));
        assert_eq!(site.checked(&quota).await, taken(10, 2));
    }
    fs::remove_file(site.record()).expect("removed");
    assert_eq!(write(&quota, "/b", 11).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(write(&quota, "/b", 10).await, Ok(()));
    assert_eq!(site.checked(&quota).await, taken(20, 3));
    assert_eq!(fs::read(site.record()).expect("a record").len(), whole.len());
}

#[tokio::test]
async fn what_can_not_be_counted_can_still_be_removed() {
    let site = Site::new();
    let quota = site.quota(bytes(20));
    write(&quota, "/d/a", 10).await.expect("room");
    fs::write(site.record(), "lost").expect("written");
    quota.remove("/d", true).await.expect("removed");
    // It was not counted for that.
    assert!(fs::read(site.record()).expect("a record").starts_with(b"lost"));
    assert_eq!(site.checked(&quota).await, taken(0, 0));
}

#[tokio::test]
async fn a_thread_that_was_deleted_starts_from_nothing() {
    let site = Site::new();
    let quota = site.quota(bytes(10));
    write(&quota, "/d/a", 10).await.expect("room");
    let mut draft = quota.draft("/").await.expect("a draft");
    assert!(draft.push(vec![0]).await.is_err());
    let files = AgentFiles::at_ambient_path(site.root());
    files.delete(None, "thread").await.expect("deleted");
    assert!(!site.record().exists());
    assert_eq!(site.checked(&quota).await, taken(0, 0));
    write(&quota, "/a", 10).await.expect("room");
    assert_eq!(site.checked(&quota).await, taken(10, 1));
    let held = site.quota(NONE).ledger.begin(Turn::Change).await.expect("a turn");
    assert!(matches!(files.delete(None, "thread").await, Err(DeleteError::InUse)));
    drop(held);
    files.delete(None, "thread").await.expect("deleted");
}

#[tokio::test]
async fn threads_and_tenants_have_ledgers_of_their_own() {
    let site = Site::new();
    let all = AgentFiles::at_ambient_path(site.root());
    let long = "L".repeat(300);
    let ids = [(None, "a"), (Some("a"), "a"), (Some("b"), "a"), (None, "A"), (Some(&long), &long)];
    for (size, (tenant, thread)) in ids.iter().enumerate() {
        let thread = all.thread(*tenant, thread).expect("an id");
        let ledger = Arc::new(thread.ledger());
        let quota = Quota::new(Arc::new(thread), bytes(size as u64), ledger);
        write(&quota, "/f", size + 1).await.expect_err("no room");
        write(&quota, "/f", size).await.expect("room");
        assert_eq!(quota.usage().await, Ok(taken(size as u64, 1)));
    }
    let records = fs::read_dir(site.root().join(".handhold/usage")).expect("records");
    assert_eq!(records.count(), ids.len());
}

#[tokio::test]
async fn drafts_of_all_handles_are_seen_and_leave_no_trace() {
    let site = Site::new();
    let (one, other) = (site.quota(bytes(100)), site.quota(bytes(100)));
    let mut draft = one.draft("/d").await.expect("a draft");
    draft.push(vec![0; 60]).await.expect("room");
    assert_eq!(write(&other, "/a", 41).await, Err(ErrorCode::QuotaExceeded));
    let mut second = other.draft("/").await.expect("a draft");
    assert!(second.push(vec![0; 41]).await.is_err());
    second.push(vec![0; 40]).await.expect("room");
    drop(second);
    draft.publish("f", handhold_core::types::Condition::Always).await.expect("published");
    assert_eq!(write(&other, "/a", 40).await, Ok(()));
    assert_eq!(site.checked(&other).await, taken(100, 3));
    let names: Vec<_> = fs::read_dir(site.root().join(".handhold/usage"))
        .expect("records")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names, ["thread"]);
}
