//! Directories of a mount that are exchanged for links while tools use them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use handhold_conformance::world::CANARY;
use serde_json::{Value, json};

use super::{SHARED, moved, site};
use crate::site::{facts, plant};

/// Calls that go through `/notes/dir`.
fn through() -> Vec<(&'static str, Value)> {
    let write =
        |path: &str, mode: &str| json!({ "file_path": path, "content": "inside\n", "mode": mode });
    vec![
        ("read_file", json!({ "file_path": "/notes/dir/file.txt" })),
        ("ls", json!({ "path": "/notes/dir" })),
        ("grep", json!({ "pattern": "HARE|NARY", "path": "/notes/dir", "output_mode": "content" })),
        ("glob", json!({ "pattern": "**", "path": "/notes/dir" })),
        ("write_file", write("/notes/dir/file.txt", "overwrite")),
        ("write_file", write("/notes/dir/new/a.txt", "overwrite")),
        ("write_file", write("/notes/dir/sub/inner.txt", "append")),
        (
            "edit_file",
            json!({ "file_path": "/notes/dir/file.txt", "old_string": "in", "new_string": "In" }),
        ),
        ("move_file", moved("/notes/dir/file.txt", "/got")),
        ("move_file", moved("/notes/dir/file.txt", "/rw/../notes/got")),
        ("move_file", moved("/own.txt", "/notes/dir/own.txt")),
        ("delete_file", json!({ "path": "/notes/dir/sub", "recursive": true })),
    ]
}

/// The same, and calls that make what they need anew.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = through();
    calls.extend([
        ("grep", json!({ "pattern": "HARE|NARY", "path": "/notes", "output_mode": "content" })),
        ("write_file", json!({ "file_path": "/own.txt", "content": "own" })),
        ("delete_file", json!({ "path": "/notes/dir", "recursive": true })),
    ]);
    calls
}

#[test]
fn a_directory_of_a_mount_that_becomes_a_link_leads_nowhere() {
    let site = site();
    site.write("own.txt", "own");
    let place = site.base("notes/dir");
    let outside = [site.canary(), "../canary".into(), "../shared".into(), "../root".into()];
    for target in &outside {
        symlink(target, &place).unwrap();
        for (tool, arguments) in through() {
            site.call(tool, arguments).failed("not-permitted");
        }
        fs::remove_file(&place).unwrap();
    }
    let before = [facts(&site.canary()), facts(&site.base("shared"))];
    let directory = |new: &Path| plant(new, "inside");
    let [one, two, three, four] =
        outside.map(|target| move |new: &Path| symlink(&target, new).unwrap());
    let attack = || {
        let makers: [&dyn Fn(&Path); 7] =
            [&one, &directory, &two, &directory, &three, &directory, &four];
        site.swap(&place, &makers);
    };
    site.race_and_check(attack, &calls(), |tool, answer| {
        assert!(!answer.text.contains(SHARED), "{tool}: {}", answer.text);
    });
    assert_eq!(facts(&site.canary()), before[0], "the outside was changed");
    assert_eq!(facts(&site.base("shared")), before[1], "another shared directory was changed");
    site.check_inside();
    for (path, facts) in facts(&site.base("notes")) {
        let text = String::from_utf8_lossy(&facts.content).into_owned();
        assert!(!text.contains(SHARED) && !text.contains(CANARY), "{}", path.display());
    }
    site.directory.check_outside();
}

#[test]
fn a_shared_directory_that_becomes_a_link_is_not_used() {
    let site = site();
    let before = facts(&site.canary());
    let link = |new: &Path| symlink("canary", new).unwrap();
    let directory = |new: &Path| plant(&new.join("dir"), "inside");
    let attack = || site.swap(&site.base("notes"), &[&link, &directory]);
    site.race(attack, &calls());
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
    site.check_inside();
    site.directory.check_outside();
}
