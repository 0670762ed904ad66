//! `handhold threads`: the workspaces of all threads, as their operator sees them.

mod snapshots;
mod text;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use handhold::Settings;
use handhold::backends::{AgentFiles, DeleteError, IdError};
use serde_json::{Value, json};

use self::text::{as_json, as_text, shown};
use crate::args::{OneThreadArgs, RootArgs, ThreadsArgs, ThreadsCommand};
use crate::output;
use crate::workspace::{files, settings};

pub(crate) fn run(args: ThreadsArgs) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        match args.command {
            ThreadsCommand::List(args) => list(&args).await,
            ThreadsCommand::Usage(args) => usage(&args).await,
            ThreadsCommand::Delete(args) => delete(&args).await,
            ThreadsCommand::Gc { root, dry_run } => gc(&root, dry_run).await,
            ThreadsCommand::Snapshot(args) => snapshots::take(&args).await,
            ThreadsCommand::Snapshots(args) => snapshots::list(&args).await,
            ThreadsCommand::Diff { snapshot, other } => {
                snapshots::diff(&snapshot, other.as_deref()).await
            }
            ThreadsCommand::Restore(args) => snapshots::restore(&args).await,
            ThreadsCommand::Forget(args) => snapshots::forget(&args).await,
        }
    })
}

/// The directories that a command is about; a configuration that is wrong is told in any case.
fn open(args: &RootArgs) -> Result<(AgentFiles, Settings)> {
    args.tenant.as_deref().map_or(Ok(()), IdError::check).context("--tenant")?;
    Ok((files(args.root.as_deref()), settings(args.config.as_deref())?))
}

fn open_one(args: &OneThreadArgs) -> Result<(AgentFiles, Settings)> {
    IdError::check(&args.thread).context("--thread")?;
    open(&args.root)
}

async fn list(args: &RootArgs) -> Result<ExitCode> {
    let (files, _) = open(args)?;
    let threads = files.list(args.tenant.as_deref()).await.context("the threads")?;
    if args.json {
        output::line(&Value::Array(threads.iter().map(as_json).collect()).to_string())?;
    } else if threads.is_empty() {
        output::line("There are no threads with files.")?;
    } else {
        output::line(&threads.iter().map(as_text).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn usage(args: &OneThreadArgs) -> Result<ExitCode> {
    let (files, _) = open_one(args)?;
    let found =
        files.usage(args.root.tenant.as_deref(), &args.thread).await.context("the thread")?;
    match found {
        Some(info) if args.root.json => output::line(&as_json(&info).to_string())?,
        Some(info) => output::line(&as_text(&info))?,
        None => return absent(args),
    }
    Ok(ExitCode::SUCCESS)
}

async fn delete(args: &OneThreadArgs) -> Result<ExitCode> {
    let (files, _) = open_one(args)?;
    match files.delete(args.root.tenant.as_deref(), &args.thread).await {
        Ok(()) if args.root.json => output::line(&json!({ "deleted": args.thread }).to_string())?,
        Ok(()) => output::line(&format!("Deleted the thread {}.", shown(&args.thread)))?,
        Err(DeleteError::NotFound) => return absent(args),
        Err(error @ DeleteError::InUse) => return refused(args, &error.to_string()),
        Err(error) => return Err(error.into()),
    }
    Ok(ExitCode::SUCCESS)
}

async fn gc(args: &RootArgs, dry_run: bool) -> Result<ExitCode> {
    let (files, settings) = open(args)?;
    let lifetime = settings.lifetime;
    ensure!(
        lifetime.idle.is_some() || lifetime.age.is_some(),
        "the configuration sets no time: give [lifetime] idle or age in a --config file"
    );
    let over = files.gc(args.tenant.as_deref(), lifetime, dry_run).await.context("the threads")?;
    if args.json {
        output::line(&Value::Array(over.iter().map(as_json).collect()).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<String> = over.iter().map(as_text).collect();
    if !lines.is_empty() {
        output::line(&lines.join("\n"))?;
    }
    let threads = if over.len() == 1 { "thread" } else { "threads" };
    let what = if dry_run { "would be deleted; nothing was" } else { "deleted" };
    output::line(&format!("[{} {threads} {what}]", over.len()))?;
    Ok(ExitCode::SUCCESS)
}

/// There is no such thread: an answer, not a failure of the command.
fn absent(args: &OneThreadArgs) -> Result<ExitCode> {
    refused(args, "there is no such thread, or it never wrote")
}

fn refused(args: &OneThreadArgs, why: &str) -> Result<ExitCode> {
    let thread = shown(&args.thread);
    if args.root.json {
        output::line(&json!({ "error": why, "thread": args.thread }).to_string())?;
    } else {
        output::line(&format!("Error: {thread}: {why}"))?;
    }
    Ok(ExitCode::from(1))
}
