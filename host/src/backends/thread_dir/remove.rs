//! Removing files and directories.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind, Removed};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::change::rename;
use super::errors::code;
use super::resolve::{Entry, NO_FOLLOW, Place, bytes, open_dir, resolve};
use super::root::{Records, random_name};
use super::{ThreadDir, stat};

/// How old a left-over draft must be before another process removes it. Its lock says whether it
/// is left over; the age only covers the moment between making and locking it.
const SWEEP_AGE: Duration = Duration::from_secs(60);

impl ThreadDir {
    pub(super) fn take_away(
        &self,
        path: &WorkspacePath,
        recursive: bool,
    ) -> Result<Removed, ErrorCode> {
        if path.is_root() {
            return Err(ErrorCode::NotPermitted);
        }
        let root = self.open()?.ok_or(ErrorCode::NotFound)?;
        let Place::Entry(entry) = resolve(root, path, NO_FOLLOW)? else {
            return Err(ErrorCode::NotFound);
        };
        let kind = entry.kind().ok_or(ErrorCode::NotFound)?;
        let records = self.root.records()?;
        let _lock = records.lock(&entry.dir, bytes(&entry.name))?;
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
    // The lock tells other processes that this is not left over.
    rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).map_err(code)?;
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
        removed.directories += 1;
        // A directory that its owner may not change could not be emptied.
        let _ = rustix::fs::chmodat(tmp, &name, Mode::RWXU, AtFlags::empty());
        let Ok(dir) = open_dir(tmp, OsStr::new(&name)) else { continue };
        let Ok(items) = rustix::fs::Dir::read_from(&dir) else { continue };
        for item in items.flatten() {
            let item_name = item.file_name();
            if matches!(item_name.to_bytes(), b"." | b"..") {
                continue;
            }
            match rustix::fs::unlinkat(&dir, item_name, AtFlags::empty()) {
                Err(Errno::ISDIR | Errno::PERM) => {
                    let inner = random_name();
                    match inner {
                        Ok(inner) if rustix::fs::renameat(&dir, item_name, tmp, &inner).is_ok() => {
                            todo.push(inner);
                        }
                        _ => removed.files += 1,
                    }
                }
                _ => removed.files += 1,
            }
        }
        let _ = rustix::fs::unlinkat(tmp, &name, AtFlags::REMOVEDIR);
    }
    removed
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
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(open) = rustix::fs::openat(tmp, name, flags, Mode::empty()) else { continue };
        let Ok(found) = rustix::fs::fstat(&open) else { continue };
        // The time of the last change of the entry itself, which nobody can set.
        let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(found.st_ctime).unwrap_or(0));
        let age = SystemTime::now().duration_since(changed).unwrap_or_default();
        let left_over = age >= SWEEP_AGE
            && rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !left_over {
            continue;
        }
        if stat::kind(&found) == FileKind::Directory {
            if let Ok(name) = name.to_str() {
                drop(take_apart(tmp, name.to_owned()));
            }
        } else {
            let _ = rustix::fs::unlinkat(tmp, name, AtFlags::empty());
        }
    }
}
