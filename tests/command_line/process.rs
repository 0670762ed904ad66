//! Runs the binary and reads what it has done.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use handhold_conformance::{binary, scratch_dir};
use serde_json::Value;
use tempfile::TempDir;

/// How long an answer may take that depends on nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const WRITE_TOOLS: [&str; 4] = ["write_file", "edit_file", "delete_file", "move_file"];
pub(crate) const READ_TOOLS: [&str; 4] = ["ls", "read_file", "glob", "grep"];

/// What a process has done.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Fails unless it printed this to standard output and nothing else.
    #[track_caller]
    pub(crate) fn printed(&self, code: i32, out: &str) {
        assert_eq!((self.code, &*self.out, &*self.err), (Some(code), out, ""), "{self:?}");
    }

    /// Fails unless it could not do its work, and said why on standard error alone.
    #[track_caller]
    pub(crate) fn could_not(&self, parts: &[&str]) {
        assert_eq!((self.code, &*self.out), (Some(2), ""), "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "no {part:?}: {self:?}");
        }
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        assert_eq!((self.code, &*self.err), (Some(0), ""), "{self:?}");
        assert!(self.out.is_empty() || self.out.ends_with('\n'), "{self:?}");
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn temp() -> TempDir {
    tempfile::tempdir_in(scratch_dir()).unwrap()
}

/// A command that works in `dir`.
pub(crate) fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).current_dir(dir).env("XDG_CACHE_HOME", scratch_dir().join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn feed(mut command: Command, input: &[u8]) -> Ran {
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

pub(crate) fn run(dir: &Path, args: &[&str]) -> Ran {
    feed(command(dir, args), b"")
}

pub(crate) fn batch(dir: &Path, args: &[&str], input: impl AsRef<[u8]>) -> Vec<Value> {
    feed(command(dir, &[&["batch"], args].concat()), input.as_ref()).lines()
}

pub(crate) fn code(answer: &Value) -> &str {
    let code = answer.pointer("/structured/error/code").and_then(Value::as_str);
    assert_eq!(answer["is_error"], code.is_some(), "{answer}");
    code.unwrap_or_default()
}

pub(crate) fn entries(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
