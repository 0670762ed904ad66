//! The `handhold` binary: a process for each call, and one process for all.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use handhold::Settings;
use serde_json::Value;

use super::{Answer, FrontEnd, Handed, Session, is_root};
use crate::case::Case;
use crate::world::{Directory, World};
use crate::{binary, scratch_dir};

/// A user without any rights: nobody, on most systems.
const UNPRIVILEGED: u32 = 65534;

/// `handhold call` on a directory.
pub struct CommandLine;

impl FrontEnd for CommandLine {
    fn name(&self) -> &'static str {
        "command-line"
    }

    fn can(&self, need: &str) -> bool {
        !matches!(need, "blocks" | "streams")
    }

    fn open(&self, case: &Case) -> Result<(World, Box<dyn Session>)> {
        let directory = Directory::new();
        let config = write_config(&directory, case)?;
        let unprivileged = is_root() && case.needs.iter().any(|need| need == "unprivileged");
        let session = Calls {
            base: directory.base().to_owned(),
            root: directory.root(),
            config,
            read_only: case.read_only,
            unprivileged,
            given: false,
        };
        Ok((World::Directory(directory), Box::new(session)))
    }
}

fn write_config(directory: &Directory, case: &Case) -> Result<Option<PathBuf>> {
    let Some(text) = &case.config else { return Ok(None) };
    // A wrong configuration is found here already, with the error of the library.
    Settings::from_toml(text)?;
    let path = directory.base().join("config.toml");
    std::fs::write(&path, text)?;
    Ok(Some(path))
}

struct Calls {
    base: PathBuf,
    root: PathBuf,
    config: Option<PathBuf>,
    read_only: bool,
    unprivileged: bool,
    given: bool,
}

impl Calls {
    /// Runs a command on the workspace.
    fn run(&mut self, command: &[&str], further: &[&str], input: &[u8]) -> Result<Output> {
        if self.unprivileged && !self.given {
            give_away(&self.base)?;
            self.given = true;
        }
        let mut process = Command::new(binary());
        process.args(command).arg("--root").arg(&self.root);
        if let Some(config) = &self.config {
            process.arg("--config").arg(config);
        }
        if self.read_only {
            process.arg("--read-only");
        }
        if self.unprivileged {
            process.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
            process.env("XDG_CACHE_HOME", unprivileged_cache()?);
        } else {
            process.env("XDG_CACHE_HOME", scratch_dir().join("cache"));
        }
        let child = process
            .args(further)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let output = feed(child, input)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(stderr.is_empty(), "there is something on standard error: {stderr}");
        Ok(output)
    }
}

impl Session for Calls {
    fn call(&mut self, tool: &str, arguments: &str, call_id: &str) -> Result<Answer> {
        let command = ["call", "--json", "--call-id", call_id];
        // Long arguments do not fit on a command line.
        let output = self.run(&command, &["--", tool, "-"], arguments.as_bytes())?;
        let line = String::from_utf8(output.stdout)?;
        ensure!(line.ends_with('\n') && line.matches('\n').count() == 1, "not one line: {line:?}");
        let answer = read_result(&line, call_id)?;
        let code = output.status.code();
        ensure!(code == Some(i32::from(answer.is_error)), "the exit code is {code:?}");
        Ok(answer)
    }

    fn hand_over(&mut self, handed: &Handed<'_>) -> Result<Answer> {
        let mut command = vec!["offload", "--tool", handed.tool];
        command.extend(handed.call_id.iter().flat_map(|id| ["--call-id", id]));
        command.extend(handed.is_error.then_some("--is-error"));
        let output = self.run(&command, &[], handed.text()?)?;
        ensure!(output.status.success(), "the exit code is {:?}", output.status.code());
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        // What is not the result itself ends with a line feed, as all that is printed.
        if output.stdout != handed.text()? {
            ensure!(text.pop() == Some('\n'), "there is no line feed at the end");
        }
        Ok(Answer { is_error: handed.is_error, text, structured: Value::Null })
    }
}

/// Writes standard input while the output is read.
fn feed(mut child: Child, input: &[u8]) -> Result<Output> {
    let mut stdin = child.stdin.take().context("standard input is piped")?;
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output()?;
    writer.join().ok().context("the writer broke down")??;
    Ok(output)
}

