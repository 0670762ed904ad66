//! Mounts of real directories.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode};

use super::site::site;
use super::*;
use crate::backends::{AgentFiles, ReadOnly, ThreadDir};

#[tokio::test]
async fn only_files_go_over_a_border() {
    let site = site();
    let all = &site.all;
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(CWD, site.base.join("fifo"), FileType::Fifo, mode, 0).expect("a FIFO");
    symlink("x", site.mount.join("there")).expect("a link");
    for source in ["/to-d", "/to-dangling", "/to-hidden", "/out", "/fifo"] {
        assert_eq!(
            all.rename(source, "/m/new", true).await,
            Err(ErrorCode::Unsupported),
            "{source}"
        );
    }
    assert_eq!(all.rename("/a", "/m/there", false).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(all.rename("/a", "/m/there", true).await, Err(ErrorCode::Unsupported));
    assert_eq!(fs::read_to_string(site.mount.join("x")).expect("a file"), "mount x");
    all.rename("/a", "/m/x", true).await.expect("it is moved");
    assert_eq!(fs::read_to_string(site.mount.join("x")).expect("a file"), "base a");
    assert!(!site.base.join("a").exists());
    all.rename("/m/s/y", "/d/y", false).await.expect("it is moved");
    assert_eq!(fs::read_to_string(site.base.join("d/y")).expect("a file"), "mount y");
    assert!(!site.mount.join("s/y").exists());
}

#[tokio::test]
async fn a_file_that_its_owner_may_not_write_can_be_moved_to_a_free_place() {
    use std::os::unix::fs::PermissionsExt;
    let site = site();
    let file = site.base.join("a");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("a mode");
    assert_eq!(site.all.rename("/a", "/m/x", true).await, Err(ErrorCode::NotPermitted));
    assert_eq!(fs::read_to_string(site.mount.join("x")).expect("a file"), "mount x");
    site.all.rename("/a", "/m/a", true).await.expect("it is moved");
    assert!(!file.exists());
}

#[tokio::test]
async fn names_that_are_not_utf_8_are_counted() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let site = site();
    fs::write(site.base.join(OsStr::from_bytes(b"zz\xff")), "").expect("a file");
    let page = site.all.ls_info("/", 0, 1000).await.expect("a page");
    assert_eq!((page.undecodable, page.total), (1, 12));
    assert_eq!(page.entries[11].path, "/zz\u{fffd}");
    let page = site.all.ls_info("/", 10, 5).await.expect("a page");
    let paths: Vec<&str> = page.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["/way", "/zz\u{fffd}"]);
}

#[tokio::test]
async fn a_shared_directory_that_does_not_exist_is_empty_and_reading_makes_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let shared = ThreadDir::at_ambient_path(dir.path().join("no/Shared")).expect("a name");
    let threads = AgentFiles::at_ambient_path(dir.path().join("threads"));
    let base = Arc::new(threads.thread(None, "t").expect("an id"));
    let all = mounts(&base, &[("/s", Arc::new(ReadOnly::new(Arc::new(shared))))]);
    assert_eq!(ls(&all, "/").await.expect("a page"), ["/s/"]);
    assert_eq!(ls(&all, "/s").await.expect("a page"), [""; 0]);
    assert_eq!(found(&all, "/", "**").await, [""; 0]);
    assert_eq!(matched(&all, "/s", "x").await, [""; 0]);
    assert_eq!(put(&all, "/s/x", "").await.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0);
    put(&all, "/x", "").await.expect("a write");
    assert!(!dir.path().join("no").exists());
}

/// What is skipped for good must not look like what is empty.
#[tokio::test]
async fn a_shared_directory_that_is_none_is_unreadable() {
    let dir = tempfile::tempdir().expect("a directory");
    let place = |name: &str| dir.path().join(name);
    fs::create_dir(place("real")).expect("a directory");
    fs::write(place("real/x"), "hit").expect("a file");
    fs::write(place("file"), "hit").expect("a file");
    symlink("real", place("link")).expect("a link");
    let base = memory(&[("/a", "hit")]).await;
    for name in ["file", "link"] {
        let shared = ThreadDir::at_ambient_path(place(name)).expect("a name");
        let all = mounts(&base, &[("/m", Arc::new(shared))]);
        let page = glob(&all, glob_request("/", "**")).await.expect("a page");
        assert_eq!((page.files, page.report.unreadable), (vec!["/a".into()], vec!["/m/".into()]));
        let page = grep(&all, grep_request("/", "hit")).await.expect("a page");
        assert_eq!((page.files.len(), page.report.unreadable), (1, vec!["/m/".into()]), "{name}");
        assert_eq!(glob(&all, glob_request("/m", "*")).await, Err(ErrorCode::NotADirectory));
        assert_eq!(ls(&all, "/m").await, Err(ErrorCode::NotADirectory), "{name}");
    }
}
