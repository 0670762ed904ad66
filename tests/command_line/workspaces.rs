//! Where workspaces are, and what is left behind.

use serde_json::json;

use crate::process::*;

#[test]
fn the_root_is_agent_files_unless_another_is_given() {
    let dir = temp();
    let write = r#"{"file_path": "a.txt", "content": "hi"}"#;
    for args in [
        &["call", "write_file", write][..],
        &["call", "--thread", "alice", "write_file", write],
        &["call", "--tenant", "acme", "--thread", "alice", "write_file", write],
        &["call", "--root", "elsewhere/deep", "write_file", write],
        &["call", "--thread", "../Up", "write_file", write],
    ] {
        run(dir.path(), args).printed(0, "Created /a.txt (2 bytes).\n");
    }
    assert_eq!(entries(dir.path()), ["agent_files", "elsewhere"]);
    let root = dir.path().join("agent_files");
    assert_eq!(
        entries(&root),
        [".handhold", ".tenants", "%2e.%2f%55p", "alice", "default"].sorted()
    );
    for path in
        ["default", "alice", ".tenants/acme/alice", "%2e.%2f%55p", "../elsewhere/deep/default"]
    {
        assert_eq!(entries(&root.join(path)), ["a.txt"], "{path}");
    }
}

/// Sorts names as [`entries`] does.
trait Sorted {
    fn sorted(self) -> Self;
}

impl<const N: usize> Sorted for [&str; N] {
    fn sorted(mut self) -> Self {
        self.sort_unstable();
        self
    }
}

#[test]
fn looking_at_a_new_workspace_makes_nothing() {
    let dir = temp();
    run(dir.path(), &["call", "ls"]).printed(0, "The directory / is empty.\n");
    for (tool, arguments, exit) in [
        ("read_file", r#"{"file_path": "a"}"#, 1),
        ("glob", r#"{"pattern": "*"}"#, 0),
        ("grep", r#"{"pattern": "x"}"#, 0),
        ("edit_file", r#"{"file_path": "a", "old_string": "x", "new_string": "y"}"#, 1),
        ("delete_file", r#"{"path": "a"}"#, 1),
        ("move_file", r#"{"source": "a", "destination": "b/c"}"#, 1),
        ("write_file", r#"{"file_path": "a"}"#, 1),
    ] {
        let ran = run(dir.path(), &["call", tool, arguments]);
        assert_eq!(ran.code, Some(exit), "{tool}: {ran:?}");
        assert_eq!(entries(dir.path()), [""; 0], "{tool} has made something");
    }
    run(dir.path(), &["tools"]);
    assert_eq!(batch(dir.path(), &[], "{\"tool\": \"ls\"}\n").len(), 1);
    assert_eq!(entries(dir.path()), [""; 0]);
}

#[test]
fn a_workspace_in_memory_leaves_nothing() {
    let dir = temp();
    let write = r#"{"tool": "write_file", "arguments": {"file_path": "a/b.txt", "content": "hi"}}"#;
    let read = r#"{"tool": "read_file", "arguments": {"file_path": "a/b.txt"}}"#;
    let other = r#"{"tool": "ls", "thread": "other"}"#;
    let answers = batch(dir.path(), &["--memory"], [write, read, other].join("\n"));
    assert_eq!(answers[1]["text"], "     1\thi");
    assert_eq!(answers[2]["text"], "The directory / is empty.");
    assert_eq!(entries(dir.path()), [""; 0]);
}

#[test]
fn a_read_only_workspace_has_nothing_to_write_with() {
    let dir = temp();
    let write = r#"{"file_path": "a.txt", "content": "hi"}"#;
    run(dir.path(), &["call", "write_file", write]).printed(0, "Created /a.txt (2 bytes).\n");
    for tool in WRITE_TOOLS {
        let ran = run(dir.path(), &["call", "--json", "--read-only", tool, write]);
        assert_eq!((ran.code, code(&ran.json())), (Some(1), "unknown-tool"), "{ran:?}");
    }
    run(dir.path(), &["call", "--read-only", "read_file", r#"{"file_path": "a.txt"}"#])
        .printed(0, "     1\thi\n");
    let line = json!({ "tool": "delete_file", "arguments": { "path": "a.txt" } }).to_string();
    let answers = batch(dir.path(), &["--read-only"], line);
    assert_eq!(code(&answers[0]), "unknown-tool");
    assert_eq!(entries(&dir.path().join("agent_files/default")), ["a.txt"]);
}
