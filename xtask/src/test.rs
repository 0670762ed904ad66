//! `test`: every check of the project, each one a named and timed step.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::project::Project;
use crate::{Usage, process, setup};

/// The options of `test`.
pub(crate) struct Options {
    quick: bool,
}

impl Options {
    pub(crate) fn parse(words: &[String]) -> Result<Self, Usage> {
        let mut options = Self { quick: false };
        for word in words {
            match word.as_str() {
                "--quick" => options.quick = true,
                other => return Err(Usage(format!("`test` has no option `{other}`"))),
            }
        }
        Ok(options)
    }
}

/// A check that is a command.
struct Step {
    name: &'static str,
    /// Left out by `--quick`.
    slow: bool,
    command: Command,
}

/// Runs every check and stops at the first that fails.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    setup::run(project)?;
    let started = Instant::now();
    let before = checkout_state(project);
    let mut passed = 0_usize;
    for Step { name, slow, mut command } in steps(project) {
        if slow && options.quick {
            println!("\n== {name}: left out (--quick)");
            continue;
        }
        let shown = process::describe(&command);
        println!("\n== {name}: {shown}");
        let step_started = Instant::now();
        let status = command.status();
        let seconds = step_started.elapsed().as_secs_f64();
        let end = match status {
            Ok(status) if status.success() => {
                println!("== {name}: passed in {seconds:.1} s");
                passed += 1;
                continue;
            }
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        bail!(
            "the step `{name}` failed after {seconds:.1} s ({end})\n\
             to run it alone, in the top directory: {shown}"
        );
    }
    passed += usize::from(check_checkout(project, before)?);
    println!("\n{passed} steps passed in {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn steps(project: &Project) -> Vec<Step> {
    let quick =
        |name, arguments: &[&str]| Step { name, slow: false, command: project.cargo(arguments) };
    let slow =
        |name, arguments: &[&str]| Step { name, slow: true, command: project.cargo(arguments) };

    let mut guest = slow(
        "guest clippy",
        &[
            "clippy",
            "-p",
            "handhold-tools",
            "--features",
            "write",
            "--target",
            "wasm32-unknown-unknown",
            "--profile",
            "guest",
            "--",
            "-D",
            "warnings",
        ],
    );
    // As the components are built, so that the code that is checked is the code that is shipped.
    guest.command.env("RUSTFLAGS", "-C target-feature=+simd128");
    // A directory of its own: other flags in a shared one would have everything compiled again.
    guest.command.env("CARGO_TARGET_DIR", project.shown(&project.target("guest")));

    let mut docs = slow("docs", &["doc", "--workspace", "--no-deps"]);
    docs.command.env("RUSTDOCFLAGS", "-D warnings");

    vec![
        quick("fmt", &["fmt", "--all", "--check"]),
        // The conformance tests run this binary.
        quick("command line", &["build", "-p", "handhold-cli"]),
        quick("tests", &["test", "--workspace"]),
        slow("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        guest,
        docs,
    ]
}

/// What git says has changed; an error when this is no git checkout or git cannot tell.
fn checkout_state(project: &Project) -> Result<String> {
    // A copy of the sources may lie inside another project's checkout.
    if !project.root().join(".git").exists() {
        bail!("this is no git checkout");
    }
    let output = process::capture(&mut status_command(project))?;
    if !output.status.success() {
        bail!("git cannot tell: {}", process::printed(&output).trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn status_command(project: &Project) -> Command {
    let mut command = project.command("git");
    command.args(["status", "--porcelain"]);
    command
}

/// The checks must leave the checkout as it was. Says whether that could be told.
fn check_checkout(project: &Project, before: Result<String>) -> Result<bool> {
    let name = "clean checkout";
    let before = match before {
        Ok(before) => before,
        Err(reason) => {
            println!("\n== {name}: left out ({reason:#})");
            return Ok(false);
        }
    };
    let shown = process::describe(&status_command(project));
    println!("\n== {name}: {shown}");
    let after = checkout_state(project)?;
    if before == after {
        println!("== {name}: passed");
        return Ok(true);
    }
    bail!(
        "the step `{name}` failed: the run changed the checkout\n\
         new: {:?}\nno longer there: {:?}\nto see it, in the top directory: {shown}",
        lines_only_in(&after, &before),
        lines_only_in(&before, &after)
    );
}

fn lines_only_in<'a>(text: &'a str, other: &str) -> Vec<&'a str> {
    text.lines().filter(|line| !other.lines().any(|known| known == *line)).collect()
}
