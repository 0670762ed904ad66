//! Directories in directories, deeper than a path can be long.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, Mode, OFlags};
use serde_json::json;

use crate::cli::{Batch, code};
use crate::site::Site;

const OPEN_DIR: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A tree that is too deep for the standard library to remove.
struct Deep<'a> {
    site: &'a Site,
}

impl<'a> Deep<'a> {
    /// Makes `deep/d/d/…` with a file at the top and one at the bottom.
    fn new(site: &'a Site, depth: usize) -> Self {
        let deep = Self { site };
        site.write("deep/top.txt", "found\n");
        let mut here: OwnedFd =
            rustix::fs::openat(CWD, site.inside("deep"), OPEN_DIR, Mode::empty()).unwrap();
        for _ in 0..depth {
            rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
            here = rustix::fs::openat(&here, "d", OPEN_DIR, Mode::empty()).unwrap();
        }
        let flags = OFlags::CREATE | OFlags::WRONLY;
        drop(rustix::fs::openat(&here, "bottom.txt", flags, Mode::RUSR | Mode::WUSR).unwrap());
        deep
    }
}

impl Drop for Deep<'_> {
    fn drop(&mut self) {
        // Nothing of it is left, unless the test has failed.
        for dir in ["default/deep", ".handhold/tmp"] {
            let dir = self.site.directory.root().join(dir);
            if Path::new(&dir).exists() {
                drop(Command::new("rm").arg("-rf").arg("--").arg(dir).status());
            }
        }
    }
}

#[test]
fn a_walk_through_a_tree_deeper_than_any_path_ends_and_says_what_it_missed() {
    let site = Site::new();
    let _deep = Deep::new(&site, 5000);
    site.write("other.txt", "found\n");
    let glob = site.call("glob", json!({ "pattern": "*.txt" })).good();
    assert_eq!(glob.list("files"), ["/deep/top.txt", "/other.txt"]);
    assert_eq!(glob.structured["total_is_exact"], false, "the bottom was missed in silence");
    assert!(glob.text.contains("could not be read"), "{}", glob.text);
    let grep = site.call("grep", json!({ "pattern": "found" })).good();
    assert_eq!(grep.list("files"), ["/deep/top.txt", "/other.txt"]);
    assert_eq!(grep.structured["total_is_exact"], false, "the bottom was missed in silence");
}

#[test]
fn a_tree_deeper_than_any_path_is_deleted_with_few_descriptors() {
    for depth in [3000, 5000] {
        let site = Site::new();
        let _deep = Deep::new(&site, depth);
        let mut batch = Batch::start(&site.directory.root(), "ulimit -n 64", &[]);
        let removed = batch.call("delete_file", &json!({ "path": "/deep", "recursive": true }));
        assert_eq!(code(&removed), "", "{removed}");
        assert_eq!(removed["structured"]["files"], 2);
        assert_eq!(removed["structured"]["directories"], depth + 1);
        assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 0);
        site.directory.check_outside();
    }
}

#[test]
fn walks_and_calls_at_any_depth_that_a_path_can_name_need_few_descriptors() {
    let site = Site::new();
    let depth = 1500;
    let _deep = Deep::new(&site, depth);
    let mut batch = Batch::start(&site.directory.root(), "ulimit -n 64", &[]);
    let glob = batch.call("glob", &json!({ "pattern": "*.txt" }));
    assert_eq!(glob["structured"]["total"], 2, "{}", glob["text"]);
    assert_eq!(glob["structured"]["total_is_exact"], true);
    // What one tool prints, the others take.
    let bottom = glob["structured"]["files"][0].as_str().unwrap().to_owned();
    assert_eq!(bottom.len(), "/deep/bottom.txt".len() + 2 * depth);
    for (tool, arguments) in [
        ("write_file", json!({ "file_path": bottom, "content": "found\n" })),
        ("read_file", json!({ "file_path": bottom })),
        ("edit_file", json!({ "file_path": bottom, "old_string": "f", "new_string": "F" })),
        ("grep", json!({ "path": bottom, "pattern": "Found" })),
        ("ls", json!({ "path": bottom })),
        ("move_file", json!({ "source": bottom, "destination": format!("{bottom}.2") })),
        ("delete_file", json!({ "path": format!("{bottom}.2") })),
    ] {
        let answer = batch.call(tool, &arguments);
        // However deep a path is, resolving it holds two directories open.
        assert_eq!(code(&answer), "", "{tool}: {}", answer["structured"]["error"]["code"]);
    }
    let removed = batch.call("delete_file", &json!({ "path": "/deep", "recursive": true }));
    assert_eq!(code(&removed), "", "{removed}");
}
