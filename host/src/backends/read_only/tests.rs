use super::*;
use crate::backend::{Condition, FileOrder, GrepMode};
use crate::backends::Memory;

fn write(path: &str, dry_run: bool) -> WriteRequest {
    let content = b"x".to_vec();
    WriteRequest { path: path.to_owned(), content, condition: Condition::Always, dry_run }
}

async fn workspace() -> (Memory, ReadOnly) {
    let memory = Memory::new();
    memory.write(write("/a/f", false)).await.unwrap();
    (memory.clone(), ReadOnly::new(Arc::new(memory)))
}

#[tokio::test]
async fn nothing_is_changed() {
    let (memory, backend) = workspace().await;
    for path in ["/a/f", "/new", "/a", "/"] {
        for dry_run in [false, true] {
            let written = backend.write(write(path, dry_run)).await;
            assert_eq!(written, Err(ErrorCode::NotPermitted), "{path}");
            let appended = backend.append(write(path, dry_run)).await;
            assert_eq!(appended, Err(ErrorCode::NotPermitted), "{path}");
        }
        assert_eq!(backend.draft(path).await.err(), Some(ErrorCode::NotPermitted), "{path}");
        assert_eq!(backend.remove(path, true).await, Err(ErrorCode::NotPermitted), "{path}");
        let moved = backend.rename(path, "/moved", true).await;
        assert_eq!(moved, Err(ErrorCode::NotPermitted), "{path}");
        let moved = backend.rename("/a/f", path, true).await;
        assert_eq!(moved, Err(ErrorCode::NotPermitted), "{path}");
    }
    let page = memory.ls_info("/", 0, 10).await.unwrap();
    assert_eq!(page.total, 1);
    assert_eq!(memory.read_bytes("/a/f", 0, 10).await.unwrap().data, b"x");
}

#[tokio::test]
async fn reading_passes_through() {
    let (memory, backend) = workspace().await;
    assert_eq!(backend.ls_info("/", 0, 9).await, memory.ls_info("/", 0, 9).await);
    assert_eq!(backend.ls_info("/none", 0, 9).await, Err(ErrorCode::NotFound));
    assert_eq!(backend.read_bytes("/a/f", 0, 9).await, memory.read_bytes("/a/f", 0, 9).await);
    assert_eq!(backend.resolve("/a/../a/f", true).await.as_deref(), Ok("/a/f"));
    let request = ReadRequest {
        path: "/a/f".to_owned(),
        offset: 1,
        limit: 9,
        column: 1,
        line_chars: 9,
        max_bytes: 99,
        if_version: None,
    };
    assert_eq!(backend.read(request.clone()).await, memory.read(request).await);
    let glob = GlobRequest {
        path: "/".to_owned(),
        pattern: "**".to_owned(),
        include_ignored: false,
        offload_path: "/results".to_owned(),
        order: FileOrder::Path,
        offset: 0,
        limit: 9,
        max_bytes: 99,
        time_ms: 10_000,
    };
    let view = View::default();
    assert_eq!(backend.glob_info(glob.clone(), &view).await.unwrap().files, ["/a/f"]);
    // What is hidden above stays hidden.
    let view = view.hiding(|path| path == "a");
    assert_eq!(backend.glob_info(glob, &view).await.unwrap().total, 0);
    let grep = GrepRequest {
        path: "/".to_owned(),
        pattern: "x".to_owned(),
        literal: true,
        ignore_case: false,
        multiline: false,
        glob: None,
        file_type: None,
        include_ignored: false,
        offload_path: "/results".to_owned(),
        mode: GrepMode::Files,
        before: 0,
        after: 0,
        offset: 0,
        limit: 9,
        max_bytes: 99,
        line_chars: 99,
        time_ms: 10_000,
    };
    let page = backend.grep_raw(grep.clone(), &View::default()).await.unwrap();
    assert_eq!((page.total, page.report.files), (1, 1));
    assert_eq!(backend.grep_raw(grep, &view).await.unwrap().report.files, 0);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_links_it_is_read_only_too() {
    let root = tempfile::tempdir().unwrap();
    let files = crate::backends::AgentFiles::at_ambient_path(root.path());
    let thread = files.thread(None, "t").unwrap();
    thread.write(write("/a/f", false)).await.unwrap();
    std::os::unix::fs::symlink("a", root.path().join("t/link")).unwrap();
    let backend = ReadOnly::new(Arc::new(thread));
    assert_eq!(backend.read_bytes("/link/f", 0, 9).await.unwrap().data, b"x");
    let strict = backend.without_links().unwrap();
    assert_eq!(strict.read_bytes("/a/f", 0, 9).await.unwrap().data, b"x");
    assert_eq!(strict.read_bytes("/link/f", 0, 9).await, Err(ErrorCode::NotFound));
    assert_eq!(strict.write(write("/a/f", false)).await, Err(ErrorCode::NotPermitted));
    assert!(ReadOnly::new(Arc::new(Memory::new())).without_links().is_none());
}
