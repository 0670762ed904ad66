//! What a configuration file says about threads: what is shared, allowed, limited, written down.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::process::*;

const WRITE: &str = r#"{"file_path": "a.txt", "content": "hi"}"#;

fn configure(dir: &Path, text: &str) {
    fs::write(dir.join("conf/config.toml"), text).unwrap();
}

/// A directory with `conf/config.toml` in it.
fn configured(text: &str) -> tempfile::TempDir {
    let dir = temp();
    fs::create_dir(dir.path().join("conf")).unwrap();
    configure(dir.path(), text);
    dir
}

fn call(dir: &Path, tool: &str, arguments: &str) -> Ran {
    run(dir, &["call", "--json", "--config", "conf/config.toml", tool, arguments])
}

#[track_caller]
fn good(dir: &Path, tool: &str, arguments: &str) -> String {
    let ran = call(dir, tool, arguments);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{ran:?}");
    ran.json()["text"].as_str().unwrap().to_owned()
}

#[track_caller]
fn failed(dir: &Path, tool: &str, arguments: &str, wanted: &str) {
    let ran = call(dir, tool, arguments);
    assert_eq!((ran.code, code(&ran.json())), (Some(1), wanted), "{ran:?}");
}

#[test]
fn what_is_wrong_is_told_before_anything_is_made() {
    let dir = configured("");
    let deny = "operations = [\"read\"]\nmode = \"deny\"\n";
    let audit = "[audit]\nfile = \"audit.jsonl\"\n";
    for (text, part) in [
        ("[quota]\nbytes = \"0 B\"", "`quota.bytes`"),
        ("[quota]\nbytes = \"1 GiB\"\nsize = 5", "`quota.size` unknown field"),
        ("[lifetime]\nidle = \"a while\"", "`lifetime.idle`"),
        ("[lifetimes]", "`lifetimes` unknown field"),
        (&format!("[[rules]]\n{deny}paths = []"), "`rules[0].paths`"),
        (&format!("[[rules]]\n{deny}paths = [\"/a\", \"b\"]"), "`rules[0].paths[1]`"),
        (&format!("[[rules]]\n{deny}paths = [\"/[\"]"), "`rules[0].paths[0]`"),
        (&format!("[[rules]]\n{deny}path = [\"/a\"]"), "`rules[0].path` unknown field"),
        ("rules = [[[\"read\"], [\"/x\"], \"deny\"]]", "`rules[0]` must be a table"),
        ("[[mounts]]\npath = \"skills\"\ndir = \".\"", "`mounts`: `skills`"),
        ("[[mounts]]\npath = \"/\"\ndir = \".\"", "`mounts`: nothing"),
        ("[[mounts]]\npath = \"/x\"\ndir = \"\"", "`mounts[0].dir`"),
        ("[[mounts]]\npath = \"/x\"\ndir = \"missing\"", "`mounts[0].dir`"),
        ("[[mounts]]\npath = \"/x\"\ndir = \"config.toml\"", "`mounts[0].dir`"),
        ("[[mounts]]\npath = \"/x\"\ndir = \".\"\nwritable = true", "`mounts[0].writable`"),
        ("[writes]\nrefuse_stale = 1", "`writes.refuse_stale`"),
    ] {
        configure(dir.path(), &format!("{audit}{text}"));
        // A key at the top cannot come behind a table.
        if text.starts_with("rules =") {
            configure(dir.path(), &format!("{text}\n{audit}"));
        }
        let config = ["--config", "conf/config.toml"];
        for args in [
            &["call", "write_file", WRITE][..],
            &["batch"],
            &["offload", "--tool", "web"],
            &["prompt"],
            &["tools"],
            &["threads", "list"],
            &["threads", "gc"],
        ] {
            run(dir.path(), &[args, &config].concat()).could_not(&[part]);
        }
        assert_eq!(entries(dir.path()), ["conf"], "{text}");
        assert_eq!(entries(&dir.path().join("conf")), ["config.toml"], "{text}");
    }
}

