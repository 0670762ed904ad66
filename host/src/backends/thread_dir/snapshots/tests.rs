//! Tests of snapshots over real directories.

mod bounds;
mod concurrent;
mod diffs;
mod foreign;
mod killed;
mod large;
mod quota;
mod round_trip;
mod sharing;
mod tampered;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::remove::sweep_older;
use super::*;
use crate::backend::{Backend, Condition, WriteRequest};
use crate::backends::{Ledger, Quota, Turn, Usage};

const THREAD: &str = "t";

const NONE: QuotaLimits = QuotaLimits { bytes: None, files: None, file_bytes: None };

/// A root with a thread.
struct World {
    base: tempfile::TempDir,
    files: AgentFiles,
}

impl World {
    /// A thread with an empty directory.
    fn new() -> Self {
        let base = tempfile::tempdir().expect("a directory");
        fs::create_dir(base.path().join(THREAD)).expect("a directory");
        let files = AgentFiles::at_ambient_path(base.path());
        Self { base, files }
    }

    /// A path of the workspace.
    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.base.path().join(THREAD).join(path)
    }

    /// Writes a file past the library, and makes its directories.
    fn put(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("written");
    }

    async fn take(&self, name: &str) -> SnapshotInfo {
        self.try_take(name, NONE).await.expect("a snapshot")
    }

    async fn restore(&self, name: &str) {
        self.try_restore(name, NONE).await.expect("restored");
    }

    async fn try_take(
        &self,
        name: &str,
        limits: QuotaLimits,
    ) -> Result<SnapshotInfo, SnapshotError> {
        self.files.snapshot(None, THREAD, name, limits).await
    }

    async fn try_restore(
        &self,
        name: &str,
        limits: QuotaLimits,
    ) -> Result<Restored, SnapshotError> {
        self.files.restore(None, THREAD, name, limits).await
    }

    async fn list(&self) -> Vec<SnapshotInfo> {
        self.files.snapshots(None, THREAD).await.expect("a list")
    }

    async fn diff(&self, name: &str, other: Option<&str>) -> Vec<(String, DiffKind)> {
        let found = self.files.diff(None, THREAD, name, other).await.expect("a comparison");
        found.into_iter().map(|found| (found.path, found.change)).collect()
    }

    async fn remove(&self, name: &str) -> u64 {
        self.files.remove_snapshot(None, THREAD, name).await.expect("removed")
    }

    async fn bytes(&self) -> u64 {
        let usage = self.files.usage(None, THREAD).await.expect("a usage");
        usage.expect("the thread").snapshot_bytes
    }

    /// A path of what is kept of the thread's snapshots.
    fn kept(&self, path: &str) -> PathBuf {
        self.base.path().join(".handhold/snapshots").join(THREAD).join(path)
    }

    /// The thread with limits, as a run has it.
    fn quota(&self, limits: QuotaLimits) -> Quota {
        let thread = self.files.thread(None, THREAD).expect("an id");
        let ledger = Arc::new(thread.ledger());
        Quota::new(Arc::new(thread), limits, ledger)
    }

    /// What the ledger says; none if it does not know. What it says must be what is there.
    async fn ledger(&self) -> Option<Usage> {
        let ledger = self.files.thread(None, THREAD).expect("an id").ledger();
        let entry = ledger.begin(Turn::Look).await.expect("a turn");
        assert_eq!(entry.reserved(), 0, "nobody makes anything");
        let usage = entry.usage();
        assert!(
            usage.is_none_or(|usage| usage == self.count()),
            "{usage:?}, not {:?}",
            self.count()
        );
        usage
    }

    /// Counts the thread and its snapshots without our code.
    fn count(&self) -> Usage {
        let mut usage = Usage::default();
        for (path, node) in self.tree() {
            usage.files += u64::from(path != Path::new(""));
            if let Content::File(content) = node.content {
                usage.bytes += content.len() as u64;
            }
        }
        for dir in ["objects", "manifests"] {
            let Ok(entries) = fs::read_dir(self.kept(dir)) else { continue };
            usage.bytes +=
                entries.map(|e| e.expect("one").metadata().expect("one").len()).sum::<u64>();
        }
        usage
    }

    /// The names of the objects, in order.
    fn objects(&self) -> Vec<String> {
        names(&self.kept("objects"))
    }

    fn tree(&self) -> Tree {
        tree(&self.at(""))
    }

    /// What is left in the directory for drafts when all that is left over has been swept.
    fn leftovers(&self) -> Vec<String> {
        sweep_older(&self.files.root.records().expect("records").tmp, Duration::ZERO);
        names(&self.base.path().join(".handhold/tmp"))
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    names
}

/// The first line of a list, as long as it must be.
fn padded(line: &str) -> String {
    format!("{:4095}", line.trim_end())
}

/// A tree: for each path what is there.
type Tree = BTreeMap<PathBuf, Node>;

#[derive(Debug, PartialEq, Eq)]
struct Node {
    mode: u32,
    modified: (i64, i64),
    content: Content,
}

#[derive(Debug, PartialEq, Eq)]
enum Content {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

/// All that is at and below a path. The top is the empty path.
fn tree(top: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(path) = todo.pop() {
        let real = top.join(&path);
        let found = fs::symlink_metadata(&real).expect("an entry");
        let content = if found.is_dir() {
            for entry in fs::read_dir(&real).expect("a directory") {
                todo.push(path.join(entry.expect("an entry").file_name()));
            }
            Content::Directory
        } else if found.is_symlink() {
            Content::Link(fs::read_link(&real).expect("a link"))
        } else if found.is_file() {
            Content::File(fs::read(&real).expect("a file"))
        } else {
            Content::Other
        };
        let modified = (found.mtime(), found.mtime_nsec());
        tree.insert(path, Node { mode: found.mode() & 0o7777, modified, content });
    }
    tree
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

fn set_time(path: &Path, since_1970: Duration) {
    let file = fs::File::open(path).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH + since_1970).expect("a time");
}

/// The name of bytes.
fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

async fn write(files: &AgentFiles, path: &str, content: &str, condition: Condition) -> String {
    let thread = files.thread(None, THREAD).expect("an id");
    let (path, content) = (path.to_owned(), content.as_bytes().to_vec());
    let request = WriteRequest { path, content, condition, dry_run: false };
    thread.write(request).await.expect("written").version
}
