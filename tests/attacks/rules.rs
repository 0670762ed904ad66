//! Rules, attacked by links, names, moves and races: what is denied is not read, changed, listed
//! or removed, and no answer tells it from nothing at all.

mod alike;
mod mounted;
mod names;
mod protected;
mod races;

use handhold::Policy;
use handhold::backends::{Mode, Operation, Rule};
use serde_json::{Value, json};

use crate::site::Site;

const WRITE: &[Operation] = &[Operation::Write];
const BOTH: &[Operation] = &[Operation::Read, Operation::Write];

fn rule(mode: Mode, operations: &[Operation], paths: &[&str]) -> Rule {
    let paths = paths.iter().map(|&path| path.to_owned()).collect();
    Rule { operations: operations.to_vec(), paths, mode }
}

fn deny(operations: &[Operation], paths: &[&str]) -> Rule {
    rule(Mode::Deny, operations, paths)
}

fn allow(operations: &[Operation], paths: &[&str]) -> Rule {
    rule(Mode::Allow, operations, paths)
}

fn site(rules: Vec<Rule>) -> Site {
    Site::with(Policy { rules, ..Policy::default() })
}

/// Ways to write the file at `path`.
fn writes(path: &str) -> Vec<(&'static str, Value)> {
    let write = |mode: &str| {
        ("write_file", json!({ "file_path": path, "content": "inside", "mode": mode }))
    };
    let stale = json!({ "file_path": path, "content": "inside", "if_version": "none" });
    vec![write("overwrite"), write("append"), write("create"), ("write_file", stale)]
}

fn moved(source: &str, destination: &str) -> (&'static str, Value) {
    let call = json!({ "source": source, "destination": destination, "overwrite": true });
    ("move_file", call)
}

fn deleted(path: &str) -> (&'static str, Value) {
    ("delete_file", json!({ "path": path, "recursive": true }))
}

/// Ways to read what is at `path`, whatever that is.
fn reads(path: &str) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("read_file", json!({ "file_path": path })),
        ("read_file", json!({ "file_path": path, "offset": -1 })),
        ("read_file", json!({ "file_path": path, "if_version": "none" })),
        ("ls", json!({ "path": path })),
        ("ls", json!({ "path": path, "limit": 1 })),
        ("ls", json!({ "path": path, "offset": 1 })),
        ("glob", json!({ "pattern": "/secrets/file.txt", "path": path })),
        ("grep", json!({ "pattern": "o", "path": path, "glob": "*.key" })),
    ];
    for include_ignored in [false, true] {
        for pattern in ["**", "*.key", "**/*.txt"] {
            let call = json!({
                "pattern": pattern, "path": path, "include_ignored": include_ignored,
            });
            calls.push(("glob", call));
        }
        for mode in ["files_with_matches", "content", "count"] {
            let call = json!({
                "pattern": "o", "path": path, "output_mode": mode,
                "include_ignored": include_ignored,
            });
            calls.push(("grep", call));
        }
    }
    let edit = json!({ "file_path": path, "old_string": "one", "new_string": "two" });
    let mut dry = edit.clone();
    dry["dry_run"] = json!(true);
    calls.extend([("edit_file", edit), ("edit_file", dry)]);
    calls
}
