//! Removing files and directories.

mod tree;

use std::ffi::{CStr, OsStr};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind, Removed};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use self::tree::content_size;
pub(super) use self::tree::take_apart;
use super::change::rename;
use super::errors::code;
use super::id::ThreadId;
use super::resolve::{Entry, NO_FOLLOW, Place, bytes, open_dir};
use super::root::{Records, random_name};
use super::{ThreadDir, stat};

/// How often a removal starts over because something was put in its way meanwhile.
const ATTEMPTS: usize = 8;

/// How old a left-over draft must be before another process removes it. Its lock says whether it
/// is left over; the age only covers the moment between making and locking it.
const SWEEP_AGE: Duration = Duration::from_secs(60);

impl ThreadDir {
    pub(super) fn take_away(
        &self,
        path: &WorkspacePath,
        recursive: bool,
        cancelled: &AtomicBool,
    ) -> Result<Removed, ErrorCode> {
        if path.is_root() {
            return Err(ErrorCode::NotPermitted);
        }
        for _ in 0..ATTEMPTS {
            match self.try_take_away(path, recursive, cancelled) {
                // It was exchanged for something else between two steps.
                Err(ErrorCode::IsDirectory | ErrorCode::NotADirectory) => {}
                result => return result,
            }
        }
        self.try_take_away(path, recursive, cancelled)
    }

    /// Removes a file if it is at a version.
    pub(super) fn take_version_away(
        &self,
        path: &WorkspacePath,
        version: &str,
        cancelled: &AtomicBool,
    ) -> Result<Removed, ErrorCode> {
        let _hold = self.hold_if_made()?.ok_or(ErrorCode::NotFound)?;
        let root = self.open()?.ok_or(ErrorCode::NotFound)?;
        let Place::Entry(entry) = self.find_place(root, path, NO_FOLLOW)? else {
            return Err(ErrorCode::NotFound);
        };
        let _lock = self.root.records()?.lock(&entry.dir, bytes(&entry.name))?;
        if cancelled.load(Ordering::Relaxed) {
            return Err(ErrorCode::Cancelled);
        }
        // Under the lock nobody of ours changes it.
        let found = rustix::fs::statat(&entry.dir, &entry.name, AtFlags::SYMLINK_NOFOLLOW);
        let found = found.map_err(code)?;
        if stat::kind(&found) != FileKind::File || stat::version(&found) != version {
            return Err(ErrorCode::Conflict);
        }
        rustix::fs::unlinkat(&entry.dir, &entry.name, AtFlags::empty()).map_err(code)?;
        Ok(Removed { files: 1, directories: 0, bytes: content_size(&found) })
    }

    fn try_take_away(
        &self,
        path: &WorkspacePath,
        recursive: bool,
        cancelled: &AtomicBool,
    ) -> Result<Removed, ErrorCode> {
        let _hold = self.hold_if_made()?.ok_or(ErrorCode::NotFound)?;
        let root = self.open()?.ok_or(ErrorCode::NotFound)?;
        let Place::Entry(entry) = self.find_place(root, path, NO_FOLLOW)? else {
            return Err(ErrorCode::NotFound);
        };
        let kind = entry.kind().ok_or(ErrorCode::NotFound)?;
        let records = self.root.records()?;
        let _lock = records.lock(&entry.dir, bytes(&entry.name))?;
        if cancelled.load(Ordering::Relaxed) {
            return Err(ErrorCode::Cancelled);
        }
        if kind != FileKind::Directory {
            rustix::fs::unlinkat(&entry.dir, &entry.name, AtFlags::empty()).map_err(code)?;
            let bytes = entry.stat.as_ref().map_or(0, content_size);
            return Ok(Removed { files: 1, directories: 0, bytes });
        }
        match rustix::fs::unlinkat(&entry.dir, &entry.name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(Removed { directories: 1, ..Removed::default() }),
            Err(Errno::NOTEMPTY | Errno::EXIST) if recursive => remove_tree(records, &entry),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err(ErrorCode::NotEmpty),
            Err(errno) => Err(code(errno)),
        }
    }
}

/// Removes a directory with all that is in it: it leaves the workspace in one step, and is taken
/// apart afterwards.
fn remove_tree(records: &Records, entry: &Entry) -> Result<Removed, ErrorCode> {
    let name = random_name()?;
    let open = open_dir(&entry.dir, &entry.name).map_err(code)?;
    // The lock tells other processes that this is not left over. If someone else holds it, it does
    // so too.
    let _ = rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive);
    rename(&entry.dir, &entry.name, &records.tmp, OsStr::new(&name), true).map_err(code)?;
    take_apart(&records.tmp, name).ok_or_else(|| {
        let why = "it was taken out of the workspace, but a part of it cannot be removed";
        ErrorCode::Unavailable(why.to_owned())
    })
}

/// Removes what processes that ended half-way have left behind. What cannot be removed stays
/// where no tool sees it.
pub(super) fn sweep(tmp: &OwnedFd) {
    sweep_older(tmp, SWEEP_AGE);
}

/// The same for what has not been touched for some time.
pub(super) fn sweep_older(tmp: &OwnedFd, least: Duration) {
    let Ok(items) = rustix::fs::Dir::read_from(tmp) else { return };
    for item in items.flatten() {
        let name = item.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Ok(found) = rustix::fs::statat(tmp, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if age(&found) < least || is_in_use(tmp, name) {
            continue;
        }
        if stat::kind(&found) == FileKind::Directory {
            if let Ok(name) = name.to_str() {
                take_apart(tmp, name.to_owned());
            }
        } else {
            let _ = rustix::fs::unlinkat(tmp, name, AtFlags::empty());
        }
    }
}

impl Records {
    /// Whether a thread has open drafts. One that is new counts until its lock can tell.
    pub(super) fn has_drafts(&self, id: &ThreadId) -> Result<bool, ErrorCode> {
        let mark = id.draft_mark();
        for item in rustix::fs::Dir::read_from(&self.tmp).map_err(code)? {
            let item = item.map_err(code)?;
            let name = item.file_name();
            if !name.to_bytes().starts_with(mark.as_bytes()) {
                continue;
            }
            match rustix::fs::statat(&self.tmp, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if age(&found) < SWEEP_AGE || is_in_use(&self.tmp, name) => {
                    return Ok(true);
                }
                _ => {}
            }
        }
        Ok(false)
    }
}

/// How long ago an entry itself was last changed, which nobody can set.
fn age(found: &Stat) -> Duration {
    let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(found.st_ctime).unwrap_or(0));
    SystemTime::now().duration_since(changed).unwrap_or_default()
}

/// Whether another process holds the lock of an entry of `tmp`. What cannot be opened, a link
/// above all, has no lock.
fn is_in_use(tmp: &OwnedFd, name: &CStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(open) = rustix::fs::openat(tmp, name, flags, Mode::empty()) else { return false };
    rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_err()
}
