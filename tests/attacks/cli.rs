//! The binary, as a process that can be limited, watched and killed.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use handhold_conformance::{binary, scratch_dir};
use serde_json::{Value, json};

/// Starts a command on a root; `prelude` is what a shell does before.
fn spawn(command: &str, root: &Path, prelude: &str, options: &[&str]) -> Child {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{prelude}\nexec \"$0\" \"$@\"")).arg(binary());
    shell.arg(command).arg("--root").arg(root);
    shell.args(options.iter().map(OsStr::new));
    shell.env("XDG_CACHE_HOME", scratch_dir().join("cache"));
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// A process that answers one call after the other.
pub(crate) struct Batch {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Batch {
    /// Starts one on a root; `prelude` is what a shell does before.
    pub(crate) fn start(root: &Path, prelude: &str, options: &[&str]) -> Self {
        let mut child = spawn("batch", root, prelude, options);
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Gives it a call.
    pub(crate) fn send(&mut self, tool: &str, arguments: &Value) {
        self.send_line(&json!({ "tool": tool, "arguments": arguments }).to_string());
    }

    /// Gives it a line as it is.
    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
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

/// A process that takes the result of a tool, piece by piece.
pub(crate) struct Offload {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Offload {
    /// Starts one on a root; `prelude` is what a shell does before.
    pub(crate) fn start(root: &Path, prelude: &str, options: &[&str]) -> Self {
        let mut child = spawn("offload", root, prelude, &[&["--tool", "web"], options].concat());
        let stdin = child.stdin.take();
        Self { child, stdin }
    }

    /// Gives it the next piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(piece).unwrap();
        stdin.flush().unwrap();
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says that there is no more.
    pub(crate) fn close(&mut self) {
        drop(self.stdin.take());
    }

    /// Ends the result, and gives what a model sees of it.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.close();
        let mut shown = Vec::new();
        self.child.stdout.take().unwrap().read_to_end(&mut shown).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&shown));
        shown
    }

    /// Ends it without warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Offload {
    fn drop(&mut self) {
        // It has ended, unless the test has failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The code of an answer's failure; empty if it is none.
pub(crate) fn code(answer: &Value) -> &str {
    let code = answer.pointer("/structured/error/code").and_then(Value::as_str);
    assert_eq!(answer["is_error"], code.is_some(), "{answer}");
    code.unwrap_or_default()
}
