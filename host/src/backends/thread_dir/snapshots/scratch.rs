//! A directory in the making, where nobody sees it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use handhold_core::types::ErrorCode;
use rustix::fs::{FlockOperation, Mode};

use super::super::errors::code;
use super::super::remove::take_apart;
use super::super::resolve::open_dir;
use super::super::root::{Records, random_name};
use super::exchange::Spot;

/// A directory in the one for drafts. What is there when it is dropped is taken apart; if the
/// process ends before, another one does it.
pub(super) struct Scratch {
    records: Arc<Records>,
    name: String,
    /// Locked, so that other processes do not take it for left over.
    dir: OwnedFd,
}

impl Scratch {
    /// An empty directory.
    pub(super) fn new(records: &Arc<Records>) -> Result<Self, ErrorCode> {
        let name = random_name()?;
        rustix::fs::mkdirat(&records.tmp, &name, Mode::RWXU).map_err(code)?;
        let dir = open_dir(&records.tmp, name.as_ref()).map_err(code)?;
        rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive).map_err(code)?;
        Ok(Self { records: Arc::clone(records), name, dir })
    }

    pub(super) fn dir(&self) -> &OwnedFd {
        &self.dir
    }

    /// Where it is.
    pub(super) fn spot(&self) -> Spot<'_> {
        Spot { dir: &self.records.tmp, name: &self.name }
    }

    /// It has left its place, and what has this name there now is to be taken apart instead.
    pub(super) fn exchanged(&mut self, instead: String) {
        self.name = instead;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        take_apart(&self.records.tmp, std::mem::take(&mut self.name));
    }
}
