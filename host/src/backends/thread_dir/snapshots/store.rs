//! The directory for the snapshots of a thread.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::super::errors::code;
use super::super::id::ThreadId;
use super::super::names::id_of as id_of_name;
use super::super::read::open_regular;
use super::super::resolve::open_dir;
use super::super::root::Root;
use super::super::stat;
use super::SnapshotError;
use super::alone::Patience;
use super::manifest::Manifest;
use super::object::{self, ObjectName};
use super::origins::Origins;
use super::walk::{id, id_of};

/// Where the snapshots of all threads are.
pub(super) const ALL: &str = "snapshots";

const OBJECTS: &str = "objects";
const MANIFESTS: &str = "manifests";

/// The file that says that there may be objects which nobody needs.
const UNSETTLED: &str = "unsettled";

/// The snapshots of a thread.
pub(super) struct Store {
    pub(super) dir: OwnedFd,
    pub(super) objects: OwnedFd,
    pub(super) manifests: OwnedFd,
}

impl Store {
    /// What there is, without waiting for anybody; none if the thread has no snapshots.
    pub(super) fn open(root: &Root, id: &ThreadId) -> Result<Option<Self>, ErrorCode> {
        let Some(all) = root.open_records(ALL)? else { return Ok(None) };
        match open_dir(&all, id.key().as_ref()) {
            Ok(dir) => Self::of(dir),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(code(errno)),
        }
    }

    /// Waits for it, with others who only read or for oneself. It is let go of with the store.
    pub(super) fn wait(
        root: &Root,
        id: &ThreadId,
        how: FlockOperation,
        cancelled: &AtomicBool,
    ) -> Result<Option<Self>, SnapshotError> {
        let (key, patience) = (id.key(), Patience::new(cancelled));
        loop {
            let Some(all) = root.open_records(ALL)? else { return Ok(None) };
            let dir = match open_dir(&all, key.as_ref()) {
                Ok(dir) => dir,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(code(errno).into()),
            };
            // It was moved away if the thread was deleted.
            if lock(&dir, how)? && look(&all, &key)? == Some(id_of(&dir)?) {
                return Ok(Self::of(dir)?);
            }
            patience.wait()?;
        }
    }

    /// Waits for it for oneself; made if it does not exist.
    pub(super) fn make(
        root: &Root,
        id: &ThreadId,
        cancelled: &AtomicBool,
    ) -> Result<Self, SnapshotError> {
        let key = id.key();
        loop {
            for name in [OBJECTS, MANIFESTS] {
                root.make_records(&[ALL, &key, name])?;
            }
            let how = FlockOperation::NonBlockingLockExclusive;
            // It is gone again if the thread was deleted.
            if let Some(store) = Self::wait(root, id, how, cancelled)? {
                return Ok(store);
            }
        }
    }

    fn of(dir: OwnedFd) -> Result<Option<Self>, ErrorCode> {
        let open = |name: &str| open_dir(&dir, name.as_ref());
        match open(OBJECTS).and_then(|objects| Ok((objects, open(MANIFESTS)?))) {
            Ok((objects, manifests)) => Ok(Some(Self { dir, objects, manifests })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(code(errno)),
        }
    }

    /// The object for a file of this version, if there is one.
    pub(super) fn find(
        &self,
        origins: &Origins,
        version: ObjectName,
        size: u64,
    ) -> Result<Option<ObjectName>, ErrorCode> {
        for object in [origins.of(version), Some(version)].into_iter().flatten() {
            if object::exists(&self.objects, object, size)? {
                return Ok(Some(object));
            }
        }
        Ok(None)
    }

    /// Opens the list of a snapshot; none if there is none.
    pub(super) fn manifest(&self, file_name: &str) -> Result<Option<Manifest>, SnapshotError> {
        let shown = id_of_name(file_name).unwrap_or_else(|| file_name.to_owned());
        match open_regular(&self.manifests, file_name) {
            Ok(Some((file, _))) => Manifest::new(file, &shown).map(Some),
            Ok(None) | Err(Errno::LOOP) => Err(SnapshotError::Damaged(shown)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(code(errno).into()),
        }
    }

    /// The names of the files for snapshots, in order.
    pub(super) fn file_names(&self) -> Result<Vec<String>, ErrorCode> {
        // All names are made by us, and have no other characters.
        let mut names: Vec<String> = entries(&self.manifests)?
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }

    /// Whether there may be objects which nobody needs.
    pub(super) fn is_unsettled(&self) -> Result<bool, ErrorCode> {
        look(&self.dir, UNSETTLED).map(|found| found.is_some())
    }

    /// Says that there may be objects which nobody needs, whatever ends this process.
    pub(super) fn unsettle(&self) -> Result<(), ErrorCode> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::openat(&self.dir, UNSETTLED, flags, mode).map(drop).map_err(code)
    }

    /// Says that all objects are needed.
    pub(super) fn settle(&self) {
        // If this fails, somebody looks for nothing later.
        let _ = rustix::fs::unlinkat(&self.dir, UNSETTLED, AtFlags::empty());
    }

    /// A file beside the snapshots; none if there is none.
    pub(super) fn file(&self, name: &str) -> Result<Option<File>, ErrorCode> {
        match open_regular(&self.dir, name) {
            Ok(found) => Ok(found.map(|(file, _)| file)),
            Err(Errno::NOENT | Errno::LOOP) => Ok(None),
            Err(errno) => Err(code(errno)),
        }
    }
}

/// The names in a directory.
pub(super) fn entries(dir: &OwnedFd) -> Result<Vec<OsString>, ErrorCode> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(dir).map_err(code)? {
        let entry = entry.map_err(code)?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    Ok(names)
}

/// What tells an entry of a directory from others; none if there is none.
pub(super) fn look(dir: &OwnedFd, name: &str) -> Result<Option<(u64, u64)>, ErrorCode> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(id(&found))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(code(errno)),
    }
}

/// Locks a directory unless somebody else has; says whether it did.
pub(super) fn lock(dir: &OwnedFd, how: FlockOperation) -> Result<bool, ErrorCode> {
    loop {
        match rustix::fs::flock(dir, how) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(code(errno)),
        }
    }
}

/// How many bytes the snapshots of a thread take: contents, each once, and lists.
pub(in super::super) fn snapshot_bytes(root: &Root, id: &ThreadId) -> Result<u64, ErrorCode> {
    let Some(store) = Store::open(root, id)? else { return Ok(0) };
    let mut bytes = 0_u64;
    for dir in [&store.objects, &store.manifests] {
        for name in entries(dir)? {
            match rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => bytes = bytes.saturating_add(stat::size(&found)),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(code(errno)),
            }
        }
    }
    Ok(bytes)
}
