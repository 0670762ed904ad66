//! `glob` and `grep` over several layers.

use std::time::{Duration, Instant};

use super::probe::Probe;
use super::*;
use crate::backends::ReadOnly;

#[tokio::test]
async fn patterns_are_relative_to_where_the_search_was_asked_to_start() {
    let base = memory(&[("/dir/a.rs", "hit"), ("/dir/m/a.rs", "hidden"), ("/m.rs", "hit")]).await;
    let mount = memory(&[("/a.rs", "hit"), ("/src/a.rs", "hit"), ("/m/a.rs", "hit")]).await;
    let all = mounts(&base, &[("/dir/m", mount.clone())]);
    assert_eq!(found(&all, "/", "dir/*/a.rs").await, ["/dir/m/a.rs"]);
    assert_eq!(found(&all, "/dir", "m/*.rs").await, ["/dir/m/a.rs"]);
    assert_eq!(found(&all, "/dir/m", "m/*.rs").await, ["/dir/m/m/a.rs"]);
    assert_eq!(found(&all, "/dir/m/src", "*").await, ["/dir/m/src/a.rs"]);
    assert_eq!(found(&all, "/dir", "/dir/m/a.rs").await, ["/dir/m/a.rs"]);
    assert_eq!(found(&all, "/dir/m", "/dir/a.rs").await, [""; 0]);
    assert_eq!(found(&all, "/", "/a.rs").await, [""; 0]);
    assert_eq!(
        found(&all, "/", "a.rs").await,
        ["/dir/a.rs", "/dir/m/a.rs", "/dir/m/m/a.rs", "/dir/m/src/a.rs"]
    );
    assert_eq!(
        matched(&all, "/dir", "hi").await,
        ["/dir/a.rs", "/dir/m/a.rs", "/dir/m/m/a.rs", "/dir/m/src/a.rs"]
    );
    assert_eq!(matched(&all, "/dir/m/src/a.rs", "hi").await, ["/dir/m/src/a.rs"]);
    let request = GrepRequest { glob: Some("m/*/a.rs".to_owned()), ..grep_request("/dir", "hi") };
    let page = grep(&all, request).await.expect("a page");
    assert_eq!((page.files.len(), page.files[0].path.as_str()), (2, "/dir/m/m/a.rs"));
    assert_eq!(page.report.files, 2);
    let wrong = glob(&all, glob_request("/", "[")).await;
    assert!(matches!(wrong, Err(ErrorCode::InvalidArguments(_))));
    assert_eq!(glob(&all, glob_request("/dir/m/no", "*")).await.err(), Some(ErrorCode::NotFound));
    let file = glob(&all, glob_request("/dir/m/a.rs", "*")).await;
    assert_eq!(file.err(), Some(ErrorCode::NotADirectory));
}

#[tokio::test]
async fn ignore_files_do_not_reach_over_a_border() {
    let base = memory(&[
        (".gitignore", "*.log\n/m/\n"),
        ("/a.log", ""),
        ("/b.txt", ""),
        ("/c/a.log", ""),
        ("/c/b.txt", ""),
    ])
    .await;
    let mount = memory(&[(".ignore", "*.txt\n"), ("/a.log", ""), ("/b.txt", "")]).await;
    let all = mounts(&base, &[("/m", mount.clone()), ("/c/m", mount.clone())]);
    assert_eq!(
        found(&all, "/", "*.*").await,
        [
            "/.gitignore",
            "/b.txt",
            "/c/b.txt",
            "/c/m/.ignore",
            "/c/m/a.log",
            "/m/.ignore",
            "/m/a.log"
        ]
    );
    assert_eq!(found(&all, "/m", "*").await, ["/m/.ignore", "/m/a.log"]);
    let page = glob(&all, glob_request("/m", "*.txt")).await.expect("a page");
    assert_eq!((page.total, page.report.ignored), (0, true));
    let page = glob(&all, glob_request("/m", "*.log")).await.expect("a page");
    assert!(page.report.ignored, "the rules of the mount itself");
    let none = memory(&[("/x", "")]).await;
    let all = mounts(&base, &[("/m", none.clone())]);
    let page = glob(&all, glob_request("/m", "*")).await.expect("a page");
    assert_eq!((page.total, page.report.ignored), (1, false));
}

