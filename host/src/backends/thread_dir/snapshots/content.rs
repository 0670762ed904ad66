//! Giving a file the content of another one.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;
use rustix::io::Errno;

use super::super::change::copy_content;
use super::super::errors::io_code;
use super::alone::check;

/// How much is compared at once: 256 KiB of each.
const COMPARE_BYTES: usize = 256 << 10;

/// Makes copies, and clones where the file system can.
pub(super) struct Copier {
    can_clone: Cell<bool>,
}

impl Copier {
    pub(super) fn new() -> Self {
        Self { can_clone: Cell::new(true) }
    }

    /// Makes the content of `old`, which has `size` bytes, that of `new`. If `old` is being written
    /// meanwhile, `new` has anything.
    pub(super) fn copy(
        &self,
        old: &File,
        new: &File,
        size: u64,
        cancelled: &AtomicBool,
    ) -> Result<(), ErrorCode> {
        check(cancelled)?;
        if size == 0 {
            return Ok(());
        }
        if self.can_clone.get() {
            match rustix::fs::ioctl_ficlone(new, old) {
                Ok(()) => return Ok(()),
                // One file cannot be cloned, but others may.
                Err(Errno::TXTBSY | Errno::PERM | Errno::INTR) => {}
                Err(_) => self.can_clone.set(false),
            }
        }
        copy_content(old, new, size, cancelled)
    }
}

/// Whether two files of `size` bytes have the same content.
pub(super) fn is_same(
    one: &File,
    other: &File,
    size: u64,
    cancelled: &AtomicBool,
) -> Result<bool, ErrorCode> {
    let length = COMPARE_BYTES.min(usize::try_from(size).unwrap_or(COMPARE_BYTES));
    let (mut left, mut right) = (vec![0; length], vec![0; length]);
    let mut at = 0;
    while at < size {
        check(cancelled)?;
        let n = read(one, &mut left, at)?;
        if n == 0 || n != read(other, &mut right, at)? || left.get(..n) != right.get(..n) {
            return Ok(false);
        }
        at += n as u64;
    }
    Ok(true)
}

/// Fills the buffer as far as the file reaches.
fn read(file: &File, buffer: &mut [u8], at: u64) -> Result<usize, ErrorCode> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_code(&error)),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_anywhere_makes_a_difference() {
        let cancelled = AtomicBool::new(false);
        for size in [1, COMPARE_BYTES - 1, COMPARE_BYTES, 2 * COMPARE_BYTES + 7] {
            let (one, other) =
                (tempfile::tempfile().expect("one"), tempfile::tempfile().expect("one"));
            one.write_all_at(&vec![7; size], 0).expect("written");
            Copier::new().copy(&one, &other, size as u64, &cancelled).expect("a copy");
            let same = || is_same(&one, &other, size as u64, &cancelled).expect("an answer");
            assert!(same());
            for at in [0, size / 2, size - 1] {
                other.write_all_at(&[8], at as u64).expect("written");
                assert!(!same(), "{at} of {size}");
                other.write_all_at(&[7], at as u64).expect("written");
            }
            other.set_len(size as u64 - 1).expect("cut");
            assert!(!same());
        }
    }
}
