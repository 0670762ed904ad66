//! Glob and grep over any tree of files: which files are seen, in which order, and what of them.
//!
//! A backend gives access to directories and files ([`Tree`]); everything else is here, so that
//! two backends cannot disagree.

mod content;
mod find;
mod grep;
mod hits;
mod ignores;
mod matcher;
mod merge;
mod pattern;
mod report;
mod tree;
mod walk;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use find::{first_files, glob, glob_page};
pub use grep::grep;
pub use merge::MergedGrep;
pub use tree::{Base, Hiding, Tree, TreeEntry, TreeFile};

use crate::types::ErrorCode;

/// When a search has to end before it is complete.
#[derive(Debug)]
pub struct Budget<'a> {
    deadline: Instant,
    cancelled: &'a AtomicBool,
    /// How many threads may work at once, at least 1.
    pub threads: usize,
}

impl<'a> Budget<'a> {
    /// A budget of `milliseconds` from now on, which ends early when `cancelled` becomes true.
    #[must_use]
    pub fn new(milliseconds: u64, cancelled: &'a AtomicBool, threads: usize) -> Self {
        let time = Duration::from_millis(milliseconds.min(u64::from(u32::MAX)));
        Self { deadline: Instant::now() + time, cancelled, threads: threads.max(1) }
    }

    /// Whether the search has to end now.
    fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// Says what kept a tree from being read, without a host path.
fn storage_error(error: &std::io::Error) -> ErrorCode {
    match error.kind() {
        std::io::ErrorKind::NotFound => ErrorCode::NotFound,
        std::io::ErrorKind::NotADirectory => ErrorCode::NotADirectory,
        std::io::ErrorKind::PermissionDenied => ErrorCode::NotPermitted,
        kind => ErrorCode::Unavailable(kind.to_string()),
    }
}

#[cfg(test)]
mod tests;
