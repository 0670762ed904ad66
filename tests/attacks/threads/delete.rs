//! The end of a thread that somebody wants.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use handhold::backend::{Backend, Condition};
use handhold_conformance::{binary, runtime};
use serde_json::json;

use super::Root;
use crate::cli::code;
use crate::site::{facts, plant};

#[test]
fn links_are_removed_and_not_followed() {
    let root = Root::new();
    let canary = root.directory.base().join("canary");
    plant(&canary, "CANARY");
    root.write(None, "t", "/sub/deep/a.txt", "text");
    for dir in ["t", "t/sub", "t/sub/deep"] {
        for (name, target) in
            [("dir", canary.clone()), ("file", canary.join("file.txt")), ("up", "..".into())]
        {
            symlink(target, root.path(dir).join(name)).unwrap();
        }
    }
    fs::hard_link(canary.join("file.txt"), root.path("t/hard")).unwrap();
    let content = |facts: &std::collections::BTreeMap<_, crate::site::Facts>| {
        facts.values().map(|facts| (facts.mode, facts.content.clone())).collect::<Vec<_>>()
    };
    let before = content(&facts(&canary));
    root.delete("t");
    assert_eq!(content(&facts(&canary)), before);
    assert!(!root.path("t").exists());
    root.directory.check_outside();
}

#[test]
fn a_link_in_the_place_of_a_thread_is_no_thread() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    let canary = root.directory.base().join("canary");
    plant(&canary, "CANARY");
    fs::remove_dir_all(root.path("t")).unwrap();
    symlink(&canary, root.path("t")).unwrap();
    let before = facts(&canary);
    assert!(runtime().block_on(root.files.delete(None, "t")).is_err());
    for (tool, arguments) in [
        ("read_file", json!({ "file_path": "/file.txt" })),
        ("write_file", json!({ "file_path": "/new.txt", "content": "x" })),
        ("delete_file", json!({ "path": "/file.txt" })),
    ] {
        let answer = root.call(None, "t", tool, arguments);
        assert_ne!(code(&answer), "", "{answer}");
        assert!(!answer["text"].as_str().unwrap().contains("CANARY"));
    }
    assert_eq!(facts(&canary), before);
    assert!(root.list().is_empty());
}

#[test]
fn tenants_do_not_delete_for_each_other() {
    let root = Root::new();
    for tenant in [None, Some("a"), Some("b")] {
        root.write(tenant, "t", "/who.txt", &format!("{tenant:?}"));
    }
    runtime().block_on(root.files.delete(Some("a"), "t")).unwrap();
    assert!(runtime().block_on(root.files.delete(Some("a"), "t")).is_err());
    for thread in ["../b/t", ".tenants/b/t", "b@t", "../../t"] {
        assert!(runtime().block_on(root.files.delete(Some("a"), thread)).is_err());
        assert!(runtime().block_on(root.files.delete(None, thread)).is_err());
    }
    for tenant in [None, Some("b")] {
        assert_eq!(root.read(tenant, "t", "/who.txt"), format!("     1\t{tenant:?}"));
    }
    let over = super::idle(std::time::Duration::ZERO);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let gone = runtime().block_on(root.files.gc(Some("b"), over, false)).unwrap();
    assert_eq!(gone.len(), 1);
    assert_eq!(root.read(None, "t", "/who.txt"), "     1\tNone");
}

#[test]
fn a_draft_of_a_deleted_thread_is_published_to_the_next() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    let thread = root.files.thread(None, "t").unwrap();
    let mut draft = runtime().block_on(thread.draft("/results")).unwrap();
    runtime().block_on(draft.push(b"late".to_vec())).unwrap();
    root.delete("t");
    runtime().block_on(draft.publish("x", Condition::Absent)).unwrap();
    let found = root.call(None, "t", "glob", json!({ "pattern": "**" }));
    assert_eq!(found["text"], "/results/x");
    assert_eq!(root.list().len(), 1);
}

#[test]
fn a_deletion_that_is_killed_has_happened_or_not() {
    const FILES: usize = 4000;
    const ROUNDS: usize = 6;
    let root = Root::new();
    let tmp = root.path(".handhold/tmp");
    let mut cut_off = 0;
    for round in 0..ROUNDS {
        root.write(None, "t", "/first.txt", "text");
        for n in 0..FILES {
            let dir = root.path(&format!("t/d{}", n % 40));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(format!("{n}")), "x").unwrap();
        }
        let mut child = Command::new(binary())
            .args(["threads", "delete", "--thread", "t", "--root"])
            .arg(root.directory.root())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // It is killed as soon as the thread has left, or a little later.
        let mut left = round * 2;
        loop {
            let has_left = fs::read_dir(&tmp).unwrap().count() > 0;
            if has_left && left == 0 || child.try_wait().unwrap().is_some() {
                break;
            }
            left = left.saturating_sub(usize::from(has_left));
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        cut_off += usize::from(fs::read_dir(&tmp).unwrap().count() > 0);
        // It is gone, or all is there.
        match &root.list()[..] {
            [] => assert!(!root.path("t").exists()),
            [info] => assert_eq!(info.files, 1 + 40 + FILES as u64),
            more => panic!("{more:?}"),
        }
        // What is left is seen by nobody, and the next thread of this id begins empty.
        if !root.path("t").exists() {
            let listed = root.call(None, "t", "ls", json!({}));
            assert_eq!(listed["text"], "The directory / is empty.");
            assert!(runtime().block_on(root.files.delete(None, "t")).is_err());
            assert!(!root.path(".handhold/threads/t").exists(), "a record was left");
            root.write(None, "t", "/new.txt", "new");
            assert_eq!(root.list()[0].files, 1);
        }
        root.delete("t");
        for entry in fs::read_dir(&tmp).unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
    }
    assert!(cut_off > 0, "no deletion was cut off");
}
