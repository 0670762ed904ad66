//! What a walk says it met besides results.

use crate::limits::{MAX_UNREADABLE_BYTES, MAX_UNREADABLE_NAMED};
use crate::types::WalkReport;

/// Which of the unreadable paths, in order, are named.
pub(super) fn named(mut unreadable: Vec<String>) -> Vec<String> {
    let mut room = MAX_UNREADABLE_BYTES;
    unreadable.truncate(MAX_UNREADABLE_NAMED);
    unreadable.retain(|path| {
        let fits = path.len() <= room;
        room = if fits { room - path.len() } else { 0 };
        fits
    });
    unreadable
}

impl WalkReport {
    /// Adds what the walk through another tree met, for a search that goes through several.
    pub fn join(&mut self, other: Self) {
        self.files = self.files.saturating_add(other.files);
        self.ignored |= other.ignored;
        self.binary = self.binary.saturating_add(other.binary);
        self.unreadable.extend(other.unreadable);
        self.unreadable.sort();
        self.unreadable = named(std::mem::take(&mut self.unreadable));
        self.unreadable_count = self.unreadable_count.saturating_add(other.unreadable_count);
        self.undecodable = self.undecodable.saturating_add(other.undecodable);
        self.stopped |= other.stopped;
    }
}
