//! The tools that are compared with.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;
use crate::project::Project;

/// The major version that the targets were set against.
const RIPGREP: &str = "15";

/// The path of ripgrep, installed below the target directory when it is not there.
pub(crate) fn ripgrep(project: &Project) -> Result<PathBuf> {
    let tools = project.target("tools");
    let binary = tools.join("bin").join(format!("rg{EXE_SUFFIX}"));
    if is_wanted(&binary) {
        return Ok(binary);
    }
    let mut install =
        project.cargo(&["install", "ripgrep", "--version", &format!("^{RIPGREP}"), "--locked"]);
    install.arg("--force").arg("--root").arg(project.shown(&tools));
    install.env("CARGO_TARGET_DIR", project.shown(&tools.join("build")));
    process::run(&mut install)?;
    if !is_wanted(&binary) {
        bail!("cargo installed ripgrep, but {} is not {RIPGREP}.x", project.shown(&binary));
    }
    Ok(binary)
}

fn is_wanted(binary: &Path) -> bool {
    version(binary).is_some_and(|version| version.starts_with(&format!("ripgrep {RIPGREP}.")))
}

/// The first line that the program says of itself.
pub(crate) fn version(binary: &Path) -> Option<String> {
    let output = process::capture(Command::new(binary).arg("--version")).ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}
