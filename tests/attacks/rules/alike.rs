//! What is denied and what is missing get one answer, byte for byte.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use handhold_conformance::world::CANARY;
use serde_json::Value;

use super::{BOTH, allow, deleted, deny, moved, reads, site, writes};
use crate::site::{Answer, Site, facts, plant};

/// A workspace in which all is seen.
fn open() -> Site {
    let rules = vec![
        allow(BOTH, &["/secrets/pub/**", "/secrets/*/note.md"]),
        deny(BOTH, &["/secrets/**", "/**/*.key", "/**/.env", "/pub/sub/.gitignore"]),
    ];
    let site = site(rules);
    site.write(".gitignore", "build\nsecrets\n");
    site.write("build/x.txt", "one\n");
    site.write("pub/open.txt", "one\n");
    site.write("pub/sub/in.txt", "two\n");
    fs::create_dir(site.inside("hollow")).unwrap();
    for (link, target) in [
        ("pub/to-file", "../secrets/file.txt"),
        ("pub/to-none", "../secrets/none.txt"),
        ("pub/to-dir", "../secrets"),
        ("pub/by-secrets", "../secrets/../pub/open.txt"),
        ("pub/to-nothing", "nothing"),
    ] {
        symlink(target, site.inside(link)).unwrap();
    }
    site
}

/// Puts in a workspace what is hidden there.
fn hide(site: &Site) {
    plant(&site.inside("secrets"), CANARY);
    site.write("secrets/.gitignore", "*\n");
    site.write("secrets/binary", "one\0\n");
    for path in ["pub/x.key", "pub/.env", "hollow/.env", "build/x.key", "pub/sub/x.key"] {
        site.write(path, format!("{CANARY} one\n"));
    }
    site.write("pub/sub/.gitignore", "in.txt\n");
    fs::write(site.inside("pub").join(OsStr::from_bytes(b"\xff.key")), CANARY).unwrap();
}

/// What an answer tells, without what differs from file to file.
fn told(answer: Answer) -> (Option<String>, String, Value) {
    let mut structured = answer.structured;
    strip(&mut structured);
    (answer.code, answer.text, structured)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("version");
            map.remove("modified");
            map.values_mut().for_each(strip);
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Paths that lead to what is hidden, or past it.
const PATHS: [&str; 26] = [
    "/",
    "/secrets",
    "/secrets/file.txt",
    "/secrets/none.txt",
    "/secrets/sub",
    "/secrets/sub/inner.txt",
    "/secrets/file.txt/x",
    "/secrets/binary",
    "/secrets/pub",
    "/secrets/pub/none/x",
    "/secrets/./sub/../file.txt/",
    "\"/secrets/file.txt\"",
    "/pub",
    "/pub/sub",
    "/pub/x.key",
    "/pub/x.key/y",
    "/pub/.env",
    "/hollow",
    "/hollow/.env",
    "/build",
    "/build/x.key",
    "/pub/to-file",
    "/pub/to-dir",
    "/pub/to-dir/file.txt",
    "/pub/to-dir/sub/new/x",
    "/pub/by-secrets",
];

/// What would be seen if it were there; a file that is hidden stands in the way.
const BEHIND_A_FILE: &str = "/secrets/file.txt/note.md";

/// With something hidden in them they are not moved or removed, and that is told.
const AROUND: [&str; 5] = ["/", "/pub", "/pub/sub", "/hollow", "/build"];

#[test]
fn a_workspace_with_something_hidden_answers_as_one_without() {
    for has_way in [false, true] {
        let (one, other) = (open(), open());
        hide(&one);
        if has_way {
            one.write("secrets/pub/seen.txt", "one\n");
            other.write("secrets/pub/seen.txt", "one\n");
        }
        let before = hidden(&one);
        let mut calls: Vec<_> = PATHS.into_iter().chain([BEHIND_A_FILE]).flat_map(reads).collect();
        calls.extend(PATHS.into_iter().flat_map(writes));
        for path in PATHS.into_iter().filter(|path| !AROUND.contains(path)) {
            calls.extend([moved("/pub/open.txt", path), moved("/none", path)]);
            calls.extend([moved(path, "/pub/got"), moved(path, "/pub/sub/new/got"), deleted(path)]);
        }
        for (tool, arguments) in calls {
            let answers = [&one, &other].map(|site| told(site.call(tool, arguments.clone())));
            let [with, without] = answers;
            assert_eq!(with, without, "{tool} {arguments}, has_way: {has_way}");
        }
        assert_eq!(hidden(&one), before, "has_way: {has_way}");
    }
}

/// All about what is hidden.
fn hidden(site: &Site) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let found = facts(&site.inside("")).into_values();
    found.filter(|facts| String::from_utf8_lossy(&facts.content).contains(CANARY)).collect()
}

#[test]
fn a_hidden_name_answers_as_a_missing_one() {
    let site = open();
    hide(&site);
    symlink("../secrets/nothing", site.inside("pub/to-null")).unwrap();
    let before = facts(&site.inside(""));
    let pairs = [
        ("/secrets/file.txt", "/secrets/none.txt"),
        ("/secrets/sub", "/secrets/nix"),
        ("/secrets/sub/inner.txt", "/secrets/nix/inner.txt"),
        ("/secrets/file.txt/x", "/secrets/none.txt/x"),
        ("/pub/x.key", "/pub/y.key"),
        ("/hollow/.env", "/none/.env"),
        ("/pub/to-dir/file.txt", "/pub/to-dir/none.txt"),
        ("/pub/to-file", "/pub/to-null"),
        ("/pub/x.key", "/pub/none"),
        ("/secrets", "/nothing"),
    ];
    for (hidden, missing) in pairs {
        for ((tool, call), (_, other)) in reads(hidden).into_iter().zip(reads(missing)) {
            let (code, text, structured) = told(site.call(tool, call).failed("not-found"));
            let answer = told(site.call(tool, other));
            let with_name = |text: &str| text.replace(missing, hidden);
            assert_eq!((code, text), (answer.0, with_name(&answer.1)), "{tool} {hidden}");
            assert_eq!(structured.to_string(), with_name(&answer.2.to_string()), "{tool} {hidden}");
        }
    }
    // What may be written where nothing is, is no twin.
    for (hidden, missing) in pairs.into_iter().take(8) {
        let changes = |path: &str| {
            let mut calls = writes(path);
            if path != "/pub/to-file" && path != "/pub/to-null" {
                calls.extend([moved(path, "/got"), moved("/pub/open.txt", path), deleted(path)]);
            }
            calls
        };
        if missing == "/none/.env" {
            continue;
        }
        for ((tool, call), (_, other)) in changes(hidden).into_iter().zip(changes(missing)) {
            let (code, text, structured) = told(site.call(tool, call).failed("not-permitted"));
            let answer = told(site.call(tool, other));
            let with_name = |text: &str| text.replace(missing, hidden);
            assert_eq!((code, text), (answer.0, with_name(&answer.1)), "{tool} {hidden}");
            assert_eq!(structured.to_string(), with_name(&answer.2.to_string()), "{tool} {hidden}");
        }
    }
    assert_eq!(facts(&site.inside("")), before);
}
