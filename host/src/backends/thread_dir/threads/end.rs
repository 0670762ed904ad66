//! The end of a thread.

use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;
use rustix::fs::{AtFlags, FlockOperation};
use rustix::io::Errno;

use super::super::errors::code;
use super::super::id::ThreadId;
use super::super::remove::take_apart;
use super::super::root::{Root, random_name};
use super::super::{ledger, snapshots};
use super::find::Found;
use super::{Lifetime, Times};

/// Who ends a thread.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// Somebody who says so, whoever reads it.
    Owner,
    /// Time, if it is over and nobody uses the thread.
    Clock(Lifetime),
}

impl By {
    fn is_over(self, times: Times) -> bool {
        match self {
            Self::Owner => true,
            Self::Clock(lifetime) => lifetime.is_over(times),
        }
    }
}

/// What became of a thread that was to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Deleted,
    /// It has no directory.
    Absent,
    /// It was used meanwhile.
    Spared,
    InUse,
}

/// Ends a thread.
pub(super) fn end(root: &Root, id: &ThreadId, by: By) -> Result<End, ErrorCode> {
    if root.open_beneath(&id.names)?.is_none() {
        forget(root, id)?;
        return Ok(End::Absent);
    }
    let records = root.records()?;
    let Some(hold) = records.hold_alone(id)? else { return Ok(End::InUse) };
    // What was seen before the lock may be out of date.
    let Some(open) = root.open_beneath(&id.names)? else {
        drop(hold);
        forget(root, id)?;
        return Ok(End::Absent);
    };
    if let By::Clock(_) = by {
        let found = Found { id: id.clone(), is_known: true };
        let Some(times) = found.times(root, &AtomicBool::new(false))? else {
            return Ok(End::Absent);
        };
        // Looking for the record may have made an empty one.
        hold.keep_record(id, &open, Some(times.last_used))?;
        if !by.is_over(times) {
            return Ok(End::Spared);
        }
    }
    // The lock tells other processes that this is not left over. Those who read hold it too.
    let is_read = rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_err();
    if matches!(by, By::Clock(_)) && (is_read || records.has_drafts(id)?) {
        return Ok(End::InUse);
    }
    // Nor may a change that waits for us write down what it takes.
    let Some(ledger) = ledger::end(root, id)? else { return Ok(End::InUse) };
    let Some(mut snapshots) = snapshots::end(root, id)? else { return Ok(End::InUse) };
    let Some((name, above)) = id.names.split_last() else { return Ok(End::Absent) };
    let Some(dir) = root.open_all(above)? else { return Ok(End::Absent) };
    let away = random_name()?;
    // The snapshots go first: if this process ends here, no other thread of this id finds them.
    snapshots.leave(records)?;
    if let Err(errno) = rustix::fs::renameat(dir.as_fd(), name, &records.tmp, &away) {
        snapshots.stay(records);
        return Err(code(errno));
    }
    ledger.forget()?;
    records.forget(id)?;
    drop(hold);
    take_apart(&records.tmp, away);
    snapshots.take_apart(records);
    Ok(End::Deleted)
}

/// Removes what is left of a thread whose directory is gone: somebody else has removed it, or a
/// process ended while it deleted the thread.
fn forget(root: &Root, id: &ThreadId) -> Result<(), ErrorCode> {
    snapshots::forget(root, id)?;
    let Some(all) = root.open_records("threads")? else { return Ok(()) };
    match rustix::fs::statat(&all, id.key(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => {}
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(code(errno)),
    }
    let records = root.records()?;
    // Somebody may be making it again.
    let Some(_hold) = records.hold_alone(id)? else { return Ok(()) };
    if root.open_beneath(&id.names)?.is_none()
        && let Some(ledger) = ledger::end(root, id)?
    {
        ledger.forget()?;
        records.forget(id)?;
    }
    Ok(())
}
