//! Directories that nobody may open: what is in them is neither lost nor left uncharged.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use handhold_conformance::binary;

use super::*;
use crate::site::facts;

/// A user without any rights: nobody, on most systems.
const UNPRIVILEGED: u32 = 65534;

/// A tree in a workspace of that user; none for who cannot give files away.
fn tree() -> Option<Limited> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let place = Limited::new(bytes(1000));
    for name in ["tree/a", "tree/closed/b", "tree/closed/inner/c", "tree/d/e"] {
        place.site.write(name, "x".repeat(100));
    }
    place.write("/start", 1).good();
    assert_eq!(place.check(), taken(401, 9));
    fs::create_dir(place.site.base("cache")).unwrap();
    // Links are not followed, and there are none.
    for path in facts(place.site.directory.base()).into_keys() {
        chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
    Some(place)
}

/// Deletes the tree as that user, and gives the answer.
fn delete(place: &Limited) -> Value {
    let config = configuration(&place.site, "bytes = \"1000 B\"");
    let output = Command::new(binary())
        .args(["call", "--json", "--config", &config, "--root"])
        .arg(place.site.directory.root())
        .args(["delete_file", r#"{ "path": "/tree", "recursive": true }"#])
        .env("XDG_CACHE_HOME", place.site.base("cache"))
        .uid(UNPRIVILEGED)
        .gid(UNPRIVILEGED)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn close(place: &Limited, path: &str) {
    fs::set_permissions(place.site.inside(path), fs::Permissions::from_mode(0o000)).unwrap();
}

#[test]
fn directories_that_their_owner_has_closed_are_deleted_and_given_back() {
    let Some(place) = tree() else { return };
    close(&place, "tree/closed/inner");
    close(&place, "tree/closed");
    let answer = delete(&place);
    assert_eq!(answer["text"], "Deleted /tree (4 files, 4 directories).");
    assert_eq!(place.check(), taken(1, 1));
    place.site.directory.check_outside();
}

#[test]
fn what_cannot_be_removed_is_told_and_the_ledger_is_right() {
    let Some(place) = tree() else { return };
    // Somebody else's: it cannot be opened, nor moved.
    chown(place.site.inside("tree/closed"), Some(0), Some(0)).unwrap();
    close(&place, "tree/closed");
    let answer = delete(&place);
    assert_eq!(answer["structured"]["error"]["code"], "unavailable", "{answer}");
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains("a part of it cannot be removed"), "{text}");
    assert!(!place.site.inside("tree").exists());
    assert_eq!(place.check(), taken(1, 1));
}
