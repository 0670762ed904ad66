//! Waiting, for a bounded time, until a thread or its snapshots are free.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use handhold_core::types::ErrorCode;

use super::super::id::ThreadId;
use super::super::life::Hold;
use super::super::root::Root;
use super::SnapshotError;

/// How long to wait.
pub(super) const WAIT: Duration = Duration::from_secs(5);

/// How often to look meanwhile.
const LOOK: Duration = Duration::from_millis(5);

/// Somebody who waits.
pub(super) struct Patience<'a> {
    until: Instant,
    cancelled: &'a AtomicBool,
}

impl<'a> Patience<'a> {
    pub(super) fn new(cancelled: &'a AtomicBool) -> Self {
        Self { until: Instant::now() + WAIT, cancelled }
    }

    /// Waits a little; fails if it has been too long.
    pub(super) fn wait(&self) -> Result<(), SnapshotError> {
        check(self.cancelled)?;
        if Instant::now() >= self.until {
            return Err(SnapshotError::InUse);
        }
        std::thread::sleep(LOOK);
        Ok(())
    }
}

/// Fails if nobody waits for the result any more.
pub(super) fn check(cancelled: &AtomicBool) -> Result<(), ErrorCode> {
    if cancelled.load(Ordering::Relaxed) { Err(ErrorCode::Cancelled) } else { Ok(()) }
}

/// Takes a thread for oneself: nobody changes it, by way of this library, until the answer is
/// dropped.
pub(super) fn alone(
    root: &Root,
    id: &ThreadId,
    cancelled: &AtomicBool,
) -> Result<Hold, SnapshotError> {
    let records = root.records()?;
    let patience = Patience::new(cancelled);
    let hold = loop {
        match records.hold_alone(id)? {
            Some(hold) => break hold,
            None => patience.wait()?,
        }
    };
    let Some(dir) = root.open_beneath(&id.names)? else {
        // It was deleted meanwhile, and looking for it must not leave a record.
        records.forget(id)?;
        return Err(SnapshotError::NotFound);
    };
    hold.keep_record(id, &dir, None)?;
    root.touch(id, &dir);
    Ok(hold)
}
