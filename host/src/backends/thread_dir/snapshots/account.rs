//! What snapshots take, in the ledger of their thread.
//!
//! What is made is reserved before, so that others may change the thread meanwhile, and charged
//! when it counts. The ledger comes before the hold of the thread, as for any change.

use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;

use super::super::ledger::FileLedger;
use super::alone::WAIT;
use super::{SnapshotError, run};
use crate::backends::quota::{Growth, Ledger, LedgerEntry, QuotaLimits, Reservation, Turn, Usage};

/// The account of a thread.
pub(super) struct Account {
    ledger: FileLedger,
    limits: QuotaLimits,
    /// What is reserved, and how many bytes that are.
    reservation: Option<(Box<dyn Reservation>, u64)>,
}

/// What the thread takes, for a change that is being made.
pub(super) struct Books {
    /// What it takes by now; none if that is not known. Whoever begins with something that can be
    /// cut off takes it out, and puts in what is right then.
    pub(super) usage: Option<Usage>,
    /// How many bytes others have reserved.
    others: u64,
    limits: QuotaLimits,
}

impl Books {
    /// How many bytes may be added.
    pub(super) fn room(&self) -> u64 {
        let Some(most) = self.limits.bytes else { return u64::MAX };
        let taken = self.usage.map_or(u64::MAX, |usage| usage.bytes);
        most.saturating_sub(taken).saturating_sub(self.others)
    }

    /// Fails if there is no room for what the thread is to take.
    pub(super) fn check(&self, after: Usage) -> Result<(), ErrorCode> {
        let Some(usage) = self.usage else { return Ok(()) };
        self.limits.check(usage, self.others, growth(usage, after))
    }
}

impl Account {
    pub(super) fn new(ledger: FileLedger, limits: QuotaLimits) -> Self {
        Self { ledger, limits, reservation: None }
    }

    /// Reserves what there is to be more when the thread takes what `after` makes of what it takes
    /// now.
    pub(super) async fn reserve(
        &mut self,
        after: impl FnOnce(Usage) -> Usage,
    ) -> Result<(), SnapshotError> {
        if !is_limited(self.limits) {
            return Ok(());
        }
        let (mut entry, usage) = begin(&self.ledger, self.limits, Turn::Look).await?;
        let usage = usage.unwrap_or_default();
        let growth = growth(usage, after(usage));
        let checked = self.limits.check(usage, entry.reserved(), growth);
        if checked.is_ok() {
            self.reservation = Some((entry.reserve(growth.bytes).await?, growth.bytes));
        }
        // It may have been counted.
        entry.commit(Some(usage)).await?;
        Ok(checked?)
    }

    /// Makes a change in its turn, and writes down what the thread takes then. What is reserved is
    /// charged, or given back.
    pub(super) async fn change<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut Books, &AtomicBool) -> Result<T, SnapshotError> + Send + 'static,
    ) -> Result<T, SnapshotError> {
        let (mut entry, usage) = begin(&self.ledger, self.limits, Turn::Change).await?;
        entry.mark_busy().await?;
        let own = self.reservation.as_ref().map_or(0, |(_, bytes)| *bytes);
        let others = entry.reserved().saturating_sub(own);
        let mut books = Books { usage, others, limits: self.limits };
        // The ledger goes with the work, which goes on if nobody waits for it any more.
        let (entry, usage, done) = run(move |cancelled| {
            let done = work(&mut books, cancelled);
            Ok((entry, books.usage, done))
        })
        .await?;
        // Nobody sees the ledger in between.
        drop(self.reservation);
        // If that fails it stays in doubt, and is counted next time.
        drop(entry.commit(usage).await);
        done
    }
}

/// Waits for the ledger, and counts if it does not know and it matters.
async fn begin(
    ledger: &FileLedger,
    limits: QuotaLimits,
    turn: Turn,
) -> Result<(Box<dyn LedgerEntry>, Option<Usage>), SnapshotError> {
    let entry = tokio::time::timeout(WAIT, ledger.begin(turn));
    let entry = entry.await.map_err(|_| SnapshotError::InUse)??;
    let usage = match entry.usage() {
        None if is_limited(limits) => ledger.count().await.transpose()?,
        usage => usage,
    };
    Ok((entry, usage))
}

/// Whether it matters how much is taken.
pub(super) fn is_limited(limits: QuotaLimits) -> bool {
    limits.bytes.is_some() || limits.files.is_some()
}

/// By how much a thread grows.
fn growth(before: Usage, after: Usage) -> Growth {
    let bytes = after.bytes.saturating_sub(before.bytes);
    Growth { bytes, files: after.files.saturating_sub(before.files), size: 0 }
}
