//! The file in which changes are written down: what names and processes can do to it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use handhold_conformance::world::Directory;
use serde_json::{Value, json};

use crate::cli::{Batch, Offload, code};

/// A text that is in no path.
const SECRET: &str = "TOPSECRET";

/// A root, and a configuration with an audit file beside it.
struct Audited {
    directory: Directory,
}

impl Audited {
    fn new(more: &str) -> Self {
        let directory = Directory::new();
        let config = format!("[audit]\nfile = \"audit.jsonl\"\n{more}");
        fs::write(directory.base().join("config.toml"), config).unwrap();
        Self { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.base().join("audit.jsonl")
    }

    fn config(&self) -> String {
        self.directory.base().join("config.toml").to_string_lossy().into_owned()
    }

    fn batch(&self, options: &[&str]) -> Batch {
        let config = self.config();
        let options = [&["--config", &config], options].concat();
        Batch::start(&self.directory.root(), "", &options)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        let text = self.text();
        assert!(text.is_empty() || text.ends_with('\n'));
        let line = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        text.lines().map(line).collect()
    }
}

#[test]
fn several_processes_write_whole_lines() {
    const PROCESSES: usize = 3;
    const CALLS: usize = 60;
    let audited = Audited::new("");
    // Long names, so that a line is longer than a page of memory.
    let path = |process: usize, n: usize| {
        let dir = "\u{7f}".repeat(250);
        format!("/{dir}/{dir}/{dir}/{dir}/{process}-{n}")
    };
    let mut all: Vec<Batch> =
        (0..PROCESSES).map(|_| audited.batch(&["--jobs", "8", "--thread", "t"])).collect();
    for n in 0..CALLS {
        for (process, batch) in all.iter_mut().enumerate() {
            batch.send("write_file", &json!({ "file_path": path(process, n), "content": SECRET }));
        }
    }
    for batch in &mut all {
        for _ in 0..CALLS {
            let answer = batch.receive();
            assert_eq!(code(&answer), "", "{answer}");
        }
    }
    drop(all);
    let lines = audited.lines();
    let paths: BTreeSet<&str> = lines.iter().map(|line| line["path"].as_str().unwrap()).collect();
    let wanted: BTreeSet<String> =
        (0..PROCESSES).flat_map(|process| (0..CALLS).map(move |n| path(process, n))).collect();
    assert_eq!(lines.len(), PROCESSES * CALLS);
    assert!(paths.into_iter().eq(wanted.iter().map(String::as_str)));
    assert!(lines.iter().all(|line| line["outcome"] == "ok" && line["thread"] == "t"));
}

#[test]
fn no_name_forges_a_line() {
    let audited = Audited::new("");
    let forged = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"thread\":\"victim\",\"outcome\":\"ok\"}";
    let separators = ["\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"];
    let evil: String = separators.iter().map(|end| format!("{end}{forged}{end}")).collect();
    let evil = format!("a\"\\{evil}\u{202e}\u{1b}[2J\u{0}");
    let name = evil.replace(['\0', '/'], "");
    let mut batch = audited.batch(&["--thread", "t"]);
    let thread = evil.replace('\0', "").chars().take(100).collect::<String>();
    let mut ask = |line: Value| {
        batch.send_line(&line.to_string());
        batch.receive()
    };
    // A name has 255 bytes at most.
    for part in name.chars().collect::<Vec<char>>().chunks(60) {
        let part: String = part.iter().collect();
        let arguments = json!({ "file_path": format!("/{part}"), "content": "x" });
        let answer = ask(json!({
            "tool": "write_file", "arguments": arguments, "call_id": evil,
            "thread": thread, "tenant": thread,
        }));
        assert_eq!(code(&answer), "", "{answer}");
        let arguments = json!({ "source": format!("/{part}"), "destination": format!("/{part}2") });
        let answer = ask(json!({
            "tool": "move_file", "arguments": arguments, "call_id": evil,
            "thread": thread, "tenant": thread,
        }));
        assert_eq!(code(&answer), "", "{answer}");
    }
    drop(batch);
    let text = audited.text();
    let is_odd = |c: char| {
        c != '\n' && (c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202e}'))
    };
    assert!(!text.contains(is_odd), "{text:?}");
    for line in audited.lines() {
        assert_eq!(
            (line["thread"].as_str(), line["tenant"].as_str()),
            (Some(&*thread), Some(&*thread))
        );
        assert_eq!(line["call_id"], evil.as_str());
    }
}

#[test]
fn every_change_is_there_with_its_outcome_and_without_content() {
    let rules = "[quota]\nfile_bytes = \"1 MiB\"\n[[rules]]\noperations = [\"write\"]\n\
        paths = [\"/denied/**\"]\nmode = \"deny\"";
    let audited = Audited::new(rules);
    let mut batch = audited.batch(&["--thread", "t", "--tenant", "acme"]);
    let write = |path: &str, mode: &str| json!({ "file_path": path, "content": format!("{SECRET}\n"), "mode": mode });
    let edit =
        |old: &str| json!({ "file_path": "/a", "old_string": old, "new_string": "NEWSECRET" });
    let large = json!({ "file_path": "/large", "content": SECRET.repeat(200_000) });
    let moved = json!({ "source": "/a", "destination": "/b" });
    let dry = json!({
        "file_path": "/b", "old_string": "NEWSECRET", "new_string": "x",
        "replace_all": true, "dry_run": true
    });
    for (tool, arguments, wanted) in [
        ("write_file", write("/a", "overwrite"), ""),
        ("write_file", write("/a", "create"), "already-exists"),
        ("write_file", write("/a", "append"), ""),
        ("edit_file", edit("TOP"), "not-unique"),
        (
            "edit_file",
            json!({
                "file_path": "/a", "old_string": "TOP", "new_string": "NEWSECRET", "replace_all": true
            }),
            "",
        ),
        ("write_file", write("/denied/x", "overwrite"), "not-permitted"),
        ("write_file", large, "quota-exceeded"),
        ("move_file", moved.clone(), ""),
        ("move_file", moved, "not-found"),
        ("edit_file", dry, ""),
        ("delete_file", json!({ "path": "/denied" }), "not-permitted"),
        ("delete_file", json!({ "path": "/absent" }), "not-found"),
        ("delete_file", json!({ "path": "/b" }), ""),
        ("read_file", json!({ "file_path": "/none" }), "not-found"),
        ("ls", json!({}), ""),
    ] {
        let answer = batch.call(tool, &arguments);
        assert_eq!(code(&answer), wanted, "{tool} {arguments}: {answer}");
    }
    drop(batch);
    let config = audited.config();
    let options = ["--config", &config, "--thread", "t", "--tenant", "acme", "--call-id", "c7"];
    let mut stream = Offload::start(&audited.directory.root(), "", &options);
    stream.push(SECRET.repeat(20_000).as_bytes());
    stream.end();
    let lines = audited.lines();
    let told: Vec<_> = lines
        .iter()
        .map(|line| ["tool", "operation", "path", "outcome"].map(|key| line[key].as_str().unwrap()))
        .collect();
    for wanted in [
        ["write_file", "write", "/a", "ok"],
        ["write_file", "write", "/a", "already-exists"],
        ["write_file", "append", "/a", "ok"],
        ["edit_file", "write", "/a", "ok"],
        ["write_file", "write", "/denied/x", "not-permitted"],
        ["write_file", "write", "/large", "quota-exceeded"],
        ["move_file", "rename", "/a", "ok"],
        ["move_file", "rename", "/a", "not-found"],
        ["delete_file", "remove", "/denied", "not-permitted"],
        ["delete_file", "remove", "/absent", "not-found"],
        ["delete_file", "remove", "/b", "ok"],
        ["web", "publish", "/large_tool_result/c7", "ok"],
    ] {
        assert_eq!(told.iter().filter(|told| **told == wanted).count(), 1, "{wanted:?}: {told:#?}");
    }
    for line in &lines {
        assert_eq!((&line["tenant"], &line["thread"]), (&json!("acme"), &json!("t")));
        let writes = matches!(line["operation"].as_str(), Some("write" | "append" | "publish"));
        assert_eq!(line["size"].is_u64(), writes, "{line}");
        assert_eq!(line["hash"].as_str().is_some_and(|hash| hash.len() == 64), writes, "{line}");
    }
    assert_eq!(lines.last().unwrap()["call_id"], "c7");
    assert!(!audited.text().contains("SECRET"));
}

#[test]
fn a_line_that_was_cut_off_spoils_no_other() {
    let audited = Audited::new("");
    fs::write(audited.path(), "{\"time\":\"20").unwrap();
    for n in 0..2 {
        let mut batch = audited.batch(&[]);
        let write = json!({ "file_path": format!("/{n}"), "content": "x" });
        assert_eq!(code(&batch.call("write_file", &write)), "");
    }
    let text = audited.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "{\"time\":\"20"));
    for (n, line) in lines.iter().skip(1).enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["path"], format!("/{n}"));
    }
}

#[test]
fn what_is_collected_or_refused_before_a_tool_runs_is_no_change() {
    let audited = Audited::new("[lifetime]\nidle = \"1 h\"");
    let mut batch = audited.batch(&["--thread", "t"]);
    for (tool, arguments, wanted) in [
        ("write_file", json!({ "file_path": "/../x", "content": "x" }), "invalid-path"),
        ("write_file", json!({ "file_path": "/x" }), "invalid-arguments"),
        ("make_file", json!({ "file_path": "/x", "content": "x" }), "unknown-tool"),
    ] {
        assert_eq!(code(&batch.call(tool, &arguments)), wanted);
    }
    assert_eq!(audited.lines(), [Value::Null; 0]);
    let write = json!({ "file_path": "/x", "content": "x" });
    assert_eq!(code(&batch.call("write_file", &write)), "");
    drop(batch);
    let [line] = &audited.lines()[..] else { panic!("{}", audited.text()) };
    let time = line["time"].as_str().unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert!(now > Duration::ZERO && time.ends_with('Z') && time.len() == 24, "{time}");
}
