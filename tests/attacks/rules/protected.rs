//! Places in which nothing may be made, though nothing is there yet.

use std::fs;
use std::os::unix::fs::symlink;

use handhold_conformance::world::CANARY;
use serde_json::json;

use super::{BOTH, WRITE, deny, moved, site, writes};
use crate::site::{facts, plant};

#[test]
fn what_is_protected_is_not_made_by_any_name() {
    let site = site(vec![deny(WRITE, &["/**/.git/hooks/**", "/.agent/policy"])]);
    site.write("stage/hooks/pre-commit", "run");
    site.write("free.txt", "run");
    fs::create_dir(site.inside("repo")).unwrap();
    for (link, target) in [
        ("alias", "repo"),
        ("to-git", "repo/.git"),
        ("repo/to-hooks", ".git/hooks"),
        ("to-hook", "alias/.git/hooks/pre-commit"),
        ("to-policy", ".agent/policy"),
    ] {
        symlink(target, site.inside(link)).unwrap();
    }
    let before = facts(&site.inside(""));
    for path in [
        "/.git/hooks",
        "/.git/hooks/pre-commit",
        "/repo/.git/hooks/pre-commit",
        "/new/way/.git/hooks/pre-commit",
        "/alias/.git/hooks/pre-commit",
        "/alias/../repo/.git/./hooks//pre-commit",
        "/to-git/hooks/pre-commit",
        "/repo/to-hooks/pre-commit",
        "/repo/to-hooks",
        "/to-hook",
        "/.agent/policy",
        "/.agent/policy/x",
        "/to-policy",
    ] {
        for (tool, call) in writes(path) {
            site.call(tool, call).failed("not-permitted");
        }
    }
    for (source, destination) in [
        ("/free.txt", "/repo/.git/hooks/pre-commit"),
        ("/free.txt", "/alias/.git/hooks/pre-commit"),
        ("/free.txt", "/repo/to-hooks/pre-commit"),
        ("/free.txt", "/.agent/policy"),
        ("/stage/hooks", "/repo/.git/hooks"),
        ("/stage/hooks", "/alias/.git/hooks"),
        // No rule is about this place itself.
        ("/stage", "/repo/.git"),
        ("/stage", "/alias/.git"),
        ("/stage", "/new/way/.git"),
    ] {
        let (tool, call) = moved(source, destination);
        site.call(tool, call).failed("not-permitted");
    }
    // Directories on the way are not made either.
    assert_eq!(facts(&site.inside("")), before);
}

#[test]
fn a_link_to_what_is_denied_makes_no_directories_there() {
    let site = site(vec![deny(BOTH, &["/secrets/**"])]);
    plant(&site.inside("secrets"), CANARY);
    for (link, target) in [
        ("to-dir", "secrets"),
        ("to-new", "secrets/new"),
        ("pub/to-dir", "../to-dir"),
        ("pub/by", "../secrets/sub/../../pub"),
    ] {
        fs::create_dir_all(site.inside("pub")).unwrap();
        symlink(target, site.inside(link)).unwrap();
    }
    site.write("pub/own.txt", "inside");
    let before = facts(&site.inside(""));
    for way in ["/to-dir", "/to-new", "/pub/to-dir", "/to-dir/sub", "/pub/by"] {
        for rest in ["a/b", "a", "sub/a/b/c"] {
            let path = format!("{way}/{rest}");
            for (tool, call) in writes(&path) {
                site.call(tool, call).failed("not-permitted");
            }
            let (tool, call) = moved("/pub/own.txt", &path);
            site.call(tool, call).failed("not-permitted");
            site.call("ls", json!({ "path": path })).failed("not-found");
        }
    }
    assert_eq!(facts(&site.inside("")), before);
}
