//! Processes that are killed half-way, and what they leave behind.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::cli::{Batch, code};
use crate::site::Site;

/// How large the file is that is written.
const SIZE: usize = 20 << 20;

/// How often a process is killed.
const ROUNDS: usize = 50;

/// The size of the draft that is being written; none if there is none.
fn draft_size(tmp: &PathBuf) -> Option<u64> {
    let entry = fs::read_dir(tmp).ok()?.next()?.ok()?;
    Some(entry.metadata().ok()?.len())
}

/// Writes two contents in turn until nobody reads any more.
fn keep_writing(mut stdin: impl Write, lines: &[Vec<u8>]) {
    for line in lines.iter().cycle() {
        if stdin.write_all(line).is_err() {
            return;
        }
    }
}

#[test]
fn a_file_is_wholly_old_or_wholly_new_when_the_process_is_killed() {
    let site = Site::new();
    let tmp = site.directory.root().join(".handhold/tmp");
    let lines: Vec<Vec<u8>> = ["a", "b"]
        .iter()
        .map(|letter| {
            let arguments = json!({ "file_path": "/file.txt", "content": letter.repeat(SIZE) });
            format!("{}\n", json!({ "tool": "write_file", "arguments": arguments })).into_bytes()
        })
        .collect();
    let mut old = vec![b'-'; SIZE];
    site.write("file.txt", &old);
    for round in 0..ROUNDS {
        let mut batch = Batch::start(&site.directory.root(), "", &[]);
        let stdin = batch.take_stdin();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| keep_writing(stdin, &lines));
            // When it is killed: at the first byte, half-way, or when the file gets its name.
            let enough = [0, 1, SIZE as u64 / 2, SIZE as u64][round % 4];
            let mut left = 1 + round % 3;
            while left > 0 {
                while draft_size(&tmp).is_none_or(|size| size < enough) {
                    assert!(!writer.is_finished(), "the process has ended by itself");
                    std::hint::spin_loop();
                }
                left -= 1;
                while left > 0 && draft_size(&tmp).is_some_and(|size| size >= enough) {
                    std::hint::spin_loop();
                }
            }
            batch.kill();
        });
        let now = fs::read(site.inside("file.txt")).unwrap();
        let whole = now.len() == SIZE && now.iter().all(|byte| *byte == now[0]);
        assert!(whole, "round {round}: the file has {} bytes of several kinds", now.len());
        assert!(now == old || matches!(now[0], b'a' | b'b'), "round {round}");
        old = now;
        // What is left is in no workspace.
        assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 1);
        for entry in fs::read_dir(&tmp).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
    // And the next process works.
    let mut batch = Batch::start(&site.directory.root(), "", &[]);
    let write = json!({ "file_path": "/file.txt", "content": "new" });
    assert_eq!(code(&batch.call("write_file", &write)), "");
    assert_eq!(site.read("file.txt"), "new");
    drop(batch);
    site.directory.check_outside();
}

#[test]
fn what_a_killed_process_left_is_seen_by_no_tool_and_does_no_harm() {
    let site = Site::new();
    let tmp = site.directory.root().join(".handhold/tmp");
    fs::create_dir_all(tmp.join("00000000000000000000000000000001/sub")).unwrap();
    let left = tmp.join("00000000000000000000000000000000");
    fs::write(&left, "half-ma").unwrap();
    fs::write(tmp.join("00000000000000000000000000000001/sub/file"), "half-ma").unwrap();
    site.write("file.txt", "whole\n");
    let mut batch = Batch::start(&site.directory.root(), "", &[]);
    for (tool, arguments, wanted) in [
        ("ls", json!({}), "      6 B  /file.txt"),
        ("glob", json!({ "pattern": "**", "include_ignored": true }), "/file.txt"),
        ("grep", json!({ "pattern": "half", "include_ignored": true }), "No matches"),
        ("write_file", json!({ "file_path": "/file.txt", "content": "new\n" }), "Replaced"),
        (
            "edit_file",
            json!({ "file_path": "/file.txt", "old_string": "new", "new_string": "x" }),
            "",
        ),
        ("move_file", json!({ "source": "/file.txt", "destination": "/a/b.txt" }), "Moved"),
        ("delete_file", json!({ "path": "/a", "recursive": true }), "Deleted"),
    ] {
        let answer = batch.call(tool, &arguments);
        assert_eq!(code(&answer), "", "{answer}");
        assert!(answer["text"].as_str().unwrap().starts_with(wanted), "{answer}");
    }
    // What is so new may be another process's at this moment.
    assert_eq!(fs::read_to_string(&left).unwrap(), "half-ma");
}

#[test]
fn locks_of_a_killed_process_are_gone() {
    let site = Site::new();
    site.write("file.txt", "old");
    let content = "x".repeat(SIZE);
    let tmp = site.directory.root().join(".handhold/tmp");
    let write = json!({ "file_path": "/file.txt", "content": content });
    let line = format!("{}\n", json!({ "tool": "write_file", "arguments": write })).into_bytes();
    let mut batch = Batch::start(&site.directory.root(), "", &[]);
    let stdin = batch.take_stdin();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| keep_writing(stdin, &[line]));
        // It holds the lock of the file as long as there is a draft.
        while draft_size(&tmp).is_none() {
            assert!(!writer.is_finished(), "the process has ended by itself");
            std::hint::spin_loop();
        }
        batch.kill();
    });
    let write = json!({ "file_path": "/file.txt", "content": "new" });
    site.call("write_file", write).good();
    assert_eq!(site.read("file.txt"), "new");
}
