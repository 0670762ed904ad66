//! What is refused, and that nothing happens then.

use handhold_core::types::{Condition, ErrorCode};

use super::*;

const OVER: Result<(), ErrorCode> = Err(ErrorCode::QuotaExceeded);

#[tokio::test]
async fn bytes_are_limited_exactly() {
    let quota = in_memory(bytes(10));
    assert_eq!(write(&quota, "/a", 11).await, OVER);
    assert_eq!(write(&quota, "/a", 6).await, Ok(()));
    assert_eq!(write(&quota, "/b", 5).await, OVER);
    assert_eq!(write(&quota, "/b", 4).await, Ok(()));
    assert_eq!(append(&quota, "/b", 1).await, OVER);
    assert_eq!(append(&quota, "/c", 1).await, OVER);
    assert_eq!(write(&quota, "/c", 0).await, Ok(()), "it takes no bytes");
    assert_eq!(checked(&quota).await, taken(10, 3));
}

#[tokio::test]
async fn only_the_difference_of_an_overwrite_counts() {
    let quota = in_memory(bytes(10));
    write(&quota, "/a", 8).await.expect("room");
    assert_eq!(write(&quota, "/a", 10).await, Ok(()));
    assert_eq!(write(&quota, "/a", 11).await, OVER);
    assert_eq!(write(&quota, "/a", 10).await, Ok(()));
    assert_eq!(write(&quota, "/a", 3).await, Ok(()));
    assert_eq!(append(&quota, "/a", 7).await, Ok(()));
    assert_eq!(append(&quota, "/a", 1).await, OVER);
    assert_eq!(checked(&quota).await, taken(10, 1));
}

#[tokio::test]
async fn files_and_directories_are_limited_exactly() {
    let quota = in_memory(files(4));
    assert_eq!(write(&quota, "/a/b/c/d/e", 1).await, OVER);
    assert_eq!(write(&quota, "/a/b/c/d", 1).await, Ok(()));
    assert_eq!(write(&quota, "/a/b/c/e", 1).await, OVER);
    assert_eq!(write(&quota, "/a/b/c/d", 9).await, Ok(()), "nothing new is made");
    assert_eq!(append(&quota, "/e", 1).await, OVER);
    assert_eq!(checked(&quota).await, taken(9, 4));
    quota.remove("/a/b/c", true).await.expect("removed");
    assert_eq!(checked(&quota).await, taken(0, 2));
    assert_eq!(write(&quota, "/x/y", 1).await, Ok(()));
    assert_eq!(checked(&quota).await, taken(1, 4));
}

#[tokio::test]
async fn one_file_is_limited() {
    let quota = in_memory(QuotaLimits { file_bytes: Some(5), ..NONE });
    assert_eq!(write(&quota, "/a", 6).await, OVER);
    assert_eq!(write(&quota, "/a", 5).await, Ok(()));
    assert_eq!(append(&quota, "/a", 1).await, OVER);
    assert_eq!(write(&quota, "/b", 5).await, Ok(()));
    assert_eq!(checked(&quota).await, taken(10, 2));
}

#[tokio::test]
async fn what_is_over_a_limit_may_shrink() {
    let limits = QuotaLimits { bytes: Some(5), files: Some(1), file_bytes: Some(3) };
    let loose = in_memory(NONE);
    write(&loose, "/d/a", 20).await.expect("no limit");
    write(&loose, "/d/b", 20).await.expect("no limit");
    let quota = Quota { limits, ..loose };
    assert_eq!(write(&quota, "/d/a", 20).await, Ok(()), "it does not grow");
    assert_eq!(write(&quota, "/d/a", 19).await, Ok(()));
    assert_eq!(write(&quota, "/d/a", 20).await, OVER);
    assert_eq!(append(&quota, "/d/a", 0).await, Ok(()));
    assert_eq!(append(&quota, "/d/a", 1).await, OVER);
    assert_eq!(quota.rename("/d/a", "/d/c", false).await, Ok(()));
    assert_eq!(quota.rename("/d/c", "/e/c", false).await, OVER);
    assert_eq!(quota.rename("/d/c", "/d/b", true).await, Ok(()));
    assert_eq!(checked(&quota).await, taken(19, 2));
    assert!(quota.remove("/d", true).await.is_ok());
    assert_eq!(checked(&quota).await, taken(0, 0));
}

