//! Many threads on one root: none meets another, and none is lost while it is in use.

mod apart;
mod delete;
mod first;
mod gc;
mod records;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use handhold::backends::{AgentFiles, Lifetime, ThreadInfo};
use handhold::{ToolCall, Workspace};
use handhold_conformance::world::Directory;
use handhold_conformance::{runtime, shared_toolbox};
use serde_json::{Value, json};

use crate::cli::code;

/// Longer than any test takes.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// A root for threads.
struct Root {
    directory: Directory,
    files: AgentFiles,
}

impl Root {
    fn new() -> Self {
        let directory = Directory::new();
        let files = AgentFiles::at_ambient_path(directory.root());
        Self { directory, files }
    }

    /// The same root as another process has it.
    fn other(&self) -> AgentFiles {
        AgentFiles::at_ambient_path(self.directory.root())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.root().join(path)
    }

    /// Makes a call; the answer has the form of a line of `handhold batch`.
    fn call(&self, tenant: Option<&str>, thread: &str, tool: &str, arguments: Value) -> Value {
        runtime().block_on(ask(&self.files, tenant, thread, tool, arguments))
    }

    fn write(&self, tenant: Option<&str>, thread: &str, path: &str, content: &str) {
        let write = json!({ "file_path": path, "content": content });
        let answer = self.call(tenant, thread, "write_file", write);
        assert_eq!(code(&answer), "", "{answer}");
    }

    /// The text of a file as `read_file` shows it.
    fn read(&self, tenant: Option<&str>, thread: &str, path: &str) -> String {
        let answer = self.call(tenant, thread, "read_file", json!({ "file_path": path }));
        answer["text"].as_str().unwrap().to_owned()
    }

    /// Makes it look as if a thread had not been used for two hours.
    fn age(&self, key: &str) {
        self.set_last_use(key, SystemTime::now() - 2 * HOUR);
    }

    fn set_last_use(&self, key: &str, time: SystemTime) {
        let record = fs::File::options().write(true).open(self.path(".handhold/threads").join(key));
        record.unwrap().set_modified(time).unwrap();
    }

    /// Collects what was not used for an hour; gives the threads.
    fn gc(&self) -> Vec<String> {
        self.collect(idle(HOUR), false)
    }

    fn collect(&self, lifetime: Lifetime, dry_run: bool) -> Vec<String> {
        let over = runtime().block_on(self.files.gc(None, lifetime, dry_run)).unwrap();
        over.into_iter().map(|info| info.thread).collect()
    }

    fn list(&self) -> Vec<ThreadInfo> {
        runtime().block_on(self.files.list(None)).unwrap()
    }

    fn delete(&self, thread: &str) {
        runtime().block_on(self.files.delete(None, thread)).unwrap();
    }
}

async fn ask(
    files: &AgentFiles,
    tenant: Option<&str>,
    thread: &str,
    tool: &str,
    arguments: Value,
) -> Value {
    let workspace = Workspace::new(files.thread(tenant, thread).unwrap());
    let call = ToolCall { tool: tool.to_owned(), arguments: arguments.to_string(), call_id: None };
    let result = shared_toolbox().call(&workspace, call).await;
    let structured: Value = serde_json::from_str(&result.structured).unwrap();
    json!({ "is_error": result.is_error, "text": result.text, "structured": structured })
}

fn idle(idle: Duration) -> Lifetime {
    Lifetime { idle: Some(idle), age: None }
}
