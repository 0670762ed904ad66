//! What searches see and tell.

use super::*;

#[tokio::test]
async fn totals_tell_nothing_of_what_is_denied() {
    let memory = memory(&["/a/1.txt", "/a/2.txt", "/s/1.txt", "/s/bin", "/b/.env"]).await;
    put(&memory, "/s/bin", "a\0b").await.unwrap();
    let rules = ruled(&memory, vec![deny(READ, "/s/**"), deny(READ, "/**/.env")]);
    assert_eq!(glob(&rules, "/", "*.txt").await.unwrap(), ["/a/1.txt", "/a/2.txt"]);
    let page = GlobRequest { limit: 1, offset: 1, ..glob_request("/", "**") };
    let page = rules.glob_info(page, &View::default()).await.unwrap();
    assert_eq!((page.files.as_slice(), page.total), (["/a/2.txt".to_owned()].as_slice(), 2));
    for mode in [GrepMode::Files, GrepMode::Count, GrepMode::Content] {
        let request = GrepRequest { mode, ..grep_request("/", ".") };
        let page = rules.grep_raw(request, &View::default()).await.unwrap();
        let paths: Vec<&str> = page.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["/a/1.txt", "/a/2.txt"]);
        assert_eq!((page.total, page.report.files, page.report.binary), (2, 2, 0));
    }
    // Nor does a pattern that names one file.
    assert_eq!(glob(&rules, "/", "/s/1.txt").await.unwrap(), Vec::<String>::new());
    let request = GrepRequest { glob: Some("/s/1.txt".to_owned()), ..grep_request("/", ".") };
    let page = rules.grep_raw(request, &View::default()).await.unwrap();
    assert_eq!((page.total, page.report.files), (0, 0));
    assert_eq!(grep(&rules, "/s/1.txt", ".").await, Err(NOT_FOUND));
}

#[tokio::test]
async fn what_ignore_files_hide_is_counted_without_what_is_denied() {
    let memory = memory(&["/log/a", "/log/secret", "/src/a"]).await;
    put(&memory, "/.gitignore", "log\n").await.unwrap();
    let rules = ruled(&memory, vec![deny(READ, "/**/secret")]);
    let seen = rules.glob_info(glob_request("/", "**"), &View::default()).await.unwrap();
    assert_eq!((seen.total, seen.report.ignored), (2, true));
    let request = GlobRequest { include_ignored: true, ..glob_request("/", "**") };
    assert_eq!(rules.glob_info(request, &View::default()).await.unwrap().total, 3);
    // A directory that is denied is not there to be ignored.
    let rules = ruled(&memory, vec![deny(READ, "/log/**")]);
    let seen = rules.glob_info(glob_request("/", "**"), &View::default()).await.unwrap();
    assert_eq!((seen.total, seen.report.ignored), (2, false));
}

#[tokio::test]
async fn an_ignore_file_that_is_denied_ignores_nothing() {
    let memory = memory(&["/d/a.log", "/d/b"]).await;
    put(&memory, "/d/.gitignore", "*.log\n").await.unwrap();
    let allowing = ruled(&memory, vec![deny(READ, "/x")]);
    assert_eq!(glob(&allowing, "/d", "**").await.unwrap(), ["/d/.gitignore", "/d/b"]);
    let rules = ruled(&memory, vec![deny(READ, "/**/.gitignore")]);
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), ["/d/a.log", "/d/b"]);
    assert_eq!(glob(&rules, "/d", "**").await.unwrap(), ["/d/a.log", "/d/b"]);
    let (files, searched) = grep(&rules, "/", "log").await.unwrap();
    assert_eq!((files.as_slice(), searched), (["/d/a.log".to_owned()].as_slice(), 2));
}

#[tokio::test]
async fn a_file_is_not_seen_because_something_might_be_beneath_it() {
    let memory = memory(&["/s/a", "/s/d/x.md", "/s/e/y"]).await;
    let rules = ruled(&memory, vec![allow(READ, "/s/**/*.md"), deny(READ, "/s/**")]);
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), ["/s/d/x.md"]);
    assert_eq!(grep(&rules, "/", ".").await, Ok((vec!["/s/d/x.md".to_owned()], 1)));
    assert_eq!(ls(&rules, "/s").await.unwrap(), ["/s/d/"]);
    assert_eq!(grep(&rules, "/s/a", ".").await, Err(NOT_FOUND));
}

#[tokio::test]
async fn what_is_hidden_above_stays_hidden() {
    let memory = memory(&["/a/1", "/a/2", "/s/1"]).await;
    let rules = ruled(&memory, vec![deny(READ, "/s/**")]);
    let view = View::default().hiding(|path| path == "a/1");
    let page = rules.glob_info(glob_request("/", "**"), &view).await.unwrap();
    assert_eq!((page.files.as_slice(), page.total), (["/a/2".to_owned()].as_slice(), 1));
    let page = rules.grep_raw(grep_request("/", "."), &view).await.unwrap();
    assert_eq!((page.total, page.report.files), (1, 1));
}

#[tokio::test]
async fn rules_of_a_mount_are_about_the_paths_in_it() {
    let memory = memory(&["/s/1", "/m/1"]).await;
    let rules = ruled(&memory, vec![deny(READ, "/s/**")]);
    // As what mounts it asks: the whole tree, of which this is shown at `/m`.
    let view = View::default().beneath("m");
    let page = rules.glob_info(glob_request("/", "**"), &view).await.unwrap();
    assert_eq!(page.files, ["/m/m/1"]);
    assert_eq!(rules.glob_info(glob_request("/m/s", "**"), &view).await, Err(NOT_FOUND));
    let page = rules.glob_info(glob_request("/m/m", "**"), &view).await.unwrap();
    assert_eq!(page.files, ["/m/m/1"]);
    let page = rules.grep_raw(grep_request("/m", "."), &view).await.unwrap();
    assert_eq!((page.total, page.report.files), (1, 1));
    // Elsewhere nothing of it is shown.
    let page = rules.glob_info(glob_request("/s", "**"), &view).await.unwrap();
    assert_eq!(page.total, 0);
    let page = rules.grep_raw(grep_request("/s", "."), &view).await.unwrap();
    assert!(page.complete && page.total == 0);
}

#[tokio::test]
async fn a_way_that_cannot_be_read_is_not_reported() {
    let memory = memory(&["/s/pub/a", "/s/x", "/p/a"]).await;
    let rules = ruled(&memory, vec![allow(READ, "/s/*/a"), deny(READ, "/s/**")]);
    for (view, asked, at) in
        [(View::default(), "/", ""), (View::default().beneath("m"), "/m", "/m")]
    {
        let narrowed = rules.narrow(asked, &view).await.unwrap().unwrap();
        let unreadable: Vec<String> = ["/p/", "/s/", "/s/pub/", "/s/pub/a"]
            .iter()
            .map(|path| format!("{at}{path}"))
            .collect();
        let mut report = handhold_core::types::WalkReport {
            unreadable_count: 6,
            unreadable,
            ..Default::default()
        };
        rules.trim(&mut report, &narrowed);
        assert_eq!(report.unreadable, [format!("{at}/p/"), format!("{at}/s/pub/a")]);
        assert_eq!(report.unreadable_count, 4);
    }
}
