//! The developer commands of the project; `cargo xtask help` lists them.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these commands talk to the developer who runs them"
)]

mod bench;
mod demo;
mod process;
mod project;
mod setup;
mod soak;
mod test;

use std::fmt;
use std::process::ExitCode;

use anyhow::Result;

use crate::project::Project;

const HELP: &str = "\
The developer commands of handhold.

Usage: cargo xtask COMMAND [OPTIONS]

  setup   get what the other commands need: checks rustup, cargo and a C compiler, adds the
          components and the compilation target that are missing; says nothing when all is there
  demo    build the command line and make real calls on a copy of this source tree
  test    run every check, as the continuous integration does
            --quick       leave out clippy and the documentation
  soak    kill processes in the middle of their changes 500 times, and have two processes hammer
          on 64 threads for 60 s; the tests do the same for some seconds
  bench   measure against ripgrep, head and wc on generated data (about 2 GB, made once);
          a missed target is shown in the table, a difference in what was found is a failure
            --runs N      whole-process runs for each median (default 7)
            --only NAME   only the measurements whose name starts with NAME:
                          grep-rare-files, grep-rare-content, grep-frequent-files,
                          grep-regex-files, grep-regex-content, glob, page-first, page-middle,
                          page-last, memory-first, memory-middle, memory-last, ls, latency
            --prepare     only make the data
  help    show this text

demo, test, soak and bench run setup first. What they make lies in the target directory.
";

/// The command line of this program was not understood.
#[derive(Debug)]
struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            if error.is::<Usage>() {
                eprintln!("`cargo xtask help` lists the commands and their options");
                return ExitCode::from(2);
            }
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((command, options)) = arguments.split_first() else {
        return Err(Usage("no command was given".to_owned()).into());
    };
    if arguments.iter().any(|word| word == "--help" || word == "-h") || command == "help" {
        print!("{HELP}");
        return Ok(());
    }
    match command.as_str() {
        "setup" => {
            no_options(command, options)?;
            setup::run(&Project::locate()?)
        }
        "demo" => {
            no_options(command, options)?;
            demo::run(&Project::locate()?)
        }
        "test" => {
            let options = test::Options::parse(options)?;
            test::run(&Project::locate()?, &options)
        }
        "soak" => {
            no_options(command, options)?;
            soak::run(&Project::locate()?)
        }
        "bench" => {
            let options = bench::Options::parse(options)?;
            bench::run(&Project::locate()?, &options)
        }
        other => Err(Usage(format!("there is no command `{other}`")).into()),
    }
}

fn no_options(command: &str, options: &[String]) -> Result<(), Usage> {
    match options.first() {
        None => Ok(()),
        Some(word) => Err(Usage(format!("`{command}` takes no option `{word}`"))),
    }
}
