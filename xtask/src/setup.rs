//! `setup`: everything that the other commands need, and nothing when it is there.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;
use crate::project::Project;

/// The target that the components are built for; see `guest/artifact`.
const GUEST_TARGET: &str = "wasm32-unknown-unknown";

/// Checks the programs, adds the components and the target that are missing.
pub(crate) fn run(project: &Project) -> Result<()> {
    need(project, "rustup", "install rustup (see https://rustup.rs), then open a new shell")?;
    need(project, "cargo", "install a tool chain: `rustup toolchain install stable`")?;
    need(
        project,
        "cc",
        "install a C compiler that answers to `cc`; most systems have it in a package named \
         gcc, clang or build-essential",
    )?;
    add_component(project, "rustfmt", "fmt")?;
    add_component(project, "clippy", "clippy")?;
    add_target(project)
}

/// Fails with advice unless `program` can be run.
fn need(project: &Project, program: &str, advice: &str) -> Result<()> {
    attempt(project.command(program).arg("--version"), advice).map(drop)
}

fn add_component(project: &Project, component: &str, subcommand: &str) -> Result<()> {
    if process::capture(&mut project.cargo(&[subcommand, "--version"]))?.status.success() {
        return Ok(());
    }
    println!("setup: adding the component {component}");
    attempt(
        project.command("rustup").args(["component", "add", component]),
        "add the component by hand; rustup needs the network for it",
    )
    .map(drop)
}

fn add_target(project: &Project) -> Result<()> {
    if has_target(project)? {
        return Ok(());
    }
    println!("setup: adding the target {GUEST_TARGET}");
    let advice = "add the target by hand; rustup needs the network for it. Without rustup's tool \
                  chain the standard library of this target has to come from elsewhere";
    attempt(project.command("rustup").args(["target", "add", GUEST_TARGET]), advice)?;
    if !has_target(project)? {
        bail!(
            "rustup added the target {GUEST_TARGET}, but `rustc` does not see it\n\
             what to do: use rustup's `rustc` (`rustup which rustc` names it), it must come first \
             in PATH"
        );
    }
    Ok(())
}

/// Whether the compiler in use has the standard library of the guest's target.
fn has_target(project: &Project) -> Result<bool> {
    let library = attempt(
        project.command("rustc").args(["--print", "target-libdir", "--target", GUEST_TARGET]),
        "repair the tool chain: `rustup toolchain install stable`",
    )?;
    Ok(Path::new(library.trim_end()).is_dir())
}

/// Runs one step; when it fails, says which command, what it printed and what to do.
fn attempt(command: &mut Command, advice: &str) -> Result<String> {
    let shown = process::describe(command);
    match process::capture(command) {
        Err(error) => bail!("{error:#}\nwhat to do: {advice}"),
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => bail!(
            "`{shown}` failed ({})\n{}\nwhat to do: {advice}",
            output.status,
            process::printed(&output).trim_end()
        ),
    }
}
