//! Two contents never have one version.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::site::Site;

/// How many contents there are.
const ROUNDS: usize = 1000;

fn version(answer: &Value) -> String {
    answer["version"].as_str().unwrap().to_owned()
}

#[test]
fn quick_writes_of_one_size_have_different_versions() {
    let site = Site::new();
    let mut seen = BTreeSet::new();
    for round in 0..ROUNDS {
        for letter in ["a", "b"] {
            let content = format!("{round:04}{letter}");
            let write = json!({ "file_path": "/file.txt", "content": content });
            let written = version(&site.call("write_file", write).good().structured);
            assert!(seen.insert(written), "round {round}{letter} has the version of another");
        }
    }
}

#[test]
fn the_version_of_a_write_is_that_of_the_next_read() {
    let site = Site::new();
    let file = json!({ "file_path": "/file.txt" });
    let mut before = None;
    for round in 0..100 {
        let content = format!("{round:04}\n");
        let write = json!({ "file_path": "/file.txt", "content": content });
        let written = version(&site.call("write_file", write).good().structured);
        let read = version(&site.call("read_file", file.clone()).good().structured);
        assert_eq!(written, read);
        let edit = json!({
            "file_path": "/file.txt", "old_string": "0", "new_string": "1",
            "replace_all": true, "if_version": read,
        });
        let edited = version(&site.call("edit_file", edit).good().structured);
        assert_ne!(edited, written);
        let again = json!({ "file_path": "/file.txt", "if_version": edited });
        let unchanged = site.call("read_file", again).good();
        assert_eq!(unchanged.structured["unchanged"], true, "{}", unchanged.text);
        // What is old stays old.
        let stale = json!({ "file_path": "/file.txt", "content": "", "if_version": written });
        site.call("write_file", stale).failed("conflict");
        if let Some(before) = before.replace(edited) {
            let older = json!({ "file_path": "/file.txt", "if_version": before });
            let read = site.call("read_file", older).good();
            assert!(read.structured["unchanged"].is_null(), "{}", read.text);
        }
    }
}

#[test]
fn an_edit_and_its_reversal_are_two_versions() {
    let site = Site::new();
    site.write("file.txt", "one two\n");
    let mut seen = BTreeSet::new();
    for (old, new) in [("one", "two"), ("two two", "one two")].into_iter().cycle().take(200) {
        let edit = json!({ "file_path": "/file.txt", "old_string": old, "new_string": new });
        let edited = version(&site.call("edit_file", edit).good().structured);
        assert!(seen.insert(edited), "a version came back");
    }
}

#[test]
fn a_file_that_another_takes_the_place_of_has_another_version() {
    let site = Site::new();
    let mut seen = BTreeSet::new();
    for round in 0..200 {
        let other = json!({ "file_path": "/other.txt", "content": format!("{round:04}") });
        site.call("write_file", other).good();
        let onto = json!({ "source": "/other.txt", "destination": "/file.txt", "overwrite": true });
        site.call("move_file", onto).good();
        let read = site.call("read_file", json!({ "file_path": "/file.txt" })).good();
        assert!(seen.insert(version(&read.structured)), "a version came back in round {round}");
    }
}
