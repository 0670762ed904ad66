//! Directories and files that are exchanged for links to what is denied while tools use them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use handhold_conformance::world::CANARY;
use serde_json::{Value, json};

use super::{BOTH, WRITE, deleted, deny, moved, site, writes};
use crate::site::{Answer, Site, facts, plant};

/// A name that is only in what is denied.
const MARK: &str = "marked";

fn secret_site() -> Site {
    let site = site(vec![deny(BOTH, &["/secrets/**"])]);
    plant(&site.inside("secrets"), CANARY);
    site.write(&format!("secrets/{MARK}.txt"), CANARY);
    plant(&site.inside("open"), "inside");
    fs::create_dir(site.inside("pub")).unwrap();
    site
}

fn directory(place: &Path) {
    plant(place, "inside");
}

fn file(place: &Path) {
    fs::write(place, "inside one\n").unwrap();
}

/// Fails unless every call is refused as long as the link to what is denied is in place.
fn check_the_bait(site: &Site, path: &str, target: &str, calls: &[(&str, Value)]) {
    let (place, before) = (site.inside(path), facts(&site.inside("secrets")));
    for (tool, arguments) in calls {
        drop(fs::remove_file(&place));
        symlink(target, &place).unwrap();
        let code = site.call(tool, arguments.clone()).code;
        let is_refused = matches!(code.as_deref(), Some("not-found" | "not-permitted"));
        // A link itself may be moved and removed, and a call may be about something else.
        let call = arguments.to_string();
        let goes_there = call.contains(&format!("/{path}/"))
            || (call.contains(&format!("/{path}\""))
                && !matches!(*tool, "move_file" | "delete_file"));
        assert!(is_refused || !goes_there, "{tool} {arguments}: {code:?}");
    }
    drop(fs::remove_file(&place));
    assert_eq!(facts(&site.inside("secrets")), before);
}

/// Makes calls while what is at `path` is exchanged for a link to `target`, for what `make` makes,
/// and for a link to `other`, which is allowed. What is denied stays as it was, and no answer
/// shows it.
fn race(path: &str, make: fn(&Path), [target, other]: [&str; 2], calls: &[(&str, Value)]) {
    let site = secret_site();
    let place = site.inside(path);
    check_the_bait(&site, path, target, calls);
    let before = facts(&site.inside("secrets"));
    let good = AtomicU64::new(0);
    let link = |target: &str, new: &Path| symlink(target, new).unwrap();
    let attack = || {
        let makers: [&dyn Fn(&Path); 3] =
            [&|new| link(target, new), &make, &|new| link(other, new)];
        site.swap(&place, &makers);
    };
    site.race_and_check(attack, calls, |tool, answer| {
        check_answer(tool, answer);
        good.fetch_add(u64::from(answer.code.is_none()), Ordering::Relaxed);
    });
    assert!(good.load(Ordering::Relaxed) > 0, "no call ever had its turn");
    assert_eq!(facts(&site.inside("secrets")), before, "what is denied was changed");
    for (path, facts) in facts(&site.inside("")) {
        if !path.starts_with(site.inside("secrets")) {
            let text = String::from_utf8_lossy(&facts.content).into_owned();
            assert!(!text.contains(CANARY), "{} holds what is denied", path.display());
        }
    }
    site.directory.check_outside();
}

/// A canary in it is found by every call already.
fn check_answer(tool: &str, answer: &Answer) {
    let shown = answer.structured.to_string();
    assert!(!answer.text.contains(MARK) && !shown.contains(MARK), "{tool}: {}", answer.text);
}

const DIRECTORIES: [&str; 2] = ["../secrets", "../open"];

#[test]
fn a_directory_that_becomes_a_link_shows_nothing_denied() {
    let mut calls = vec![
        ("read_file", json!({ "file_path": "/pub/dir/file.txt" })),
        ("read_file", json!({ "file_path": "/pub/dir/sub/inner.txt" })),
        ("ls", json!({ "path": "/pub/dir" })),
        ("ls", json!({ "path": "/pub/dir/sub" })),
    ];
    for path in ["/pub/dir", "/pub/dir/sub", "/pub/dir/file.txt"] {
        for mode in ["content", "files_with_matches", "count"] {
            let call = json!({ "pattern": "one|two", "path": path, "output_mode": mode });
            calls.push(("grep", call));
        }
    }
    for pattern in ["**", "/pub/dir/*.txt", "*.txt"] {
        calls.push(("glob", json!({ "pattern": pattern, "path": "/pub/dir" })));
    }
    race("pub/dir", directory, DIRECTORIES, &calls);
}

