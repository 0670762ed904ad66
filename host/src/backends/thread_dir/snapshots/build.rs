//! Building the tree of a snapshot where nobody sees it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::super::errors::code;
use super::super::resolve::open_dir;
use super::super::root::Records;
use super::SnapshotError;
use super::alone::check;
use super::content::Copier;
use super::entry::{Entry, Meta, What};
use super::exchange::Spot;
use super::manifest::Manifest;
use super::object::{self, ObjectName};
use super::origins::OriginsWriter;
use super::scratch::Scratch;
use super::walk::id_of;

/// How to make a file: never in the place of something, and never through a link.
pub(super) const NEW_FILE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A tree in the making.
pub(super) struct Tree {
    top: Scratch,
    here: OwnedFd,
    /// The directories from the top to here.
    levels: Vec<Level>,
}

struct Level {
    id: (u64, u64),
    /// What it is to be when it has all its entries.
    meta: Meta,
}

impl Tree {
    /// An empty tree.
    pub(super) fn new(records: &Arc<Records>, meta: Meta) -> Result<Self, ErrorCode> {
        let top = Scratch::new(records)?;
        let here = open_dir(top.dir(), OsStr::new(".")).map_err(code)?;
        let levels = vec![Level { id: id_of(top.dir())?, meta }];
        Ok(Self { top, here, levels })
    }

    /// Makes all entries of a list, and notes what its files were made of.
    pub(super) fn fill(
        &mut self,
        list: &mut Manifest,
        objects: &OwnedFd,
        origins: &mut OriginsWriter,
        cancelled: &AtomicBool,
    ) -> Result<(), SnapshotError> {
        let copier = Copier::new();
        while let Some(entry) = list.next()? {
            check(cancelled)?;
            while self.levels.len() > entry.depth + 1 {
                self.leave()?;
            }
            let Entry { name, meta, what, .. } = entry;
            match what {
                What::Directory => self.enter(&name, meta)?,
                What::Link { target } => {
                    rustix::fs::symlinkat(&target, &self.here, &name).map_err(code)?;
                    meta.apply_to_link(&self.here, &name)?;
                }
                What::File { size, object } => {
                    let content = object::open(objects, object, size)?;
                    let content = content.ok_or_else(|| list.damaged())?;
                    let file = self.file(&name)?;
                    copier.copy(&content, &file, size, cancelled)?;
                    meta.apply(&file)?;
                    let version = rustix::fs::fstat(&file).map_err(code)?;
                    origins.add(ObjectName::of(&version), object)?;
                }
            }
        }
        while self.levels.len() > 1 {
            self.leave()?;
        }
        Ok(())
    }

    /// Makes a file.
    fn file(&self, name: &OsStr) -> Result<File, ErrorCode> {
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::openat(&self.here, name, NEW_FILE, mode).map(File::from).map_err(code)
    }

    fn enter(&mut self, name: &OsString, meta: Meta) -> Result<(), ErrorCode> {
        rustix::fs::mkdirat(&self.here, name, Mode::RWXU).map_err(code)?;
        self.here = open_dir(&self.here, name).map_err(code)?;
        self.levels.push(Level { id: id_of(&self.here)?, meta });
        Ok(())
    }

    /// Makes a directory what it is to be, and goes back to the one above.
    fn leave(&mut self) -> Result<(), ErrorCode> {
        let done = self.levels.pop();
        let (Some(done), Some(above)) = (done, self.levels.last()) else { return Ok(()) };
        let up = open_dir(&self.here, OsStr::new("..")).map_err(code)?;
        if id_of(&up)? != above.id {
            return Err(ErrorCode::Unavailable("the restored tree was moved".to_owned()));
        }
        done.meta.apply(&self.here)?;
        self.here = up;
        Ok(())
    }

    /// Makes the top directory what it is to be, as far as it can be moved then. What is missing
    /// comes with [`Self::finish`].
    pub(super) fn close(&mut self) -> Result<(), ErrorCode> {
        let Some(level) = self.levels.last() else { return Ok(()) };
        let mut meta = level.meta;
        meta.mode |= Mode::RWXU.bits();
        meta.apply(self.top.dir())
    }

    /// Where it is.
    pub(super) fn spot(&self) -> Spot<'_> {
        self.top.spot()
    }

    /// It has left the directory for drafts, and the tree `instead` is there, to be taken apart.
    pub(super) fn finish(&mut self, instead: String) {
        self.top.exchanged(instead);
        if let Some(level) = self.levels.last() {
            // It is the owner's own directory, whatever bits it has: this cannot fail.
            let _ = rustix::fs::fchmod(self.top.dir(), Mode::from_raw_mode(level.meta.mode));
        }
    }
}

/// Locks the tree that is replaced, so that other processes do not take it for left over while it
/// is taken apart. If somebody else has it locked, he does so too.
pub(super) fn lock_old(old: Spot<'_>) -> Result<OwnedFd, Errno> {
    let dir = open_dir(old.dir, old.name.as_ref())?;
    let _ = rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive);
    Ok(dir)
}
