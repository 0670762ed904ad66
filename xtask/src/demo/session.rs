//! Calls of the command line, shown with their answers and checked.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::demo::stage::{Stage, THREAD};
use crate::process;
use crate::project::Project;

/// Lines of an answer that are shown.
const SHOWN_LINES: usize = 24;
/// Characters of a line that are shown.
const SHOWN_CHARACTERS: usize = 200;

/// The commands of one demonstration.
pub(crate) struct Session<'a> {
    project: &'a Project,
    handhold: PathBuf,
    /// The directory of all threads, as a user in the top directory writes it.
    root: String,
    commands: usize,
    titles: usize,
}

impl<'a> Session<'a> {
    pub(crate) fn new(project: &'a Project, handhold: PathBuf, stage: &Stage) -> Self {
        let root = project.shown(&stage.threads());
        Self { project, handhold, root, commands: 0, titles: 0 }
    }

    /// How many commands were run.
    pub(crate) fn commands(&self) -> usize {
        self.commands
    }

    /// Announces what the next commands show.
    pub(crate) fn title(&mut self, title: &str) {
        self.titles += 1;
        println!("\n## {}. {title}", self.titles);
    }

    /// A call that must succeed; shows and returns what a model would read.
    pub(crate) fn call(&mut self, tool: &str, arguments: &str) -> Result<String> {
        let text = self.run(&self.call_words(&[], tool, arguments), 0)?;
        show(&text);
        Ok(text)
    }

    /// A call with `--json` that must succeed; shows the parts of the result and returns it.
    pub(crate) fn call_json(&mut self, tool: &str, arguments: &str) -> Result<Value> {
        self.json(0, tool, arguments)
    }

    /// A call that must be answered with the error `code`; returns the whole result as text.
    pub(crate) fn refused(&mut self, code: &str, tool: &str, arguments: &str) -> Result<String> {
        let answer = self.json(1, tool, arguments)?;
        let found = answer.pointer("/structured/error/code").and_then(Value::as_str);
        ensure!(found == Some(code), "expected the error code {code}, got {found:?}");
        Ok(answer.to_string())
    }

    /// Another command, which must succeed; shows and returns what it prints.
    pub(crate) fn command(&mut self, words: &[&str]) -> Result<String> {
        let text = self.run(words, 0)?;
        show(&text);
        Ok(text)
    }

    /// Hands over the result of another tool, which a file holds; shows and returns what a model
    /// would see of it.
    pub(crate) fn offload(&mut self, tool: &str, call_id: &str, result: &Path) -> Result<String> {
        let words = ["offload", "--root", &self.root, "--thread", THREAD];
        let mut shown = Command::new("handhold");
        shown.args(words).args(["--call-id", call_id, "--tool", tool]);
        println!("\n$ {} < {}", process::describe(&shown), self.project.shown(result));
        let mut command = self.project.command(&self.handhold);
        command.args(shown.get_args());
        let output = process::capture_from(&mut command, result)?;
        let text = self.finished(output, 0)?;
        show(&text);
        Ok(text)
    }

    /// A command that prints the definitions of tools; shows and returns their names only.
    pub(crate) fn tool_names(&mut self, words: &[&str]) -> Result<Vec<String>> {
        let text = self.run(words, 0)?;
        let definitions: Value =
            serde_json::from_str(&text).context("the definitions of the tools are not JSON")?;
        let list = definitions.get("tools").unwrap_or(&definitions);
        let names: Vec<String> = list
            .as_array()
            .context("the definitions of the tools are not a list")?
            .iter()
            .filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned))
            .collect();
        println!("(the names only)");
        show(&names.join("\n"));
        Ok(names)
    }

    fn json(&mut self, expected: i32, tool: &str, arguments: &str) -> Result<Value> {
        let line = self.run(&self.call_words(&["--json"], tool, arguments), expected)?;
        let answer: Value = serde_json::from_str(&line)
            .with_context(|| format!("the answer is not one line of JSON: {line}"))?;
        println!("(one line of JSON; its text and its structured part:)");
        show(answer.get("text").and_then(Value::as_str).unwrap_or_default());
        show(&answer.get("structured").map_or_else(String::new, Value::to_string));
        Ok(answer)
    }

    fn call_words<'w>(&self, flags: &[&'w str], tool: &'w str, arguments: &'w str) -> Vec<String> {
        let workspace = ["call", "--root", &self.root, "--thread", THREAD];
        workspace.iter().chain(flags).chain(&[tool, arguments]).map(ToString::to_string).collect()
    }

    /// Shows the command, runs it and checks how it ends; returns its standard output.
    fn run(&mut self, words: &[impl AsRef<str>], expected: i32) -> Result<String> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let mut shown = Command::new("handhold");
        shown.args(&words);
        println!("\n$ {}", process::describe(&shown));

        let output = process::capture(self.project.command(&self.handhold).args(&words))?;
        self.finished(output, expected)
    }

    /// Checks how a command ended; returns its standard output.
    fn finished(&mut self, output: Output, expected: i32) -> Result<String> {
        self.commands += 1;
        if output.status.code() != Some(expected) {
            bail!(
                "expected exit code {expected}, got {}\n{}",
                output.status,
                process::printed(&output)
            );
        }
        if expected != 0 {
            println!("(exit code {expected}, as it should be)");
        }
        String::from_utf8(output.stdout).context("the answer is not UTF-8")
    }
}

/// Prints an answer, cut where it is long, with a mark where it was cut.
fn show(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(SHOWN_LINES) {
        match line.char_indices().nth(SHOWN_CHARACTERS) {
            None => println!("{line}"),
            Some((end, _)) => {
                let (head, tail) = line.split_at(end);
                println!("{head} (… {} more characters)", tail.chars().count());
            }
        }
    }
    if lines.len() > SHOWN_LINES {
        println!("(… {} more lines)", lines.len() - SHOWN_LINES);
    }
}
