//! One call: what it prints, and its exit code.

use std::fs;

use serde_json::{Value, json};

use crate::process::*;

/// A root that cannot be made is no missing file of the workspace.
#[test]
fn a_root_that_cannot_be_made_is_told_apart_from_a_missing_file() {
    let dir = temp();
    fs::write(dir.path().join("file"), "x").unwrap();
    let arguments = r#"{"file_path":"a","content":"x"}"#;
    let ran = run(dir.path(), &["call", "--json", "--root", "file/root", "write_file", arguments]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(code(&ran.json()), "unavailable");
    assert!(ran.out.contains("the directory of all workspaces"), "{ran:?}");
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
