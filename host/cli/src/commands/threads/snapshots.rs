//! The snapshots of a thread.

use std::process::ExitCode;

use anyhow::{Context, Result};
use handhold::backend::ErrorCode;
use handhold::backends::{AgentFiles, DiffKind, Difference, IdError, SnapshotError, SnapshotInfo};
use handhold::{Settings, show_path};
use serde_json::{Value, json};

use super::text::{counted, shown, time};
use super::{absent, open_one, refused};
use crate::args::{OneThreadArgs, SnapshotArgs};
use crate::output;

pub(super) async fn take(args: &SnapshotArgs) -> Result<ExitCode> {
    let (files, settings) = open(args)?;
    let (tenant, thread) = whose(&args.thread);
    match files.snapshot(tenant, thread, &args.name, settings.quota).await {
        Ok(info) if is_json(args) => print(&as_json(&info)),
        Ok(info) => {
            let name = shown(&info.name);
            let all = contents(info.files, info.bytes);
            let own = counted(info.own_bytes, "byte", "bytes");
            output::line(&format!("Took the snapshot {name} ({all}); it takes {own}."))?;
            left_out(info.skipped, "are not in it")
        }
        Err(error) => failed(&args.thread, error),
    }
}

pub(super) async fn list(args: &OneThreadArgs) -> Result<ExitCode> {
    let (files, _) = open_one(args)?;
    let (tenant, thread) = whose(args);
    let found = match files.snapshots(tenant, thread).await {
        Ok(found) => found,
        Err(error) => return failed(args, error),
    };
    if args.root.json {
        return print(&Value::Array(found.iter().map(as_json).collect()));
    }
    if found.is_empty() {
        output::line("There are no snapshots.")?;
    } else {
        output::line(&found.iter().map(as_text).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn diff(args: &SnapshotArgs, other: Option<&str>) -> Result<ExitCode> {
    let (files, _) = open(args)?;
    other.map_or(Ok(()), IdError::check).context("OTHER")?;
    let (tenant, thread) = whose(&args.thread);
    let found = match files.diff(tenant, thread, &args.name, other).await {
        Ok(found) => found,
        Err(error) => return failed(&args.thread, error),
    };
    if is_json(args) {
        return print(&Value::Array(found.iter().map(difference).collect()));
    }
    if found.is_empty() {
        output::line("There are no differences.")?;
    } else {
        let lines = found.iter().map(|Difference { path, change }| {
            let letter = match change {
                DiffKind::Added => 'A',
                DiffKind::Changed => 'M',
                DiffKind::Removed => 'D',
            };
            format!("{letter} {}", show_path(path))
        });
        output::line(&lines.collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn restore(args: &SnapshotArgs) -> Result<ExitCode> {
    let (files, settings) = open(args)?;
    let (tenant, thread) = whose(&args.thread);
    match files.restore(tenant, thread, &args.name, settings.quota).await {
        Ok(done) if is_json(args) => print(&json!({
            "restored": args.name,
            "bytes": done.bytes,
            "files": done.files,
            "skipped": done.skipped,
        })),
        Ok(done) => {
            let (thread, name) = (shown(thread), shown(&args.name));
            let all = contents(done.files, done.bytes);
            output::line(&format!("Restored the thread {thread} to the snapshot {name} ({all})."))?;
            left_out(done.skipped, "did not come back")
        }
        Err(error) => failed(&args.thread, error),
    }
}

pub(super) async fn forget(args: &SnapshotArgs) -> Result<ExitCode> {
    let (files, _) = open(args)?;
    let (tenant, thread) = whose(&args.thread);
    match files.remove_snapshot(tenant, thread, &args.name).await {
        Ok(freed) if is_json(args) => print(&json!({ "removed": args.name, "freed": freed })),
        Ok(freed) => {
            let (name, freed) = (shown(&args.name), counted(freed, "byte is", "bytes are"));
            output::line(&format!("Removed the snapshot {name}; {freed} free."))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failed(&args.thread, error),
    }
}

fn open(args: &SnapshotArgs) -> Result<(AgentFiles, Settings)> {
    IdError::check(&args.name).context("NAME")?;
    open_one(&args.thread)
}

fn whose(args: &OneThreadArgs) -> (Option<&str>, &str) {
    (args.root.tenant.as_deref(), &args.thread)
}

fn is_json(args: &SnapshotArgs) -> bool {
    args.thread.root.json
}

fn print(value: &Value) -> Result<ExitCode> {
    output::line(&value.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Says what was left out, if anything was.
fn left_out(skipped: u64, what: &str) -> Result<ExitCode> {
    if skipped > 0 {
        output::line(&format!("[FIFOs, sockets and devices {what}: {skipped}]"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What can be told of the thread is an answer, everything else a failure of the command.
fn failed(args: &OneThreadArgs, error: SnapshotError) -> Result<ExitCode> {
    match error {
        SnapshotError::NotFound => absent(args),
        SnapshotError::NoSnapshot(_)
        | SnapshotError::AlreadyExists
        | SnapshotError::TooMany
        | SnapshotError::InUse
        | SnapshotError::Storage(ErrorCode::QuotaExceeded | ErrorCode::TooLarge(_)) => {
            refused(args, &error.to_string())
        }
        error => Err(error).context("the snapshots"),
    }
}

fn contents(files: u64, bytes: u64) -> String {
    format!("{}, {}", counted(files, "file", "files"), counted(bytes, "byte", "bytes"))
}

fn difference(found: &Difference) -> Value {
    let change = match found.change {
        DiffKind::Added => "added",
        DiffKind::Changed => "changed",
        DiffKind::Removed => "removed",
    };
    json!({ "path": found.path, "change": change })
}

fn as_json(info: &SnapshotInfo) -> Value {
    json!({
        "name": info.name,
        "created": time(info.created),
        "bytes": info.bytes,
        "files": info.files,
        "skipped": info.skipped,
        "own_bytes": info.own_bytes,
    })
}

/// One line: what it takes alone, what it has, when it was taken, and its name.
fn as_text(info: &SnapshotInfo) -> String {
    let files = if info.files == 1 { "file" } else { "files" };
    let skipped = match info.skipped {
        0 => String::new(),
        skipped => format!("  [{skipped} left out]"),
    };
    format!(
        "{:>12} B own  {:>12} B  {:>7} {files}  taken {}  {}{skipped}",
        info.own_bytes,
        info.bytes,
        info.files,
        time(info.created),
        shown(&info.name)
    )
}
