//! Many open threads that have no files: they take little memory, and nothing on the disk.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use handhold::backend::{Backend, ErrorCode, FileOrder, GlobRequest, View};
use handhold::backends::{AgentFiles, JsonLines, Mode, Operation, QuotaLimits, Rule};
use handhold::{BackendFactory, CallContext, Policy, SharedDirectory, Threads, Workspace};
use handhold_conformance::world::Directory;
use handhold_conformance::{runtime, shared_toolbox};
use serde_json::json;

/// How many threads are open.
const THREADS: usize = 10_000;

/// How many bytes each may take.
const MOST_BYTES: usize = 2 << 10;

/// Tells the child where to work.
const ROOT: &str = "HANDHOLD_TEST_ROOT";

/// Everything that a policy can have.
fn policy(base: &Path) -> Policy {
    let shared = |path: &str, read_only| SharedDirectory {
        path: path.to_owned(),
        dir: base.join("shared").join(path.trim_start_matches('/')),
        read_only,
    };
    let deny = |operation, path: &str| Rule {
        operations: vec![operation],
        paths: vec![path.to_owned()],
        mode: Mode::Deny,
    };
    Policy {
        mounts: vec![shared("/skills", true), shared("/notes", false)],
        rules: vec![
            deny(Operation::Read, "/secrets/**"),
            deny(Operation::Write, "/skills/**"),
            deny(Operation::Write, "/.git/**"),
        ],
        quota: QuotaLimits { bytes: Some(1 << 30), files: Some(1000), file_bytes: Some(1 << 20) },
        audit: Some(Arc::new(JsonLines::new(std::io::sink()))),
        refuse_stale: true,
    }
}

/// How many bytes of memory this process has of its own.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// Looks at all of a workspace that has no files of its own.
async fn look(backend: &dyn Backend) {
    let page = backend.ls_info("/", 0, 10).await.unwrap();
    let names: Vec<&str> = page.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(names, ["/notes", "/skills"]);
    assert_eq!(backend.read_bytes("/file.txt", 0, 1).await, Err(ErrorCode::NotFound));
    assert_eq!(backend.resolve("/a/b", true).await.unwrap(), "/a/b");
}

async fn search(backend: &dyn Backend) {
    let request = GlobRequest {
        path: "/".to_owned(),
        pattern: "**".to_owned(),
        include_ignored: true,
        offload_path: "/large_tool_result".to_owned(),
        order: FileOrder::Path,
        offset: 0,
        limit: 10,
        max_bytes: 1 << 20,
        time_ms: 60_000,
    };
    assert_eq!(backend.glob_info(request, &View::default()).await.unwrap().files, [""; 0]);
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn hold() {
    let base = std::env::var_os(ROOT).unwrap();
    let base = Path::new(&base);
    let files = AgentFiles::at_ambient_path(base.join("root"));
    let threads = Threads::in_directory(files, policy(base)).unwrap();
    let open = |n: usize| {
        threads.backend(&CallContext {
            tenant: Some(format!("tenant-{}", n % 100)),
            thread: format!("3f2b0e1c-7f7e-4a55-9a4e-{n:012}"),
            session: Some("main".to_owned()),
            call_id: Some(format!("call_{n:024}")),
            tool: Some("read_file".to_owned()),
        })
    };
    let mut all = Vec::with_capacity(THREADS);
    runtime().block_on(async {
        // What is there once, and what the allocator keeps for later.
        for n in 0..THREADS / 10 {
            let backend = open(THREADS + n).unwrap();
            look(&*backend).await;
            search(&*backend).await;
        }
        let before = memory();
        for n in 0..THREADS {
            let backend = open(n).unwrap();
            look(&*backend).await;
            if n % 100 == 0 {
                search(&*backend).await;
            }
            all.push(backend);
        }
        let each = memory().saturating_sub(before) / THREADS;
        assert!(each <= MOST_BYTES, "an open thread takes {each} bytes");
        // All of them work, also by way of the tools.
        let workspace = Workspace::shared(Arc::clone(&all[THREADS / 2]));
        let call = super::ask(shared_toolbox(), &workspace, "ls", &json!({})).await;
        assert_eq!(super::code(&call), "", "{call}");
    });
    assert!(!base.join("root").exists(), "reading has made something");
    assert!(!base.join("shared").exists(), "reading has made something");
}

#[test]
fn open_threads_without_files_take_little_memory_and_no_directory() {
    let directory = Directory::new();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "threads::hold", "--nocapture"])
        .env(ROOT, directory.base())
        // One arena: what the allocator keeps for each thread of the process is not what is measured.
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let [out, err] =
        [child.stdout, child.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(child.status.success() && out.contains("1 passed"), "{out}{err}");
}
