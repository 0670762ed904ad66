//! Trees that change while they are deleted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags};
use serde_json::json;

use crate::site::{Site, facts, plant};

fn directory(place: &Path) {
    plant(place, "inside");
}

#[test]
fn a_tree_that_becomes_a_link_is_never_deleted_through_it() {
    let site = Site::new();
    let place = site.inside("tree");
    let before = facts(&site.canary());
    let delete = json!({ "path": "/tree", "recursive": true });
    site.race(
        || site.swap_with_links(&place, "", directory),
        &[("delete_file", delete.clone()), ("delete_file", delete)],
    );
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
    site.directory.check_outside();
}

#[test]
fn a_part_of_a_tree_that_becomes_a_link_is_never_deleted_through() {
    let site = Site::new();
    let place = site.inside("tree/b/c");
    let before = facts(&site.canary());
    site.race(
        || {
            drop(fs::create_dir_all(site.inside("tree/b")));
            site.swap_with_links(&place, "", directory);
            drop(fs::create_dir_all(site.inside("tree/d/e")));
        },
        &[
            ("delete_file", json!({ "path": "/tree", "recursive": true })),
            ("delete_file", json!({ "path": "/tree/b", "recursive": true })),
            ("delete_file", json!({ "path": "/tree/b/c", "recursive": true })),
            ("delete_file", json!({ "path": "/tree/b/c/file.txt" })),
            ("move_file", json!({ "source": "/tree/b", "destination": "/tree/d/e/f" })),
        ],
    );
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
    site.directory.check_outside();
}

/// How many directories the tree has that is changed by one who keeps it open.
const PARTS: usize = 6;

/// How often he exchanges each of them for a link.
const ROUNDS: usize = 200;

#[test]
fn a_tree_that_somebody_keeps_open_is_never_deleted_through_what_he_puts_there() {
    let site = Site::new();
    let before = facts(&site.canary());
    let links: Vec<_> = (0..PARTS).map(|part| site.base(&format!("stage/link{part}"))).collect();
    let names: Vec<_> = (0..PARTS).map(|part| format!("s{part}")).collect();
    let delete = json!({ "path": "/tree", "recursive": true });
    site.race(
        || {
            let new = site.base("stage/tree");
            for (link, name) in links.iter().zip(&names) {
                // What is there is a link still, or a directory that was saved.
                drop(fs::remove_dir(link));
                drop(symlink(site.canary(), link));
                drop(fs::create_dir_all(new.join(name)));
            }
            let Ok(open) = fs::File::open(&new) else { return };
            drop(fs::rename(&new, site.inside("tree")));
            // Wherever it has been moved, the open directory leads to it still.
            for _ in 0..ROUNDS {
                for (link, name) in links.iter().zip(&names) {
                    let exchange = RenameFlags::EXCHANGE;
                    let _ = rustix::fs::renameat_with(CWD, link, &open, name, exchange);
                }
            }
        },
        &[("delete_file", delete.clone()), ("delete_file", delete)],
    );
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
}

/// How many files a tree has, so that taking it apart takes a while.
const FILES: usize = 300;

#[test]
fn a_write_into_a_tree_that_is_being_deleted_leaves_nothing_behind() {
    let site = Site::new();
    site.write("file.txt", "x");
    let stage = site.base("stage/tree");
    let write = json!({ "file_path": "/tree/file.txt", "content": "x" });
    let inner = json!({ "file_path": "/tree/sub/file.txt", "content": "x" });
    let delete = json!({ "path": "/tree", "recursive": true });
    site.race_and_check(
        || {
            drop(fs::create_dir_all(stage.join("sub")));
            for n in 0..FILES {
                drop(fs::hard_link(site.inside("file.txt"), stage.join(format!("{n}.txt"))));
            }
            drop(fs::rename(&stage, site.inside("tree")));
        },
        &[
            ("write_file", write.clone()),
            ("write_file", inner.clone()),
            ("write_file", write),
            ("write_file", inner),
            ("delete_file", delete.clone()),
            ("delete_file", delete.clone()),
            ("delete_file", delete.clone()),
            ("delete_file", delete.clone()),
        ],
        |_, answer| {
            let code = answer.code.as_deref();
            assert!(matches!(code, None | Some("not-found" | "unavailable")), "{}", answer.text);
        },
    );
    let last = site.call("delete_file", delete);
    assert!(matches!(last.code.as_deref(), None | Some("not-found")), "{}", last.text);
    assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 1);
    // A write that had found its directory before the removal may put its file in afterwards.
    site.directory.check_outside();
}
