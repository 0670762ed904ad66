//! Snapshots of a thread.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::{Value, json};

use super::{threads, write};
use crate::process::*;

const ALICE: [&str; 2] = ["--thread", "alice"];

fn alice(dir: &Path, command: &str, args: &[&str]) -> Ran {
    threads(dir, &[&[command], &ALICE[..], args].concat())
}

fn own_bytes(dir: &Path, n: usize) -> u64 {
    alice(dir, "snapshots", &["--json"]).json()[n]["own_bytes"].as_u64().unwrap()
}

#[test]
fn a_thread_goes_back_to_what_it_was() {
    let dir = temp();
    for (path, content) in [("a.txt", "one"), ("d/b.txt", "two"), ("d/c.txt", "three")] {
        write(dir.path(), &ALICE, path, content);
    }
    alice(dir.path(), "snapshots", &[]).printed(0, "There are no snapshots.\n");
    alice(dir.path(), "snapshots", &["--json"]).printed(0, "[]\n");
    let taken = alice(dir.path(), "snapshot", &["before"]);
    let own = own_bytes(dir.path(), 0);
    let text = format!("Took the snapshot before (4 files, 11 bytes); it takes {own} bytes.\n");
    taken.printed(0, &text);
    alice(dir.path(), "diff", &["before"]).printed(0, "There are no differences.\n");
    alice(dir.path(), "diff", &["before", "--json"]).printed(0, "[]\n");

    write(dir.path(), &ALICE, "a.txt", "ONE");
    write(dir.path(), &ALICE, "e/new.txt", "new");
    let remove = r#"{"path": "d", "recursive": true}"#;
    run(dir.path(), &["call", "--thread", "alice", "delete_file", remove]);
    let changed = "M /a.txt\nD /d\nD /d/b.txt\nD /d/c.txt\nA /e\nA /e/new.txt\n";
    alice(dir.path(), "diff", &["before"]).printed(0, changed);
    let first = alice(dir.path(), "diff", &["before", "--json"]).json()[0].clone();
    assert_eq!(first, json!({ "path": "/a.txt", "change": "changed" }));
    assert_eq!(alice(dir.path(), "snapshot", &["after"]).code, Some(0));
    alice(dir.path(), "diff", &["before", "after"]).printed(0, changed);
    let turned = changed.replace('A', "-").replace('D', "A").replace('-', "D");
    alice(dir.path(), "diff", &["after", "before"]).printed(0, &turned);

    let list = alice(dir.path(), "snapshots", &[]);
    let lines: Vec<&str> = list.out.lines().collect();
    assert_eq!(lines.len(), 2, "{list:?}");
    assert!(lines[0].contains(&format!("{own} B own            11 B        4 files  taken 20")));
    assert!(lines[0].ends_with("Z  before") && lines[1].ends_with("Z  after"), "{list:?}");

    let restored = alice(dir.path(), "restore", &["before"]);
    let text = "Restored the thread alice to the snapshot before (4 files, 11 bytes).\n";
    restored.printed(0, text);
    alice(dir.path(), "diff", &["before"]).printed(0, "There are no differences.\n");
    let workspace = dir.path().join("agent_files/alice");
    assert_eq!(entries(&workspace), ["a.txt", "d"]);
    assert_eq!(fs::read_to_string(workspace.join("d/c.txt")).unwrap(), "three");

    let own = own_bytes(dir.path(), 0);
    let text = format!("Removed the snapshot before; {own} bytes are free.\n");
    alice(dir.path(), "forget", &["before"]).printed(0, &text);
    assert_eq!(alice(dir.path(), "snapshots", &[]).out.lines().count(), 1);
    assert_eq!(entries(&workspace), ["a.txt", "d"]);
}

#[test]
fn the_json_forms_have_the_same() {
    let dir = temp();
    write(dir.path(), &ALICE, "a.txt", "one");
    let info = alice(dir.path(), "snapshot", &["s", "--json"]).json();
    let keys: Vec<&str> = info.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["name", "created", "bytes", "files", "skipped", "own_bytes"]);
    assert_eq!(
        alice(dir.path(), "snapshots", &["--json"]).json(),
        Value::Array(vec![info.clone()])
    );
    let restored = alice(dir.path(), "restore", &["s", "--json"]);
    restored.printed(0, "{\"restored\":\"s\",\"bytes\":3,\"files\":1,\"skipped\":0}\n");
    let removed = alice(dir.path(), "forget", &["s", "--json"]);
    removed.printed(0, &format!("{{\"removed\":\"s\",\"freed\":{}}}\n", info["own_bytes"]));
    let failed = alice(dir.path(), "forget", &["s", "--json"]);
    let why = "there is no such snapshot: \"s\"";
    assert_eq!((failed.code, failed.json()["error"].as_str()), (Some(1), Some(why)));
}

