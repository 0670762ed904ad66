//! A host of many threads on one root, as an embedder has it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use handhold::backend::Backend;
use handhold::backends::{AgentFiles, Quota, QuotaLimits, Usage};
use handhold::{BackendFactory, CallContext, Policy, Threads, ToolCall, Toolbox, Workspace};
use handhold_conformance::shared_toolbox;
use serde_json::Value;

/// Enough for everything that is done; it is there so that everything is charged.
pub(crate) const LIMITS: QuotaLimits =
    QuotaLimits { bytes: Some(1 << 30), files: Some(1 << 20), file_bytes: Some(64 << 20) };

/// A tenant and a thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) tenant: Option<String>,
    pub(crate) thread: String,
}

impl Place {
    /// What only this one has.
    pub(crate) fn mark(&self) -> String {
        format!("<{}:{}>", self.tenant.as_deref().unwrap_or("-"), self.thread)
    }

    /// Where its files are.
    pub(crate) fn dir(&self, root: &Path) -> PathBuf {
        match &self.tenant {
            None => root.join(encoded(&self.thread)),
            Some(tenant) => root.join(".tenants").join(encoded(tenant)).join(encoded(&self.thread)),
        }
    }
}

/// The directory name of a short id.
fn encoded(id: &str) -> String {
    let encode = |c: char| match c {
        'a'..='z' | '0'..='9' | '-' => c.to_string(),
        _ => format!("%{:02x}", u32::from(c)),
    };
    id.chars().map(encode).collect()
}

/// The threads of a root.
pub(crate) struct Host {
    pub(crate) files: AgentFiles,
    threads: Threads,
    toolbox: &'static Toolbox,
}

impl Host {
    pub(crate) fn new(root: &Path) -> Self {
        let files = AgentFiles::at_ambient_path(root);
        let policy = Policy { quota: LIMITS, ..Policy::default() };
        let threads = Threads::in_directory(files.clone(), policy).unwrap();
        Self { files, threads, toolbox: shared_toolbox() }
    }

    pub(crate) fn workspace(&self, place: &Place) -> Workspace {
        let (tenant, thread) = (place.tenant.clone(), place.thread.clone());
        let context = CallContext { tenant, thread, ..CallContext::default() };
        Workspace::shared(self.threads.backend(&context).unwrap())
    }

    /// Makes a call: the text and the structured form of the answer, or the code and the text of a
    /// failure.
    pub(crate) async fn call(
        &self,
        workspace: &Workspace,
        tool: &str,
        arguments: &Value,
    ) -> Result<(String, Value), (String, String)> {
        let call =
            ToolCall { tool: tool.to_owned(), arguments: arguments.to_string(), call_id: None };
        let result = self.toolbox.call(workspace, call).await;
        let structured: Value = serde_json::from_str(&result.structured).unwrap();
        if result.is_error {
            let code = structured.pointer("/error/code").and_then(Value::as_str);
            return Err((code.unwrap_or_default().to_owned(), result.text));
        }
        Ok((result.text, structured))
    }

    /// The quota of a thread.
    pub(crate) fn quota(&self, place: &Place) -> Quota {
        let own = self.files.thread(place.tenant.as_deref(), &place.thread).unwrap();
        let ledger = Arc::new(own.ledger());
        let own: Arc<dyn Backend> = Arc::new(own);
        Quota::new(own, LIMITS, ledger)
    }
}

/// The contents of files beneath a directory, by path in the workspace, and what all takes.
pub(crate) fn tree(dir: &Path) -> (BTreeMap<String, String>, Usage) {
    let (mut files, mut usage) = (BTreeMap::new(), Usage::default());
    collect(dir, "", &mut files, &mut usage);
    (files, usage)
}

fn collect(dir: &Path, above: &str, files: &mut BTreeMap<String, String>, usage: &mut Usage) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let path = format!("{above}/{}", entry.file_name().to_str().unwrap());
        usage.files += 1;
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &path, files, usage);
        } else {
            let content = fs::read_to_string(entry.path()).unwrap();
            usage.bytes += content.len() as u64;
            files.insert(path, content);
        }
    }
}
