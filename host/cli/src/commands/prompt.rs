//! `handhold prompt`: a section for a system prompt.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::PromptArgs;
use crate::output;
use crate::workspace::Hands;

pub(crate) fn run(args: PromptArgs) -> Result<ExitCode> {
    let hands = Hands::new(&args.workspace, 0)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let prompt = runtime.block_on(hands.toolbox.prompt(hands.access()))?;
    // Without a tool there is nothing to say.
    if !prompt.is_empty() {
        output::line(prompt.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}