/// Reads one result line.
fn read_result(line: &str, call_id: &str) -> Result<Answer> {
    let result: Value = serde_json::from_str(line)?;
    for key in ["tool", "call_id", "is_error", "text", "structured", "content"] {
        ensure!(result.get(key).is_some(), "the result has no {key}: {line}");
    }
    ensure!(result["call_id"] == call_id, "the call id is {}", result["call_id"]);
    Ok(Answer {
        is_error: result["is_error"].as_bool().context("is_error")?,
        text: result["text"].as_str().context("text")?.to_owned(),
        structured: result["structured"].clone(),
    })
}

/// Makes all beneath `path` that user's.
fn give_away(path: &Path) -> Result<()> {
    let meta = std::fs::symlink_metadata(path)?;
    if meta.is_dir() {
        for entry in std::fs::read_dir(path)? {
            give_away(&entry?.path())?;
        }
    }
    if !meta.is_symlink() {
        chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
    }
    Ok(())
}

/// A directory for compiled code of that user.
fn unprivileged_cache() -> Result<PathBuf> {
    let dir = scratch_dir().join("cache-unprivileged");
    std::fs::create_dir_all(&dir)?;
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700))?;
    chown(&dir, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
    Ok(dir)
}

/// `handhold batch`: one process for all calls of a case.
pub struct Batch;

impl FrontEnd for Batch {
    fn name(&self) -> &'static str {
        "batch"
    }

    fn can(&self, need: &str) -> bool {
        match need {
            "blocks" | "streams" => false,
            "unprivileged" => !is_root(),
            _ => true,
        }
    }

    fn open(&self, case: &Case) -> Result<(World, Box<dyn Session>)> {
        let directory = Directory::new();
        let config = write_config(&directory, case)?;
        let mut command = Command::new(binary());
        command.arg("batch").arg("--root").arg(directory.root());
        let beside = Calls {
            base: directory.base().to_owned(),
            root: directory.root(),
            config: config.clone(),
            read_only: case.read_only,
            unprivileged: false,
            given: false,
        };
        if let Some(config) = config {
            command.arg("--config").arg(config);
        }
        if case.read_only {
            command.arg("--read-only");
        }
        command
            .env("XDG_CACHE_HOME", scratch_dir().join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let session = BatchSession { command, running: None, beside };
        Ok((World::Directory(directory), Box::new(session)))
    }
}

struct BatchSession {
    command: Command,
    /// It starts with the first call: then all that it looks at is planted.
    running: Option<Running>,
    /// A batch takes calls alone; results are handed over beside it, on the same files.
    beside: Calls,
}

/// The process of a batch.
struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl BatchSession {
    fn running(&mut self) -> Result<&mut Running> {
        if self.running.is_none() {
            let mut child = self.command.spawn()?;
            let stdin = child.stdin.take();
            let stdout = child.stdout.take().context("standard output is piped")?;
            self.running = Some(Running { child, stdin, stdout: BufReader::new(stdout) });
        }
        self.running.as_mut().context("it was just started")
    }
}

impl Session for BatchSession {
    fn hand_over(&mut self, handed: &Handed<'_>) -> Result<Answer> {
        self.beside.hand_over(handed)
    }

    fn call(&mut self, tool: &str, arguments: &str, call_id: &str) -> Result<Answer> {
        // The text of the arguments goes into the line as it is, so that nothing is lost on the
        // way; what is no JSON, or has line feeds, goes in as a string.
        let fits = serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
        let arguments = if fits && !arguments.contains('\n') {
            arguments.to_owned()
        } else {
            serde_json::to_string(arguments)?
        };
        let (tool, id) = (serde_json::to_string(tool)?, serde_json::to_string(call_id)?);
        let line = format!("{{\"tool\":{tool},\"call_id\":{id},\"arguments\":{arguments}}}\n");
        let running = self.running()?;
        let stdin = running.stdin.as_mut().context("standard input is open")?;
        stdin.write_all(line.as_bytes())?;
        stdin.flush()?;
        let mut answer = String::new();
        running.stdout.read_line(&mut answer)?;
        ensure!(answer.ends_with('\n'), "the process ended: {answer:?}");
        read_result(&answer, call_id)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stdin.take());
        drop(self.child.wait());
    }
}
