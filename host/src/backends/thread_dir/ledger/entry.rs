//! A ledger that is held, and what is done with it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::types::ErrorCode;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::super::blocking;
use super::super::errors::{code, io_code};
use super::queue::Place;
use super::record::{self, Record};
use super::{failed, reservations};
use crate::backends::quota::{LedgerEntry, Reservation, Turn, Usage};

/// A record whose lock is held.
pub(super) struct Held {
    file: Arc<File>,
    /// The directory of all records.
    all: Arc<OwnedFd>,
    key: Arc<str>,
    record: Record,
    reserved: u64,
    /// Whether the file says that a change is going on.
    is_busy: bool,
    /// Whether a change has begun.
    has_changed: bool,
}

impl Held {
    /// What the record of a locked file means. If a change is to follow, the file says so from now
    /// on: that saves a step later.
    pub(super) fn new(
        file: File,
        all: Arc<OwnedFd>,
        key: &Arc<str>,
        record: Record,
        turn: Turn,
    ) -> Result<Self, ErrorCode> {
        let reserved = reservations::sum(&all, key)?;
        let is_busy = turn == Turn::Change;
        if is_busy {
            record::mark_busy(&file).map_err(|error| failed(io_code(&error)))?;
        }
        if record.others_wait {
            record::clear_ask(&file);
        }
        let (file, key) = (Arc::new(file), Arc::clone(key));
        Ok(Self { file, all, key, record, reserved, is_busy, has_changed: false })
    }

    pub(super) fn others_wait(&self) -> bool {
        self.record.others_wait
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_busy && !self.has_changed && self.record.usage.is_some() {
            // If this fails it is counted next time.
            drop(record::mark_written(&self.file));
        }
    }
}

/// An entry: the lock between processes, and the place in the queue of this one. The lock goes
/// first, so that the next in the queue finds it free.
pub(super) struct FileEntry {
    held: Held,
    _place: Place,
}

impl FileEntry {
    pub(super) fn new(held: Held, place: Place) -> Self {
        Self { held, _place: place }
    }
}

#[async_trait]
impl LedgerEntry for FileEntry {
    fn usage(&self) -> Option<Usage> {
        self.held.record.usage
    }

    fn reserved(&self) -> u64 {
        self.held.reserved
    }

    async fn mark_busy(&mut self) -> Result<(), ErrorCode> {
        if !self.held.is_busy {
            let file = Arc::clone(&self.held.file);
            blocking::run(move |_| {
                record::mark_busy(&file).map_err(|error| failed(io_code(&error)))
            })
            .await?;
            self.held.is_busy = true;
        }
        self.held.has_changed = true;
        Ok(())
    }

    async fn commit(self: Box<Self>, usage: Option<Usage>) -> Result<(), ErrorCode> {
        let Self { mut held, _place } = *self;
        blocking::run(move |_| {
            held.has_changed = true;
            let done = match usage {
                Some(usage) => record::write(&held.file, usage),
                None if held.is_busy => Ok(()),
                None => record::mark_busy(&held.file),
            };
            // Its lock is given back here, and not where closing a file would hold up others.
            drop(held);
            done.map_err(|error| failed(io_code(&error)))
        })
        .await
    }

    async fn reserve(&mut self, bytes: u64) -> Result<Box<dyn Reservation>, ErrorCode> {
        let (all, key) = (Arc::clone(&self.held.all), Arc::clone(&self.held.key));
        Ok(Box::new(reservations::make(all, key, bytes).await?))
    }
}

/// The ledger of a thread that is being deleted. Nobody else has it until this is dropped.
pub(in super::super) struct Ending {
    /// Its lock.
    _file: File,
    all: Arc<OwnedFd>,
    key: String,
}

impl Ending {
    /// If this process ends before the record is removed, it is in doubt, and not true of another
    /// thread of the same id.
    pub(super) fn new(file: File, all: Arc<OwnedFd>, key: String) -> Result<Self, ErrorCode> {
        record::mark_busy(&file).map_err(|error| failed(io_code(&error)))?;
        Ok(Self { _file: file, all, key })
    }

    /// Removes the record.
    pub(in super::super) fn forget(self) -> Result<(), ErrorCode> {
        // What drafts hold that still live goes with them.
        reservations::sum(&self.all, &self.key)?;
        match rustix::fs::unlinkat(&self.all, &self.key, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(failed(code(errno))),
        }
    }
}
