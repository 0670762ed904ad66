//! What is read and listed.

use super::*;

#[tokio::test]
async fn what_is_denied_is_not_found_whether_or_not_it_is_there() {
    let memory = memory(&["/secrets/a", "/secrets/d/b", "/secrets2/a", "/Secrets/a"]).await;
    let rules = ruled(&memory, vec![deny(READ, "/secrets/**")]);
    for path in
        ["/secrets", "/secrets/a", "/secrets/none", "/secrets/a/b", "/secrets/d", "/secrets/d/b"]
    {
        assert_eq!(get(&rules, path).await, Err(NOT_FOUND), "{path}");
        assert_eq!(ls(&rules, path).await, Err(NOT_FOUND), "{path}");
        assert_eq!(glob(&rules, path, "*").await, Err(NOT_FOUND), "{path}");
        assert_eq!(grep(&rules, path, ".").await, Err(NOT_FOUND), "{path}");
        assert_eq!(rules.resolve(path, true).await, Err(NOT_FOUND), "{path}");
        assert_eq!(rules.resolve(path, false).await, Err(NOT_FOUND), "{path}");
    }
    // A name that only begins so, and one in other letters, are other names.
    assert_eq!(get(&rules, "/secrets2/a").await.as_deref(), Ok("/secrets2/a"));
    assert_eq!(get(&rules, "/Secrets/a").await.as_deref(), Ok("/Secrets/a"));
    assert_eq!(ls(&rules, "/").await.unwrap(), ["/Secrets/", "/secrets2/"]);
    assert_eq!(rules.resolve("/secrets2/../secrets2/a", true).await.as_deref(), Ok("/secrets2/a"));
}

#[tokio::test]
async fn every_spelling_of_a_path_is_the_path() {
    let memory = memory(&["/secrets/a"]).await;
    let rules = ruled(&memory, vec![deny(BOTH, "/secrets/**")]);
    for path in
        ["/secrets/", "secrets/a", "//secrets//a", "/./secrets/a/", "/x/../secrets/a", "/secrets/."]
    {
        assert_eq!(get(&rules, path).await, Err(NOT_FOUND), "{path}");
        assert_eq!(ls(&rules, path).await, Err(NOT_FOUND), "{path}");
        assert_eq!(put(&rules, path, "x").await, Err(NOT_PERMITTED), "{path}");
        assert_eq!(rules.remove(path, true).await, Err(NOT_PERMITTED), "{path}");
    }
    assert!(matches!(get(&rules, "/../secrets/a").await, Err(ErrorCode::InvalidPath(_))));
}

#[tokio::test]
async fn a_listing_leaves_out_what_is_denied_and_counts_the_rest() {
    let names: Vec<String> = (0..20).map(|n| format!("/d/f{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let memory = memory(&names).await;
    put(&memory, "/d/.env", "x").await.unwrap();
    let rules = ruled(&memory, vec![deny(READ, "/**/f?[02468]"), deny(READ, "/**/.env")]);
    let odd: Vec<String> = (0..20).filter(|n| n % 2 == 1).map(|n| format!("/d/f{n:02}")).collect();
    assert_eq!(ls(&rules, "/d").await.unwrap(), odd);
    let page = rules.ls_info("/d", 8, 100).await.unwrap();
    assert_eq!((page.entries.len(), page.total, page.is_directory), (2, 10, true));
    let page = rules.ls_info("/d", 10, 100).await.unwrap();
    assert_eq!((page.entries.len(), page.total), (0, 10));
    let page = rules.ls_info("/d", 3, 2).await.unwrap();
    let paths: Vec<&str> = page.entries.iter().map(|entry| &*entry.path).collect();
    assert_eq!(paths, ["/d/f07", "/d/f09"]);
    assert_eq!(rules.ls_info("/d/f01", 0, 9).await, memory.ls_info("/d/f01", 0, 9).await);
    assert_eq!(rules.ls_info("/d/f01", 1, 9).await, memory.ls_info("/d/f01", 1, 9).await);
    assert_eq!(rules.ls_info("/d/f02", 0, 9).await, Err(NOT_FOUND));
}

#[tokio::test]
async fn a_directory_of_which_all_is_denied_is_empty() {
    let memory = memory(&["/d/a", "/d/.b"]).await;
    let rules = ruled(&memory, vec![deny(READ, "/d/*")]);
    assert_eq!(ls(&rules, "/d").await.unwrap(), Vec::<String>::new());
    let rules = ruled(&memory, vec![deny(READ, "/**")]);
    assert_eq!(ls(&rules, "/").await.unwrap(), Vec::<String>::new());
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), Vec::<String>::new());
    assert_eq!(grep(&rules, "/", ".").await, Ok((vec![], 0)));
}

