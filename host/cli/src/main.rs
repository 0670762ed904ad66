//! `handhold`: file tools for AI agents, on the command line.

mod args;
mod audit;
mod commands;
mod output;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let run = match cli.command {
        Command::Call(call) => commands::call::run(call),
        Command::Batch(batch) => commands::batch::run(batch),
        Command::Offload(offload) => commands::offload::run(offload),
        Command::Prompt(prompt) => commands::prompt::run(prompt),
        Command::Tools(tools) => commands::tools::run(tools),
        Command::Threads(threads) => commands::threads::run(threads),
        Command::Component(component) => commands::component::run(component),
    };
    match run {
        Ok(code) => code,
        // Nobody reads on: that is no failure of ours.
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}
