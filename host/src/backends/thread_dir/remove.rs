//! Removing files and directories.

use std::ffi::{CStr, OsStr};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind, Removed};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::change::rename;
use super::errors::code;
use super::resolve::{Entry, NO_FOLLOW, Place, bytes, open_dir, resolve};
use super::root::{OPEN_DIR, Records, random_name};
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

    fn try_take_away(
        &self,
        path: &WorkspacePath,
        recursive: bool,
        cancelled: &AtomicBool,
    ) -> Result<Removed, ErrorCode> {
        let root = self.open()?.ok_or(ErrorCode::NotFound)?;
        let Place::Entry(entry) = resolve(root, path, NO_FOLLOW)? else {
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
            return Ok(Removed { files: 1, directories: 0 });
        }
        match rustix::fs::unlinkat(&entry.dir, &entry.name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(Removed { files: 0, directories: 1 }),
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
    Ok(take_apart(&records.tmp, name))
}

/// Removes a directory of `tmp` with all that is in it, and says what that was.
///
/// Directories inside are moved to `tmp` first, so that no depth of nesting needs more than one
/// open directory at a time. Links are removed, never followed. It has left the workspace
/// already: what cannot be taken apart stays where no tool sees it, and is swept later.
fn take_apart(tmp: &OwnedFd, name: String) -> Removed {
    let mut removed = Removed::default();
    let mut todo = vec![name];
    while let Some(name) = todo.pop() {
        // What was to be a directory may have been exchanged before it came here.
        match rustix::fs::statat(tmp, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if stat::kind(&found) == FileKind::Directory => removed.directories += 1,
            _ => {
                let _ = rustix::fs::unlinkat(tmp, &name, AtFlags::empty());
                removed.files += 1;
                continue;
            }
        }
        let Ok(dir) = open_dir(tmp, OsStr::new(&name)) else { continue };
        // A write that had found its directory before can still put a file in.
        for attempt in 0..ATTEMPTS {
            let found = empty(tmp, &dir, &mut todo);
            // What cannot be removed is met again.
            if attempt == 0 {
                removed.files += found.files;
                removed.directories += found.directories;
            }
            if rustix::fs::unlinkat(tmp, &name, AtFlags::REMOVEDIR) != Err(Errno::NOTEMPTY) {
                break;
            }
        }
    }
    removed
}

/// Removes the files of a directory, and moves its directories to `tmp` to be removed later.
fn empty(tmp: &OwnedFd, dir: &OwnedFd, todo: &mut Vec<String>) -> Removed {
    let mut removed = Removed::default();
    let Ok(items) = open_up(dir).and_then(rustix::fs::Dir::read_from) else { return removed };
    for item in items.flatten() {
        let name = item.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
            Err(Errno::ISDIR | Errno::PERM) => match move_up(tmp, dir, name) {
                Ok(inner) => todo.push(inner),
                Err(_) => removed.directories += 1,
            },
            _ => removed.files += 1,
        }
    }
    removed
}

/// Lets the owner change a directory. This goes by the descriptor: a name could be exchanged for a
/// link to something else.
fn open_up(dir: &OwnedFd) -> Result<&OwnedFd, Errno> {
    rustix::fs::fchmod(dir, Mode::RWXU)?;
    Ok(dir)
}

/// Moves a directory of `dir` to `tmp`, and returns its name there.
fn move_up(tmp: &OwnedFd, dir: &OwnedFd, name: &CStr) -> Result<String, Errno> {
    let new_name = random_name().map_err(|_| Errno::AGAIN)?;
    // A directory that its owner may not change cannot be moved.
    open_up(&rustix::fs::openat(dir, name, OPEN_DIR, Mode::empty())?)?;
    rustix::fs::renameat(dir, name, tmp, &new_name)?;
    Ok(new_name)
}

/// Removes what processes that ended half-way have left behind. What cannot be removed stays
/// where no tool sees it.
pub(super) fn sweep(tmp: &OwnedFd) {
    let Ok(items) = rustix::fs::Dir::read_from(tmp) else { return };
    for item in items.flatten() {
        let name = item.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Ok(found) = rustix::fs::statat(tmp, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        // The time of the last change of the entry itself, which nobody can set.
        let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(found.st_ctime).unwrap_or(0));
        let age = SystemTime::now().duration_since(changed).unwrap_or_default();
        if age < SWEEP_AGE || is_in_use(tmp, name) {
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

/// Whether another process holds the lock of an entry of `tmp`. What cannot be opened, a link
/// above all, has no lock.
fn is_in_use(tmp: &OwnedFd, name: &CStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(open) = rustix::fs::openat(tmp, name, flags, Mode::empty()) else { return false };
    rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_err()
}
