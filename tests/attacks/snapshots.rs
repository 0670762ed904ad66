//! Attacks on snapshots: ways to reach them, and ways out of the workspace through them.

mod killed;
mod links;
mod names;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use handhold::Policy;
use handhold::backend::ErrorCode;
use handhold::backends::{
    AgentFiles, Difference, Ledger, QuotaLimits, Restored, SnapshotError, SnapshotInfo, Turn, Usage,
};
use handhold_conformance::runtime;
use handhold_conformance::world::THREAD;
use serde_json::json;

use crate::site::{Site, facts};

const NONE: QuotaLimits = QuotaLimits { bytes: None, files: None, file_bytes: None };

/// The snapshots of the thread of a site.
struct Snapshots<'a> {
    site: &'a Site,
    files: AgentFiles,
}

impl<'a> Snapshots<'a> {
    fn of(site: &'a Site) -> Self {
        Self { site, files: AgentFiles::at_ambient_path(site.directory.root()) }
    }

    fn take(&self, name: &str) -> Result<SnapshotInfo, SnapshotError> {
        runtime().block_on(self.files.snapshot(None, THREAD, name, NONE))
    }

    fn restore(&self, name: &str) -> Result<Restored, SnapshotError> {
        runtime().block_on(self.files.restore(None, THREAD, name, NONE))
    }

    fn diff(&self, name: &str) -> Result<Vec<Difference>, SnapshotError> {
        runtime().block_on(self.files.diff(None, THREAD, name, None))
    }

    fn remove(&self, name: &str) -> Result<u64, SnapshotError> {
        runtime().block_on(self.files.remove_snapshot(None, THREAD, name))
    }

    fn list(&self) -> Vec<String> {
        let list = runtime().block_on(self.files.snapshots(None, THREAD)).unwrap();
        list.into_iter().map(|info| info.name).collect()
    }

    /// What is kept of the thread's snapshots.
    fn kept(&self, name: &str) -> PathBuf {
        self.site.directory.root().join(".handhold/snapshots").join(THREAD).join(name)
    }

    fn objects(&self) -> Vec<PathBuf> {
        entries(&self.kept("objects"))
    }

    /// What the ledger says, which is what is there; none if it does not know.
    fn ledger(&self) -> Option<Usage> {
        let ledger = self.files.thread(None, THREAD).unwrap().ledger();
        let usage = runtime().block_on(ledger.begin(Turn::Look)).unwrap().usage();
        assert!(usage.is_none_or(|usage| usage == self.count()), "{usage:?}: {:?}", self.count());
        usage
    }

