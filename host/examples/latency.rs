//! What a call costs in this process: the backend alone, and a fresh instance around it.
//!
//! `cargo run -p handhold --example latency`

#![allow(clippy::print_stdout, reason = "the example prints its table")]

use std::time::{Duration, Instant};

use handhold::backend::{Backend, Condition, ReadRequest, WriteRequest};
use handhold::backends::{AgentFiles, Memory};
use handhold::{ToolCall, Toolbox, Workspace};
use handhold_artifact::FILE_TOOLS;

/// How many calls are measured.
const CALLS: usize = 2000;

type AnyResult<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> AnyResult<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let dir = tempfile::tempdir()?;
        let files = AgentFiles::at_ambient_path(dir.path());
        let thread = files.thread(None, "latency")?;
        let toolbox = Toolbox::builder().file_tools(FILE_TOOLS.component).build()?;
        println!("| call | backend | p50 | p90 |\n|---|---|---|---|");
        measure(&toolbox, "memory", Memory::new()).await?;
        measure(&toolbox, "directory", thread).await
    })
}

async fn measure<B: Backend + Clone + 'static>(
    toolbox: &Toolbox,
    name: &str,
    backend: B,
) -> AnyResult<()> {
    let text: String = (1..=100).map(|n| format!("line {n} of the file\n")).collect();
    let request = WriteRequest {
        path: "/file.txt".to_owned(),
        content: text.into_bytes(),
        condition: Condition::Always,
        dry_run: false,
    };
    backend.write(request).await?;
    let read = ReadRequest {
        path: "/file.txt".to_owned(),
        offset: 1,
        limit: 2000,
        column: 1,
        line_chars: 2000,
        max_bytes: 80_000,
        if_version: None,
    };
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        backend.read(read.clone()).await?;
        times.push(start.elapsed());
    }
    row("read 100 lines, backend alone", name, &mut times);
    let workspace = Workspace::new(backend);
    for (what, tool, arguments) in [
        ("read_file, 100 lines", "read_file", r#"{"file_path":"file.txt"}"#),
        ("ls", "ls", "{}"),
        ("grep", "grep", r#"{"pattern":"line 50"}"#),
        ("write_file", "write_file", r#"{"file_path":"w.txt","content":"hello"}"#),
        (
            "edit_file, dry run",
            "edit_file",
            r#"{"file_path":"file.txt","old_string":"line 50 ","new_string":"x","dry_run":true}"#,
        ),
    ] {
        let mut times = Vec::new();
        for _ in 0..CALLS {
            let call =
                ToolCall { tool: tool.to_owned(), arguments: arguments.to_owned(), call_id: None };
            let start = Instant::now();
            let result = toolbox.call(&workspace, call).await;
            times.push(start.elapsed());
            if result.is_error {
                return Err(result.text.into());
            }
        }
        row(what, name, &mut times);
    }
    Ok(())
}

fn row(what: &str, backend: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |percent: usize| {
        let time = times.get(times.len() * percent / 100).copied().unwrap_or_default();
        format!("{:.1} µs", time.as_secs_f64() * 1e6)
    };
    println!("| {what} | {backend} | {} | {} |", at(50), at(90));
}
