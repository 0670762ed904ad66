//! Whether there is room for a change, and what it led to.

use handhold_core::types::ErrorCode;

use super::Quota;
use super::ledger::{LedgerEntry, Usage};
use super::limits::Growth;

/// Whether a change has room.
pub(super) enum Room {
    /// It has. This is the turn to make it in; none if there is no ledger yet.
    Enough(Option<Box<dyn LedgerEntry>>),
    /// The ledger did not know and was counted; the change starts over.
    Counted,
}

impl Quota {
    /// Checks that there is room for a change, beside what others have reserved; `own` of what is
    /// reserved is for the change itself.
    pub(super) async fn room(
        &self,
        entry: Option<Box<dyn LedgerEntry>>,
        growth: Growth,
        own: u64,
    ) -> Result<Room, ErrorCode> {
        self.limits.check_file(growth)?;
        if !self.limits.concern(growth) {
            return Ok(Room::Enough(entry));
        }
        let (usage, reserved) = match &entry {
            None => (Some(Usage::default()), 0),
            Some(entry) => (entry.usage(), entry.reserved()),
        };
        match (usage, entry) {
            (Some(usage), entry) => {
                self.limits.check(usage, reserved.saturating_sub(own), growth)?;
                Ok(Room::Enough(entry))
            }
            (None, Some(entry)) => self.count(entry).await.map(|_| Room::Counted),
            (None, None) => Ok(Room::Counted),
        }
    }

    /// Passes on what a change of a workspace that nobody has used led to. It fails, unless
    /// somebody was quicker and has begun to use it.
    pub(super) async fn unless_used<T>(
        &self,
        result: Result<T, ErrorCode>,
    ) -> Result<T, ErrorCode> {
        if result.is_ok() {
            // If this fails, it can be done again; the change was made all the same.
            drop(self.recount().await);
        }
        result
    }
}

/// Writes down what the workspace takes. If that fails the ledger stays in doubt, and is counted
/// next time; the change was made all the same.
pub(super) async fn settle(entry: Box<dyn LedgerEntry>, usage: Option<Usage>) {
    drop(entry.commit(usage).await);
}
