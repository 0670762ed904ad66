//! Taking a tree apart that has left the workspace.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsRawFd, OwnedFd};

use handhold_core::types::{FileKind, Removed};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::super::resolve::open_dir;
use super::super::root::random_name;
use super::super::stat;
use super::ATTEMPTS;

/// Removes a directory of `tmp` with all that is in it, and says what that was; none if a part of
/// it stays, so that nobody knows.
///
/// Directories inside are moved to `tmp` first, so that no depth of nesting needs more than one
/// open directory at a time. Links are removed, never followed. It has left the workspace
/// already: what cannot be taken apart stays where no tool sees it, and is swept later.
pub(in super::super) fn take_apart(tmp: &OwnedFd, name: String) -> Option<Removed> {
    let mut removed = Removed::default();
    let mut is_whole = true;
    let mut todo = vec![name];
    while let Some(name) = todo.pop() {
        is_whole &= take_one(tmp, &name, &mut removed, &mut todo).is_ok();
    }
    is_whole.then_some(removed)
}

/// Removes an entry of `tmp`, but for the directories in it.
fn take_one(
    tmp: &OwnedFd,
    name: &str,
    removed: &mut Removed,
    todo: &mut Vec<String>,
) -> Result<(), Errno> {
    // What was to be a directory may have been exchanged before it came here.
    let found = rustix::fs::statat(tmp, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if stat::kind(&found) != FileKind::Directory {
        rustix::fs::unlinkat(tmp, name, AtFlags::empty())?;
        removed.files += 1;
        removed.bytes += content_size(&found);
        return Ok(());
    }
    let dir = open_dir(tmp, OsStr::new(name))?;
    // A write that had found its directory before can still put a file in.
    for _ in 0..ATTEMPTS {
        empty(tmp, &dir, removed, todo)?;
        match rustix::fs::unlinkat(tmp, name, AtFlags::REMOVEDIR) {
            Ok(()) => {
                removed.directories += 1;
                return Ok(());
            }
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::NOTEMPTY)
}

/// Removes the files of a directory, and moves its directories to `tmp` to be removed later. Goes
/// on after what cannot be removed, and fails in the end.
fn empty(
    tmp: &OwnedFd,
    dir: &OwnedFd,
    removed: &mut Removed,
    todo: &mut Vec<String>,
) -> Result<(), Errno> {
    let mut result = Ok(());
    // If this fails, it may be open already.
    let _ = rustix::fs::fchmod(dir, Mode::RWXU);
    for item in rustix::fs::Dir::read_from(dir)? {
        let item = item?;
        let name = item.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let found = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let done = match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
            Ok(()) => {
                removed.files += 1;
                removed.bytes += found.as_ref().map_or(0, content_size);
                Ok(())
            }
            Err(Errno::ISDIR | Errno::PERM) => {
                move_up(tmp, dir, name).map(|inner| todo.push(inner))
            }
            Err(errno) => Err(errno),
        };
        // Somebody else may have removed it.
        if let Err(errno) = done
            && errno != Errno::NOENT
        {
            result = Err(errno);
        }
    }
    result
}

/// How many bytes a regular file has; 0 for everything else.
pub(super) fn content_size(found: &Stat) -> u64 {
    if stat::kind(found) == FileKind::File { stat::size(found) } else { 0 }
}

/// Moves a directory of `dir` to `tmp`, and returns its name there.
fn move_up(tmp: &OwnedFd, dir: &OwnedFd, name: &CStr) -> Result<String, Errno> {
    let new_name = random_name().map_err(|_| Errno::AGAIN)?;
    // A directory that its owner may not change cannot be moved. One that he may not read can only
    // be changed by way of its descriptor's name; its own could be exchanged for a link.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let _ = rustix::fs::chmod(format!("/proc/self/fd/{}", open.as_raw_fd()), Mode::RWXU);
    rustix::fs::renameat(dir, name, tmp, &new_name)?;
    Ok(new_name)
}