#[tokio::test]
async fn what_walks_leave_out_is_left_out_with_the_mounts_in_it() {
    let base = memory(&[("/x", "hit"), ("/saved/x", "hit")]).await;
    let mount = memory(&[("/x", "hit"), ("/saved/x", "hit"), ("/in/saved/x", "hit")]).await;
    let all = mounts(&base, &[("/.git/m", mount.clone()), ("/saved/m", mount.clone())]);
    let request = GlobRequest { offload_path: "/saved".to_owned(), ..glob_request("/", "**") };
    let page = glob(&all, request.clone()).await.expect("a page");
    assert_eq!((page.files, page.report.ignored), (vec!["/x".to_owned()], true));
    let all_files = GlobRequest { include_ignored: true, ..request.clone() };
    assert_eq!(glob(&all, all_files).await.expect("a page").total, 8);
    let named = GlobRequest { pattern: ".git/m/x".to_owned(), ..request.clone() };
    assert_eq!(glob(&all, named).await.expect("a page").files, ["/.git/m/x"]);
    let inside = GlobRequest { path: "/saved".to_owned(), ..request.clone() };
    assert_eq!(glob(&all, inside).await.expect("a page").total, 4);
    // A directory of results that lies in a mount, and one of the same name that does not.
    let request = GlobRequest { offload_path: "/m/saved".to_owned(), ..request };
    let all = mounts(&base, &[("/m", mount.clone()), ("/n", mount.clone())]);
    let page = glob(&all, request).await.expect("a page");
    assert_eq!(
        page.files,
        ["/m/in/saved/x", "/m/x", "/n/in/saved/x", "/n/saved/x", "/n/x", "/saved/x", "/x"]
    );
    assert!(page.report.ignored);
}

#[tokio::test]
async fn a_view_from_above_is_narrowed() {
    let base = memory(&[("/a", "hit"), ("/no/a", "hit"), ("/m/a", "hidden")]).await;
    let mount = memory(&[("/a", "hit"), ("/no/a", "hit"), ("/n/a", "hidden")]).await;
    let inner = memory(&[("/a", "hit"), ("/no", "hit")]).await;
    let all: Arc<dyn Backend> = Arc::new(mounts(
        &base,
        &[("/m", mount.clone()), ("/m/n", inner.clone()), ("/no/m", inner.clone())],
    ));
    let view = View::default().hiding(|path| path.rsplit('/').next() == Some("no"));
    let page = all.glob_info(glob_request("/", "**"), &view).await.expect("a page");
    assert_eq!(page.files, ["/a", "/m/a", "/m/n/a"]);
    let page = all.grep_raw(grep_request("/", "hi"), &view).await.expect("a page");
    let files: Vec<String> = page.files.into_iter().map(|file| file.path).collect();
    assert_eq!(files, ["/a", "/m/a", "/m/n/a"]);
    // Mounts in mounts: the same files, shown deeper.
    let outer = mounts(&memory(&[("/x/y/hidden", "hit")]).await, &[("/x/y", Arc::clone(&all))]);
    assert_eq!(found(&outer, "/", "m/*").await, [""; 0]);
    assert_eq!(found(&outer, "/x/y", "m/*").await, ["/x/y/m/a"]);
    assert_eq!(found(&outer, "/x", "y/m/n/*").await, ["/x/y/m/n/a", "/x/y/m/n/no"]);
    let view = View::default().hiding(|path| path == "x/y/m/n" || path == "x/y/no");
    let page = outer.glob_info(glob_request("/", "**"), &view).await.expect("a page");
    assert_eq!(page.files, ["/x/y/a", "/x/y/m/a", "/x/y/m/no/a"]);
    let view = View::default().hiding(|path| path == "x");
    let page = outer.glob_info(glob_request("/", "**"), &view).await.expect("a page");
    assert_eq!(page.files, [""; 0]);
}

#[tokio::test]
async fn a_mount_that_fails_is_unreadable_and_the_rest_is_found() {
    let base = memory(&[("/a", "hit")]).await;
    let broken = Probe::new(memory(&[("/x", "hit")]).await)
        .failing(ErrorCode::Unavailable("the line is down".to_owned()));
    let gone = Probe::new(memory(&[]).await).failing(ErrorCode::NotFound);
    let all = mounts(&base, &[("/m", Arc::new(broken)), ("/gone", Arc::new(gone))]);
    let page = glob(&all, glob_request("/", "**")).await.expect("a page");
    assert_eq!((page.files, page.total), (vec!["/a".to_owned()], 1));
    assert_eq!((page.report.unreadable, page.report.unreadable_count), (vec!["/m/".to_owned()], 1));
    let page = grep(&all, grep_request("/", "hit")).await.expect("a page");
    assert_eq!((page.total, page.complete), (1, true));
    assert_eq!((page.report.unreadable, page.report.unreadable_count), (vec!["/m/".to_owned()], 1));
    // Who starts there gets the error.
    let error = glob(&all, glob_request("/m", "**")).await.err();
    assert_eq!(error, Some(ErrorCode::Unavailable("the line is down".to_owned())));
}

