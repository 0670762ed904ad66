//! Attacks on the quota: workspaces that are to be filled, and ways around the limits.
//!
//! After each, what the ledger says is what is there, and no limit is passed.

mod bypass;
mod closed;
mod fill;
mod killed;
mod links;
mod processes;
mod results;
mod rules;
mod together;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use handhold::Policy;
use handhold::backends::{AgentFiles, Quota, QuotaLimits, Usage};
use handhold_conformance::runtime;
use handhold_conformance::world::THREAD;
use serde_json::{Value, json};

use crate::site::{Answer, Site};

const NONE: QuotaLimits = QuotaLimits { bytes: None, files: None, file_bytes: None };

fn bytes(most: u64) -> QuotaLimits {
    QuotaLimits { bytes: Some(most), ..NONE }
}

fn files(most: u64) -> QuotaLimits {
    QuotaLimits { files: Some(most), ..NONE }
}

/// A place to attack whose workspace has limits.
struct Limited {
    site: Site,
    limits: QuotaLimits,
}

impl Limited {
    fn new(limits: QuotaLimits) -> Self {
        Self { site: Site::with(Policy { quota: limits, ..Policy::default() }), limits }
    }

    /// Writes a file of so many bytes.
    fn write(&self, path: &str, size: usize) -> Answer {
        self.site.call("write_file", write(path, size))
    }

    /// Puts so many bytes behind a file.
    fn append(&self, path: &str, size: usize) -> Answer {
        self.site.call("write_file", append(path, size))
    }

    /// Moves something, and replaces what is there.
    fn rename(&self, source: &str, destination: &str) -> Answer {
        let arguments = json!({ "source": source, "destination": destination, "overwrite": true });
        self.site.call("move_file", arguments)
    }

    fn delete(&self, path: &str) -> Answer {
        self.site.call("delete_file", json!({ "path": path, "recursive": true }))
    }

    /// Fails unless what the ledger says is what is there, and within the limits; gives it.
    #[track_caller]
    fn check(&self) -> Usage {
        let (there, largest) = count(&self.site.inside(""));
        assert_eq!(self.told(), there, "the ledger is wrong");
        let within = |limit: Option<u64>, taken| limit.is_none_or(|most| taken <= most);
        assert!(within(self.limits.bytes, there.bytes), "too many bytes: {there:?}");
        assert!(within(self.limits.files, there.files), "too many files: {there:?}");
        assert!(within(self.limits.file_bytes, largest), "a file has {largest} bytes");
        there
    }

    /// What the ledger says.
    fn told(&self) -> Usage {
        let files = AgentFiles::at_ambient_path(self.site.directory.root());
        let thread = files.thread(None, THREAD).unwrap();
        let ledger = Arc::new(thread.ledger());
        let quota = Quota::new(Arc::new(thread), NONE, ledger);
        runtime().block_on(quota.usage()).unwrap()
    }
}

fn write(path: &str, size: usize) -> Value {
    json!({ "file_path": path, "content": "x".repeat(size) })
}

fn append(path: &str, size: usize) -> Value {
    json!({ "file_path": path, "content": "x".repeat(size), "mode": "append" })
}

fn taken(bytes: u64, files: u64) -> Usage {
    Usage { bytes, files }
}

/// Whether a call found room; it must not have failed otherwise.
#[track_caller]
fn has_room(answer: &Answer) -> bool {
    match answer.code.as_deref() {
        None => true,
        Some("quota-exceeded") => false,
        Some(_) => panic!("{}", answer.text),
    }
}

/// Counts a tree without our code, and finds its largest file.
fn count(top: &Path) -> (Usage, u64) {
    let (mut usage, mut largest) = (taken(0, 0), 0);
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
                largest = largest.max(found.len());
            }
        }
    }
    (usage, largest)
}

/// The configuration of processes with limits, in a file beside the root.
fn configuration(site: &Site, text: &str) -> String {
    let path = site.base("config.toml");
    fs::write(&path, format!("[quota]\n{text}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}
