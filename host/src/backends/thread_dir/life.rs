//! The record of a thread: whose it is, when it was made, and when it was last used.
//!
//! A record is a small file among the host's own. Its modification time is the last use. Whoever
//! changes a thread holds its lock with others, and whoever deletes the thread holds it alone, so
//! that no change goes into a directory on its way out.
//!
//! A record that is lost, or makes no sense, is made again from what the directory says.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use handhold_core::types::ErrorCode;
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::errors::{code, io_code};
use super::id::ThreadId;
use super::root::{Records, unavailable};
use super::stat;

/// The largest record, in bytes: two ids, each byte of them escaped.
const MAX_RECORD_BYTES: usize = 16 << 10;

/// How long others leave a thread alone that somebody wants for himself. He asks again before it
/// is over.
const ASK: Duration = Duration::from_millis(100);

/// How long one change waits for him at most: whoever has the thread may have it for long.
const YIELD: Duration = Duration::from_millis(250);

/// How often it looks meanwhile whether it may go on.
const YIELD_LOOK: Duration = Duration::from_millis(2);

/// What a record says.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) tenant: Option<String>,
    pub(super) thread: String,
    /// In milliseconds since the Unix epoch.
    pub(super) created: u64,
}

/// While it lives, the thread is not deleted.
pub(super) struct Hold {
    file: OwnedFd,
}

impl Hold {
    /// Sees to it that the record of a thread that has a directory says something. If it has to
    /// be made again, the last use is that moment, in milliseconds since the Unix epoch, or now.
    pub(super) fn keep_record(
        &self,
        id: &ThreadId,
        dir: &OwnedFd,
        last_used: Option<u64>,
    ) -> Result<(), ErrorCode> {
        if read_open(&self.file).is_some() {
            return Ok(());
        }
        write_record(&self.file, id, made(dir))?;
        let Some(ms) = last_used else { return Ok(()) };
        let last_modification = timespec(Duration::from_millis(ms));
        let times = Timestamps { last_access: OMIT, last_modification };
        rustix::fs::futimens(&self.file, &times).map_err(failed)
    }

    /// Begins the record of a thread that has no directory yet. One that is there is of a thread
    /// that has ended.
    pub(super) fn begin_record(&self, id: &ThreadId) -> Result<(), ErrorCode> {
        write_record(&self.file, id, now_ms())
    }
}

impl Records {
    /// Says that a thread is in use until the answer is dropped, and that it was used now. Makes
    /// an empty record if there is none. Lets those go first who want the thread for themselves: else
    /// changes that come one after the other would keep them waiting for ever.
    pub(super) fn hold(&self, id: &ThreadId) -> Result<Hold, ErrorCode> {
        let mut yielded_since = None;
        loop {
            let file = open_record(&self.threads, id)?;
            lock(&file, FlockOperation::LockShared)?;
            let found = rustix::fs::fstat(&file).map_err(failed)?;
            if found.st_nlink == 0 {
                // The thread was deleted while we waited; the next one has a record of its own.
                continue;
            }
            if is_asked_for(&found) {
                let since = *yielded_since.get_or_insert_with(Instant::now);
                if since.elapsed() < YIELD {
                    drop(file);
                    std::thread::sleep(YIELD_LOOK);
                    continue;
                }
            }
            rustix::fs::futimens(&file, &NOW).map_err(failed)?;
            return Ok(Hold { file });
        }
    }

    /// Takes a thread for oneself; none if it is in use. Then those who want to use it wait a
    /// little for the next try.
    pub(super) fn hold_alone(&self, id: &ThreadId) -> Result<Option<Hold>, ErrorCode> {
        loop {
            let file = open_record(&self.threads, id)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    ask_for(&file);
                    return Ok(None);
                }
                Err(errno) => return Err(failed(errno)),
            }
            let found = rustix::fs::fstat(&file).map_err(failed)?;
            if is_asked_for(&found) {
                let _ = rustix::fs::futimens(&file, &NOT_ASKED);
            }
            if found.st_nlink > 0 {
                return Ok(Some(Hold { file }));
            }
        }
    }

    /// Removes the record. Its lock must be held alone.
    pub(super) fn forget(&self, id: &ThreadId) -> Result<(), ErrorCode> {
        match rustix::fs::unlinkat(&self.threads, id.key(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }
}

/// Opens the record of a thread; one that is new is empty.
fn open_record(threads: &OwnedFd, id: &ThreadId) -> Result<OwnedFd, ErrorCode> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(threads, id.key(), flags, Mode::RUSR | Mode::WUSR).map_err(failed)
}