#[test]
fn the_quota_is_that_of_a_thread() {
    let dir = configured("[quota]\nbytes = \"10 B\"\nfiles = 2\nfile_bytes = \"8 B\"");
    let write = |path: &str, bytes: usize| {
        json!({ "file_path": path, "content": "x".repeat(bytes) }).to_string()
    };
    failed(dir.path(), "write_file", &write("a", 9), "quota-exceeded");
    good(dir.path(), "write_file", &write("a", 8));
    failed(dir.path(), "write_file", &write("b", 3), "quota-exceeded");
    good(dir.path(), "write_file", &write("b", 2));
    failed(dir.path(), "write_file", &write("c", 0), "quota-exceeded");
    // Another thread, and the same one of a tenant, have their own.
    for options in [["--thread", "other"], ["--tenant", "acme"]] {
        let args = ["call", "--config", "conf/config.toml", "write_file", &write("a", 8)];
        let ran = run(dir.path(), &[&args[..3], &options, &args[3..]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn rules_hold_and_the_first_decides() {
    let dir = configured(
        "[[rules]]\noperations = [\"read\", \"write\"]\npaths = [\"/open/**\"]\nmode = \"allow\"\n\
         [[rules]]\noperations = [\"write\"]\npaths = [\"/**\"]\nmode = \"deny\"\n\
         [[rules]]\noperations = [\"read\"]\npaths = [\"/secret*\"]\nmode = \"deny\"",
    );
    let root = dir.path().join("agent_files/default");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("secret.txt"), "x").unwrap();
    fs::write(root.join("plain.txt"), "x").unwrap();
    failed(dir.path(), "read_file", r#"{"file_path": "secret.txt"}"#, "not-found");
    failed(dir.path(), "write_file", WRITE, "not-permitted");
    good(dir.path(), "write_file", r#"{"file_path": "open/a.txt", "content": "hi"}"#);
    assert_eq!(good(dir.path(), "glob", r#"{"pattern": "**"}"#), "/open/a.txt\n/plain.txt");
}

#[test]
fn paths_of_the_machine_are_relative_to_the_file() {
    let dir = configured(
        "[audit]\nfile = \"audit.jsonl\"\n\
         [[mounts]]\npath = \"/skills\"\ndir = \"skills\"\n\
         [[mounts]]\npath = \"/notes\"\ndir = \"../notes\"\nread_only = false",
    );
    let skills = dir.path().join("conf/skills");
    fs::create_dir(&skills).unwrap();
    fs::write(skills.join("how.md"), "so").unwrap();
    assert_eq!(good(dir.path(), "read_file", r#"{"file_path": "skills/how.md"}"#), "     1\tso");
    failed(
        dir.path(),
        "write_file",
        r#"{"file_path": "skills/new.md", "content": "x"}"#,
        "not-permitted",
    );
    good(dir.path(), "write_file", r#"{"file_path": "notes/a.md", "content": "shared"}"#);
    assert_eq!(fs::read(dir.path().join("notes/a.md")).unwrap(), b"shared");
    // From elsewhere it is the same.
    let elsewhere = temp();
    let config = dir.path().join("conf/config.toml");
    let config = config.to_str().unwrap();
    let read = r#"{"file_path": "/notes/a.md"}"#;
    run(elsewhere.path(), &["call", "--config", config, "--tenant", "acme", "read_file", read])
        .printed(0, "     1\tshared\n");
    let audit = fs::read_to_string(dir.path().join("conf/audit.jsonl")).unwrap();
    assert_eq!(audit.lines().count(), 2, "{audit}");
    assert_eq!(entries(&dir.path().join("conf")), ["audit.jsonl", "config.toml", "skills"]);
}

#[test]
fn what_has_changed_since_it_was_read_is_not_overwritten_if_so_configured() {
    let dir = configured("[writes]\nrefuse_stale = true");
    let line = |tool: &str, arguments| json!({ "tool": tool, "arguments": arguments }).to_string();
    let write = |content: &str| json!({ "file_path": "a.txt", "content": content });
    let mut foreign = command(
        dir.path(),
        &["call", "write_file", r#"{"file_path": "a.txt", "content": "foreign"}"#],
    );
    good(dir.path(), "write_file", &write("1").to_string());
    // A pipe, so that the foreign write comes in between.
    let mut batch =
        command(dir.path(), &["batch", "--config", "conf/config.toml"]).spawn().unwrap();
    let (mut stdin, stdout) = (batch.stdin.take().unwrap(), batch.stdout.take().unwrap());
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(stdout));
    let mut ask = |line: String| {
        std::io::Write::write_all(&mut stdin, format!("{line}\n").as_bytes()).unwrap();
        let answer: serde_json::Value =
            serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        code(&answer).to_owned()
    };
    assert_eq!(ask(line("read_file", json!({ "file_path": "a.txt" }))), "");
    assert!(foreign.status().unwrap().success());
    assert_eq!(ask(line("write_file", write("2"))), "conflict");
    assert_eq!(ask(line("read_file", json!({ "file_path": "a.txt" }))), "");
    assert_eq!(ask(line("write_file", write("2"))), "");
    drop(stdin);
    assert!(batch.wait().unwrap().success());
}

#[test]
fn a_change_that_cannot_be_written_down_is_told() {
    let dir = configured("[audit]\nfile = \"/dev/full\"");
    let ran = call(dir.path(), "write_file", WRITE);
    // The change has been made by then, and its answer is true.
    assert_eq!((ran.code, ran.json()["is_error"].as_bool()), (Some(0), Some(false)), "{ran:?}");
    assert!(ran.err.contains("a change is missing in the audit file"), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    // One that cannot even be opened is a failure before anything else.
    configure(dir.path(), "[audit]\nfile = \"missing/audit.jsonl\"");
    call(dir.path(), "write_file", WRITE).could_not(&["the audit file", "missing"]);
}

#[test]
fn what_a_line_of_a_batch_says_of_its_thread_must_be_an_id() {
    let dir = temp();
    let long = "x".repeat(513);
    let line = |thread: serde_json::Value| {
        json!({ "tool": "write_file", "thread": thread, "arguments": {
            "file_path": "a.txt", "content": thread.to_string()
        } })
        .to_string()
    };
    let bad =
        [json!(""), json!("a\0b"), json!(long), json!(7), json!(true), json!(["x"]), json!({})];
    let input: Vec<String> = bad.into_iter().map(line).collect();
    for answer in batch(dir.path(), &[], input.join("\n")) {
        assert_eq!(code(&answer), "invalid-arguments", "{answer}");
    }
    assert_eq!(entries(dir.path()), [""; 0]);
    // Null is absent, and then there is the documented default.
    let input = [line(json!(null)), line(json!("7"))].join("\n");
    for answer in batch(dir.path(), &[], input) {
        assert_eq!(code(&answer), "", "{answer}");
    }
    let root = dir.path().join("agent_files");
    assert_eq!(fs::read(root.join("default/a.txt")).unwrap(), b"null");
    assert_eq!(fs::read(root.join("7/a.txt")).unwrap(), b"\"7\"");
}