#[test]
fn what_there_is_not_and_what_there_is_already_is_an_answer() {
    let dir = temp();
    write(dir.path(), &ALICE, "a.txt", "one");
    write(dir.path(), &["--tenant", "acme", "--thread", "alice"], "a.txt", "acme");
    alice(dir.path(), "snapshot", &["s"]);
    let none = "Error: alice: there is no such snapshot: \"t\"\n";
    for args in [&["restore", "t"][..], &["forget", "t"], &["diff", "t"], &["diff", "s", "t"]] {
        alice(dir.path(), args[0], &args[1..]).printed(1, none);
    }
    let again = "Error: alice: there is a snapshot of this name already\n";
    alice(dir.path(), "snapshot", &["s"]).printed(1, again);
    // The tenant's thread of this name has none.
    let none = "Error: alice: there is no such snapshot: \"s\"\n";
    for command in ["restore", "forget", "diff"] {
        alice(dir.path(), command, &["s", "--tenant", "acme"]).printed(1, none);
    }
    assert_eq!(alice(dir.path(), "snapshot", &["s", "--tenant", "acme"]).code, Some(0));
    // It can be elsewhere.
    let elsewhere = alice(dir.path(), "restore", &["s", "--root", "elsewhere"]);
    elsewhere.printed(1, "Error: alice: there is no such thread, or it never wrote\n");
    assert_eq!(entries(dir.path()), ["agent_files"]);
}

#[test]
fn the_quota_of_the_configuration_holds() {
    let dir = temp();
    let quota = |bytes: u64, files: u64| {
        let text = format!("[quota]\nbytes = \"{bytes} B\"\nfiles = {files}\n");
        fs::write(dir.path().join("c.toml"), text).unwrap();
    };
    let content = "x".repeat(10_000);
    write(dir.path(), &ALICE, "a.txt", &content);
    let full = "Error: alice: no space is left\n";
    quota(20_000, 10);
    let config = ["--config", "c.toml"];
    alice(dir.path(), "snapshot", &["s", "--config", "c.toml"]).printed(1, full);
    alice(dir.path(), "snapshots", &[]).printed(0, "There are no snapshots.\n");
    quota(30_000, 10);
    assert_eq!(alice(dir.path(), "snapshot", &["s", "--config", "c.toml"]).code, Some(0));
    // What the snapshot has is not there for the thread.
    let arguments = json!({ "file_path": "b.txt", "content": content }).to_string();
    let call = [&["call", "--json"], &ALICE[..], &config, &["write_file", &arguments]].concat();
    let refused = run(dir.path(), &call);
    assert_eq!((refused.code, code(&refused.json())), (Some(1), "quota-exceeded"));
    assert_eq!(alice(dir.path(), "forget", &["s", "--config", "c.toml"]).code, Some(0));
    assert_eq!(run(dir.path(), &call).code, Some(0));
    // Nor does a restoration take more than there may be.
    alice(dir.path(), "snapshot", &["s"]);
    for file in ["a.txt", "b.txt"] {
        let remove = json!({ "path": file }).to_string();
        let call = [&["call"], &ALICE[..], &config, &["delete_file", &remove]].concat();
        assert_eq!(run(dir.path(), &call).code, Some(0));
    }
    quota(50_000, 1);
    alice(dir.path(), "restore", &["s", "--config", "c.toml"]).printed(1, full);
    assert_eq!(entries(&dir.path().join("agent_files/alice")), [""; 0]);
    quota(50_000, 2);
    assert_eq!(alice(dir.path(), "restore", &["s", "--config", "c.toml"]).code, Some(0));
}

#[test]
fn a_name_never_breaks_a_line() {
    let dir = temp();
    let (ugly, shown) = ("a\nb\u{202e}\u{85}\"", r#""a\u000ab\u202e\u0085\"""#);
    write(dir.path(), &ALICE, "a.txt", "one");
    let taken = alice(dir.path(), "snapshot", &[ugly]);
    assert!(taken.out.starts_with(&format!("Took the snapshot {shown} (1 file")), "{taken:?}");
    write(dir.path(), &ALICE, &format!("d/{ugly}"), "one");
    let found = alice(dir.path(), "diff", &[ugly]);
    found.printed(0, "A /d\nA \"/d/a\\u000ab\\u202e\\u0085\\\"\"\n");
    let list = alice(dir.path(), "snapshots", &[]);
    assert!(list.out.ends_with(&format!("  {shown}\n")) && list.out.lines().count() == 1);
    let other = format!("{ugly}!");
    let failed = alice(dir.path(), "restore", &[&other]);
    assert_eq!((failed.code, failed.out.lines().count()), (Some(1), 1), "{failed:?}");
    assert!(!failed.out.contains('\u{202e}') && !failed.out.contains('\u{85}'), "{failed:?}");
    assert_eq!(alice(dir.path(), "restore", &[ugly]).code, Some(0));
    assert_eq!(alice(dir.path(), "forget", &[ugly]).code, Some(0));
}

#[test]
fn what_is_left_out_is_said() {
    let dir = temp();
    write(dir.path(), &ALICE, "a.txt", "one");
    let _socket = UnixListener::bind(dir.path().join("agent_files/alice/s")).unwrap();
    let taken = alice(dir.path(), "snapshot", &["s"]);
    let said = "\n[FIFOs, sockets and devices are not in it: 1]\n";
    assert!(taken.out.ends_with(said), "{taken:?}");
    let list = alice(dir.path(), "snapshots", &[]);
    assert!(list.out.ends_with("  s  [1 left out]\n"), "{list:?}");
    let restored = alice(dir.path(), "restore", &["s"]);
    let said = "\n[FIFOs, sockets and devices did not come back: 1]\n";
    assert!(restored.out.ends_with(said), "{restored:?}");
    assert_eq!(entries(&dir.path().join("agent_files/alice")), ["a.txt"]);
}
