//! What is removed and moved.

use super::odd::Odd;
use super::*;

#[tokio::test]
async fn a_directory_with_something_denied_stays_whole() {
    let files = ["/d/a", "/d/e/f/secret", "/d/e/g", "/x/a"];
    for operations in [READ, WRITE, BOTH] {
        let memory = memory(&files).await;
        let before = all(&memory).await;
        let rules = ruled(&memory, vec![deny(operations, "/**/secret")]);
        for path in ["/d", "/d/e", "/d/e/f"] {
            for recursive in [false, true] {
                assert_eq!(rules.remove(path, recursive).await, Err(NOT_PERMITTED), "{path}");
            }
            let moved = rules.rename(path, "/new/place", false).await;
            assert_eq!(moved, Err(NOT_PERMITTED), "{path}");
        }
        assert_eq!(all(&memory).await, before);
        assert_eq!(memory.ls_info("/", 0, 9).await.unwrap().total, 2);
        // What has nothing denied in it is removed and moved.
        rules.rename("/d/e/g", "/x/g", false).await.unwrap();
        rules.rename("/x", "/y", false).await.unwrap();
        assert_eq!(rules.remove("/y", false).await, Err(ErrorCode::NotEmpty));
        let removed = rules.remove("/y", true).await.unwrap();
        assert_eq!((removed.files, removed.directories), (2, 1));
    }
}

#[tokio::test]
async fn nothing_is_moved_to_where_it_may_not_be_written() {
    let memory = memory(&["/d/a", "/d/sub/b", "/p/keep"]).await;
    let before = all(&memory).await;
    let rules = ruled(&memory, vec![deny(WRITE, "/s/**"), deny(WRITE, "/p/*/sub/**")]);
    for to in ["/s", "/s/d", "/s/e/f"] {
        assert_eq!(rules.rename("/d", to, false).await, Err(NOT_PERMITTED), "{to}");
        assert_eq!(rules.rename("/d/a", to, false).await, Err(NOT_PERMITTED), "{to}");
    }
    // The directory may be there, and something in it may not.
    assert_eq!(rules.rename("/d", "/p/d", false).await, Err(NOT_PERMITTED));
    assert_eq!(all(&memory).await, before);
    rules.rename("/d", "/q", false).await.unwrap();
    assert_eq!(get(&memory, "/q/sub/b").await.as_deref(), Ok("/d/sub/b"));
}

#[tokio::test]
async fn nothing_is_moved_out_of_what_may_not_be_read() {
    let memory = memory(&["/s/a", "/s/d/b", "/p/a"]).await;
    let rules = ruled(&memory, vec![deny(READ, "/s/**")]);
    for path in ["/s", "/s/a", "/s/d", "/s/none"] {
        assert_eq!(rules.rename(path, "/out", false).await, Err(NOT_PERMITTED), "{path}");
    }
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), ["/p/a"]);
}

#[tokio::test]
async fn what_is_denied_is_not_replaced_by_a_move() {
    let memory = memory(&["/p/a", "/s/a", "/p/locked"]).await;
    let rules = ruled(&memory, vec![deny(WRITE, "/s/**"), deny(WRITE, "/**/locked")]);
    for to in ["/s/a", "/p/locked"] {
        assert_eq!(rules.rename("/p/a", to, true).await, Err(NOT_PERMITTED), "{to}");
    }
    assert_eq!(get(&memory, "/s/a").await.as_deref(), Ok("/s/a"));
    assert_eq!(get(&memory, "/p/locked").await.as_deref(), Ok("/p/locked"));
}

#[tokio::test]
async fn errors_of_moves_and_removals_stay_what_they_are() {
    let memory = memory(&["/p/a", "/p/b", "/s/a"]).await;
    let rules = ruled(&memory, vec![deny(BOTH, "/s/**")]);
    assert_eq!(rules.remove("/", true).await, Err(NOT_PERMITTED));
    assert_eq!(rules.rename("/", "/x", false).await, Err(NOT_PERMITTED));
    assert_eq!(rules.remove("/none", true).await, Err(NOT_FOUND));
    assert_eq!(rules.rename("/none", "/x", false).await, Err(NOT_FOUND));
    assert_eq!(rules.rename("/p/a", "/p/b", false).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(rules.rename("/p/a", "/", false).await, Err(ErrorCode::IsDirectory));
    let into_itself = rules.rename("/p", "/p/x/y", false).await;
    assert!(matches!(into_itself, Err(ErrorCode::InvalidPath(_))), "{into_itself:?}");
}

#[tokio::test]
async fn what_comes_into_a_tree_while_it_is_moved_is_looked_at_too() {
    let memory = memory(&["/stage/a"]).await;
    let late = Odd { late: Some("/stage/sub/approved"), ..Odd::over(&memory) };
    let rules = ruled(&late, vec![deny(WRITE, "/live/**/approved")]);
    assert_eq!(rules.rename("/stage", "/live/1", false).await, Err(NOT_PERMITTED));
    let paths: Vec<String> = all(&memory).await.into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/stage/a", "/stage/sub/approved"]);
    // Where it may be written and was not to be read, it would be read at the new place.
    let rules = ruled(&late, vec![deny(READ, "/stage/**/approved")]);
    memory.remove("/stage/sub", true).await.unwrap();
    assert_eq!(rules.rename("/stage", "/live/1", false).await, Err(NOT_PERMITTED));
    let paths: Vec<String> = all(&memory).await.into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/stage/a", "/stage/sub/approved"]);
    let late = Odd { late: Some("/stage/b"), ..Odd::over(&memory) };
    let rules = ruled(&late, vec![deny(WRITE, "/live/**/locked")]);
    rules.rename("/stage", "/live/1", false).await.unwrap();
    assert_eq!(get(&memory, "/live/1/b").await.as_deref(), Ok("late"));
}

#[tokio::test]
async fn a_tree_that_is_too_large_to_look_at_is_refused() {
    let memory = memory(&["/huge/a", "/small/a"]).await;
    let odd = Odd { endless: Some("/huge"), ..Odd::over(&memory) };
    let rules = ruled(&odd, vec![deny(WRITE, "/**/secret"), allow(READ, "/**/open")]);
    assert!(matches!(rules.remove("/huge", true).await, Err(ErrorCode::TooLarge(_))));
    assert!(matches!(rules.rename("/huge", "/x", false).await, Err(ErrorCode::TooLarge(_))));
    rules.remove("/small", true).await.unwrap();
    // So is a way that may lead to something.
    let rules = ruled(&odd, vec![allow(READ, "/**/open"), deny(READ, "/huge/**")]);
    assert!(matches!(rules.ls_info("/huge", 0, 9).await, Err(ErrorCode::TooLarge(_))));
    // Where nothing can be denied, nothing is looked at.
    let rules = ruled(&odd, vec![deny(BOTH, "/secret")]);
    rules.rename("/huge", "/x", false).await.unwrap();
}
