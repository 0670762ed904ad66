//! Keeping the contents of files: making the objects that a snapshot needs.
//!
//! They are made where nobody sees them, and become part of the store only with the list that
//! needs them. What is not needed then goes away by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::super::errors::code;
use super::super::read::open_regular;
use super::super::root::Records;
use super::super::stat;
use super::build::NEW_FILE;
use super::content::Copier;
use super::entry::{Entry, Meta, What};
use super::object::{self, ObjectName};
use super::origins::Origins;
use super::scratch::Scratch;
use super::settling::Settling;
use super::store::Store;

/// How often a file is copied at most because it was written meanwhile.
const ATTEMPTS: usize = 4;

/// Makes objects.
pub(super) struct Keeper {
    pub(super) store: Store,
    scratch: Scratch,
    copier: Copier,
    origins: Origins,
    /// The objects that were made, and their sizes.
    made: BTreeMap<ObjectName, u64>,
    /// Those of them that are in the list.
    named: BTreeSet<ObjectName>,
    /// How many bytes the objects and the list may have, and have.
    most: u64,
    taken: u64,
    settling: Settling,
}

/// Whether an entry has what it needs.
pub(super) enum Kept {
    Yes,
    /// The file is gone, or something else took its place.
    Exchanged,
    /// The file is being written.
    Unsteady,
}

/// When a file is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// While it may change; then, or if there is no room, it is left for later.
    Before,
    /// In the moment of the snapshot.
    AtLast,
}

impl Keeper {
    /// Makes objects of up to `most` bytes.
    pub(super) fn new(
        store: Store,
        origins: Origins,
        records: &Arc<Records>,
        most: u64,
    ) -> Result<Self, ErrorCode> {
        Ok(Self {
            store,
            scratch: Scratch::new(records)?,
            copier: Copier::new(),
            origins,
            made: BTreeMap::new(),
            named: BTreeSet::new(),
            most,
            taken: 0,
            settling: Settling::default(),
        })
    }

    /// Finds or makes the object for an entry of a directory if it is a file, and makes the entry
    /// what the file was then.
    pub(super) fn keep(
        &mut self,
        dir: &OwnedFd,
        entry: &mut Entry,
        when: When,
        cancelled: &AtomicBool,
    ) -> Result<Kept, ErrorCode> {
        let What::File { size, object } = entry.what else { return Ok(Kept::Yes) };
        if let Some(object) = self.find(object, size)? {
            entry.what = What::File { size, object };
            return Ok(Kept::Yes);
        }
        for _ in 0..if when == When::AtLast { ATTEMPTS } else { 1 } {
            let (file, found) = match open_regular(dir, &entry.name) {
                Ok(Some(opened)) => opened,
                Ok(None) | Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => {
                    return Ok(Kept::Exchanged);
                }
                Err(errno) => return Err(code(errno)),
            };
            let (version, size) = (ObjectName::of(&found), stat::size(&found));
            let is_settled = self.settling.is_over(&found);
            if when == When::Before && !(is_settled && size <= self.room()) {
                break;
            }
            let object = match self.find(version, size)? {
                Some(object) => object,
                None => {
                    let name = if is_settled { version } else { ObjectName::random()? };
                    if !self.copy(&file, version, size, name, cancelled)? {
                        continue;
                    }
                    name
                }
            };
            entry.meta = Meta::of(&found);
            entry.what = What::File { size, object };
            return Ok(Kept::Yes);
        }
        Ok(Kept::Unsteady)
    }

    /// From now on files are copied again that are still being written, and all that is made may
    /// have up to `most` bytes together.
    pub(super) fn begin_last(&mut self, most: u64) {
        self.settling = Settling::default();
        self.most = most;
    }

    /// Notes that an entry is in the list.
    pub(super) fn name(&mut self, entry: &Entry) {
        if let What::File { object, .. } = entry.what
            && self.made.contains_key(&object)
        {
            self.named.insert(object);
        }
    }

    /// How many bytes the objects have that were made and are in the list.
    pub(super) fn named_bytes(&self) -> u64 {
        self.named.iter().filter_map(|name| self.made.get(name)).sum()
    }

    /// Takes room, before it is used.
    pub(super) fn take_room(&mut self, more: u64) -> Result<(), ErrorCode> {
        if more > self.room() {
            return Err(ErrorCode::QuotaExceeded);
        }
        self.taken = self.taken.saturating_add(more);
        Ok(())
    }

    fn room(&self) -> u64 {
        self.most.saturating_sub(self.taken)
    }

    /// Puts the objects that are in the list into the store, and says how many bytes those had
    /// whose place they took: they were cut off.
    pub(super) fn place(&self) -> Result<u64, ErrorCode> {
        let mut less = 0_u64;
        for name in &self.named {
            let name = name.to_string();
            less = less.saturating_add(object::remove(&self.store.objects, &name)?);
            rustix::fs::renameat(self.scratch.dir(), &name, &self.store.objects, &name)
                .map_err(code)?;
        }
        Ok(less)
    }

    /// Takes them out again, since there will be no list; false if one of them stays.
    pub(super) fn take_back(&self) -> bool {
        let mut all_gone = true;
        for name in &self.named {
            all_gone &= object::remove(&self.store.objects, &name.to_string()).is_ok();
        }
        all_gone
    }

    /// The object for a file of this version, if there is one.
    fn find(&self, version: ObjectName, size: u64) -> Result<Option<ObjectName>, ErrorCode> {
        if self.made.contains_key(&version) {
            return Ok(Some(version));
        }
        self.store.find(&self.origins, version, size)
    }

    /// Makes an object of a file; false if the file was written meanwhile.
    fn copy(
        &mut self,
        file: &File,
        version: ObjectName,
        size: u64,
        name: ObjectName,
        cancelled: &AtomicBool,
    ) -> Result<bool, ErrorCode> {
        self.take_room(size)?;
        let text = name.to_string();
        let mode = Mode::RUSR | Mode::WUSR;
        let new = rustix::fs::openat(self.scratch.dir(), &text, NEW_FILE, mode);
        let new = File::from(new.map_err(code)?);
        self.copier.copy(file, &new, size, cancelled)?;
        let now = rustix::fs::fstat(file).map_err(code)?;
        if ObjectName::of(&now) != version {
            rustix::fs::unlinkat(self.scratch.dir(), &text, AtFlags::empty()).map_err(code)?;
            self.taken = self.taken.saturating_sub(size);
            return Ok(false);
        }
        rustix::fs::fchmod(&new, Mode::RUSR).map_err(code)?;
        self.made.insert(name, size);
        Ok(true)
    }
}
