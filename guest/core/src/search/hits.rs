//! Gathers results from several threads and keeps the first ones in path order.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use crate::types::GrepLine;

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct FileHits {
    /// How many matches were found.
    pub(super) count: u64,
    /// Matching lines and context, in content mode.
    pub(super) lines: Vec<GrepLine>,
    /// How much room the hits take in a result.
    pub(super) bytes: u64,
    /// How much the file counts against the limit.
    pub(super) weight: u64,
    /// Whether the search of the file ended at a bound.
    pub(super) cut: bool,
}

/// Results so far: as many of the first as are wanted.
pub(super) struct Hits {
    kept: Mutex<Kept>,
    /// The last path that can matter, once there are enough results.
    bound: RwLock<Option<OsString>>,
    wanted: u64,
    max_bytes: u64,
}

#[derive(Default)]
struct Kept {
    files: BTreeMap<OsString, FileHits>,
    weight: u64,
    bytes: u64,
    /// The weight of all that was found, also of what was dropped again.
    total: u64,
    dropped: bool,
}

/// All results in path order.
pub(super) struct Sorted {
    pub(super) files: BTreeMap<OsString, FileHits>,
    /// How much was found in all; a lower bound if `dropped`.
    pub(super) total: u64,
    /// Whether the search ended early because there was enough.
    pub(super) dropped: bool,
}

impl Hits {
    /// Keeps results until their weights reach `wanted` or their sizes `max_bytes`.
    pub(super) fn new(wanted: u64, max_bytes: u64) -> Self {
        Self { kept: Mutex::default(), bound: RwLock::new(None), wanted, max_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether results at this path are behind all that can matter.
    pub(super) fn is_past(&self, path: &OsStr) -> bool {
        let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
        let past = bound.as_deref().is_some_and(|bound| path > bound);
        drop(bound);
        if past {
            self.lock().dropped = true;
        }
        past
    }

    pub(super) fn add(&self, path: &OsStr, hits: FileHits) {
        let mut kept = self.lock();
        kept.total += hits.weight;
        kept.weight += hits.weight;
        kept.bytes += hits.bytes;
        kept.files.insert(path.to_owned(), hits);
        // Drop what is not needed to have enough.
        while let Some(last) = kept.files.last_entry() {
            let (weight, bytes) = (last.get().weight, last.get().bytes);
            let enough_matches = kept.weight - weight >= self.wanted;
            let enough_bytes = kept.bytes - bytes >= self.max_bytes;
            if !(enough_matches || enough_bytes) {
                break;
            }
            kept.files.pop_last();
            kept.weight -= weight;
            kept.bytes -= bytes;
            kept.dropped = true;
        }
        if kept.weight >= self.wanted || kept.bytes >= self.max_bytes {
            let last = kept.files.last_key_value().map(|(path, _)| path.clone());
            *self.bound.write().unwrap_or_else(PoisonError::into_inner) = last;
        }
    }

    pub(super) fn into_sorted(self) -> Sorted {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        Sorted { files: kept.files, total: kept.total, dropped: kept.dropped }
    }
}
