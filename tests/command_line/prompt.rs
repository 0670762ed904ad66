//! The section for a system prompt.

use std::fs;
use std::path::Path;

use crate::process::*;

/// All tools, in order.
const TOOLS: [&str; 8] =
    ["ls", "read_file", "write_file", "edit_file", "delete_file", "move_file", "glob", "grep"];

/// What is printed with a configuration.
fn prompt(dir: &Path, config: &str, args: &[&str]) -> String {
    fs::write(dir.join("config.toml"), config).unwrap();
    let ran = run(dir, &[&["prompt", "--config", "config.toml"], args].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    ran.out
}

/// The names in backticks with which lines of a list begin.
fn listed(prompt: &str) -> Vec<&str> {
    let lines = prompt.lines().filter_map(|line| line.strip_prefix("- `"));
    lines.map(|line| line.split('`').next().unwrap()).collect()
}

/// Whether a name is anywhere in backticks.
fn names(prompt: &str, tool: &str) -> bool {
    prompt.contains(&format!("`{tool}`"))
}

/// The names of the tools that are offered with the configuration that was written last.
fn offered(dir: &Path, args: &[&str]) -> Vec<String> {
    let ran = run(dir, &[&["tools", "--config", "config.toml"], args].concat());
    let tools = ran.json()["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn disabled(tools: &[&str]) -> String {
    tools.iter().map(|tool| format!("[tools.{tool}]\nenabled = false\n")).collect()
}

#[test]
fn a_prompt_is_one_section_and_makes_nothing() {
    let dir = temp();
    let first = run(dir.path(), &["prompt"]);
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{first:?}");
    let text = first.out.as_str();
    assert!(text.starts_with("## ") && text.ends_with('\n') && !text.ends_with("\n\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1, "{text}");
    assert_eq!(listed(text), TOOLS);
    for part in ["`/large_tool_result`", "20000 tokens"] {
        assert!(text.contains(part), "no {part}: {text}");
    }
    // It is the same for every thread, and every time.
    for args in [
        &["prompt"][..],
        &["prompt", "--memory"],
        &["prompt", "--root", "elsewhere"],
        &["prompt", "--tenant", "acme", "--thread", "alice"],
    ] {
        run(dir.path(), args).printed(0, text);
    }
    assert_eq!(entries(dir.path()), [""; 0], "something was made");
}

#[test]
fn a_prompt_names_the_tools_that_are_offered_by_their_names() {
    let dir = temp();
    let renamed: String =
        TOOLS.iter().map(|tool| format!("[tools.{tool}]\nname = 'my-{tool}'\n")).collect();
    let mut configs = vec![String::new(), renamed];
    for tool in TOOLS {
        configs.push(disabled(&[tool]));
        configs.push(format!("[tools.{tool}]\nname = 'my-{tool}'"));
        let others: Vec<&str> = TOOLS.into_iter().filter(|name| *name != tool).collect();
        configs.push(disabled(&others));
    }
    for config in &configs {
        for args in [&[][..], &["--read-only"]] {
            for language in ["", "language = 'zh'\n"] {
                let text = prompt(dir.path(), &format!("{language}{config}"), args);
                let offered = offered(dir.path(), args);
                assert_eq!(listed(&text), offered, "{config}");
                for tool in TOOLS {
                    let wanted = offered.iter().any(|name| name == tool);
                    assert_eq!(names(&text, tool), wanted, "{config} {args:?}: {tool}\n{text}");
                }
            }
        }
    }
}

#[test]
fn names_that_are_exchanged_are_exchanged_everywhere() {
    let dir = temp();
    let plain = prompt(dir.path(), "", &[]);
    let exchanged = prompt(
        dir.path(),
        "[tools.read_file]\nname = 'grep'\n[tools.grep]\nname = 'read_file'",
        &[],
    );
    let back = exchanged.replace("`grep`", "`x`").replace("`read_file`", "`grep`");
    assert_eq!(back.replace("`x`", "`read_file`"), plain);
}

#[test]
fn a_read_only_prompt_says_so_and_speaks_of_nothing_that_writes() {
    let dir = temp();
    let text = prompt(dir.path(), "", &["--read-only"]);
    assert_eq!(listed(&text), READ_TOOLS);
    assert!(text.contains("read-only"), "{text}");
    // Nothing is saved where nothing is written.
    assert!(!text.contains("large_tool_result") && text.contains("cannot be saved"), "{text}");
    for tool in WRITE_TOOLS {
        assert!(!text.contains(tool), "{tool}: {text}");
    }
    assert!(!prompt(dir.path(), "", &[]).contains("read-only"));
    // Where tools that write are only not offered, results are saved all the same.
    let text = prompt(dir.path(), &disabled(&WRITE_TOOLS), &[]);
    assert!(text.contains("`/large_tool_result`") && !text.contains("read-only"), "{text}");
}

#[test]
fn a_prompt_in_chinese_has_no_english_sentence() {
    let dir = temp();
    for args in [&[][..], &["--read-only"]] {
        let text = prompt(dir.path(), "language = 'zh'", args);
        let code_free: String = text.split('`').step_by(2).collect();
        let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        assert!(code_free.chars().filter(|c| is_chinese(*c)).count() > 100, "{text}");
        let words = code_free.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| !w.is_empty());
        let foreign: Vec<&str> = words.filter(|word| *word != "token").collect();
        assert!(foreign.is_empty(), "{foreign:?}: {text}");
        assert!(!text.contains('\u{fffd}'));
        // What it says is the same.
        let english = prompt(dir.path(), "language = 'en'", args);
        assert_eq!(listed(&text), listed(&english));
        assert_eq!(text.split("\n\n").count(), english.split("\n\n").count(), "{text}");
        assert_eq!(english, prompt(dir.path(), "", args));
    }
}

#[test]
fn without_a_tool_there_is_nothing_to_say() {
    let dir = temp();
    let none = disabled(&TOOLS);
    for (config, args) in [
        (none.clone(), &[][..]),
        (none.clone(), &["--read-only"]),
        (format!("language = 'zh'\n{none}"), &[]),
        (disabled(&READ_TOOLS), &["--read-only"]),
    ] {
        assert_eq!(prompt(dir.path(), &config, args), "", "{config}");
    }
    assert_ne!(prompt(dir.path(), &disabled(&READ_TOOLS), &[]), "");
}

#[test]
fn a_prompt_says_where_large_results_are_as_it_is_configured() {
    let dir = temp();
    let text = prompt(dir.path(), "[offload]\ntokens = 4321\npath = 'kept//results/'", &[]);
    assert!(text.contains("4321 tokens") && text.contains("`/kept/results`"), "{text}");
    assert!(!text.contains("large_tool_result") && !text.contains("20000"), "{text}");
    let text = prompt(dir.path(), "[offload]\nenabled = false", &[]);
    assert!(!text.contains("large_tool_result") && !text.contains("token"), "{text}");
    // A path that has what Markdown means something by is shown as it is.
    let text = prompt(dir.path(), "[offload]\npath = \"/a`b\\nc\"", &[]);
    assert!(text.contains("`` \"/a`b\\u000ac\" ``"), "{text}");
}

#[test]
fn nobody_reading_a_prompt_is_no_failure() {
    let dir = temp();
    for args in [&["prompt"][..], &["prompt", "--read-only"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = command(dir.path(), args);
        command.stdout(writer);
        let ran = feed(command, b"");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_prompt_takes_no_more_arguments() {
    let dir = temp();
    run(dir.path(), &["prompt", "more"]).could_not(&["more"]);
    run(dir.path(), &["prompt", "--tool", "web"]).could_not(&["--tool"]);
    run(dir.path(), &["prompt", "--config", "missing.toml"]).could_not(&["missing.toml"]);
    run(dir.path(), &["prompt", "--memory", "--root", "x"]).could_not(&["--memory", "--root"]);
}
