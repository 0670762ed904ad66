//! What a thread takes, in a small file among the host's own records.
//!
//! ```text
//! {root}/.handhold/usage/{key}       the counters of a thread; its lock is the turn to change it
//! {root}/.handhold/usage/{key}@/…    one file for each draft, locked while the draft lives
//! ```
//!
//! A byte of the record says that a change is going on. Whoever finds it set, and has the lock,
//! knows that a process ended half-way, and that the files have to be counted. A record that makes
//! no sense says the same. The lock is tried, never waited for: whoever waits holds no thread.

mod entry;
mod queue;
mod record;
mod reservations;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use handhold_core::types::ErrorCode;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

pub(super) use self::entry::Ending;
use self::entry::{FileEntry, Held};
use self::queue::Place;
pub(super) use self::queue::Queues;
use self::record::Record;
use super::errors::{code, io_code};
use super::id::ThreadId;
use super::measure::measure;
use super::root::{Root, unavailable};
use super::snapshots::snapshot_bytes;
use super::{ThreadDir, blocking};
use crate::backends::quota::{Ledger, LedgerEntry, Turn, Usage};

/// How long to wait at least before the lock is tried again. How long it is exactly differs, so
/// that several processes do not keep step.
const WAIT: Duration = Duration::from_millis(1);

/// The ledger of the workspace of a thread; made by [`ThreadDir::ledger`].
///
/// It is one ledger for all threads of all processes that use the root. What it keeps is one small
/// file for each thread, made by the first change. It does not keep files open.
#[derive(Clone, Debug)]
pub struct FileLedger {
    root: Arc<Root>,
    id: Arc<ThreadId>,
    /// The name of the record.
    key: Arc<str>,
}

impl ThreadDir {
    /// What keeps how much this workspace takes, for a [`Quota`](crate::backends::Quota).
    ///
    /// Does no I/O.
    #[must_use]
    pub fn ledger(&self) -> FileLedger {
        FileLedger {
            root: Arc::clone(&self.root),
            id: Arc::clone(&self.id),
            key: self.id.key().into(),
        }
    }
}

/// What trying for the lock led to.
enum Attempt {
    Held(Held),
    /// There is no record.
    Absent,
    /// Somebody else has it.
    Taken,
}

impl FileLedger {
    async fn wait(&self, turn: Turn, make: bool) -> Result<Option<FileEntry>, ErrorCode> {
        let mut place = Place::take(&self.root.queues, &self.key).await;
        loop {
            let this = self.clone();
            match blocking::run(move |_| this.attempt(turn, make)).await? {
                Attempt::Held(held) => {
                    place.begin(held.others_wait());
                    return Ok(Some(FileEntry::new(held, place)));
                }
                Attempt::Absent => return Ok(None),
                Attempt::Taken => tokio::time::sleep(WAIT + jitter()).await,
            }
        }
    }

    /// Takes the ledger if nobody has it.
    fn attempt(&self, turn: Turn, make: bool) -> Result<Attempt, ErrorCode> {
        let usage =
            if make { Some(self.root.records()?.usage.clone()) } else { self.root.usage()? };
        let Some(usage) = usage else { return Ok(Attempt::Absent) };
        loop {
            let Some(file) = open(&usage, &self.key, make)? else { return Ok(Attempt::Absent) };
            if !lock(&file)? {
                record::ask(&file);
                return Ok(Attempt::Taken);
            }
            if !is_removed(&file)? {
                let record = Record::read(&file).map_err(|error| failed(io_code(&error)))?;
                return Held::new(file, usage, &self.key, record, turn).map(Attempt::Held);
            }
        }
    }
}

/// Takes the ledger of a thread that is to be deleted; none if somebody has it.
pub(super) fn end(root: &Root, id: &ThreadId) -> Result<Option<Ending>, ErrorCode> {
    let usage = root.records()?.usage.clone();
    let key = id.key();
    loop {
        let Some(file) = open(&usage, &key, true)? else { return Ok(None) };
        if !lock(&file)? {
            return Ok(None);
        }
        if !is_removed(&file)? {
            return Ending::new(file, usage, key).map(Some);
        }
    }
}

fn open(usage: &OwnedFd, key: &str, make: bool) -> Result<Option<File>, ErrorCode> {
    let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if make {
        flags |= OFlags::CREATE;
    }
    match rustix::fs::openat(usage, key, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(Some(File::from(file))),
        Err(Errno::NOENT) if !make => Ok(None),
        Err(errno) => Err(failed(code(errno))),
    }
}

/// Locks a file unless somebody else has; says whether it did.
fn lock(file: impl AsFd) -> Result<bool, ErrorCode> {
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(failed(code(errno))),
        }
    }
}

/// Whether the thread was deleted between opening its record and locking it. The next one has a
/// record of its own.
fn is_removed(file: &File) -> Result<bool, ErrorCode> {
    let found = rustix::fs::fstat(file).map_err(|errno| failed(code(errno)))?;
    Ok(found.st_nlink == 0)
}

/// An error of the host's record must not be taken for one of the workspace.
fn failed(error: ErrorCode) -> ErrorCode {
    unavailable("the record of what the workspace takes", error)
}

/// A part of [`WAIT`], different each time.
fn jitter() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WAIT * (now.subsec_nanos() % 1024) / 1024
}

#[async_trait]
impl Ledger for FileLedger {
    async fn begin(&self, turn: Turn) -> Result<Box<dyn LedgerEntry>, ErrorCode> {
        match self.wait(turn, true).await? {
            Some(entry) => Ok(Box::new(entry)),
            None => Err(failed(ErrorCode::NotFound)),
        }
    }

    async fn begin_if_kept(&self, turn: Turn) -> Result<Option<Box<dyn LedgerEntry>>, ErrorCode> {
        Ok(match self.wait(turn, false).await? {
            Some(entry) => Some(Box::new(entry)),
            None => None,
        })
    }

    /// Counts in the directory itself: faster than listings are, and also what is beneath names
    /// that are not UTF-8. What the snapshots of the thread have counts too.
    async fn count(&self) -> Option<Result<Usage, ErrorCode>> {
        let this = self.clone();
        Some(
            blocking::run(move |cancelled| {
                let kept = snapshot_bytes(&this.root, &this.id)?;
                let Some(top) = this.root.open_beneath(&this.id.names)? else {
                    return Ok(Usage { bytes: kept, files: 0 });
                };
                let taken = measure(&top, cancelled)?;
                Ok(Usage { bytes: taken.bytes.saturating_add(kept), files: taken.files })
            })
            .await,
        )
    }
}