    /// Counts the thread and its snapshots without our code.
    fn count(&self) -> Usage {
        let mut usage = Usage::default();
        let mut todo = entries(&self.site.inside(""));
        while let Some(path) = todo.pop() {
            usage.files += 1;
            let found = fs::symlink_metadata(&path).unwrap();
            if found.is_dir() {
                todo.extend(entries(&path));
            } else if found.is_file() {
                usage.bytes += found.len();
            }
        }
        let kept = ["objects", "manifests"].map(|dir| entries(&self.kept(dir)));
        usage.bytes += kept.iter().flatten().map(|path| size(path)).sum::<u64>();
        usage
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn size(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().len()
}

#[test]
fn no_tool_reaches_a_snapshot() {
    let site = Site::new();
    site.write("file.txt", "HIDDEN one");
    let snapshots = Snapshots::of(&site);
    snapshots.take("s").unwrap();
    site.write("file.txt", "new");
    let records = site.directory.root().join(".handhold/snapshots");
    let before = facts(&records);
    let object = snapshots.objects()[0].clone();
    let object = object.file_name().unwrap().to_str().unwrap();
    symlink("../.handhold/snapshots/default", site.inside("up")).unwrap();
    symlink(records.join(THREAD), site.inside("absolute")).unwrap();
    let store = "/.handhold/snapshots/default";
    for store in [store, &format!("/..{store}"), "/up", "/absolute"] {
        for path in ["", "/manifests", "/manifests/s", "/objects", &format!("/objects/{object}")] {
            let path = format!("{store}{path}");
            for (tool, arguments) in [
                ("ls", json!({ "path": path })),
                ("read_file", json!({ "file_path": path })),
                ("glob", json!({ "pattern": "**", "path": path, "include_ignored": true })),
                ("grep", json!({ "pattern": ".", "path": path, "include_ignored": true })),
                (
                    "edit_file",
                    json!({ "file_path": path, "old_string": "HIDDEN", "new_string": "x" }),
                ),
                ("move_file", json!({ "source": path, "destination": "/got" })),
                ("delete_file", json!({ "path": path, "recursive": true })),
            ] {
                let is_link = store == path && !path.contains('.');
                if is_link && matches!(tool, "move_file" | "delete_file") {
                    // The link itself is the workspace's own.
                    continue;
                }
                let answer = site.call(tool, arguments);
                assert!(answer.code.is_some(), "{tool} {path}: {}", answer.text);
            }
        }
    }
    // What is written there is in the workspace.
    site.call(
        "write_file",
        json!({ "file_path": "/.handhold/snapshots/default/a", "content": "" }),
    );
    let seen = site.call("grep", json!({ "pattern": "HIDDEN", "include_ignored": true })).good();
    assert!(seen.text.starts_with("No matches"), "{}", seen.text);
    assert_eq!(facts(&records), before);
    site.directory.check_outside();
}

#[test]
fn a_snapshot_shares_nothing_with_the_workspace() {
    let site = Site::new();
    site.write("file.txt", "before");
    let snapshots = Snapshots::of(&site);
    snapshots.take("s").unwrap();
    for _ in 0..2 {
        // In place: the file stays what it is, and only its content changes.
        fs::write(site.inside("file.txt"), "AFTER!").unwrap();
        for path in snapshots.objects().iter().chain([&site.inside("file.txt")]) {
            assert_eq!(fs::metadata(path).unwrap().nlink(), 1, "{}", path.display());
        }
        for path in snapshots.objects() {
            assert_eq!(fs::read_to_string(&path).unwrap(), "before");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o400);
        }
        snapshots.restore("s").unwrap();
        assert_eq!(site.read("file.txt"), "before");
    }
    let edit = json!({ "file_path": "/file.txt", "old_string": "before", "new_string": "edited" });
    site.call("edit_file", edit).good();
    snapshots.restore("s").unwrap();
    assert_eq!(site.read("file.txt"), "before");
}

#[test]
fn snapshots_are_charged_to_their_thread() {
    let most = 100_000;
    let limits = QuotaLimits { bytes: Some(most), ..NONE };
    let site = Site::with(Policy { quota: limits, ..Policy::default() });
    let snapshots = Snapshots::of(&site);
    let write =
        |n: usize| json!({ "file_path": "/file.txt", "content": n.to_string().repeat(2000) });
    let take = |n: usize| {
        runtime().block_on(snapshots.files.snapshot(None, THREAD, &n.to_string(), limits))
    };
    let (mut taken, mut refused) = (0, 0);
    for n in 10..99 {
        match site.call("write_file", write(n)).code.as_deref() {
            None => {}
            Some(code) => assert_eq!(code, "quota-exceeded"),
        }
        match take(n) {
            Ok(_) => taken += 1,
            Err(SnapshotError::Storage(ErrorCode::QuotaExceeded)) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
        assert!(snapshots.ledger().unwrap().bytes <= most);
    }
    assert!(taken >= 10 && refused > 10, "{taken} were taken, {refused} refused");
    // Nor does one of another thread take anything of this one.
    let answer = site.call_in(&site.other("other"), "write_file", write(10));
    assert!(answer.code.is_none(), "{}", answer.text);
    site.directory.check_outside();
}
