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
const PARTS: usize = 30;

/// How often he goes through them.
const ROUNDS: usize = 20;

#[test]
fn a_tree_that_somebody_keeps_open_is_never_deleted_through_what_he_puts_there() {
    let site = Site::new();
    let before = facts(&site.canary());
    for part in 0..PARTS {
        symlink(site.canary(), site.base(&format!("stage/link{part}"))).unwrap();
    }
    site.race(
        || {
            let tree = site.inside("tree");
            for part in 0..PARTS {
                directory(&site.base(&format!("stage/tree/s{part}")));
            }
            let Ok(open) = fs::File::open(site.base("stage/tree")) else { return };
            if fs::rename(site.base("stage/tree"), &tree).is_err() {
                return;
            }
            // It may have been deleted long since: the open directory leads to it still.
            for part in (0..ROUNDS).flat_map(|_| 0..PARTS) {
                let (link, name) = (site.base(&format!("stage/link{part}")), format!("s{part}"));
                let exchange = RenameFlags::EXCHANGE;
                // What is gone already cannot be exchanged.
                let _ = rustix::fs::renameat_with(CWD, &link, &open, name, exchange);
            }
            for part in 0..PARTS {
                let link = site.base(&format!("stage/link{part}"));
                if link.is_dir() && !link.is_symlink() {
                    drop(fs::remove_dir_all(&link));
                }
                if fs::symlink_metadata(&link).is_err() {
                    symlink(site.canary(), link).unwrap();
                }
            }
        },
        &[
            ("delete_file", json!({ "path": "/tree", "recursive": true })),
            ("delete_file", json!({ "path": "/tree", "recursive": true })),
        ],
    );
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
}
