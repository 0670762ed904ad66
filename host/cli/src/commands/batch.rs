//! `handhold batch`: many calls, one JSON object a line.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use handhold::{CallContext, ToolCall, ToolResult};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

use crate::args::BatchArgs;
use crate::output;
use crate::workspace::Hands;

/// How much longer than the longest arguments a line may be, in bytes: 64 KiB.
const LINE_EXTRA_BYTES: u64 = 64 << 10;

/// A line of input; none if it was too long.
type Line = Option<Vec<u8>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    tool: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    call_id: Option<String>,
    thread: Option<String>,
    tenant: Option<String>,
}

/// What a line does not say.
struct Defaults {
    tenant: Option<String>,
    thread: String,
}

pub(crate) fn run(args: BatchArgs) -> Result<ExitCode> {
    let jobs = usize::from(args.jobs);
    let hands = Arc::new(Hands::new(&args.workspace, u32::from(args.jobs))?);
    let defaults =
        Arc::new(Defaults { tenant: args.workspace.tenant, thread: args.workspace.thread });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    let served = runtime.block_on(serve(&hands, &defaults, jobs));
    // The thread that reads may still wait for input.
    runtime.shutdown_background();
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Runs up to `jobs` calls at once and prints their results in the order of the lines.
async fn serve(hands: &Arc<Hands>, defaults: &Arc<Defaults>, jobs: usize) -> Result<()> {
    let mut lines = read_lines(jobs, hands.toolbox.config().argument_bytes);
    let mut running: VecDeque<JoinHandle<ToolResult>> = VecDeque::new();
    let mut open = true;
    while open || !running.is_empty() {
        tokio::select! {
            // Results first, so that none waits for the next line.
            biased;
            Some(result) = first(&mut running) => {
                running.pop_front();
                let result = result
                    .unwrap_or_else(|_| refusal("internal", "the call broke down".to_owned()));
                output::line(&output::result_json(&result)?)?;
            }
            line = lines.recv(), if open && running.len() < jobs => match line {
                Some(line) => {
                    let (hands, defaults, line) = (Arc::clone(hands), Arc::clone(defaults), line?);
                    running.push_back(tokio::spawn(async move {
                        answer(&hands, &defaults, line).await
                    }));
                }
                None => open = false,
            },
        }
    }
    Ok(())
}

/// The result of the call that was started first; none if none is running.
async fn first(
    running: &mut VecDeque<JoinHandle<ToolResult>>,
) -> Option<Result<ToolResult, JoinError>> {
    match running.front_mut() {
        Some(call) => Some(call.await),
        None => None,
    }
}

/// Reads standard input on a thread of its own, no further ahead than is needed.
fn read_lines(ahead: usize, argument_bytes: u64) -> mpsc::Receiver<io::Result<Line>> {
    let (sender, receiver) = mpsc::channel(ahead);
    std::thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        let max = argument_bytes.saturating_add(LINE_EXTRA_BYTES);
        while let Some(line) = next_line(&mut input, max).transpose() {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The next line without its line feed; none at the end. Of a line that is too long, nothing is
/// kept.
fn next_line(input: &mut impl BufRead, max: u64) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    if input.take(max).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(Some(line)));
    }
    if (line.len() as u64) < max {
        return Ok(Some(Some(line)));
    }
    input.skip_until(b'\n')?;
    Ok(Some(None))
}

async fn answer(hands: &Hands, defaults: &Defaults, line: Line) -> ToolResult {
    let Some(line) = line else {
        return refusal("too-large", "the line is too long; send less at once".to_owned());
    };
    // An array of the right length would be read as one, too.
    let is_object = line.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if !is_object {
        return refusal(
            "invalid-arguments",
            "the line is not a call: it is no JSON object".to_owned(),
        );
    }
    let request: Request<'_> = match serde_json::from_slice(&line) {
        Ok(request) => request,
        Err(error) => {
            return refusal("invalid-arguments", format!("the line is not a call: {error}"));
        }
    };
    let context = CallContext {
        tenant: request.tenant.or_else(|| defaults.tenant.clone()),
        thread: request.thread.unwrap_or_else(|| defaults.thread.clone()),
        session: None,
        call_id: request.call_id.clone(),
        tool: Some(request.tool.clone()),
    };
    let workspace = match hands.workspace(&context) {
        Ok(workspace) => workspace,
        Err(error) => {
            let refused = refusal("invalid-arguments", format!("thread or tenant: {error}"));
            return ToolResult { tool: request.tool, call_id: request.call_id, ..refused };
        }
    };
    let arguments = match request.arguments.map(RawValue::get) {
        None | Some("null") => "{}".to_owned(),
        Some(arguments) => arguments.to_owned(),
    };
    let call = ToolCall { tool: request.tool, arguments, call_id: request.call_id };
    hands.toolbox.call(&workspace, call).await
}

/// The result for a line that did not become a call.
fn refusal(code: &str, message: String) -> ToolResult {
    ToolResult {
        tool: String::new(),
        call_id: None,
        is_error: true,
        text: format!("Error: {message}"),
        structured: json!({ "error": { "code": code } }).to_string(),
        content: Vec::new(),
    }
}
