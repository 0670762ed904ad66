//! Threads whose time is over, and threads that only look so.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime};

use handhold::Workspace;
use handhold::backend::{Backend, Condition, FileOrder, GlobRequest, View};
use handhold::backends::Lifetime;
use handhold_conformance::{runtime, shared_toolbox};
use serde_json::json;

use super::{HOUR, Root, idle};
use crate::cli::{Batch, Offload, code};
use crate::site::{Site, facts};

#[test]
fn only_what_is_over_goes_and_a_dry_run_only_looks() {
    let root = Root::new();
    for thread in ["old", "new"] {
        root.write(None, thread, "/a/b.txt", thread);
    }
    root.age("old");
    let before = facts(&root.directory.root());
    assert_eq!(root.collect(idle(HOUR), true), ["old"]);
    assert_eq!(facts(&root.directory.root()), before, "a dry run has changed something");
    assert_eq!(root.gc(), ["old"]);
    assert!(!root.path("old").exists() && !root.path(".handhold/threads/old").exists());
    assert_eq!(root.read(None, "new", "/a/b.txt"), "     1\tnew");
    // Who goes on in the thread starts with an empty one.
    let listed = root.call(None, "old", "ls", json!({}));
    assert_eq!(listed["text"], "The directory / is empty.");
    let gone = root.call(None, "old", "read_file", json!({ "file_path": "/a/b.txt" }));
    assert_eq!(code(&gone), "not-found");
    root.write(None, "old", "/c.txt", "again");
    assert_eq!(root.gc(), [""; 0]);
    root.directory.check_outside();
}

#[test]
fn reading_is_a_use() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    for (tool, arguments) in [
        ("ls", json!({})),
        ("read_file", json!({ "file_path": "/a.txt" })),
        ("grep", json!({ "pattern": "x" })),
        ("glob", json!({ "pattern": "*" })),
    ] {
        root.age("t");
        assert_eq!(code(&root.call(None, "t", tool, arguments)), "");
        assert_eq!(root.gc(), [""; 0], "after {tool}");
    }
    root.age("t");
    assert_eq!(root.gc(), ["t"]);
}

#[test]
fn a_clock_that_was_put_back_ends_nothing() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    root.set_last_use("t", SystemTime::now() + 24 * HOUR);
    let record = root.path(".handhold/threads/t");
    let text = fs::read_to_string(&record).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["created"] = json!(u64::MAX);
    fs::write(&record, value.to_string()).unwrap();
    root.set_last_use("t", SystemTime::now() + 24 * HOUR);
    let short = Some(Duration::from_millis(1));
    assert_eq!(root.collect(Lifetime { idle: short, age: short }, false), [""; 0]);
    assert_eq!(root.read(None, "t", "/a.txt"), "     1\ttext");
}

#[test]
fn a_thread_that_is_searched_stays() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    // A search that goes on as long as we like.
    let (begun, has_begun) = mpsc::sync_channel(8);
    let (go_on, may_go_on) = mpsc::sync_channel::<()>(0);
    let may_go_on = std::sync::Mutex::new(may_go_on);
    let view = View::default().hiding(move |_| {
        let _ = begun.try_send(());
        let _ = may_go_on.lock().unwrap().recv();
        false
    });
    let request = GlobRequest {
        path: "/".to_owned(),
        pattern: "**".to_owned(),
        include_ignored: true,
        offload_path: "/large_tool_result".to_owned(),
        order: FileOrder::Path,
        offset: 0,
        limit: 10,
        max_bytes: 1 << 20,
        time_ms: 600_000,
    };
    let thread = root.other().thread(None, "t").unwrap();
    let search = runtime().spawn(async move { thread.glob_info(request, &view).await });
    has_begun.recv().unwrap();
    root.age("t");
    assert_eq!(root.gc(), [""; 0], "a thread was taken from a search");
    drop(go_on);
    assert_eq!(runtime().block_on(search).unwrap().unwrap().files, ["/a.txt"]);
    root.age("t");
    assert_eq!(root.gc(), ["t"]);
}

#[test]
fn a_thread_with_an_open_draft_stays() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    let thread = root.files.thread(None, "t").unwrap();
    let mut draft = runtime().block_on(thread.draft("/results")).unwrap();
    root.age("t");
    assert_eq!(root.gc(), [""; 0]);
    runtime().block_on(draft.push(b"late".to_vec())).unwrap();
    root.age("t");
    let short = Lifetime { idle: None, age: Some(Duration::ZERO) };
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(root.collect(short, false), [""; 0]);
    runtime().block_on(draft.publish("x", Condition::Absent)).unwrap();
    assert_eq!(root.read(None, "t", "/a.txt"), "     1\ttext");
    assert_eq!(root.read(None, "t", "/results/x"), "     1\tlate");
    drop(draft);
    root.age("t");
    assert_eq!(root.gc(), ["t"]);
}