#[test]
fn a_directory_that_becomes_a_link_is_not_written_through() {
    let mut calls = writes("/pub/dir/file.txt");
    calls.extend(writes("/pub/dir/new.txt"));
    calls.extend(writes("/pub/dir/new/deep.txt"));
    let edit =
        json!({ "file_path": "/pub/dir/file.txt", "old_string": "one", "new_string": "one." });
    calls.push(("edit_file", edit));
    race("pub/dir", directory, DIRECTORIES, &calls);
}

#[test]
fn a_directory_that_becomes_a_link_is_not_emptied() {
    let calls = [
        deleted("/pub/dir/file.txt"),
        deleted("/pub/dir/sub"),
        moved("/pub/dir/file.txt", "/got.txt"),
        ("read_file", json!({ "file_path": "/got.txt" })),
        moved("/pub/dir/sub", "/got"),
        ("grep", json!({ "pattern": "two", "path": "/got", "output_mode": "content" })),
        deleted("/got"),
        moved("/pub/dir", "/pub/got"),
        ("grep", json!({ "pattern": "one|two", "path": "/pub/got", "output_mode": "content" })),
        moved("/pub/got", "/pub/dir"),
        deleted("/pub/got"),
        deleted("/pub/dir"),
    ];
    race("pub/dir", directory, DIRECTORIES, &calls);
}

#[test]
fn a_directory_that_becomes_a_link_takes_nothing_to_what_is_denied() {
    let calls = [
        ("write_file", json!({ "file_path": "/own/own.txt", "content": "inside" })),
        moved("/own/own.txt", "/pub/dir/file.txt"),
        moved("/own/own.txt", "/pub/dir/new/own.txt"),
        moved("/own", "/pub/dir/own"),
        moved("/pub/dir/own", "/own"),
    ];
    race("pub/dir", directory, DIRECTORIES, &calls);
}

#[test]
fn a_file_that_becomes_a_link_is_not_followed() {
    let mut calls = vec![
        ("read_file", json!({ "file_path": "/pub/file" })),
        ("grep", json!({ "pattern": "one", "path": "/pub/file", "output_mode": "content" })),
        (
            "edit_file",
            json!({ "file_path": "/pub/file", "old_string": "one", "new_string": "one." }),
        ),
    ];
    calls.extend(writes("/pub/file"));
    calls.extend([moved("/pub/file", "/pub/got"), moved("/pub/got", "/pub/file")]);
    calls.push(("read_file", json!({ "file_path": "/pub/got" })));
    calls.push(deleted("/pub/got"));
    race("pub/file", file, ["../secrets/file.txt", "../open/file.txt"], &calls);
}

#[test]
fn what_is_protected_is_not_made_by_way_of_a_link() {
    let site = site(vec![deny(WRITE, &["/**/.git/hooks/**"])]);
    fs::create_dir_all(site.inside("repo/.git")).unwrap();
    site.write("stage/pre-commit", "run");
    let place = site.inside("repo/dir");
    let link = |new: &Path| symlink(".git", new).unwrap();
    let mut calls = writes("/repo/dir/hooks/pre-commit");
    calls.extend([
        moved("/stage", "/repo/dir/hooks"),
        moved("/repo/dir/hooks", "/stage"),
        moved("/stage/pre-commit", "/repo/dir/hooks/pre-commit"),
        ("write_file", json!({ "file_path": "/stage/pre-commit", "content": "run" })),
    ]);
    site.race(|| site.swap(&place, &[&link, &directory]), &calls);
    let made: Vec<_> = fs::read_dir(site.inside("repo/.git")).unwrap().collect();
    assert!(made.is_empty(), "something was made in {made:?}");
}
