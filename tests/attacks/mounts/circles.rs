//! Links that lead around in a circle, or from one shared directory to another.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::SHARED;
use crate::site::{Site, plant};

#[test]
fn links_in_circles_between_mounts_end() {
    // A thread that is shared with itself is a circle too.
    let site = Site::with_mounts(&[
        ("/ro", "shared", true),
        ("/notes", "notes", false),
        ("/own", "root/default", false),
    ]);
    plant(&site.base("shared"), SHARED);
    plant(&site.base("notes"), "inside");
    plant(&site.inside(""), "own");
    for (place, target) in [
        ("notes/to-shared", "../shared"),
        ("shared/to-notes", "../notes"),
        ("notes/self", "."),
        ("notes/sub/up", ".."),
        ("notes/loop", "pool"),
        ("notes/pool", "loop"),
        ("root/default/to-own", "own"),
        ("root/default/up", "../../root"),
    ] {
        symlink(target, site.base(place)).unwrap();
    }
    let code = |path: &str| site.call("read_file", json!({ "file_path": path })).code;
    assert_eq!(code("/notes/loop").as_deref(), Some("invalid-path"));
    assert_eq!(code("/notes/to-shared/to-notes/file.txt").as_deref(), Some("not-permitted"));
    assert_eq!(code("/own/up/default/file.txt").as_deref(), Some("not-permitted"));
    assert_eq!(code("/own/own/file.txt").as_deref(), Some("not-found"));
    assert_eq!(code("/to-own/file.txt").as_deref(), Some("not-found"));
    assert_eq!(code(&format!("/notes/{}file.txt", "sub/up/".repeat(5))), None);
    let around = format!("/notes/{}file.txt", "self/".repeat(50));
    assert_eq!(code(&around).as_deref(), Some("invalid-path"));
    let files = ["/file.txt", "/sub/inner.txt"];
    let all: Vec<String> = ["", "/notes", "/own", "/ro"]
        .iter()
        .flat_map(|at| files.iter().map(move |file| format!("{at}{file}")))
        .collect();
    let mut sorted = all.clone();
    sorted.sort();
    let found = site.call("glob", json!({ "pattern": "**" })).good();
    assert_eq!(found.list("files"), sorted);
    let found = site.call("grep", json!({ "pattern": "one|two" })).good();
    assert_eq!(found.list("files"), sorted);
}
