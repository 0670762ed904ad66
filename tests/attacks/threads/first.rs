//! Threads that are new.

use std::sync::Arc;

use handhold_conformance::runtime;
use serde_json::json;
use tokio::sync::Barrier;

use super::{Root, ask};
use crate::cli::{Batch, code};

#[test]
fn looking_at_a_new_thread_is_no_failure_and_makes_nothing() {
    let root = Root::new();
    for (tool, arguments, wanted) in [
        ("ls", json!({ "path": "/" }), ""),
        ("glob", json!({ "pattern": "**" }), ""),
        ("grep", json!({ "pattern": "x" }), ""),
        ("read_file", json!({ "file_path": "a" }), "not-found"),
        ("delete_file", json!({ "path": "a" }), "not-found"),
        ("move_file", json!({ "source": "a", "destination": "b" }), "not-found"),
    ] {
        let answer = root.call(Some("acme"), "new", tool, arguments);
        assert_eq!(code(&answer), wanted, "{answer}");
        assert!(!root.directory.root().exists(), "{tool} has made something");
    }
    // Nor does it if others are there.
    root.write(None, "other", "/x", "x");
    for (tool, arguments) in [
        ("ls", json!({})),
        ("grep", json!({ "pattern": "x" })),
        ("glob", json!({ "pattern": "*" })),
    ] {
        assert_eq!(code(&root.call(None, "new", tool, arguments)), "");
    }
    assert!(!root.path("new").exists() && !root.path(".handhold/threads/new").exists());
    assert_eq!(root.list().len(), 1);
}

#[test]
fn first_writes_at_the_same_time_all_succeed() {
    const WRITERS: usize = 8;
    for round in 0..10 {
        let root = Root::new();
        runtime().block_on(async {
            let start = Arc::new(Barrier::new(WRITERS));
            let tasks: Vec<_> = (0..WRITERS)
                .map(|n| {
                    // Each has a root of its own, as if it were another process.
                    let (files, start) = (root.other(), Arc::clone(&start));
                    tokio::spawn(async move {
                        let write = json!({ "file_path": format!("/d/{n}"), "content": "x" });
                        start.wait().await;
                        ask(&files, Some("acme"), "new", "write_file", write).await
                    })
                })
                .collect();
            for task in tasks {
                let answer = task.await.unwrap();
                assert_eq!(code(&answer), "", "round {round}: {answer}");
            }
        });
        let [info] = &root.list()[..] else { panic!("{:?}", root.list()) };
        assert_eq!((info.files, info.bytes), (1 + WRITERS as u64, WRITERS as u64));
        root.directory.check_outside();
    }
}

#[test]
fn first_writes_of_several_processes_all_succeed() {
    const ROUNDS: usize = 5;
    for round in 0..ROUNDS {
        let root = Root::new();
        let options = ["--tenant", "acme", "--thread", "new"];
        let mut all: Vec<Batch> =
            (0..3).map(|_| Batch::start(&root.directory.root(), "", &options)).collect();
        for batch in &mut all {
            // Now all are ready, and nothing is there.
            assert_eq!(code(&batch.call("ls", &json!({}))), "");
        }
        assert!(!root.directory.root().exists());
        for (n, batch) in all.iter_mut().enumerate() {
            batch.send("write_file", &json!({ "file_path": format!("/d/{n}"), "content": "x" }));
        }
        for batch in &mut all {
            let answer = batch.receive();
            assert_eq!(code(&answer), "", "round {round}: {answer}");
        }
        drop(all);
        assert_eq!(root.list().iter().map(|info| info.files).collect::<Vec<_>>(), [4]);
    }
}
