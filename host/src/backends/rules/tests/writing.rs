//! What is written.

use super::*;

#[tokio::test]
async fn what_is_denied_is_not_permitted_whether_or_not_it_is_there() {
    let memory = memory(&["/s/a", "/r/a"]).await;
    let before = all(&memory).await;
    // Once where it may be read, and once where it may not.
    for operations in [WRITE, BOTH] {
        let rules = ruled(&memory, vec![deny(operations, "/s/**")]);
        for path in ["/s", "/s/a", "/s/none", "/s/a/b", "/s/d/none"] {
            for dry_run in [false, true] {
                for condition in [
                    Condition::Always,
                    Condition::Absent,
                    Condition::Matches("m1".to_owned()),
                    Condition::Matches("none".to_owned()),
                ] {
                    let request = WriteRequest { condition, dry_run, ..request(path, "x") };
                    let written = rules.write(request.clone()).await;
                    assert_eq!(written, Err(NOT_PERMITTED), "{path}");
                    assert_eq!(rules.append(request).await, Err(NOT_PERMITTED), "{path}");
                }
            }
            for recursive in [false, true] {
                assert_eq!(rules.remove(path, recursive).await, Err(NOT_PERMITTED), "{path}");
            }
            for overwrite in [false, true] {
                let moved = rules.rename(path, "/new", overwrite).await;
                assert_eq!(moved, Err(NOT_PERMITTED), "{path}");
                let moved = rules.rename("/r/a", path, overwrite).await;
                assert_eq!(moved, Err(NOT_PERMITTED), "{path}");
                let moved = rules.rename("/r/none", path, overwrite).await;
                assert_eq!(moved, Err(NOT_PERMITTED), "{path}");
            }
        }
        assert_eq!(all(&memory).await, before);
    }
}

#[tokio::test]
async fn what_may_be_read_only_is_read() {
    let memory = memory(&["/s/a"]).await;
    let rules = ruled(&memory, vec![deny(WRITE, "/s/**")]);
    assert_eq!(get(&rules, "/s/a").await.as_deref(), Ok("/s/a"));
    assert_eq!(ls(&rules, "/s").await.unwrap(), ["/s/a"]);
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), ["/s/a"]);
}

#[tokio::test]
async fn what_may_be_written_is_written_as_ever() {
    let memory = memory(&["/p/a", "/s/a"]).await;
    let rules = ruled(&memory, vec![deny(BOTH, "/s/**")]);
    let dry = WriteRequest { dry_run: true, ..request("/p/a", "1") };
    assert_eq!(rules.write(dry).await.unwrap().previous_size, Some(4));
    assert_eq!(put(&rules, "/p/a", "12").await.unwrap().previous_size, Some(4));
    assert_eq!(put(&rules, "/p/new/b", "1").await.unwrap().previous_size, None);
    let appended = rules.append(request("/p/a", "3")).await.unwrap();
    assert_eq!((appended.size, appended.previous_size), (3, Some(2)));
    let absent = WriteRequest { condition: Condition::Absent, ..request("/p/a", "1") };
    assert_eq!(rules.write(absent).await, Err(ErrorCode::AlreadyExists));
    let stale = Condition::Matches("stale".to_owned());
    let stale = WriteRequest { condition: stale, ..request("/p/a", "1") };
    assert_eq!(rules.write(stale).await, Err(ErrorCode::Conflict));
    assert_eq!(put(&rules, "/p", "1").await, Err(ErrorCode::IsDirectory));
    assert_eq!(get(&rules, "/p/a").await.as_deref(), Ok("123"));
    assert_eq!(put(&rules, "/", "1").await, Err(ErrorCode::IsDirectory));
}

#[tokio::test]
async fn a_letter_box_takes_and_does_not_tell() {
    let memory = memory(&["/box/a"]).await;
    let rules = ruled(&memory, vec![deny(READ, "/box/**")]);
    // What is replaced is not told.
    assert_eq!(put(&rules, "/box/a", "1").await.unwrap().previous_size, None);
    assert_eq!(put(&rules, "/box/new", "1").await.unwrap().previous_size, None);
    assert_eq!(get(&rules, "/box/new").await, Err(NOT_FOUND));
    assert_eq!(get(&memory, "/box/new").await.as_deref(), Ok("1"));
    // What may not be read cannot be taken out, nor be removed.
    for path in ["/box/a", "/box/none", "/box"] {
        assert_eq!(rules.rename(path, "/out", false).await, Err(NOT_PERMITTED), "{path}");
        assert_eq!(rules.remove(path, true).await, Err(NOT_PERMITTED), "{path}");
    }
}

#[tokio::test]
async fn a_draft_is_begun_and_published_where_it_may_be_written() {
    let memory = memory(&["/s/a"]).await;
    let rules =
        ruled(&memory, vec![allow(BOTH, "/s/in/**"), deny(BOTH, "/s/**"), deny(BOTH, "/**/*.key")]);
    assert_eq!(rules.draft("/s/d").await.err().unwrap(), NOT_PERMITTED);
    let mut draft = rules.draft("/p").await.unwrap();
    draft.push(b"x".to_vec()).await.unwrap();
    for name in ["a.key", ".key"] {
        assert_eq!(draft.publish(name, Condition::Always).await, Err(NOT_PERMITTED), "{name}");
    }
    for name in ["../s/a", "a/b", "..", ""] {
        let published = draft.publish(name, Condition::Always).await;
        assert!(matches!(published, Err(ErrorCode::InvalidPath(_))), "{name}: {published:?}");
    }
    let written = draft.publish("a", Condition::Absent).await.unwrap();
    assert_eq!((written.size, written.previous_size), (1, None));
    assert_eq!(get(&rules, "/p/a").await.as_deref(), Ok("x"));
    // Some of what is in a directory may be written where the directory may not.
    let mut draft = rules.draft("/s").await.unwrap();
    assert_eq!(draft.publish("a", Condition::Always).await, Err(NOT_PERMITTED));
    assert_eq!(draft.publish("none", Condition::Absent).await, Err(NOT_PERMITTED));
    let mut draft = rules.draft("/s/in").await.unwrap();
    draft.publish("b", Condition::Absent).await.unwrap();
    assert_eq!(get(&memory, "/s/a").await.as_deref(), Ok("/s/a"));
    // A directory of which everything is denied is no place for one.
    let closed = ruled(&memory, vec![deny(WRITE, "/results/**")]);
    assert_eq!(closed.draft("/results").await.err().unwrap(), NOT_PERMITTED);
}
