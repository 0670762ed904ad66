//! Files in the making, charged before they are in the workspace.

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{Condition, ErrorCode, Written};

use super::finish::finish;
use super::ledger::{LedgerEntry, Reservation, Turn};
use super::limits::Growth;
use super::look::Seen;
use super::room::{Room, settle};
use super::write::{Manner, parse};
use super::{ATTEMPTS, Quota, unsettled};
use crate::backend::Draft;

/// How much is reserved ahead at most: 8 MiB, so that a stream does not go to the ledger for each
/// piece.
const AHEAD_BYTES: u64 = 8 << 20;

/// The part of the room that may be reserved ahead: a 64th. When there is little room, a draft
/// takes no more than it needs, and leaves the rest to others.
const AHEAD_PART: u64 = 64;

/// Begins a draft.
pub(super) async fn open(quota: &Quota, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
    let place = parse(directory)?;
    let draft = quota.inner.draft(directory).await?;
    Ok(Box::new(QuotaDraft {
        quota: quota.clone(),
        directory: place,
        made: Some(Made { draft, reservation: None }),
        reserved: 0,
        length: 0,
    }))
}

struct QuotaDraft {
    quota: Quota,
    directory: WorkspacePath,
    /// None once it is published, or when a step was given up on.
    made: Option<Made>,
    reserved: u64,
    length: u64,
}

/// A draft, and what is reserved for it.
struct Made {
    draft: Box<dyn Draft>,
    reservation: Option<Box<dyn Reservation>>,
}

impl QuotaDraft {
    /// Makes sure that `length` bytes are reserved.
    async fn reserve(&mut self, length: u64) -> Result<(), ErrorCode> {
        let growth = |bytes| Growth { bytes, files: 0, size: length };
        self.quota.limits.check_file(growth(length))?;
        let Some(most) = self.quota.limits.bytes else { return Ok(()) };
        if length <= self.reserved {
            return Ok(());
        }
        let Some(made) = &mut self.made else { return Err(ErrorCode::Cancelled) };
        for _ in 0..ATTEMPTS {
            let entry = self.quota.turn(Turn::Look, true).await?;
            let room = self.quota.room(entry, growth(length), self.reserved).await?;
            let Room::Enough(Some(mut entry)) = room else { continue };
            let Some(usage) = entry.usage() else { continue };
            let others = entry.reserved().saturating_sub(self.reserved);
            let rest = most.saturating_sub(usage.bytes).saturating_sub(others);
            let ahead = (rest.saturating_sub(length) / AHEAD_PART).min(AHEAD_BYTES);
            let bytes = length.saturating_add(ahead);
            match &mut made.reservation {
                Some(reservation) => reservation.set(bytes).await?,
                None => made.reservation = Some(entry.reserve(bytes).await?),
            }
            self.reserved = bytes;
            return Ok(());
        }
        Err(unsettled())
    }
}

#[async_trait]
impl Draft for QuotaDraft {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        let length = self.length.saturating_add(content.len() as u64);
        self.reserve(length).await?;
        // If this is given up on, nobody knows how much it has.
        let Some(mut made) = self.made.take() else { return Err(ErrorCode::Cancelled) };
        let result = made.draft.push(content).await;
        self.made = Some(made);
        if result.is_ok() {
            self.length = length;
        }
        result
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        let path = self.directory.entry(name)?;
        if self.made.is_none() {
            return Err(ErrorCode::Cancelled);
        }
        for _ in 0..ATTEMPTS {
            let entry = self.quota.turn(Turn::Change, true).await?;
            let seen = self.quota.look(&path, condition.clone(), Manner::Write).await?;
            let room = self.quota.room(entry, seen.growth(self.length), self.reserved).await?;
            let Room::Enough(Some(entry)) = room else { continue };
            let Some(made) = self.made.take() else { return Err(ErrorCode::Cancelled) };
            let (quota, name, condition) = (self.quota.clone(), name.to_owned(), condition.clone());
            let now = Now { quota, entry, path: path.clone(), seen, name, condition };
            let (made, result) = finish(now.publish(made)).await;
            self.made = made;
            return result;
        }
        Err(unsettled())
    }
}

/// A draft that gets its name.
struct Now {
    quota: Quota,
    entry: Box<dyn LedgerEntry>,
    path: WorkspacePath,
    seen: Seen,
    name: String,
    condition: Condition,
}

impl Now {
    /// Gives back what was made if it has no name yet.
    async fn publish(mut self, mut made: Made) -> (Option<Made>, Result<Written, ErrorCode>) {
        let usage = self.entry.usage();
        if let Err(error) = self.entry.mark_busy().await {
            return (Some(made), Err(error));
        }
        let result = made.draft.publish(&self.name, self.condition).await;
        let usage = self.quota.after_put(usage, &self.path, self.seen, &result).await;
        let left = if result.is_ok() {
            // What was reserved is charged now, and nobody sees the ledger in between.
            drop(made);
            None
        } else {
            Some(made)
        };
        settle(self.entry, usage).await;
        (left, result)
    }
}
