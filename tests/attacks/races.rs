//! Directories and files that are exchanged for links while tools use them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use handhold_conformance::world::CANARY;
use serde_json::{Value, json};

use crate::site::{Site, facts, plant};

/// What a search finds in canaries, and only there; not all of it, since answers repeat it.
const BAIT: &str = "NARY";

fn directory(place: &Path) {
    plant(place, "inside");
}

fn file(place: &Path) {
    fs::write(place, "inside\n").unwrap();
}

/// Fails unless a call works on what is inside, and the way out is open to who would take it.
fn check_the_bait(site: &Site, path: &str, target: &str, calls: &[(&str, Value)]) {
    let place = site.inside(path);
    let through = if target.is_empty() { place.join("file.txt") } else { place.clone() };
    symlink(site.canary().join(target), &place).unwrap();
    assert!(fs::read_to_string(through).unwrap().contains(CANARY), "the bait is no bait");
    for (tool, arguments) in calls {
        site.call(tool, arguments.clone()).failed("not-permitted");
    }
    fs::remove_file(place).unwrap();
}

/// Calls while what is at `path` is exchanged for links to `target`: nothing there is read or
/// changed.
fn race(site: &Site, path: &str, target: &str, make: fn(&Path), calls: &[(&str, Value)]) {
    let before = facts(&site.canary());
    let place = site.inside(path);
    site.race(|| site.swap_with_links(&place, target, make), calls);
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
    site.check_inside();
    site.directory.check_outside();
}

#[test]
fn a_parent_that_becomes_a_link_is_never_read_through() {
    let site = Site::new();
    let named = [
        ("read_file", json!({ "file_path": "/dir/file.txt" })),
        ("ls", json!({ "path": "/dir/sub" })),
        ("grep", json!({ "pattern": BAIT, "path": "/dir" })),
        ("glob", json!({ "pattern": "**", "path": "/dir" })),
        ("read_file", json!({ "file_path": "/dir/sub/inner.txt" })),
        ("ls", json!({ "path": "/dir" })),
        (
            "grep",
            json!({ "pattern": BAIT, "path": "/dir/sub/inner.txt", "output_mode": "content" }),
        ),
        ("glob", json!({ "pattern": "*.txt", "path": "/dir/sub", "sort": "modified" })),
    ];
    check_the_bait(&site, "dir", "", &named);
    directory(&site.inside("dir"));
    for (tool, arguments) in &named {
        site.call(tool, arguments.clone()).good();
    }
    let whole = [
        ("grep", json!({ "pattern": BAIT, "output_mode": "content", "-C": 2 })),
        ("glob", json!({ "pattern": "**/*" })),
        ("glob", json!({ "pattern": "/dir/CANAR?.txt" })),
        ("grep", json!({ "pattern": BAIT, "glob": "/dir/file.txt", "output_mode": "content" })),
    ];
    let calls: Vec<_> = named.into_iter().chain(whole).collect();
    race(&site, "dir", "", directory, &calls);
}

#[test]
fn a_parent_that_becomes_a_link_is_never_written_through() {
    let site = Site::new();
    let named = [
        ("write_file", json!({ "file_path": "/dir/file.txt", "content": "inside one\n" })),
        ("write_file", json!({ "file_path": "/dir/a/b/c.txt", "content": "inside\n" })),
        (
            "edit_file",
            json!({ "file_path": "/dir/file.txt", "old_string": BAIT, "new_string": "" }),
        ),
        (
            "write_file",
            json!({ "file_path": "/dir/file.txt", "content": "more\n", "mode": "append" }),
        ),
        (
            "edit_file",
            json!({ "file_path": "/dir/file.txt", "old_string": "one", "new_string": "two" }),
        ),
        ("write_file", json!({ "file_path": "/dir/sub/new.txt", "content": "", "mode": "create" })),
    ];
    check_the_bait(&site, "dir", "", &named);
    race(&site, "dir", "", directory, &named);
}

#[test]
fn a_parent_that_becomes_a_link_is_never_deleted_or_moved_through() {
    let site = Site::new();
    site.write("plain.txt", "inside\n");
    let named = [
        ("delete_file", json!({ "path": "/dir/file.txt" })),
        ("delete_file", json!({ "path": "/dir/sub", "recursive": true })),
        ("move_file", json!({ "source": "/dir/file.txt", "destination": "/taken.txt" })),
        ("move_file", json!({ "source": "/dir/sub", "destination": "/taken" })),
        (
            "move_file",
            json!({ "source": "/plain.txt", "destination": "/dir/file.txt", "overwrite": true }),
        ),
        ("move_file", json!({ "source": "/plain.txt", "destination": "/dir/a/b.txt" })),
    ];
    check_the_bait(&site, "dir", "", &named);
    // What was moved is brought back, and the link itself may be moved and deleted.
    let others = [
        ("write_file", json!({ "file_path": "/plain.txt", "content": "inside\n" })),
        ("delete_file", json!({ "path": "/taken", "recursive": true })),
        ("delete_file", json!({ "path": "/taken.txt" })),
        ("delete_file", json!({ "path": "/dir", "recursive": true })),
        ("move_file", json!({ "source": "/dir", "destination": "/other/dir" })),
        ("delete_file", json!({ "path": "/other", "recursive": true })),
    ];
    let calls: Vec<_> = named.into_iter().chain(others).collect();
    race(&site, "dir", "", directory, &calls);
}

