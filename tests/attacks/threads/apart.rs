//! Ids that look alike, and ids that look like paths.

use std::collections::BTreeSet;
use std::fs;

use handhold::backends::IdError;
use serde_json::json;

use super::Root;
use crate::cli::code;

/// Ids of threads, each with another one that it is easily taken for.
const IDS: [&str; 41] = [
    "abc123",
    "ABC123",
    "a/b",
    "a-b",
    "a:b",
    "a_b",
    "a b",
    "a\\b",
    "a%2fb",
    "a%2Fb",
    "a@b",
    "x",
    "x ",
    " x",
    "x.",
    "x..",
    "x\n",
    "\u{e9}",
    "e\u{301}",
    "\u{ff21}",
    "A",
    "a",
    ".",
    "..",
    "...",
    "/",
    "/abs",
    "../../away/x",
    "a/../../b",
    "a\\..\\b",
    "%2e%2e",
    "a\nb",
    "con",
    "CON",
    "con.txt",
    "nul",
    "lpt1.x",
    ".tenants",
    ".handhold",
    ".tenants/acme/abc123",
    "lost+found",
];

#[test]
fn no_two_ids_share_anything() {
    let root = Root::new();
    let long = ["x".repeat(512), format!("{}y", "x".repeat(511)), "X".repeat(512)];
    let ids: Vec<&str> = IDS.into_iter().chain(long.iter().map(String::as_str)).collect();
    let tenants: Vec<Option<&str>> =
        [None, Some("acme"), Some("ACME"), Some(".."), Some("a/b"), Some(&long[0])].into();
    let all = || tenants.iter().flat_map(|tenant| ids.iter().map(move |id| (*tenant, *id)));
    for (n, (tenant, id)) in all().enumerate() {
        root.write(tenant, id, "/who.txt", &format!("{n} {tenant:?} {id:?}"));
    }
    for (n, (tenant, id)) in all().enumerate() {
        let own = format!("     1\t{n} {tenant:?} {id:?}");
        assert_eq!(root.read(tenant, id, "/who.txt"), own);
        let found = root.call(tenant, id, "glob", json!({ "pattern": "**" }));
        assert_eq!(found["text"], "/who.txt", "{tenant:?} {id:?}");
    }
    // Nothing is beside the root, and what is there belongs to the threads.
    assert_eq!(fs::read_dir(root.directory.base()).unwrap().count(), 2);
    root.directory.check_outside();
    let listed: BTreeSet<_> =
        root.list().into_iter().map(|info| (info.tenant, info.thread)).collect();
    let wanted: BTreeSet<_> =
        all().map(|(tenant, id)| (tenant.map(str::to_owned), id.to_owned())).collect();
    assert_eq!(listed, wanted);
    assert_eq!(fs::read(root.path("abc123/who.txt")).unwrap(), b"0 None \"abc123\"");
    assert!(root.path(".tenants/acme/abc123/who.txt").exists());
    // The names are apart also where letters of both cases are one.
    for dir in ["", ".tenants", ".tenants/acme"] {
        let names = fs::read_dir(root.path(dir)).unwrap();
        let names: Vec<String> =
            names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        assert!(names.iter().all(|name| name.is_ascii() && !name.contains(char::is_uppercase)));
    }
}

#[test]
fn what_cannot_be_an_id_is_an_error() {
    let root = Root::new();
    let mega = "x".repeat(1 << 20);
    for (id, error) in [
        ("", IdError::Empty),
        ("a\0b", IdError::Nul),
        (&mega[..513], IdError::TooLong),
        (&mega, IdError::TooLong),
    ] {
        assert_eq!(root.files.thread(None, id).err(), Some(error));
        assert_eq!(root.files.thread(Some(id), "x").err(), Some(error));
    }
    assert!(!root.directory.root().exists());
}

#[test]
fn a_thread_finds_nothing_of_its_neighbours() {
    let root = Root::new();
    root.write(None, "nord", "/mine.md", "mine");
    for (tenant, thread) in
        [(None, "nord-east"), (Some("nord"), "nord"), (Some("acme"), "nord"), (None, "nor")]
    {
        root.write(tenant, thread, "/other.md", "HUSH");
    }
    let call = |tool, arguments| root.call(None, "nord", tool, arguments);
    let listed = call("ls", json!({ "path": "/" }));
    assert_eq!(listed["structured"]["total"], 1, "{listed}");
    for include_ignored in [false, true] {
        let all = json!({ "pattern": "**", "include_ignored": include_ignored });
        assert_eq!(call("glob", all)["text"], "/mine.md");
        let hush = json!({ "pattern": "HUSH", "include_ignored": include_ignored });
        let none = call("grep", hush);
        assert_eq!(none["text"], "No matches for HUSH under / (1 file searched).", "{none}");
    }
    let absent = call("read_file", json!({ "file_path": "/absent" }));
    for path in [
        "other.md",
        "nord-east/other.md",
        ".tenants/acme/nord/other.md",
        ".handhold/threads/nord-east",
        "agent_files/nord-east/other.md",
    ] {
        let answer = call("read_file", json!({ "file_path": path }));
        let same = absent["text"].as_str().unwrap().replace("absent", path);
        assert_eq!((code(&answer), answer["text"].as_str()), ("not-found", Some(&*same)));
    }
    for path in ["../nord-east/other.md", "/../nord-east", "a/../../.handhold"] {
        let answer = call("read_file", json!({ "file_path": path }));
        assert_eq!(code(&answer), "invalid-path", "{answer}");
    }
}
