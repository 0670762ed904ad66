//! Where things are, and how the project's own programs are started.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;

/// Variables that `cargo run` sets for this program. Passed on, they would make
/// the build scripts of some crates believe that their surroundings changed,
/// and every command would compile those crates again.
const CARGO_RUN_VARIABLES: [&str; 5] =
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];

/// The checkout that this program works on.
pub(crate) struct Project {
    root: PathBuf,
    target: PathBuf,
    foreign_target: bool,
}

impl Project {
    /// Finds the checkout that this program was started from.
    pub(crate) fn locate() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.parent().context("the directory of xtask has no parent")?.to_path_buf();
        let chosen = env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty());
        let (target, foreign_target) = match chosen {
            Some(directory) => (std::path::absolute(directory)?, true),
            None => (root.join("target"), false),
        };
        Ok(Self { root, target, foreign_target })
    }

    /// The top directory of the checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path below cargo's target directory, where all that we make lies.
    pub(crate) fn target(&self, below: &str) -> PathBuf {
        self.target.join(below)
    }

    /// `path` as someone in the top directory would write it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// A command that runs in the top directory.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if CARGO_RUN_VARIABLES.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&*name);
            }
        }
        command
    }

    /// `cargo` with these arguments.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("cargo");
        command.args(arguments);
        // What was given relative to another directory than ours means the same place.
        if self.foreign_target {
            command.env("CARGO_TARGET_DIR", &self.target);
        }
        command
    }

    /// Builds the command line and says where it is.
    pub(crate) fn build_command_line(&self) -> Result<PathBuf> {
        process::run(&mut self.cargo(&["build", "-p", "handhold-cli"]))?;
        let binary = self.target("debug").join(format!("handhold{}", env::consts::EXE_SUFFIX));
        if !binary.is_file() {
            bail!("the build succeeded but left no `{}`", self.shown(&binary));
        }
        Ok(binary)
    }
}
