//! `demo`: real calls on a copy of this source tree, as a user would make them.
//!
//! Every call is shown with its answer, and its exit code is compared with the
//! expected one: a demonstration that does not hold fails.

mod session;
mod stage;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::demo::session::Session;
use crate::demo::stage::Stage;
use crate::project::Project;
use crate::setup;

pub(crate) fn run(project: &Project) -> Result<()> {
    setup::run(project)?;
    let handhold = project.build_command_line()?;
    let stage = Stage::prepare(project)?;
    println!(
        "\nThe workspace is a copy of this project: {} files in {}",
        stage.copied(),
        project.shown(&stage.workspace())
    );

    let mut session = Session::new(project, handhold, &stage);
    look(&mut session)?;
    page(&mut session)?;
    change(&mut session)?;
    large(&mut session, &stage)?;
    escape(&mut session, &stage)?;
    authority(&mut session)?;

    println!(
        "\nShown: {} commands (listing, search, paging, an edit, a refused stale write, a large \
         result, {} refused escapes, the authority of the component), each with the exit code it should have.\n\
         The files are in {}.",
        session.commands(),
        stage.ways_out().len(),
        project.shown(&stage.directory())
    );
    Ok(())
}

fn look(session: &mut Session<'_>) -> Result<()> {
    session.title("Look round");
    session.call("ls", "{}")?;
    session.call("glob", r#"{"pattern": "**/*.wit"}"#)?;
    session.call(
        "grep",
        r#"{
  "pattern": "^(interface|world) ",
  "glob": "*.wit",
  "output_mode": "content",
  "-A": 2,
  "head_limit": 4
}"#,
    )?;
    Ok(())
}

fn page(session: &mut Session<'_>) -> Result<()> {
    session.title("Read a file page by page: the footer names the next offset");
    let first = session
        .call_json("read_file", r#"{"file_path": "/wit/types.wit", "offset": 1, "limit": 12}"#)?;
    let next = first
        .pointer("/structured/next_offset")
        .and_then(Value::as_u64)
        .context("the first page names no next offset")?;
    session.call(
        "read_file",
        &format!(r#"{{"file_path": "/wit/types.wit", "offset": {next}, "limit": 12}}"#),
    )?;
    Ok(())
}

fn change(session: &mut Session<'_>) -> Result<()> {
    session.title("Write a file, then change it in two places at once");
    let written = session.call_json(
        "write_file",
        r##"{
  "file_path": "/notes/plan.md",
  "content": "# Plan\n\n- [ ] read the contract\n- [ ] write a test\n- [ ] make it pass\n"
}"##,
    )?;
    let version = text_at(&written, "/structured/version")?;
    session.call(
        "edit_file",
        r##"{
  "file_path": "/notes/plan.md",
  "edits": [
    {"old_string": "# Plan", "new_string": "# Plan for today"},
    {"old_string": "- [ ] read the contract", "new_string": "- [x] read the contract"}
  ]
}"##,
    )?;

    session.title("A write that relies on the version before the edit is refused");
    session.refused(
        "conflict",
        "write_file",
        &format!(
            "{{\n  \"file_path\": \"/notes/plan.md\",\n  \"content\": \"gone\\n\",\n  \
             \"if_version\": {}\n}}",
            Value::from(version)
        ),
    )?;
    let kept = session.call("read_file", r#"{"file_path": "/notes/plan.md"}"#)?;
    ensure!(kept.contains("# Plan for today"), "the refused write changed the file");
    Ok(())
}

fn large(session: &mut Session<'_>, stage: &Stage) -> Result<()> {
    session.title("A result of another tool that is too large is saved, and a preview shown");
    let result = stage.directory().join("numbers.txt");
    let numbers: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    std::fs::write(&result, numbers).context("the large result cannot be written")?;
    let shown = session.offload("web_fetch", "call_7", &result)?;
    ensure!(shown.len() < 10_000, "the preview has {} bytes", shown.len());
    let path = "/large_tool_result/call_7";
    ensure!(shown.contains(path), "the notice does not name the file");
    session
        .call("read_file", &format!(r#"{{"file_path": "{path}", "offset": 50000, "limit": 3}}"#))?;
    let found = session.call(
        "grep",
        &format!(r#"{{"pattern": "^77777$", "path": "{path}", "output_mode": "content"}}"#),
    )?;
    ensure!(found.contains("77777"), "the saved result was not searched");
    Ok(())
}

fn escape(session: &mut Session<'_>, stage: &Stage) -> Result<()> {
    session.title("Nothing leads out of the workspace, neither `..` nor a symbolic link");
    for way in stage.ways_out() {
        let arguments = format!(r#"{{"file_path": {}}}"#, Value::from(way.path));
        let answer = session.refused(way.code, "read_file", &arguments)?;
        ensure!(!answer.contains(stage::SECRET), "the file outside was read through {}", way.path);
    }
    stage.check_canary()
}

fn authority(session: &mut Session<'_>) -> Result<()> {
    session.title("All that the component can reach is what it imports");
    let imports = session.command(&["component", "file-tools", "--imports"])?;
    ensure!(!imports.contains("wasi:"), "the component imports more than its backend");

    session.title("With --read-only the tools that write are not there");
    let names = session.tool_names(&["tools", "--read-only"])?;
    ensure!(names.iter().any(|name| name == "read_file"), "there is no tool to read with");
    ensure!(!names.iter().any(|name| name == "write_file"), "there is a tool to write with");
    Ok(())
}

fn text_at(answer: &Value, pointer: &str) -> Result<String> {
    let text = answer.pointer(pointer).and_then(Value::as_str);
    Ok(text.with_context(|| format!("the answer has no text at {pointer}"))?.to_owned())
}
