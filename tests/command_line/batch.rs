//! Many calls, one a line.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::process::*;

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
        r#"["ls", {}, null, null, null]"#,
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
