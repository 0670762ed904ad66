//! A file in the making: written where no tool sees it, then given its name in one step.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use handhold_core::types::ErrorCode;
use rustix::fs::{
    AtFlags, FlockOperation, Gid, Mode, OFlags, RenameFlags, SeekFrom, Stat, Timespec, Timestamps,
    Uid,
};
use rustix::io::Errno;

use super::errors::{code, io_code};
use super::id::ThreadId;
use super::root::{Records, random_name, unavailable};
use super::stat;

/// The permission bits that a file keeps when it is replaced. Bits that make a program run with
/// the rights of its owner are dropped, as the system does when a file is written.
const KEPT_MODE: u32 = 0o777;

/// How much is copied at once: 1 MiB.
const COPY_BYTES: usize = 1 << 20;

/// A file without a name in the workspace. It vanishes if it is not put in place.
pub(super) struct Draft {
    records: Arc<Records>,
    name: String,
    file: File,
    placed: bool,
}

impl Draft {
    /// Makes an empty draft.
    pub(super) fn new(records: &Arc<Records>) -> Result<Self, ErrorCode> {
        Self::named(records, random_name()?)
    }

    /// Makes an empty draft that keeps a thread in use as long as it lives.
    pub(super) fn of_thread(records: &Arc<Records>, id: &ThreadId) -> Result<Self, ErrorCode> {
        Self::named(records, id.draft_mark() + &random_name()?)
    }

    fn named(records: &Arc<Records>, name: String) -> Result<Self, ErrorCode> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The directory of drafts is closed to others, and the mode is that of any new file.
        let mode = Mode::from_raw_mode(0o666);
        let file = rustix::fs::openat(&records.tmp, &name, flags, mode)
            .map_err(|errno| unavailable("the directory of the host's records", code(errno)))?;
        // The lock tells other processes that this draft is not left over.
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(code)?;
        Ok(Self { records: Arc::clone(records), name, file: File::from(file), placed: false })
    }

    /// The file, to write to.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Copies the `size` bytes that `old` holds, without its holes, and goes to their end.
    pub(super) fn copy(
        &mut self,
        old: &File,
        size: u64,
        cancelled: &AtomicBool,
    ) -> Result<(), ErrorCode> {
        copy_content(old, &self.file, size, cancelled)?;
        rustix::fs::seek(&self.file, SeekFrom::End(0)).map(drop).map_err(code)
    }

    /// Writes onto the end: all of it, or nothing.
    pub(super) fn write(&mut self, content: &[u8]) -> Result<(), ErrorCode> {
        let end = rustix::fs::seek(&self.file, SeekFrom::Current(0)).map_err(code)?;
        self.file.write_all(content).map_err(|error| {
            // A file that cannot be cut off is not published either: seeking fails as well.
            let back = rustix::fs::ftruncate(&self.file, end)
                .and_then(|()| rustix::fs::seek(&self.file, SeekFrom::Start(end)));
            back.map_or_else(code, |_| io_code(&error))
        })
    }

    /// Takes over what a file that is replaced had: its permission bits and, as far as the system
    /// lets us, its owner. Gives the draft a time that no earlier content of the file had.
    pub(super) fn inherit(&self, old: Option<&Stat>) -> Result<(), ErrorCode> {
        if let Some(old) = old {
            let new = rustix::fs::fstat(&self.file).map_err(code)?;
            if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
                let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
                match rustix::fs::fchown(&self.file, Some(owner.0), Some(owner.1)) {
                    // Only some may give files away; the content is right in any case.
                    Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
                    Err(errno) => return Err(code(errno)),
                }
            }
            let mode = Mode::from_raw_mode(old.st_mode & KEPT_MODE);
            rustix::fs::fchmod(&self.file, mode).map_err(code)?;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let modified = now.max(old.map_or(0, stat::modified).saturating_add(1));
        let time = Timespec {
            tv_sec: i64::try_from(modified / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(modified % 1_000_000_000).unwrap_or(0),
        };
        let times = Timestamps { last_access: time, last_modification: time };
        rustix::fs::futimens(&self.file, &times).map_err(code)
    }

    /// Gives the draft its name, in the place of a file or, if `new`, of nothing. Returns what it
    /// is then.
    pub(super) fn place(
        &mut self,
        dir: &OwnedFd,
        name: &std::ffi::OsStr,
        new: bool,
    ) -> Result<Stat, ErrorCode> {
        rename(self.records.tmp.as_fd(), self.name.as_ref(), dir.as_fd(), name, new)
            .map_err(code)?;
        self.placed = true;
        rustix::fs::fstat(&self.file).map_err(code)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed {
            // If this fails, the next process sweeps it away.
            let _ = rustix::fs::unlinkat(&self.records.tmp, &self.name, AtFlags::empty());
        }
    }
}

/// Makes what the first `size` bytes of `old` are the content of `new`, without its holes.
pub(super) fn copy_content(
    old: &File,
    new: &File,
    size: u64,
    cancelled: &AtomicBool,
) -> Result<(), ErrorCode> {
    rustix::fs::ftruncate(new, size).map_err(code)?;
    let mut buffer = vec![0; COPY_BYTES.min(usize::try_from(size).unwrap_or(COPY_BYTES))];
    let mut at = 0;
    while at < size {
        // The next byte that is no hole.
        at = match rustix::fs::seek(old, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => break,
            // A file system without holes.
            Err(Errno::INVAL) => at,
            Err(errno) => return Err(code(errno)),
        };
        if cancelled.load(Ordering::Relaxed) {
            return Err(ErrorCode::Cancelled);
        }
        let n = old.read_at(&mut buffer, at).map_err(|error| io_code(&error))?;
        if n == 0 {
            break;
        }
        let read = buffer.get(..n).unwrap_or_default();
        new.write_all_at(read, at).map_err(|error| io_code(&error))?;
        at += n as u64;
    }
    Ok(())
}

/// Renames an entry. With `new`, fails with `EXIST` if the destination exists.
pub(super) fn rename(
    from: impl AsFd,
    name: &std::ffi::OsStr,
    to: impl AsFd,
    new_name: &std::ffi::OsStr,
    new: bool,
) -> Result<(), Errno> {
    if new {
        match rustix::fs::renameat_with(&from, name, &to, new_name, RenameFlags::NOREPLACE) {
            // The file system does not know the flag; the caller holds the lock and has looked.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            result => return result,
        }
    }
    rustix::fs::renameat(from, name, to, new_name)
}
