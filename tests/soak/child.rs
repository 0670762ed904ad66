//! Processes that use a root: this test program, run again.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use handhold_conformance::runtime;

use crate::{hammer, killed};

const ROLE: &str = "HANDHOLD_SOAK_ROLE";
const ROOT: &str = "HANDHOLD_SOAK_ROOT";
const NAME: &str = "HANDHOLD_SOAK_NAME";

/// What begins a line that is for the other process.
const PREFIX: &str = "soak: ";

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Changes threads of its own until it is killed.
    Change,
    /// Changes the threads of all for some seconds.
    Hammer,
}

const ROLES: [Role; 2] = [Role::Change, Role::Hammer];

/// A process that is killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Process {
    pub(crate) fn start(role: Role, root: &Path, name: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::play", "--ignored", "--nocapture"])
            .env(ROLE, format!("{role:?}"))
            .env(ROOT, root)
            .env(NAME, name)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next thing that it says; none if it has ended, or was cut off.
    pub(crate) fn hear(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 || !line.ends_with('\n') {
                return None;
            }
            if let Some((_, said)) = line.split_once(PREFIX) {
                return Some(said.trim_end().to_owned());
            }
        }
    }

    /// Ends it without warning. What it has said before can still be heard.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended, unless the test has failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Tells the other process something, in one piece.
pub(crate) fn say(text: &str) {
    let line = format!("\n{PREFIX}{text}\n");
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn play() {
    let (Ok(role), Some(root), Ok(name)) =
        (std::env::var(ROLE), std::env::var_os(ROOT), std::env::var(NAME))
    else {
        return;
    };
    let role = ROLES.into_iter().find(|known| format!("{known:?}") == role).unwrap();
    let root = Path::new(&root);
    runtime().block_on(async {
        match role {
            Role::Change => killed::play(root, &name).await,
            Role::Hammer => hammer::play(root, &name).await,
        }
    });
}