#[tokio::test]
async fn the_time_is_that_of_all_together() {
    let base = memory(&[("/a", "hit")]).await;
    let slow = |name: &'static str| {
        let wait = Duration::from_millis(120);
        (name, Arc::new(Probe::new(Arc::new(Memory::new())).waiting(wait)))
    };
    let (m, n) = (slow("/m"), slow("/n"));
    let all = mounts(&base, &[(m.0, m.1.clone()), (n.0, n.1.clone())]);
    let request = GrepRequest { time_ms: 100, ..grep_request("/", "hit") };
    let begun = Instant::now();
    let page = grep(&all, request).await.expect("a page");
    assert!(begun.elapsed() < Duration::from_millis(230), "it took {:?}", begun.elapsed());
    assert!(page.report.stopped);
    assert_eq!(page.files.len(), 1);
    // The second has not been asked, and the first not for more than there was.
    assert_eq!(n.1.times(), [0; 0]);
    assert!(m.1.times()[0] <= 100);
    let page = glob(&all, GlobRequest { time_ms: 100, ..glob_request("/", "**") }).await;
    let page = page.expect("a page");
    assert!(page.report.stopped);
    assert_eq!(page.files, ["/a"]);
}

#[tokio::test]
async fn backends_may_give_short_pages() {
    let files: Vec<(String, String)> =
        (0..30).map(|n| (format!("/{n:02}"), "hit\nhit\nno\nhit\n".repeat(1 + n % 3))).collect();
    let (base, mount) = (memory(&[]).await, memory(&[]).await);
    let whole = memory(&[]).await;
    for (n, (path, content)) in files.iter().enumerate() {
        let name = if n % 2 == 0 { path.clone() } else { format!("/07{path}") };
        put(&*whole, &name, content).await.expect("a write");
        let to = if n % 2 == 0 { &base } else { &mount };
        put(&**to, path, content).await.expect("a write");
    }
    let base = Arc::new(Probe::new(base).short());
    let all = mounts(&base, &[("/07", Arc::new(Probe::new(mount).short()))]);
    for mode in [GrepMode::Files, GrepMode::Count, GrepMode::Content] {
        for (offset, limit) in [(0, 1000), (0, 7), (5, 10), (13, 1), (28, 100), (60, 0), (500, 2)] {
            let request = GrepRequest {
                mode,
                offset,
                limit,
                before: 1,
                after: 1,
                ..grep_request("/", "hit")
            };
            let page = grep(&all, request.clone()).await.expect("a page");
            let expected = grep(&*whole, request.clone()).await.expect("a page");
            assert_eq!(page.files, expected.files, "{request:?}");
            assert_eq!((page.total, page.complete), (expected.total, expected.complete));
        }
    }
    for (offset, limit) in [(0, 1000), (0, 7), (5, 10), (13, 1), (28, 100), (40, 3)] {
        let request = GlobRequest { offset, limit, ..glob_request("/", "**") };
        let page = glob(&all, request.clone()).await;
        assert_eq!(page, glob(&*whole, request).await);
    }
}

#[tokio::test]
async fn what_is_past_the_page_is_not_searched() {
    let base = memory(&[("/a", "hit\nhit\nhit\n")]).await;
    let mount = Arc::new(Probe::new(memory(&[("/x", "hit")]).await));
    let all = mounts(&base, &[("/m", mount.clone())]);
    let request = GrepRequest { mode: GrepMode::Content, limit: 1, ..grep_request("/", "hit") };
    let page = grep(&all, request.clone()).await.expect("a page");
    assert_eq!((page.total, page.complete), (1, false));
    assert_eq!(mount.times(), [0; 0]);
    let page = grep(&all, GrepRequest { limit: 4, ..request.clone() }).await.expect("a page");
    assert_eq!((page.total, page.complete), (4, true));
    let page = grep(&all, GrepRequest { offset: 3, ..request }).await.expect("a page");
    assert_eq!((page.files[0].path.as_str(), page.complete), ("/m/x", true));
}

#[tokio::test]
async fn unreadable_paths_are_named_in_order_and_not_too_many() {
    let base = memory(&[("/a", "")]).await;
    let list: Vec<(String, Arc<dyn Backend>)> = (0..15)
        .rev()
        .map(|n| {
            let broken = Probe::new(Arc::new(Memory::new())).failing(ErrorCode::NotPermitted);
            (format!("/m{n:02}"), Arc::new(broken) as Arc<dyn Backend>)
        })
        .collect();
    let list: Vec<(&str, Arc<dyn Backend>)> =
        list.iter().map(|(path, backend)| (path.as_str(), Arc::clone(backend))).collect();
    let page = glob(&mounts(&base, &list), glob_request("/", "*")).await.expect("a page");
    assert_eq!(page.report.unreadable_count, 15);
    let expected: Vec<String> = (0..10).map(|n| format!("/m{n:02}/")).collect();
    assert_eq!(page.report.unreadable, expected);
}

#[tokio::test]
async fn decorated_mounts_are_searched_as_they_are_shown() {
    let base = memory(&[("/a", "hit")]).await;
    let mount = memory(&[("/x", "hit")]).await;
    let all = mounts(&base, &[("/m", Arc::new(ReadOnly::new(mount)))]);
    assert_eq!(matched(&all, "/", "hit").await, ["/a", "/m/x"]);
    assert_eq!(put(&all, "/m/x", "").await.err(), Some(ErrorCode::NotPermitted));
}
