//! What serialises the changes of an entry, between all threads of all processes on one root.

use std::os::fd::OwnedFd;

use handhold_core::types::ErrorCode;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::errors::code;
use super::root::Records;

/// How many locks there are. Two files that share one wait for each other, no more.
const LOCKS: u32 = 256;

/// A held lock; dropping it lets go.
pub(super) struct Lock {
    _file: OwnedFd,
}

impl Records {
    /// Waits for the lock of the entry `name` of a directory.
    ///
    /// The lock is between all threads of all processes that use the root.
    pub(super) fn lock(&self, dir: &OwnedFd, name: &[u8]) -> Result<Lock, ErrorCode> {
        self.lock_number(lock_number(dir, name)?)
    }

    /// Waits for the locks of two entries.
    pub(super) fn lock_both(
        &self,
        one: (&OwnedFd, &[u8]),
        other: (&OwnedFd, &[u8]),
    ) -> Result<(Lock, Option<Lock>), ErrorCode> {
        let (one, other) = (lock_number(one.0, one.1)?, lock_number(other.0, other.1)?);
        // All take two locks in one order, so that no two wait for each other.
        let first = self.lock_number(one.min(other))?;
        let second = if one == other { None } else { Some(self.lock_number(one.max(other))?) };
        Ok((first, second))
    }

    fn lock_number(&self, number: u32) -> Result<Lock, ErrorCode> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file =
            rustix::fs::openat(&self.locks, format!("{number:02x}"), flags, mode).map_err(code)?;
        loop {
            match rustix::fs::flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(code(errno)),
            }
        }
    }
}

/// Which lock serialises changes of an entry: by the directory itself, not by its path, since
/// several paths may lead to it.
fn lock_number(dir: &OwnedFd, name: &[u8]) -> Result<u32, ErrorCode> {
    let stat = rustix::fs::fstat(dir).map_err(code)?;
    let mut hash = Sha256::new();
    hash.update(stat.st_dev.to_le_bytes());
    hash.update(stat.st_ino.to_le_bytes());
    hash.update(name);
    let number = hash
        .finalize()
        .iter()
        .fold(0_u32, |number, byte| number.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    Ok(number % LOCKS)
}
