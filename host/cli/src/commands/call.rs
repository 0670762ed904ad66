//! `handhold call`: one call.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, Result};
use handhold::{CallContext, ToolCall};

use crate::args::CallArgs;
use crate::output;
use crate::workspace::Hands;

pub(crate) fn run(args: CallArgs) -> Result<ExitCode> {
    let hands = Hands::new(&args.workspace, 0)?;
    let context = CallContext {
        tenant: args.workspace.tenant,
        thread: args.workspace.thread,
        session: None,
        call_id: args.call_id.clone(),
        tool: Some(args.tool.clone()),
    };
    let workspace = hands.workspace(&context).context("--thread or --tenant")?;
    let arguments = match args.arguments.as_str() {
        "-" => read_stdin()?,
        _ => args.arguments,
    };
    let call = ToolCall { tool: args.tool, arguments, call_id: args.call_id };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let result = runtime.block_on(hands.toolbox.call(&workspace, call));
    if args.json {
        output::line(&output::result_json(&result)?)?;
    } else {
        output::line(&result.text)?;
    }
    Ok(if result.is_error { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Reads the arguments. What is no UTF-8 is no JSON either, and the tool says so.
fn read_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("standard input")?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
