//! `handhold offload`: the result of any tool, as a model should see it.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use handhold::CallContext;

use crate::args::OffloadArgs;
use crate::output;
use crate::workspace::Hands;

/// How much of the result is read at once: 1 MiB.
const CHUNK_BYTES: usize = 1 << 20;

pub(crate) fn run(args: OffloadArgs) -> Result<ExitCode> {
    ensure!(
        !args.workspace.memory,
        "a result that is saved in --memory is gone at once; use --root"
    );
    let hands = Hands::new(&args.workspace, 0)?;
    let context = CallContext {
        tenant: args.workspace.tenant,
        thread: args.workspace.thread,
        session: None,
        call_id: args.call_id.clone(),
        tool: Some(args.tool.clone()),
    };
    let workspace = hands.workspace(&context).context("--thread or --tenant")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let shown = runtime.block_on(async {
        let mut result =
            hands.toolbox.output(&workspace, &args.tool, args.call_id.as_deref()).await?;
        let mut input = std::io::stdin().lock();
        let mut chunk = vec![0; CHUNK_BYTES];
        // What may be passed on is kept: whether it is all is known at the end.
        let mut passed_on = Vec::new();
        loop {
            let read = read(&mut input, &mut chunk).context("standard input")?;
            if read.is_empty() {
                break;
            }
            passed_on.append(&mut result.push(read).await?);
            // So much is passed on only if nothing is off-loaded.
            if passed_on.len() as u64 > hands.toolbox.config().result_bytes {
                output::raw(&passed_on)?;
                passed_on.clear();
            }
        }
        let mut end = result.finish(args.is_error).await?;
        passed_on.append(&mut end.rest);
        anyhow::Ok(match end.offloaded {
            Some(offloaded) => format!("{}\n", offloaded.text).into_bytes(),
            None => passed_on,
        })
    })?;
    output::raw(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads until the buffer is full, or to the end: a pipe gives little at once.
fn read<'a>(input: &mut impl Read, buffer: &'a mut [u8]) -> std::io::Result<&'a [u8]> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer.get(..filled).unwrap_or_default())
}
