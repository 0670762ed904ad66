//! The end of the snapshots of a thread that is deleted.

use std::os::fd::OwnedFd;

use handhold_core::types::ErrorCode;
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::super::errors::code;
use super::super::id::ThreadId;
use super::super::remove::take_apart;
use super::super::resolve::open_dir;
use super::super::root::{Records, Root, random_name};
use super::store::{ALL, lock, look};
use super::walk::id_of;

/// The snapshots of a thread that is being deleted. Nobody else has them until this is dropped.
pub(in super::super) struct Ending {
    /// None if it has no snapshots.
    kept: Option<Kept>,
}

struct Kept {
    all: OwnedFd,
    key: String,
    /// Locked, which also tells other processes that it is not left over.
    dir: OwnedFd,
    /// The name where nobody finds it, once it is there.
    away: Option<String>,
}

/// Takes the snapshots of a thread that is to be deleted; none if somebody has them.
pub(in super::super) fn end(root: &Root, id: &ThreadId) -> Result<Option<Ending>, ErrorCode> {
    let Some(all) = root.open_records(ALL)? else { return Ok(Some(Ending { kept: None })) };
    let key = id.key();
    let dir = match open_dir(&all, key.as_ref()) {
        Ok(dir) => dir,
        Err(Errno::NOENT) => return Ok(Some(Ending { kept: None })),
        Err(errno) => return Err(code(errno)),
    };
    let is_ours = lock(&dir, FlockOperation::NonBlockingLockExclusive)?
        && look(&all, &key)? == Some(id_of(&dir)?);
    Ok(is_ours.then_some(Ending { kept: Some(Kept { all, key, dir, away: None }) }))
}

/// Removes what is left of the snapshots of a thread whose directory somebody else has removed. Who
/// uses this id next must not find them.
pub(in super::super) fn forget(root: &Root, id: &ThreadId) -> Result<(), ErrorCode> {
    if let Some(mut ending) = end(root, id)?.filter(|ending| ending.kept.is_some()) {
        let records = root.records()?;
        ending.leave(records)?;
        ending.take_apart(records);
    }
    Ok(())
}

impl Ending {
    /// Moves the snapshots to where nobody finds them.
    pub(in super::super) fn leave(&mut self, records: &Records) -> Result<(), ErrorCode> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let away = random_name()?;
        rustix::fs::renameat(&kept.all, &kept.key, &records.tmp, &away).map_err(code)?;
        kept.away = Some(away);
        Ok(())
    }

    /// Puts them back, since the thread stays.
    pub(in super::super) fn stay(&mut self, records: &Records) {
        let Some(kept) = &mut self.kept else { return };
        if let Some(away) = kept.away.take() {
            // If this fails, the thread has no snapshots any more.
            let _ = rustix::fs::renameat(&records.tmp, &away, &kept.all, &kept.key);
        }
    }

    /// Removes them.
    pub(in super::super) fn take_apart(self, records: &Records) {
        let Some(Kept { dir, away: Some(away), .. }) = self.kept else { return };
        take_apart(&records.tmp, away);
        drop(dir);
    }
}
