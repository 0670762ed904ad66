//! The binary, as a process that can be limited, watched and killed.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use handhold_conformance::{binary, scratch_dir};
use serde_json::{Value, json};

/// A process that answers one call after the other.
pub(crate) struct Batch {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Batch {
    /// Starts one on a root; `prelude` is what a shell does before.
    pub(crate) fn start(root: &Path, prelude: &str, options: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{prelude}\nexec \"$0\" \"$@\"")).arg(binary());
        command.arg("batch").arg("--root").arg(root);
        command.args(options.iter().map(OsStr::new));
        let mut child = command
            .env("XDG_CACHE_HOME", scratch_dir().join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Gives it a call.
    pub(crate) fn send(&mut self, tool: &str, arguments: &Value) {
        let line = format!("{}\n", json!({ "tool": tool, "arguments": arguments }));
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Takes its next answer.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Makes one call.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.send(tool, arguments);
        self.receive()
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input, for another thread; it ends when that is dropped.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    /// Ends it without warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        drop(self.stdin.take());
        drop(self.child.wait());
    }
}

/// The code of an answer's failure; empty if it is none.
pub(crate) fn code(answer: &Value) -> &str {
    let code = answer.pointer("/structured/error/code").and_then(Value::as_str);
    assert_eq!(answer["is_error"], code.is_some(), "{answer}");
    code.unwrap_or_default()
}