#[test]
fn a_file_that_becomes_a_link_is_never_followed_out() {
    let site = Site::new();
    let named = [
        ("read_file", json!({ "file_path": "/file.txt" })),
        ("write_file", json!({ "file_path": "/file.txt", "content": "inside\n" })),
        ("grep", json!({ "pattern": BAIT, "path": "/file.txt", "output_mode": "content" })),
        ("edit_file", json!({ "file_path": "/file.txt", "old_string": BAIT, "new_string": "x" })),
        ("write_file", json!({ "file_path": "/file.txt", "content": "+", "mode": "append" })),
    ];
    check_the_bait(&site, "file.txt", "file.txt", &named);
    let others = [
        ("ls", json!({ "path": "/" })),
        ("move_file", json!({ "source": "/file.txt", "destination": "/moved.txt" })),
        ("read_file", json!({ "file_path": "/moved.txt" })),
        ("delete_file", json!({ "path": "/moved.txt" })),
        ("grep", json!({ "pattern": BAIT, "output_mode": "content" })),
        ("delete_file", json!({ "path": "/file.txt" })),
        ("write_file", json!({ "file_path": "/new.txt", "content": "inside\n" })),
        (
            "move_file",
            json!({ "source": "/new.txt", "destination": "/file.txt", "overwrite": true }),
        ),
    ];
    let calls: Vec<_> = named.into_iter().chain(others).collect();
    race(&site, "file.txt", "file.txt", file, &calls);
}

#[test]
fn a_walk_stays_inside_and_misses_nothing_else_when_a_directory_becomes_a_link() {
    let site = Site::new();
    for dir in 0..40 {
        for file in 0..4 {
            site.write(&format!("tree/d{dir:02}/f{file}.txt"), "stays\n");
        }
    }
    let place = site.inside("tree/d20");
    // Everything but the directory that is exchanged.
    let wanted = 39 * 4;
    let before = facts(&site.canary());
    site.race_and_check(
        || site.swap_with_links(&place, "", directory),
        &[
            ("glob", json!({ "pattern": "f?.txt", "path": "/tree" })),
            ("grep", json!({ "pattern": "stays|NARY", "path": "/tree", "head_limit": 0 })),
            ("glob", json!({ "pattern": "tree/*/f*" })),
            ("grep", json!({ "pattern": "stays|NARY", "output_mode": "count" })),
        ],
        |tool, answer| {
            assert_eq!(answer.code, None, "{}", answer.text);
            let key = if tool == "grep" && answer.structured["files"].is_null() {
                "counts"
            } else {
                "files"
            };
            let found = answer.structured[key].as_array().unwrap();
            let stable = found.iter().filter(|item| !item.to_string().contains("/d20/")).count();
            assert_eq!(stable, wanted, "{}", answer.text);
        },
    );
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
}

#[test]
fn a_directory_that_is_moved_up_does_not_take_a_link_upwards_out_of_the_workspace() {
    let site = Site::new();
    // From the deep place the link leads to a file inside, from the high one outside.
    fs::write(site.base("top.txt"), CANARY).unwrap();
    site.write("top.txt", "inside\n");
    site.write("a/b/c/x.txt", "inside\n");
    symlink("../../../top.txt", site.inside("a/b/c/up")).unwrap();
    let (deep, high) = (site.inside("a/b/c"), site.inside("c"));
    let calls = [
        ("read_file", json!({ "file_path": "/a/b/c/up" })),
        ("write_file", json!({ "file_path": "/a/b/c/up", "content": "inside\n" })),
        ("grep", json!({ "pattern": BAIT, "path": "/c/up" })),
        ("edit_file", json!({ "file_path": "/c/up", "old_string": BAIT, "new_string": "x" })),
    ];
    for (_, arguments) in &calls[..2] {
        site.call("read_file", json!({ "file_path": arguments["file_path"] })).good();
    }
    site.race(
        || {
            drop(fs::rename(&deep, &high));
            if fs::rename(&high, &deep).is_err() {
                // A write has made a directory there meanwhile.
                drop(fs::remove_dir_all(&deep));
            }
        },
        &calls,
    );
    assert_eq!(fs::read_to_string(site.base("top.txt")).unwrap(), CANARY);
    site.check_inside();
}