/// An error of the host's record must not be taken for one of the workspace.
fn failed(errno: Errno) -> ErrorCode {
    unavailable("the record of the workspace", code(errno))
}

const NOW: Timestamps = Timestamps { last_access: OMIT, last_modification: NOW_TIME };

/// Nobody wants a thread for himself any more.
const NOT_ASKED: Timestamps = Timestamps { last_access: NOW_TIME, last_modification: OMIT };

const OMIT: Timespec = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };

const NOW_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };

/// Says in the record that somebody wants the thread for himself: its time of access, which means
/// nothing else, is a moment in the future. That ends by itself if he does.
fn ask_for(record: &OwnedFd) {
    let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + ASK;
    let times = Timestamps { last_access: timespec(until), last_modification: OMIT };
    // It is only asked: nothing depends on it.
    let _ = rustix::fs::futimens(record, &times);
}

/// A time since the Unix epoch.
fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(0),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Whether somebody wants the thread for himself.
#[expect(clippy::useless_conversion, reason = "the types of the fields differ between systems")]
fn is_asked_for(record: &Stat) -> bool {
    let seconds = Duration::from_secs(u64::try_from(record.st_atime).unwrap_or(0));
    let nanos = Duration::from_nanos(u64::try_from(record.st_atime_nsec).unwrap_or(0));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = (seconds + nanos).saturating_sub(now);
    // What is far away comes from a clock that was put back.
    !left.is_zero() && left <= ASK
}

/// Says that a thread with the directory `dir` was used now. That something is read must not fail
/// for want of it: the file system may be read-only.
pub(super) fn touch(threads: &OwnedFd, id: &ThreadId, dir: &OwnedFd) {
    let touched = rustix::fs::utimensat(threads, id.key(), &NOW, AtFlags::SYMLINK_NOFOLLOW);
    if touched == Err(Errno::NOENT)
        && let Ok(file) = open_record(threads, id)
    {
        // It was lost, or has never been there.
        drop(write_record(&file, id, made(dir)));
    }
}

fn lock(file: &OwnedFd, how: FlockOperation) -> Result<(), ErrorCode> {
    loop {
        match rustix::fs::flock(file, how) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(failed(errno)),
        }
    }
}

fn write_record(file: &OwnedFd, id: &ThreadId, created: u64) -> Result<(), ErrorCode> {
    let record = Record { tenant: id.tenant.clone(), thread: id.thread.clone(), created };
    let text = serde_json::to_vec(&record).map_err(|_| ErrorCode::Other(None))?;
    let error = |error: std::io::Error| unavailable("the record of the workspace", io_code(&error));
    let file = File::from(file.try_clone().map_err(error)?);
    // Several may write it at once, all of them the same; what was there may be longer.
    file.write_all_at(&text, 0).and_then(|()| file.set_len(text.len() as u64)).map_err(error)
}

/// What the record of a thread says, and when the thread was last used, in milliseconds since the
/// Unix epoch; none if there is no record, or if it was cut off.
pub(super) fn read_record(
    threads: impl AsFd,
    key: impl rustix::path::Arg,
) -> Option<(Record, u64)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(threads, key, flags, Mode::empty()).ok()?;
    let used = stat::modified(&rustix::fs::fstat(&file).ok()?) / 1_000_000;
    Some((read_open(&file)?, used))
}

fn read_open(file: &OwnedFd) -> Option<Record> {
    let mut text = vec![0; MAX_RECORD_BYTES];
    let length = rustix::io::pread(file, &mut text, 0).ok()?;
    serde_json::from_slice(text.get(..length)?).ok()
}

/// When a directory was made, in milliseconds since the Unix epoch; its last change if the system
/// does not tell.
pub(super) fn made(dir: &OwnedFd) -> u64 {
    use rustix::fs::{StatxFlags, statx};
    let wanted = StatxFlags::BTIME | StatxFlags::MTIME;
    let Ok(found) = statx(dir, "", AtFlags::EMPTY_PATH, wanted) else { return now_ms() };
    let has_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let time = if has_birth { found.stx_btime } else { found.stx_mtime };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1000) + u64::from(time.tv_nsec / 1_000_000)
}

pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
