use super::*;
#[cfg(target_os = "linux")]
use crate::backends::AgentFiles;
use crate::backends::Memory;

fn write(path: &str, content: &str, condition: Condition) -> WriteRequest {
    let (path, content) = (path.to_owned(), content.as_bytes().to_vec());
    WriteRequest { path, content, condition, dry_run: false }
}

async fn read(backend: &Fresh, path: &str) {
    let request = ReadRequest {
        path: path.to_owned(),
        offset: 1,
        limit: 10,
        column: 1,
        line_chars: 100,
        max_bytes: 1000,
        if_version: None,
    };
    backend.read(request).await.expect("the file is there");
}

fn two() -> (Fresh, Fresh) {
    let memory = Arc::new(Memory::new());
    let session = || Fresh::new(memory.clone(), Arc::default());
    (session(), session())
}

#[tokio::test]
async fn what_another_session_changed_is_not_overwritten_before_it_is_read() {
    let (a, b) = two();
    b.write(write("/x", "1", Condition::Always)).await.expect("a new file");
    read(&a, "/x").await;
    a.write(write("/x", "2", Condition::Always)).await.expect("nothing has changed");
    a.write(write("/x", "3", Condition::Always)).await.expect("only this session wrote");
    read(&b, "/x").await;
    b.write(write("/x", "4", Condition::Always)).await.expect("it was read");
    for _ in 0..2 {
        let stale = a.write(write("/x", "5", Condition::Always)).await;
        assert_eq!(stale, Err(ErrorCode::Conflict));
    }
    // An edit names the version that it found, which is not the one that was read.
    let now = a.read_bytes("/x", 0, 1).await.expect("the file is there");
    assert_eq!(now.data, b"4");
    let edit = a.write(write("/x", "5", Condition::Matches(now.version))).await;
    assert_eq!(edit, Err(ErrorCode::Conflict));
    read(&a, "/x").await;
    a.write(write("/x", "6", Condition::Always)).await.expect("it was read again");
}

#[tokio::test]
async fn what_was_never_read_or_is_gone_may_be_written() {
    let (a, b) = two();
    b.write(write("/x", "1", Condition::Always)).await.expect("a new file");
    a.write(write("/x", "2", Condition::Always)).await.expect("it was never read");
    read(&a, "/x").await;
    b.remove("/x", false).await.expect("it is there");
    a.write(write("/x", "3", Condition::Always)).await.expect("it is gone");
    b.rename("/x", "/y", false).await.expect("it is there");
    b.write(write("/x", "4", Condition::Always)).await.expect("a new file");
    let stale = a.write(write("/x", "5", Condition::Always)).await;
    assert_eq!(stale, Err(ErrorCode::Conflict));
}

#[tokio::test]
async fn appending_does_not_hide_what_is_unread() {
    let (a, b) = two();
    a.append(write("/x", "1", Condition::Always)).await.expect("a new file");
    a.write(write("/x", "2", Condition::Always)).await.expect("only this session wrote");
    b.append(write("/x", "3", Condition::Always)).await.expect("it may be appended to");
    a.append(write("/x", "4", Condition::Always)).await.expect("it may be appended to");
    let stale = a.write(write("/x", "5", Condition::Always)).await;
    assert_eq!(stale, Err(ErrorCode::Conflict));
}

#[tokio::test]
async fn what_is_appended_to_nothing_is_known() {
    let (a, b) = two();
    a.write(write("/x", "1", Condition::Always)).await.expect("a new file");
    b.remove("/x", false).await.expect("it is there");
    a.append(write("/x", "2", Condition::Always)).await.expect("it is gone");
    a.write(write("/x", "3", Condition::Always)).await.expect("only this session wrote");
    // A condition of the caller's own stays what it is.
    let absent = a.append(write("/x", "4", Condition::Absent)).await;
    assert_eq!(absent, Err(ErrorCode::AlreadyExists));
    let other = a.append(write("/x", "4", Condition::Matches("other".to_owned()))).await;
    assert_eq!(other, Err(ErrorCode::Conflict));
}

#[tokio::test]
async fn the_same_content_again_is_a_change_until_it_is_read() {
    let (a, b) = two();
    a.write(write("/x", "1", Condition::Always)).await.expect("a new file");
    b.write(write("/x", "1", Condition::Always)).await.expect("it was never read");
    let stale = a.write(write("/x", "2", Condition::Always)).await;
    assert_eq!(stale, Err(ErrorCode::Conflict));
    // Other files are none of its business.
    a.write(write("/y", "1", Condition::Always)).await.expect("a new file");
    read(&a, "/x").await;
    a.write(write("/x", "2", Condition::Always)).await.expect("it was read again");
}

#[tokio::test]
async fn a_move_does_not_replace_what_has_changed() {
    let (a, b) = two();
    a.write(write("/x", "1", Condition::Always)).await.expect("a new file");
    a.write(write("/new", "2", Condition::Always)).await.expect("a new file");
    b.append(write("/x", "3", Condition::Always)).await.expect("it may be appended to");
    assert_eq!(a.rename("/new", "/x", true).await, Err(ErrorCode::Conflict));
    assert_eq!(a.rename("/new", "/x", false).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(a.read_bytes("/x", 0, 9).await.expect("it is there").data, b"13");
    read(&a, "/x").await;
    a.rename("/new", "/x", true).await.expect("it was read again");
    // What is gone is not replaced, and what was never read may be.
    read(&a, "/x").await;
    b.remove("/x", false).await.expect("it is there");
    a.write(write("/new", "4", Condition::Always)).await.expect("a new file");
    a.rename("/new", "/x", true).await.expect("it is gone");
    b.write(write("/new", "5", Condition::Always)).await.expect("a new file");
    b.rename("/new", "/x", true).await.expect("it was never read");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_links_it_is_fresh_too() {
    let root = tempfile::tempdir().expect("made");
    let thread = AgentFiles::at_ambient_path(root.path()).thread(None, "t").expect("a good id");
    let fresh = Fresh::new(Arc::new(thread.clone()), Arc::default());
    fresh.write(write("/d/x", "1", Condition::Always)).await.expect("a new file");
    std::os::unix::fs::symlink("d", root.path().join("t/l")).expect("made");
    thread.write(write("/d/x", "2", Condition::Always)).await.expect("written");
    let strict = fresh.without_links().expect("it has links");
    let stale = strict.write(write("/d/x", "3", Condition::Always)).await;
    assert_eq!(stale, Err(ErrorCode::Conflict));
    let by_link = strict.write(write("/l/x", "3", Condition::Always)).await;
    assert_eq!(by_link, Err(ErrorCode::NotFound));
    let by_link = fresh.write(write("/l/x", "3", Condition::Always)).await;
    assert_eq!(by_link, Err(ErrorCode::Conflict));
}
