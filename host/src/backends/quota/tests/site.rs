//! A root in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::backends::AgentFiles;

/// A root with one thread.
pub(super) struct Site {
    base: TempDir,
}

impl Site {
    pub(super) fn new() -> Self {
        Self { base: tempfile::tempdir().expect("a directory") }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.base.path().join("root")
    }

    /// The directory of the workspace.
    pub(super) fn inside(&self, path: &str) -> PathBuf {
        self.root().join("thread").join(path)
    }

    pub(super) fn record(&self) -> PathBuf {
        self.root().join(".handhold/usage/thread")
    }

    /// Another handle of the workspace, as another process would have it.
    pub(super) fn quota(&self, limits: QuotaLimits) -> Quota {
        open(&AgentFiles::at_ambient_path(self.root()), limits)
    }

    /// What the ledger says, which must be what is there.
    pub(super) async fn checked(&self, quota: &Quota) -> Usage {
        let usage = quota.usage().await.expect("a usage");
        assert_eq!(usage, count(&self.inside("")), "the ledger is wrong");
        usage
    }
}

/// The workspace of a root.
pub(super) fn open(files: &AgentFiles, limits: QuotaLimits) -> Quota {
    let thread = files.thread(None, "thread").expect("an id");
    let ledger = Arc::new(thread.ledger());
    Quota::new(Arc::new(thread), limits, ledger)
}

/// Counts a tree without our code.
pub(super) fn count(top: &Path) -> Usage {
    let mut usage = Usage::default();
    let mut todo = vec![top.to_owned()];
    while let Some(directory) = todo.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let Ok(found) = fs::symlink_metadata(entry.path()) else { continue };
            usage.files += 1;
            if found.is_dir() {
                todo.push(entry.path());
            } else if found.is_file() {
                usage.bytes += found.len();
            }
        }
    }
    usage
}
