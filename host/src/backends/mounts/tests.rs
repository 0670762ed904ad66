//! What all tests of mounts share: making files, and asking for them.

mod change;
mod changed;
mod copying;
#[cfg(target_os = "linux")]
mod directories;
#[cfg(target_os = "linux")]
mod links;
mod listing;
mod merged;
mod model;
mod probe;
mod searching;
#[cfg(target_os = "linux")]
mod site;

use super::*;
use crate::backend::{Condition, FileOrder, GrepMode};
use crate::backends::Memory;

/// A backend in memory with these files, by path and content.
async fn memory(files: &[(&str, &str)]) -> Arc<Memory> {
    let memory = Arc::new(Memory::new());
    for (path, content) in files {
        put(&*memory, path, content).await.expect("memory can be written");
    }
    memory
}

/// Mounts of these backends.
fn mounts<B: Backend + 'static>(base: &Arc<B>, list: &[(&str, Arc<dyn Backend>)]) -> Mounts {
    let list = list
        .iter()
        .map(|(path, backend)| Mount { path: (*path).to_owned(), backend: Arc::clone(backend) });
    let base: Arc<dyn Backend> = Arc::<B>::clone(base);
    Mounts::new(base, list.collect()).expect("mounts")
}

fn write_request(path: &str, content: &str) -> WriteRequest {
    WriteRequest {
        path: path.to_owned(),
        content: content.as_bytes().to_vec(),
        condition: Condition::Always,
        dry_run: false,
    }
}

async fn put(backend: &dyn Backend, path: &str, content: &str) -> Result<Written, ErrorCode> {
    backend.write(write_request(path, content)).await
}

/// The content of a file as text.
async fn get(backend: &dyn Backend, path: &str) -> Result<String, ErrorCode> {
    let page = backend.read_bytes(path, 0, 1 << 20).await?;
    Ok(String::from_utf8_lossy(&page.data).into_owned())
}

/// The entries of a directory, directories with a slash.
async fn ls(backend: &dyn Backend, path: &str) -> Result<Vec<String>, ErrorCode> {
    let page = backend.ls_info(path, 0, 1000).await?;
    assert_eq!(page.total, page.entries.len() as u64);
    Ok(page.entries.iter().map(shown).collect())
}

fn shown(entry: &crate::backend::FileInfo) -> String {
    let end = if entry.kind == crate::backend::FileKind::Directory { "/" } else { "" };
    format!("{}{end}", entry.path)
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
        limit: 1000,
        max_bytes: 1 << 20,
        line_chars: 500,
        time_ms: 30_000,
    }
}

async fn glob(backend: &dyn Backend, request: GlobRequest) -> Result<GlobPage, ErrorCode> {
    backend.glob_info(request, &View::default()).await
}

async fn grep(backend: &dyn Backend, request: GrepRequest) -> Result<GrepPage, ErrorCode> {
    backend.grep_raw(request, &View::default()).await
}

/// The paths that match a pattern.
async fn found(backend: &dyn Backend, path: &str, pattern: &str) -> Vec<String> {
    glob(backend, glob_request(path, pattern)).await.expect("a page").files
}

/// The paths of files with a match.
async fn matched(backend: &dyn Backend, path: &str, pattern: &str) -> Vec<String> {
    let page = grep(backend, grep_request(path, pattern)).await.expect("a page");
    page.files.into_iter().map(|file| file.path).collect()
}

#[tokio::test]
async fn paths_of_mounts_are_checked() {
    let refused = |paths: &[&str]| {
        let mount =
            |path: &&str| Mount { path: (*path).to_owned(), backend: Arc::new(Memory::new()) };
        Mounts::new(Arc::new(Memory::new()), paths.iter().map(mount).collect()).err()
    };
    assert_eq!(refused(&["/a", "/a/b", "/a-b", "/b"]), None);
    assert_eq!(refused(&[]), None);
    assert_eq!(refused(&["/"]), Some(MountError::Root));
    for path in ["", "a", "/a/", "/a//b", "/a/../b", "/./a", "../a"] {
        assert!(
            matches!(refused(&[path]), Some(MountError::Path { .. } | MountError::Root)),
            "{path}"
        );
    }
    let twice = Some(MountError::Twice { path: "/a".to_owned() });
    assert_eq!(refused(&["/a", "/b", "/a"]), twice);
}

#[tokio::test]
async fn the_longest_path_decides_name_by_name() {
    let base = memory(&[("/skills2/x", "base"), ("/skills/x", "hidden"), ("/x", "base")]).await;
    let skills = memory(&[("/x", "skills"), ("/deep/x", "hidden too")]).await;
    let deep = memory(&[("/x", "deep"), ("/y/x", "deep y")]).await;
    let all = mounts(&base, &[("/skills", skills.clone()), ("/skills/deep", deep.clone())]);
    for (path, content) in [
        ("/x", "base"),
        ("/skills2/x", "base"),
        ("/skills/x", "skills"),
        ("/skills/deep/x", "deep"),
        ("/skills/deep/y/x", "deep y"),
    ] {
        assert_eq!(get(&all, path).await.as_deref(), Ok(content), "{path}");
        put(&all, path, "new").await.expect("a write");
        assert_eq!(get(&all, path).await.as_deref(), Ok("new"), "{path}");
    }
    assert_eq!(get(&*skills, "/x").await.as_deref(), Ok("new"));
    assert_eq!(get(&*deep, "/y/x").await.as_deref(), Ok("new"));
    // What is hidden has stayed as it was.
    assert_eq!(get(&*base, "/skills/x").await.as_deref(), Ok("hidden"));
    assert_eq!(get(&*skills, "/deep/x").await.as_deref(), Ok("hidden too"));
}
