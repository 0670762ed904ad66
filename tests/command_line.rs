//! The command line: what it takes, prints, leaves behind and exits with.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use handhold_conformance::{binary, scratch_dir};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long an answer may take that depends on nothing.
const PATIENCE: Duration = Duration::from_secs(30);

const WRITE_TOOLS: [&str; 4] = ["write_file", "edit_file", "delete_file", "move_file"];
const READ_TOOLS: [&str; 4] = ["ls", "read_file", "glob", "grep"];

/// What a process has done.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    /// Fails unless it printed this to standard output and nothing else.
    #[track_caller]
    fn printed(&self, code: i32, out: &str) {
        assert_eq!((self.code, &*self.out, &*self.err), (Some(code), out, ""), "{self:?}");
    }

    /// Fails unless it could not do its work, and said why on standard error alone.
    #[track_caller]
    fn could_not(&self, parts: &[&str]) {
        assert_eq!((self.code, &*self.out), (Some(2), ""), "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "no {part:?}: {self:?}");
        }
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn lines(&self) -> Vec<Value> {
        assert_eq!((self.code, &*self.err), (Some(0), ""), "{self:?}");
        assert!(self.out.is_empty() || self.out.ends_with('\n'), "{self:?}");
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn temp() -> TempDir {
    tempfile::tempdir_in(scratch_dir()).unwrap()
}

/// A command that works in `dir`.
fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).current_dir(dir).env("XDG_CACHE_HOME", scratch_dir().join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn feed(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A process that does not read its input ends before all is written.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(dir: &Path, args: &[&str]) -> Ran {
    feed(command(dir, args), b"")
}

fn batch(dir: &Path, args: &[&str], input: impl AsRef<[u8]>) -> Vec<Value> {
    feed(command(dir, &[&["batch"], args].concat()), input.as_ref()).lines()
}

fn code(answer: &Value) -> &str {
    let code = answer.pointer("/structured/error/code").and_then(Value::as_str);
    assert_eq!(answer["is_error"], code.is_some(), "{answer}");
    code.unwrap_or_default()
}

fn entries(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// call

/// A root that cannot be made is no missing file of the workspace.
#[test]
fn a_root_that_cannot_be_made_is_told_apart_from_a_missing_file() {
    let base = tempfile::tempdir_in(handhold_conformance::scratch_dir()).unwrap();
    std::fs::write(base.path().join("file"), "x").unwrap();
    let output = Command::new(binary())
        .args(["call", "--json", "--root"])
        .arg(base.path().join("file/root"))
        .args(["write_file", r#"{"file_path":"a","content":"x"}"#])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""code":"unavailable""#), "{text}");
    assert!(text.contains("the directory of all workspaces"), "{text}");
}

#[test]
fn a_call_prints_its_text_and_exits_with_0_or_1() {
    let dir = temp();
    let write = r#"{"file_path": "a.txt", "content": "hi"}"#;
    run(dir.path(), &["call", "write_file", write]).printed(0, "Created /a.txt (2 bytes).\n");
    let ls = run(dir.path(), &["call", "ls"]);
    ls.printed(0, "      2 B  /a.txt\n");
    let missing = run(dir.path(), &["call", "read_file", r#"{"file_path": "b.txt"}"#]);
    let text = "Error: /b.txt does not exist; list its directory to see what is there\n";
    missing.printed(1, text);
    let unknown = run(dir.path(), &["call", "execute", "{}"]);
    assert_eq!((unknown.code, &*unknown.err), (Some(1), ""));
    assert!(unknown.out.starts_with("Error: unknown tool execute; the tools are ls, "));
}

#[test]
fn what_is_used_wrongly_exits_with_2_and_prints_nothing() {
    let dir = temp();
    let long = "x".repeat(513);
    for (args, parts) in [
        (&[][..], &["Usage"][..]),
        (&["nonsense"], &["nonsense"]),
        (&["call"], &["TOOL"]),
        (&["call", "--nonsense", "ls"], &["--nonsense"]),
        (&["call", "--memory", "--root", "x", "ls"], &["--memory", "--root"]),
        (&["call", "ls", "{}", "more"], &["more"]),
        (&["call", "--thread", "", "ls"], &["thread", "empty"]),
        (&["call", "--tenant", "", "ls"], &["tenant", "empty"]),
        (&["call", "--thread", &long, "ls"], &["512 bytes"]),
        (&["call", "--memory", "--thread", "", "ls"], &["thread", "empty"]),
        (&["batch", "--jobs", "0"], &["--jobs"]),
        (&["batch", "--jobs", "many"], &["--jobs"]),
        (&["tools", "--format", "yaml"], &["yaml", "mcp", "openai", "anthropic"]),
        (&["component"], &["WORLD"]),
        (&["component", "all-tools"], &["all-tools", "read-tools", "file-tools"]),
        (&["component", "read-tools", "--imports", "-o", "x"], &["--imports"]),
        (&["component", "read-tools", "-o", "no/such/directory"], &["no/such/directory"]),
    ] {
        run(dir.path(), args).could_not(parts);
    }
    assert_eq!(entries(dir.path()), [""; 0], "something was made");
}

#[test]
fn a_wrong_configuration_exits_with_2_and_names_the_field() {
    let dir = temp();
    let config = dir.path().join("config.toml");
    for (text, parts) in [
        ("[tools.grep]\nnam = 'x'", &["config.toml", "line 2", "nam"][..]),
        ("[tools.grep]\nname = 'a b'", &["tools.grep.name"]),
        ("[tools.shell]", &["tools.shell"]),
        ("[tools.ls]\nname = 'grep'", &["tools.ls.name"]),
        ("[limits]\ntime = 'soon'", &["limits.time", "soon"]),
        ("[limits]\nmemory = '1 KiB'", &["limits.memory"]),
        ("[limits]\nresult = '1 KiB'", &["limits.result"]),
        ("nonsense", &["config.toml", "line 1"]),
        ("[nonsense]", &["nonsense"]),
    ] {
        fs::write(&config, text).unwrap();
        for tool in
            [&["call", "--config", "config.toml", "ls"][..], &["tools", "--config", "config.toml"]]
        {
            run(dir.path(), tool).could_not(parts);
        }
        feed(command(dir.path(), &["batch", "--config", "config.toml"]), b"{}\n").could_not(parts);
    }
    run(dir.path(), &["call", "--config", "missing.toml", "ls"]).could_not(&["missing.toml"]);
    fs::write(&config, b"# \xff\n").unwrap();
    run(dir.path(), &["call", "--config", "config.toml", "ls"]).could_not(&["config.toml"]);
    assert_eq!(entries(dir.path()), ["config.toml"], "something was made");
}

#[test]
fn arguments_come_from_standard_input() {
    let dir = temp();
    let args = ["call", "--memory", "write_file", "-"];
    let call = |input: &[u8]| feed(command(dir.path(), &args), input);
    call(b"{\"file_path\": \"a.txt\",\n\"content\": \"hi\"}\n")
        .printed(0, "Created /a.txt (2 bytes).\n");
    for input in
        [&b""[..], b"\n", b"{", b"[]", b"\"\xff\"", b"{\"file_path\": \"a\xff\"}", b"null x"]
    {
        let ran =
            feed(command(dir.path(), &["call", "--memory", "--json", "write_file", "-"]), input);
        assert_eq!((ran.code, code(&ran.json())), (Some(1), "invalid-arguments"), "{ran:?}");
    }
    let large =
        [b"{\"file_path\": \"a\", \"content\": \"", &*vec![b'x'; 32 << 20], b"\"}"].concat();
    let ran = call(&large);
    assert_eq!((ran.code, &*ran.err), (Some(1), ""));
    assert!(ran.out.starts_with("Error: the arguments have "), "{}", ran.out);
}

#[test]
fn malformed_arguments_are_the_tools_failure() {
    let dir = temp();
    for arguments in
        ["{", "nonsense", "--nonsense", "[1]", "{\"path\": 5}", "{\"pth\": \"/\"}", "1", "null"]
    {
        let ran = run(dir.path(), &["call", "--json", "ls", arguments]);
        assert_eq!((ran.code, code(&ran.json())), (Some(1), "invalid-arguments"), "{ran:?}");
        let text = run(dir.path(), &["call", "ls", arguments]);
        assert_eq!((text.code, &*text.err), (Some(1), ""), "{text:?}");
        assert!(text.out.starts_with("Error: "), "{text:?}");
    }
}

#[test]
fn json_is_one_line_with_every_key() {
    let dir = temp();
    fs::create_dir_all(dir.path().join("agent_files/default")).unwrap();
    fs::write(dir.path().join("agent_files/default/a\nb.txt"), "x\ny\n\u{2028}z\n").unwrap();
    for (args, exit) in [
        (&["--call-id", "7\n", "read_file", r#"{"file_path": "a\nb.txt"}"#][..], 0),
        (&["--call-id", "7\n", "read_file", r#"{"file_path": "c\nd.txt"}"#], 1),
        (&["--call-id", "7\n", "no\ntool"], 1),
        (&["ls"], 0),
    ] {
        let ran = run(dir.path(), &[&["call", "--json"], args].concat());
        assert_eq!((ran.code, &*ran.err), (Some(exit), ""), "{ran:?}");
        assert!(ran.out.ends_with('\n') && ran.out.matches('\n').count() == 1, "{ran:?}");
        let result = ran.json();
        let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["tool", "call_id", "is_error", "text", "structured", "content"]);
        let id = if args[0] == "--call-id" { json!("7\n") } else { Value::Null };
        assert_eq!(result["call_id"], id);
        assert_eq!(result["is_error"], exit == 1);
        assert_eq!(result["content"], json!([]));
    }
}

#[test]
fn nobody_reading_is_no_failure() {
    let dir = temp();
    for args in [
        &["call", "ls"][..],
        &["call", "--json", "read_file", "{}"],
        &["tools"],
        &["component", "file-tools"],
        &["component", "file-tools", "--imports"],
        &["batch"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = command(dir.path(), args);
        command.stdout(writer);
        let ran = feed(command, b"{\"tool\": \"ls\"}\n{\"tool\": \"ls\"}\n");
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{args:?}");
    }
}

// workspaces

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

// batch

#[test]
fn a_batch_answers_in_order_however_long_a_call_takes() {
    let dir = temp();
    let root = dir.path().join("agent_files/default");
    fs::create_dir_all(&root).unwrap();
    for n in 0..40 {
        fs::write(root.join(format!("{n}.txt")), "line after line\n".repeat(40_000)).unwrap();
    }
    let mut input = String::new();
    for n in 0..32 {
        let (tool, arguments) = if n % 8 == 0 {
            ("grep", json!({ "pattern": "(l.*){3}nothing", "output_mode": "count" }))
        } else {
            ("ls", json!({ "limit": n }))
        };
        let line = json!({ "tool": tool, "call_id": n.to_string(), "arguments": arguments });
        input.push_str(&format!("{line}\n"));
    }
    for jobs in ["1", "8", "64"] {
        let answers = batch(dir.path(), &["--jobs", jobs], &input);
        let ids: Vec<&str> = answers.iter().map(|a| a["call_id"].as_str().unwrap()).collect();
        assert_eq!(ids, (0..32).map(|n| n.to_string()).collect::<Vec<_>>());
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(code(answer), "", "{answer}");
            assert_eq!(answer["tool"], if n % 8 == 0 { "grep" } else { "ls" });
            if n % 8 > 0 {
                assert_eq!(answer["structured"]["entries"].as_array().unwrap().len(), n);
            }
        }
    }
}

#[test]
fn a_line_that_is_no_call_gets_an_error_and_the_rest_goes_on() {
    let dir = temp();
    let bad = [
        "",
        "nonsense",
        "{",
        "[]",
        "5",
        "null",
        "{}",
        r#"{"tool": 5}"#,
        r#"{"tool": "ls"} x"#,
        r#"{"tool": "ls", "argument": {}}"#,
        r#"{"tool": "ls", "call_id": 5}"#,
        r#"{"tool": "ls", "thread": 5}"#,
        r#"{"tool": "ls", "thread": ""}"#,
        r#"{"tool": "ls", "tenant": ""}"#,
        r#"{"tool": "ls", "tool": "ls"}"#,
    ];
    let mut input = Vec::new();
    for line in bad {
        input.extend(
            format!("{line}\n{{\"tool\": \"ls\", \"call_id\": \"good\"}}\r\n").into_bytes(),
        );
    }
    input.extend(b"{\"tool\": \"\xff\"}\n{\"tool\": \"ls\", \"call_id\": \"good\"}\n");
    for jobs in ["1", "8"] {
        let answers = batch(dir.path(), &["--memory", "--jobs", jobs], &input);
        assert_eq!(answers.len(), 2 * (bad.len() + 1));
        for pair in answers.chunks(2) {
            assert_eq!(code(&pair[0]), "invalid-arguments", "{}", pair[0]);
            assert!(pair[0]["text"].as_str().unwrap().starts_with("Error: "), "{}", pair[0]);
            assert_eq!((code(&pair[1]), &pair[1]["call_id"]), ("", &json!("good")));
        }
    }
    let named = batch(dir.path(), &["--memory"], r#"{"tool": "ls", "argument": {}}"#);
    assert!(named[0]["text"].as_str().unwrap().contains("argument"), "{}", named[0]);
    let refused = r#"{"tool": "ls", "call_id": "7", "thread": ""}"#;
    assert_eq!(batch(dir.path(), &["--memory"], refused)[0]["call_id"], "7");
}

#[test]
fn the_arguments_of_a_line_may_be_left_out_null_or_a_string() {
    let dir = temp();
    let lines = [
        r#"{"tool": "ls"}"#,
        r#"{"tool": "ls", "arguments": null}"#,
        r#"{"tool": "ls", "arguments": {}}"#,
        r#"{"tool": "ls", "arguments": "{\"path\": \"/\"}"}"#,
    ];
    for answer in batch(dir.path(), &["--memory"], lines.join("\n")) {
        assert_eq!(answer["text"], "The directory / is empty.");
    }
}

#[test]
fn each_thread_and_tenant_of_a_batch_has_a_workspace_of_its_own() {
    let dir = temp();
    let places = [
        (None, None, "default"),
        (Some("a"), None, "a"),
        (Some("A"), None, "%41"),
        (Some("b"), None, "b"),
        (Some("a"), Some("t"), ".tenants/t/a"),
        (Some("a"), Some("u"), ".tenants/u/a"),
        (None, Some("t"), ".tenants/t/default"),
        (Some("a/b"), Some("t"), ".tenants/t/a%2fb"),
    ];
    let line = |tool: &str, arguments: Value, n: usize| {
        let mut line = json!({ "tool": tool, "arguments": arguments });
        for (key, id) in [("thread", places[n].0), ("tenant", places[n].1)] {
            if let Some(id) = id {
                line[key] = json!(id);
            }
        }
        format!("{line}\n")
    };
    let mut input = String::new();
    for n in 0..places.len() {
        let write = json!({ "file_path": format!("{n}.txt"), "content": "x", "mode": "create" });
        input.push_str(&line("write_file", write, n));
    }
    for n in 0..places.len() {
        input.push_str(&line("glob", json!({ "pattern": "*" }), n));
    }
    for args in [&["--memory"][..], &["--jobs", "4"]] {
        let answers = batch(dir.path(), args, &input);
        for (n, answer) in answers.iter().skip(places.len()).enumerate() {
            // With several jobs, the writes may come later.
            let files = answer["structured"]["files"].as_array().unwrap();
            let own = json!(format!("/{n}.txt"));
            assert!(files.iter().all(|file| *file == own), "{n}: {answer}");
            assert!(args[0] == "--jobs" || files.len() == 1, "{n}: {answer}");
        }
    }
    for (n, (_, _, place)) in places.iter().enumerate() {
        let place = dir.path().join("agent_files").join(place);
        assert_eq!(entries(&place), [format!("{n}.txt")], "{}", place.display());
    }
}

#[test]
fn the_options_of_a_batch_are_what_lines_do_not_say() {
    let dir = temp();
    let write = |more: &str| {
        let arguments = r#"{"file_path": "a.txt", "content": ""}"#;
        format!(r#"{{"tool": "write_file", "arguments": {arguments}{more}}}"#)
    };
    let input = [write(""), write(r#", "thread": "b""#), write(r#", "tenant": "u""#)].join("\n");
    batch(dir.path(), &["--thread", "a", "--tenant", "t"], input);
    for place in ["t/a", "t/b", "u/a"] {
        let place = dir.path().join("agent_files/.tenants").join(place);
        assert_eq!(entries(&place), ["a.txt"], "{}", place.display());
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_rest_goes_on() {
    let dir = temp();
    let long = |len: usize| {
        let arguments = json!({ "file_path": "a.txt", "content": "x".repeat(len) });
        json!({ "tool": "write_file", "call_id": "long", "arguments": arguments }).to_string()
    };
    let ls = r#"{"tool": "ls", "call_id": "good"}"#;
    // Over the longest line, over the longest arguments alone, and the former at the end.
    let input = [&long(33 << 20), ls, &long(32 << 20), ls, &long(40 << 20)].join("\n");
    let answers = batch(dir.path(), &["--memory"], input);
    let codes: Vec<&str> = answers.iter().map(code).collect();
    assert_eq!(codes, ["too-large", "", "too-large", "", "too-large"]);
    assert_eq!(answers[1]["text"], "The directory / is empty.");
    assert_eq!(answers[2]["call_id"], "long");
    assert_eq!(answers[3]["text"], "The directory / is empty.");
}

#[test]
fn the_last_line_of_a_batch_needs_no_line_feed_and_no_line_is_no_answer() {
    let dir = temp();
    let ls = r#"{"tool": "ls"}"#;
    assert_eq!(batch(dir.path(), &[], ""), [Value::Null; 0]);
    assert_eq!(batch(dir.path(), &[], ls).len(), 1);
    assert_eq!(batch(dir.path(), &[], format!("{ls}\n")).len(), 1);
    assert_eq!(batch(dir.path(), &[], format!("{ls}\n{ls}")).len(), 2);
}

#[test]
fn a_batch_answers_before_the_next_line_is_written() {
    let dir = temp();
    for jobs in ["1", "8"] {
        let mut child =
            command(dir.path(), &["batch", "--memory", "--jobs", jobs]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                drop(sender.send(line.unwrap()));
            }
        });
        for n in 0..20 {
            let line = json!({ "tool": "ls", "call_id": n.to_string() });
            writeln!(stdin, "{line}").unwrap();
            let Ok(answer) = answers.recv_timeout(PATIENCE) else {
                child.kill().unwrap();
                panic!("no answer to line {n} with {jobs} jobs");
            };
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["call_id"], n.to_string());
        }
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

// tools

/// Checks a schema of arguments by hand.
fn check_schema(schema: &Value, tool: &str) {
    assert_eq!(schema["type"], "object", "{tool}");
    let properties = schema["properties"].as_object().unwrap();
    for (name, property) in properties {
        assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        assert!(property["type"].is_string() || property["enum"].is_array(), "{tool}: {name}");
    }
    let none = Vec::new();
    for required in schema.get("required").map_or(&none, |list| list.as_array().unwrap()) {
        assert!(properties.contains_key(required.as_str().unwrap()), "{tool}: {required}");
    }
    assert_eq!(schema["additionalProperties"], false, "{tool}");
}

/// The definitions in a format as name, description and schema.
fn definitions(dir: &Path, format: &str, args: &[&str]) -> Vec<(String, String, Value)> {
    let ran = run(dir, &[&["tools", "--format", format], args].concat());
    assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{ran:?}");
    let document = ran.json();
    let list = if format == "mcp" { &document["tools"] } else { &document };
    let tools = list.as_array().unwrap().iter().map(|tool| {
        let (named, schema) = match format {
            "mcp" => {
                assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{tool}");
                assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
                for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                    assert!(tool["annotations"][hint].is_boolean(), "{tool}");
                }
                (tool, "inputSchema")
            }
            "openai" => {
                assert_eq!(tool["type"], "function", "{tool}");
                (&tool["function"], "parameters")
            }
            _ => (tool, "input_schema"),
        };
        let text = |key: &str| named[key].as_str().unwrap().to_owned();
        assert!(!text("description").is_empty(), "{tool}");
        check_schema(&named[schema], &text("name"));
        (text("name"), text("description"), named[schema].clone())
    });
    tools.collect()
}

#[test]
fn definitions_have_the_form_of_their_format() {
    let dir = temp();
    let mcp = definitions(dir.path(), "mcp", &[]);
    let names: Vec<&str> = mcp.iter().map(|(name, ..)| name.as_str()).collect();
    let all =
        ["ls", "read_file", "write_file", "edit_file", "delete_file", "move_file", "glob", "grep"];
    assert_eq!(names, all);
    for format in ["openai", "anthropic"] {
        assert_eq!(definitions(dir.path(), format, &[]), mcp, "{format} says something else");
    }
    assert_eq!(run(dir.path(), &["tools"]).out, run(dir.path(), &["tools", "--format", "mcp"]).out);
    for tool in run(dir.path(), &["tools"]).json()["tools"].as_array().unwrap() {
        let reads = READ_TOOLS.contains(&tool["name"].as_str().unwrap());
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
    }
}

#[test]
fn definitions_are_those_of_the_tools_that_can_be_called() {
    let dir = temp();
    fs::write(
        dir.path().join("config.toml"),
        "[tools.grep]\nname = 'search'\ndescription = 'Finds it.'\n\
         [tools.delete_file]\nenabled = false\n[tools.glob]\nenabled = false\n",
    )
    .unwrap();
    let names = |format: &str, args: &[&str]| -> Vec<String> {
        definitions(dir.path(), format, args).into_iter().map(|(name, ..)| name).collect()
    };
    for format in ["mcp", "openai", "anthropic"] {
        assert_eq!(names(format, &["--read-only"]), READ_TOOLS);
        let all = ["ls", "read_file", "write_file", "edit_file", "move_file", "search"];
        assert_eq!(names(format, &["--config", "config.toml"]), all);
        let configured = ["--config", "config.toml", "--read-only"];
        assert_eq!(names(format, &configured), ["ls", "read_file", "search"]);
        let search = definitions(dir.path(), format, &configured).pop().unwrap();
        assert_eq!(search.1, "Finds it.");
    }
    let call = |tool: &str| {
        let args = ["call", "--json", "--memory", "--config", "config.toml", tool, "-"];
        feed(command(dir.path(), &args), br#"{"pattern": "x"}"#).json()
    };
    assert_eq!(code(&call("search")), "");
    for gone in ["grep", "glob", "delete_file"] {
        assert_eq!(code(&call(gone)), "unknown-tool");
    }
}

// component

#[test]
fn a_component_is_printed_or_written_and_shows_its_imports() {
    let dir = temp();
    let imports = "handhold:fs/types@0.1.0\nhandhold:fs/reader@0.1.0\n";
    run(dir.path(), &["component", "read-tools", "--imports"]).printed(0, imports);
    let imports = format!("{imports}handhold:fs/writer@0.1.0\n");
    run(dir.path(), &["component", "file-tools", "--imports"]).printed(0, &imports);
    for world in ["read-tools", "file-tools"] {
        run(dir.path(), &["component", world, "-o", "a.wasm"]).printed(0, "");
        let written = fs::read(dir.path().join("a.wasm")).unwrap();
        assert!(written.starts_with(b"\0asm\x0d\0\x01\0"), "it is no component");
        let output = command(dir.path(), &["component", world]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout == written, "{world} is another when it is printed");
    }
    assert_eq!(entries(dir.path()), ["a.wasm"]);
}

#[test]
fn help_names_every_command() {
    let dir = temp();
    let help = run(dir.path(), &["--help"]);
    assert_eq!((help.code, &*help.err), (Some(0), ""));
    for name in ["call", "batch", "tools", "component"] {
        assert!(help.out.contains(&format!("\n  {name} ")), "{}", help.out);
        let own = run(dir.path(), &[name, "--help"]);
        assert_eq!((own.code, &*own.err), (Some(0), ""));
        assert!(own.out.contains(&format!("Usage: handhold {name}")), "{}", own.out);
    }
    let version = run(dir.path(), &["--version"]);
    version.printed(0, concat!("handhold ", env!("CARGO_PKG_VERSION"), "\n"));
}

// the cache of compiled code

/// Makes a call with a cache in `caches`.
fn with_cache(dir: &Path, caches: &Path) {
    let mut command = command(dir, &["call", "--memory", "ls"]);
    command.env("XDG_CACHE_HOME", caches);
    feed(command, b"").printed(0, "The directory / is empty.\n");
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn compiled_code_is_kept_for_its_user_alone() {
    let dir = temp();
    with_cache(dir.path(), dir.path());
    let cache = dir.path().join("handhold");
    assert_eq!(mode(&cache), 0o700);
    let names = entries(&cache);
    assert_eq!(names.len(), 1, "{names:?}");
    let file = cache.join(&names[0]);
    assert_eq!(mode(&file), 0o600);
    let before = fs::metadata(&file).unwrap().ino();
    with_cache(dir.path(), dir.path());
    assert_eq!(fs::metadata(&file).unwrap().ino(), before, "it was compiled once more");
}

#[test]
fn damaged_code_is_compiled_again() {
    let dir = temp();
    with_cache(dir.path(), dir.path());
    let cache = dir.path().join("handhold");
    let file = cache.join(&entries(&cache)[0]);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let mut other_hash = whole.clone();
    other_hash[0] ^= 1;
    for damaged in [&flipped, &other_hash, &whole[..whole.len() / 2], &whole[..31], b""] {
        fs::write(&file, damaged).unwrap();
        with_cache(dir.path(), dir.path());
        let now = fs::read(&file).unwrap();
        assert!(now.len() > whole.len() / 2 && now != damaged, "it was left as it was");
        assert_eq!(entries(&cache).len(), 1, "something was left");
    }
    // What is no file is left alone.
    fs::write(dir.path().join("target"), "target").unwrap();
    fs::remove_file(&file).unwrap();
    symlink(dir.path().join("target"), &file).unwrap();
    with_cache(dir.path(), dir.path());
    assert_eq!(fs::read_to_string(dir.path().join("target")).unwrap(), "target");
}

#[test]
fn a_cache_that_others_can_write_to_is_not_used() {
    for mode in [0o777, 0o770, 0o707, 0o1777] {
        let dir = temp();
        let cache = dir.path().join("handhold");
        fs::create_dir(&cache).unwrap();
        fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).unwrap();
        with_cache(dir.path(), dir.path());
        assert_eq!(entries(&cache), [""; 0], "{mode:o}");
    }
    let dir = temp();
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink("real", dir.path().join("handhold")).unwrap();
    with_cache(dir.path(), dir.path());
    assert_eq!(entries(&dir.path().join("real")), [""; 0], "a link is followed");
}

#[test]
fn without_a_directory_for_caches_there_is_none() {
    let dir = temp();
    let ls = |vars: &[(&str, &str)]| {
        let mut command = command(dir.path(), &["call", "--memory", "ls"]);
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
        command.envs(vars.iter().copied());
        feed(command, b"").printed(0, "The directory / is empty.\n");
    };
    ls(&[]);
    ls(&[("XDG_CACHE_HOME", "relative"), ("HOME", "")]);
    assert_eq!(entries(dir.path()), [""; 0]);
    let home = dir.path().join("home");
    fs::create_dir(&home).unwrap();
    ls(&[("XDG_CACHE_HOME", "relative"), ("HOME", home.to_str().unwrap())]);
    assert_eq!(entries(&home.join(".cache/handhold")).len(), 1);
    assert_eq!(entries(dir.path()), ["home"]);
}
