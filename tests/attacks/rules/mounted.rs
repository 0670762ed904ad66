//! Rules and shared directories in one another: a rule is about where something is seen, and both
//! ends of a move count.

use handhold::backends::Rule;
use handhold::{Policy, SharedDirectory};
use handhold_conformance::scratch_dir;
use handhold_conformance::world::CANARY;
use serde_json::json;
use tempfile::TempDir;

use super::{BOTH, WRITE, allow, deleted, deny, moved, reads, writes};
use crate::site::{Site, facts, plant};

/// A workspace with shared directories: where each is shown, and whether it is read only.
fn shared(base: &TempDir, mounts: &[(&str, bool)], rules: Vec<Rule>) -> Site {
    let shared = |(n, (path, read_only)): (usize, &(&str, bool))| {
        let dir = base.path().join(n.to_string());
        plant(&dir, if rules_hide(path) { CANARY } else { "inside" });
        SharedDirectory { path: (*path).to_owned(), dir, read_only: *read_only }
    };
    let mounts = mounts.iter().enumerate().map(shared).collect();
    Site::with(Policy { mounts, rules, ..Policy::default() })
}

fn rules_hide(path: &str) -> bool {
    path.starts_with("/a/")
}

#[test]
fn a_rule_about_a_directory_holds_for_what_is_mounted_in_it() {
    let base = tempfile::tempdir_in(scratch_dir()).unwrap();
    let mounts = [("/a/b", false), ("/mnt/ro", true), ("/mnt/rw", false)];
    let rules = vec![deny(BOTH, &["/a/**"]), deny(WRITE, &["/mnt/rw/sub/**"])];
    let site = shared(&base, &mounts, rules);
    site.write("own.txt", "inside");
    let before = facts(base.path());
    for path in ["/a", "/a/b", "/a/b/file.txt", "/mnt/ro/../../a/b/sub", "/a/b/none"] {
        for (tool, call) in reads(path) {
            site.call(tool, call).failed("not-found");
        }
        for (tool, call) in writes(path) {
            site.call(tool, call).failed("not-permitted");
        }
        for (tool, call) in [moved(path, "/got"), moved("/own.txt", path), deleted(path)] {
            site.call(tool, call).failed("not-permitted");
        }
        for there in ["/mnt/rw/got", "/mnt/rw/file.txt"] {
            let (tool, call) = moved(path, there);
            site.call(tool, call).failed("not-permitted");
            let (tool, call) = moved("/mnt/rw/file.txt", path);
            site.call(tool, call).failed("not-permitted");
        }
    }
    assert_eq!(site.call("ls", json!({})).good().structured["total"], 2);
    let found = site.call("glob", json!({ "pattern": "**/file.txt" })).good();
    assert_eq!(found.list("files"), ["/mnt/ro/file.txt", "/mnt/rw/file.txt"]);
    for (tool, call) in [
        moved("/mnt/rw/sub/inner.txt", "/got"),
        moved("/own.txt", "/mnt/rw/sub/got"),
        moved("/mnt/rw/sub", "/mnt/rw/got"),
        moved("/mnt/ro/file.txt", "/got"),
        deleted("/mnt/rw/sub"),
    ] {
        site.call(tool, call).failed("not-permitted");
    }
    assert_eq!(facts(base.path()), before, "something shared was changed");
    // The rights are those of where a path leads, and not of where it comes from.
    for (tool, call) in writes("/mnt/ro/../rw/new.txt").into_iter().take(1) {
        site.call(tool, call).good();
    }
    assert_eq!(site.read("own.txt"), "inside");
}

#[test]
fn what_is_mounted_can_be_the_exception() {
    let base = tempfile::tempdir_in(scratch_dir()).unwrap();
    let rules = vec![allow(BOTH, &["/way/in/**"]), deny(BOTH, &["/way/**"])];
    let site = shared(&base, &[("/way/in", false)], rules);
    plant(&site.inside("way"), CANARY);
    let before = facts(&site.inside("way"));
    assert_eq!(site.call("ls", json!({})).good().text, "        -  /way/");
    assert_eq!(site.call("ls", json!({ "path": "/way" })).good().text, "        -  /way/in/");
    let found = site.call("grep", json!({ "pattern": "one|two" })).good();
    assert_eq!(found.list("files"), ["/way/in/file.txt", "/way/in/sub/inner.txt"]);
    for path in ["/way/file.txt", "/way/sub", "/way/in/../file.txt"] {
        for (tool, call) in reads(path) {
            site.call(tool, call).failed("not-found");
        }
        for (tool, call) in
            [moved(path, "/way/in/got"), moved("/way/in/file.txt", path), deleted(path)]
        {
            site.call(tool, call).failed("not-permitted");
        }
    }
    let (tool, call) = moved("/way/in/file.txt", "/way/in/sub/new/got");
    site.call(tool, call).good();
    let (tool, call) = deleted("/way");
    site.call(tool, call).failed("not-permitted");
    assert_eq!(facts(&site.inside("way")), before);
}