#[tokio::test]
async fn parents_of_a_move_count() {
    let quota = in_memory(files(3));
    write(&quota, "/a", 1).await.expect("room");
    assert_eq!(quota.rename("/a", "/x/y/z/a", false).await, OVER);
    assert_eq!(quota.rename("/none", "/x/y/z/a", false).await, Err(ErrorCode::NotFound));
    assert_eq!(quota.rename("/a", "/x/y/a", false).await, Ok(()));
    assert_eq!(checked(&quota).await, taken(1, 3));
    assert_eq!(quota.rename("/x/y/a", "/z/a", false).await, OVER);
    assert_eq!(quota.rename("/x/y/a", "/a", false).await, Ok(()));
    assert_eq!(checked(&quota).await, taken(1, 3));
}

#[tokio::test]
async fn what_is_refused_leaves_nothing() {
    let quota = in_memory(QuotaLimits { bytes: Some(9), files: Some(3), file_bytes: Some(9) });
    write(&quota, "/a", 5).await.expect("room");
    let before = checked(&quota).await;
    for path in ["/d/e/f", "/b"] {
        assert_eq!(write(&quota, path, 10).await, OVER);
        assert_eq!(append(&quota, path, 5).await, OVER);
    }
    assert_eq!(write(&quota, "/d/e/f", 0).await, OVER);
    assert_eq!(quota.rename("/a", "/d/e/f/a", false).await, OVER);
    assert_eq!(checked(&quota).await, before);
    assert_eq!(quota.ls_info("/", 0, 9).await.expect("a page").total, 1);
}

#[tokio::test]
async fn a_dry_run_is_checked_and_charges_nothing() {
    let quota = in_memory(QuotaLimits { bytes: Some(10), files: Some(3), file_bytes: Some(8) });
    let dry = |path, size| WriteRequest { dry_run: true, ..request(path, size) };
    for over in [dry("/a", 11), dry("/a", 9), dry("/a/b/c/d", 1)] {
        assert_eq!(quota.write(over.clone()).await.map(drop), OVER, "{}", over.path);
        assert_eq!(quota.append(over).await.map(drop), OVER);
    }
    let written = quota.write(dry("/a/b/c", 8)).await.expect("room");
    assert_eq!((written.size, written.previous_size), (8, None));
    assert_eq!(checked(&quota).await, taken(0, 0));
    write(&quota, "/a/b", 6).await.expect("room");
    let written = quota.append(dry("/a/b", 2)).await.expect("room");
    assert_eq!((written.size, written.previous_size), (8, Some(6)));
    assert_eq!(quota.append(dry("/a/b", 3)).await.map(drop), OVER);
    assert_eq!(checked(&quota).await, taken(6, 2));
}

#[tokio::test]
async fn other_errors_come_first() {
    let quota = in_memory(bytes(4));
    write(&quota, "/d/a", 4).await.expect("room");
    let with = |path, condition| WriteRequest { condition, ..request(path, 9) };
    let stale = || Condition::Matches("stale".to_owned());
    for (request, wanted) in [
        (with("/d/a", Condition::Absent), ErrorCode::AlreadyExists),
        (with("/d/a", stale()), ErrorCode::Conflict),
        (with("/d", Condition::Always), ErrorCode::IsDirectory),
        (with("/d/a/b/c", Condition::Always), ErrorCode::NotADirectory),
        (with("/", Condition::Always), ErrorCode::IsDirectory),
    ] {
        assert_eq!(quota.write(request.clone()).await.map(drop), Err(wanted.clone()));
        assert_eq!(quota.append(request.clone()).await.map(drop), Err(wanted.clone()));
        let dry = WriteRequest { dry_run: true, ..request };
        assert_eq!(quota.write(dry).await.map(drop), Err(wanted));
    }
    assert!(matches!(write(&quota, "/../a", 9).await, Err(ErrorCode::InvalidPath(_))));
    assert_eq!(checked(&quota).await, taken(4, 2));
}