#[test]
fn a_thread_whose_result_is_still_coming_stays() {
    let site = Site::new();
    let root = Root { files: root_of(&site), directory: site.directory };
    root.write(None, "t", "/a.txt", "text");
    let options = ["--thread", "t", "--call-id", "c1"];
    let mut stream = Offload::start(&root.directory.root(), "", &options);
    let tmp = root.path(".handhold/tmp");
    while fs::read_dir(&tmp).unwrap().count() == 0 {
        stream.push("line\n".repeat(10_000).as_bytes());
    }
    root.age("t");
    assert_eq!(root.gc(), [""; 0], "a thread was taken from a stream of another process");
    let shown = String::from_utf8(stream.end()).unwrap();
    assert!(shown.contains("/large_tool_result/c1"), "{shown}");
    assert_eq!(root.read(None, "t", "/a.txt"), "     1\ttext");
    assert!(root.path("t/large_tool_result/c1").exists());
}

fn root_of(site: &Site) -> handhold::backends::AgentFiles {
    handhold::backends::AgentFiles::at_ambient_path(site.directory.root())
}

#[test]
fn links_and_what_is_no_thread_are_left_alone() {
    let root = Root::new();
    root.write(Some("acme"), "t", "/a.txt", "text");
    let canary = root.directory.base().join("canary");
    crate::site::plant(&canary, "CANARY");
    for place in ["link", ".tenants/link", ".tenants/acme/link"] {
        symlink(&canary, root.path(place)).unwrap();
    }
    for place in ["lost+found", "Photos", ".hidden", "%zz"] {
        crate::site::plant(&root.path(place), "theirs");
    }
    fs::write(root.path("file"), "theirs").unwrap();
    let before = facts(&canary);
    std::thread::sleep(Duration::from_millis(5));
    let over = Lifetime { idle: Some(Duration::ZERO), age: Some(Duration::ZERO) };
    assert_eq!(root.collect(over, false), ["t"]);
    assert_eq!(facts(&canary), before);
    for place in ["lost+found", "Photos", ".hidden", "%zz"] {
        assert!(root.path(place).join("sub/inner.txt").exists(), "{place} is gone");
    }
    assert!(root.path("file").exists() && root.list().is_empty());
    root.directory.check_outside();
}

#[test]
fn a_write_that_succeeds_beside_the_collection_is_not_lost() {
    const ROUNDS: usize = 150;
    let root = Root::new();
    let mut all: Vec<Batch> =
        (0..2).map(|_| Batch::start(&root.directory.root(), "", &["--thread", "t"])).collect();
    for batch in &mut all {
        assert_eq!(code(&batch.call("ls", &json!({}))), "");
    }
    let mut collected = 0;
    for round in 0..ROUNDS {
        root.write(None, "t", "/old.txt", "old");
        root.age("t");
        for (n, batch) in all.iter_mut().enumerate() {
            let write = json!({ "file_path": format!("/{n}.txt"), "content": format!("{round}") });
            batch.send("write_file", &write);
        }
        // So that it comes now before the writes and now between them.
        for _ in 0..(round % 30) * 2000 {
            std::hint::spin_loop();
        }
        let over = root.gc();
        collected += over.len();
        for (n, batch) in all.iter_mut().enumerate() {
            let answer = batch.receive();
            assert_eq!(code(&answer), "", "round {round}: {answer}");
            let now = root.read(None, "t", &format!("/{n}.txt"));
            assert_eq!(now, format!("     1\t{round}"), "round {round}: a write was lost");
        }
        // It goes as a whole, or stays as a whole.
        assert_eq!(root.path("t/old.txt").exists(), over.is_empty(), "round {round}");
    }
    assert!(collected > 0, "the collection never came first");
    drop(all);
    root.directory.check_outside();
}

#[test]
fn one_thread_that_cannot_be_read_does_not_keep_the_others() {
    let root = Root::new();
    for thread in ["a", "b", "c"] {
        root.write(None, thread, "/x", "x");
        root.age(thread);
    }
    // It has no record, and in its place is what is none.
    fs::remove_file(root.path(".handhold/threads/b")).unwrap();
    fs::create_dir(root.path(".handhold/threads/b")).unwrap();
    let set = |path: &str| {
        let dir = fs::File::open(root.path(path)).unwrap();
        dir.set_modified(SystemTime::now() - 2 * HOUR).unwrap();
    };
    set("b/x");
    set("b");
    let failed = runtime().block_on(root.files.gc(None, idle(HOUR), false));
    assert!(failed.is_err(), "{failed:?}");
    let left: Vec<String> = root.list().into_iter().map(|info| info.thread).collect();
    assert_eq!(left, ["b"]);
}

#[test]
fn workspaces_that_are_open_go_on_after_their_thread_has_gone() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    let open = Workspace::shared(Arc::new(root.files.thread(None, "t").unwrap()));
    root.age("t");
    assert_eq!(root.gc(), ["t"]);
    let call = |tool: &str, arguments: serde_json::Value| {
        let call = handhold::ToolCall {
            tool: tool.to_owned(),
            arguments: arguments.to_string(),
            call_id: None,
        };
        runtime().block_on(shared_toolbox().call(&open, call))
    };
    assert_eq!(call("ls", json!({})).text, "The directory / is empty.");
    let written = call("write_file", json!({ "file_path": "/b.txt", "content": "new" }));
    assert_eq!(written.text, "Created /b.txt (3 bytes).");
    assert_eq!(root.read(None, "t", "/b.txt"), "     1\tnew");
}
