//! Names that are nearly the same. A rule is about the bytes of a name: where the file system
//! tells two names apart, they are two things, and a rule about one says nothing about the other.

use std::fs;

use handhold_conformance::world::CANARY;
use serde_json::json;

use super::{BOTH, deleted, deny, moved, reads, site, writes};
use crate::site::{Site, facts, plant};

/// Two directories whose names differ a little: the first is denied, the second is not.
const PAIRS: [(&str, &str); 5] = [
    ("secrets", "Secrets"),
    ("caf\u{e9}", "cafe\u{301}"),
    ("cafe\u{301}", "caf\u{e9}"),
    ("\u{212b}", "\u{c5}"),
    ("stra\u{df}e", "STRASSE"),
];

/// Whether the file system takes two names for one.
fn is_one(site: &Site, names: (&str, &str)) -> bool {
    site.inside(names.0).join("file.txt").exists() && site.inside(names.1).exists()
}

#[test]
fn a_name_that_is_nearly_that_of_a_rule_is_another_one() {
    for names in PAIRS {
        let (denied, twin) = (format!("/{}", names.0), format!("/{}", names.1));
        let site = site(vec![deny(BOTH, &[&format!("{denied}/**")])]);
        plant(&site.inside(names.0), CANARY);
        if is_one(&site, names) {
            // Then a rule has to match both names, as is documented.
            continue;
        }
        let before = facts(&site.inside(names.0));
        plant(&site.inside(names.1), "inside");
        assert_eq!(site.call("glob", json!({ "pattern": "**" })).good().list("files").len(), 2);
        let listed = site.call("ls", json!({})).good();
        assert_eq!(listed.text, format!("        -  {twin}/"));
        let file = format!("{twin}/file.txt");
        site.call("read_file", json!({ "file_path": file })).good();
        for (tool, call) in reads(&format!("{denied}/file.txt")) {
            site.call(tool, call).failed("not-found");
        }
        let mut changes = writes(&format!("{denied}/file.txt"));
        changes.extend(writes(&format!("{denied}/new/x.txt")));
        changes.extend([moved(&twin, &denied), moved(&file, &format!("{denied}/x"))]);
        changes.extend([moved(&denied, "/got"), deleted(&denied)]);
        for (tool, call) in changes {
            site.call(tool, call).failed("not-permitted");
        }
        let (tool, call) = moved(&twin, "/got");
        site.call(tool, call).good();
        assert_eq!(facts(&site.inside(names.0)), before, "{denied}");
    }
}

#[test]
fn a_rule_can_match_every_spelling() {
    let site = site(vec![deny(BOTH, &["/[sS][eE]crets/**", "/caf{\u{e9},e\u{301}}/**"])]);
    for name in ["secrets", "Secrets", "sEcrets", "caf\u{e9}", "cafe\u{301}"] {
        plant(&site.inside(name), CANARY);
        let path = format!("/{name}/file.txt");
        site.call("read_file", json!({ "file_path": path })).failed("not-found");
        for (tool, call) in writes(&path) {
            site.call(tool, call).failed("not-permitted");
        }
    }
    // Escapes in the text of arguments are no other spelling.
    let call = json!({ "file_path": "\"/caf\\u00e9/file.txt\"" });
    site.call("read_file", call).failed("not-found");
    assert_eq!(site.call("ls", json!({})).good().text, "The directory / is empty.");
    let found = site.call("grep", json!({ "pattern": "one", "include_ignored": true })).good();
    assert_eq!(found.text, "No matches for one under / (0 files searched).");
    assert_eq!(fs::read_dir(site.inside("")).unwrap().count(), 5);
}
