//! What rules do, over memory and over directories with links.

use super::*;
use crate::backend::{Condition, FileInfo, FileKind, FileOrder, GrepMode};
use crate::backends::Memory;

#[cfg(target_os = "linux")]
mod links;
mod model;
mod odd;
#[cfg(target_os = "linux")]
mod races;
mod reading;
mod searching;
mod trees;
mod writing;

const READ: &[Operation] = &[Operation::Read];
const WRITE: &[Operation] = &[Operation::Write];
const BOTH: &[Operation] = &[Operation::Read, Operation::Write];

fn rule(mode: Mode, operations: &[Operation], paths: &[&str]) -> Rule {
    let paths = paths.iter().map(|&path| path.to_owned()).collect();
    Rule { operations: operations.to_vec(), paths, mode }
}

fn deny(operations: &[Operation], path: &str) -> Rule {
    rule(Mode::Deny, operations, &[path])
}

fn allow(operations: &[Operation], path: &str) -> Rule {
    rule(Mode::Allow, operations, &[path])
}

/// A workspace in memory in which every file holds its own path.
async fn memory(files: &[&str]) -> Memory {
    let memory = Memory::new();
    for path in files {
        put(&memory, path, path).await.unwrap();
    }
    memory
}

fn ruled(inner: &(impl Backend + Clone + 'static), rules: Vec<Rule>) -> Rules {
    Rules::new(Arc::new(inner.clone()), rules).unwrap()
}

fn request(path: &str, content: &str) -> WriteRequest {
    WriteRequest {
        path: path.to_owned(),
        content: content.as_bytes().to_vec(),
        condition: Condition::Always,
        dry_run: false,
    }
}

async fn put(backend: &dyn Backend, path: &str, content: &str) -> Result<Written, ErrorCode> {
    backend.write(request(path, content)).await
}

/// What a file holds, by both ways to read it.
async fn get(backend: &dyn Backend, path: &str) -> Result<String, ErrorCode> {
    let bytes = backend.read_bytes(path, 0, 1 << 20).await;
    let request = ReadRequest {
        path: path.to_owned(),
        offset: 1,
        limit: 100,
        column: 1,
        line_chars: 1000,
        max_bytes: 1 << 20,
        if_version: None,
    };
    let lines = backend.read(request.clone()).await;
    match (bytes, lines) {
        (Ok(page), Ok(_)) => {
            let if_version = Some(page.version.clone());
            let again = backend.read(ReadRequest { if_version, ..request }).await;
            assert_eq!(again, Ok(ReadOutcome::Unchanged(page.version)), "{path}");
            Ok(String::from_utf8(page.data).unwrap())
        }
        (Err(error), Err(other)) => {
            assert_eq!(error, other, "{path}");
            // A version that somebody knows tells nothing.
            let if_version = Some("m1".to_owned());
            let again = backend.read(ReadRequest { if_version, ..request }).await;
            assert_eq!(again, Err(other), "{path}");
            Err(error)
        }
        (bytes, lines) => panic!("{path}: {bytes:?}, but {lines:?}"),
    }
}

/// The entries of a directory in pages of `limit`, checked against the total.
async fn entries(
    backend: &dyn Backend,
    path: &str,
    limit: u64,
) -> Result<Vec<FileInfo>, ErrorCode> {
    let mut all = Vec::new();
    loop {
        let page = backend.ls_info(path, all.len() as u64, limit).await?;
        let (total, count) = (page.total, page.entries.len() as u64);
        all.extend(page.entries);
        assert!(count <= limit, "{path}");
        if count == 0 || all.len() as u64 >= total {
            assert_eq!(all.len() as u64, total, "{path}");
            return Ok(all);
        }
    }
}

/// The paths that a listing shows, directories with a slash at the end.
async fn ls(backend: &dyn Backend, path: &str) -> Result<Vec<String>, ErrorCode> {
    let all = entries(backend, path, 2).await?;
    assert_eq!(entries(backend, path, u64::MAX).await.as_ref(), Ok(&all));
    let show = |entry: FileInfo| match entry.kind {
        FileKind::Directory => format!("{}/", entry.path),
        _ => entry.path,
    };
    Ok(all.into_iter().map(show).collect())
}

fn glob_request(path: &str, pattern: &str) -> GlobRequest {
    GlobRequest {
        path: path.to_owned(),
        pattern: pattern.to_owned(),
        include_ignored: false,
        offload_path: "/large_tool_result".to_owned(),
        order: FileOrder::Path,
        offset: 0,
        limit: 1000,
        max_bytes: 1 << 20,
        time_ms: 30_000,
    }
}

async fn glob(backend: &dyn Backend, path: &str, pattern: &str) -> Result<Vec<String>, ErrorCode> {
    let page = backend.glob_info(glob_request(path, pattern), &View::default()).await?;
    assert_eq!(page.total, page.files.len() as u64, "{path}");
    assert_eq!(page.report.files, page.total, "{path}");
    Ok(page.files)
}

fn grep_request(path: &str, pattern: &str) -> GrepRequest {
    GrepRequest {
        path: path.to_owned(),
        pattern: pattern.to_owned(),
        literal: false,
        ignore_case: false,
        multiline: false,
        glob: None,
        file_type: None,
        include_ignored: false,
        offload_path: "/large_tool_result".to_owned(),
        mode: GrepMode::Files,
        before: 0,
        after: 0,
        offset: 0,
        limit: 0,
        max_bytes: 1 << 20,
        line_chars: 1000,
        time_ms: 30_000,
    }
}

/// The files that match, and how many were searched.
async fn grep(
    backend: &dyn Backend,
    path: &str,
    pattern: &str,
) -> Result<(Vec<String>, u64), ErrorCode> {
    let page = backend.grep_raw(grep_request(path, pattern), &View::default()).await?;
    assert!(page.complete && page.total == page.files.len() as u64, "{path}");
    Ok((page.files.into_iter().map(|file| file.path).collect(), page.report.files))
}

/// Everything in a workspace, with its content, as it is without rules.
async fn all(backend: &dyn Backend) -> Vec<(String, String)> {
    let request = GlobRequest { include_ignored: true, ..glob_request("/", "**") };
    let mut all = Vec::new();
    for path in backend.glob_info(request, &View::default()).await.unwrap().files {
        let content = get(backend, &path).await.unwrap();
        all.push((path, content));
    }
    all
}

const NOT_FOUND: ErrorCode = ErrorCode::NotFound;
const NOT_PERMITTED: ErrorCode = ErrorCode::NotPermitted;