#[tokio::test]
async fn an_earlier_rule_lets_through_what_a_later_one_denies() {
    let memory = memory(&["/a/b/pub/x", "/a/b/y", "/a/z", "/q/x", "/a/e/f/g"]).await;
    let rules = ruled(&memory, vec![allow(READ, "/a/**/pub/**"), deny(READ, "/a/**")]);
    assert_eq!(get(&rules, "/a/b/pub/x").await.as_deref(), Ok("/a/b/pub/x"));
    // The way to it is there, and nothing else on it.
    assert_eq!(ls(&rules, "/").await.unwrap(), ["/a/", "/q/"]);
    assert_eq!(ls(&rules, "/a").await.unwrap(), ["/a/b/"]);
    assert_eq!(ls(&rules, "/a/b").await.unwrap(), ["/a/b/pub/"]);
    assert_eq!(get(&rules, "/a").await, Err(ErrorCode::IsDirectory));
    for path in ["/a/z", "/a/b/y", "/a/e", "/a/e/f", "/a/none"] {
        assert_eq!(get(&rules, path).await, Err(NOT_FOUND), "{path}");
        assert_eq!(ls(&rules, path).await, Err(NOT_FOUND), "{path}");
    }
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), ["/a/b/pub/x", "/q/x"]);
    assert_eq!(glob(&rules, "/a/b", "**").await.unwrap(), ["/a/b/pub/x"]);
    assert_eq!(grep(&rules, "/a", ".").await, Ok((vec!["/a/b/pub/x".to_owned()], 1)));
    // Without it, nothing tells of the way.
    memory.remove("/a/b/pub", true).await.unwrap();
    assert_eq!(ls(&rules, "/").await.unwrap(), ["/q/"]);
    assert_eq!(ls(&rules, "/a").await, Err(NOT_FOUND));
    assert_eq!(glob(&rules, "/a", "**").await, Err(NOT_FOUND));
}

#[tokio::test]
async fn a_list_of_what_is_allowed_is_a_workspace() {
    let memory = memory(&["/pub/x", "/src/a.rs", "/src/b.txt", "/other"]).await;
    let rules =
        ruled(&memory, vec![allow(BOTH, "/pub/**"), allow(READ, "/src/*.rs"), deny(BOTH, "/**")]);
    assert_eq!(ls(&rules, "/").await.unwrap(), ["/pub/", "/src/"]);
    assert_eq!(ls(&rules, "/src").await.unwrap(), ["/src/a.rs"]);
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), ["/pub/x", "/src/a.rs"]);
    put(&rules, "/pub/new/y", "1").await.unwrap();
    assert_eq!(put(&rules, "/src/a.rs", "1").await, Err(NOT_PERMITTED));
    assert_eq!(put(&rules, "/new", "1").await, Err(NOT_PERMITTED));
    assert_eq!(get(&rules, "/other").await, Err(NOT_FOUND));
}

#[tokio::test]
async fn a_file_in_the_way_is_told_only_if_it_may_be_seen() {
    let memory = memory(&["/s/a", "/p/a"]).await;
    let rules = ruled(&memory, vec![allow(BOTH, "/s/*/x"), deny(BOTH, "/s/**")]);
    assert_eq!(get(&rules, "/s/a/x").await, Err(NOT_FOUND));
    assert_eq!(get(&rules, "/s/none/x").await, Err(NOT_FOUND));
    assert_eq!(ls(&rules, "/s/a/x").await, Err(NOT_FOUND));
    assert_eq!(glob(&rules, "/s/a/x", "*").await, Err(NOT_FOUND));
    assert_eq!(grep(&rules, "/s/a/x", "x").await, Err(NOT_FOUND));
    assert_eq!(put(&rules, "/s/a/x", "1").await, Err(NOT_PERMITTED));
    assert_eq!(rules.rename("/p/a", "/s/a/x", false).await, Err(NOT_PERMITTED));
    assert_eq!(get(&rules, "/p/a/x").await, Err(ErrorCode::NotADirectory));
    assert_eq!(put(&rules, "/p/a/x", "1").await, Err(ErrorCode::NotADirectory));
}

#[tokio::test]
async fn rules_stack() {
    let memory = memory(&["/a/x", "/b/x", "/c/x"]).await;
    let inner = ruled(&memory, vec![deny(BOTH, "/a/**")]);
    let outer = ruled(&inner, vec![deny(READ, "/b/**"), allow(BOTH, "/a/**")]);
    for (path, reads) in [("/a/x", false), ("/b/x", false), ("/c/x", true)] {
        assert_eq!(get(&outer, path).await.is_ok(), reads, "{path}");
    }
    assert_eq!(ls(&outer, "/").await.unwrap(), ["/c/"]);
    assert_eq!(glob(&outer, "/", "**").await.unwrap(), ["/c/x"]);
    assert_eq!(put(&outer, "/a/x", "1").await, Err(NOT_PERMITTED));
    assert_eq!(outer.remove("/a", true).await, Err(NOT_PERMITTED));
    assert_eq!(put(&outer, "/c/x", "1").await.unwrap().previous_size, Some(4));
}

#[tokio::test]
async fn without_rules_that_deny_nothing_changes() {
    let memory = memory(&["/a/x"]).await;
    let rules = ruled(&memory, vec![allow(BOTH, "/none/**")]);
    assert_eq!(ls(&rules, "/").await.unwrap(), ["/a/"]);
    assert_eq!(put(&rules, "/a/x", "1").await.unwrap().previous_size, Some(4));
    rules.rename("/a", "/b", false).await.unwrap();
    rules.remove("/b", true).await.unwrap();
    assert_eq!(ls(&rules, "/").await.unwrap(), Vec::<String>::new());
}
