//! The record of a ledger.
//!
//! ```text
//!  0  4  what it is
//!  4  1  0: as written; 1: a change is going on
//!  5  3  zero
//!  8  8  bytes, the lowest first
//! 16  8  files
//! 24  8  the start of a hash of the 16 before
//! 32  1  not 0: another process waits
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use sha2::{Digest, Sha256};

use crate::backends::quota::Usage;

const MARK: [u8; 4] = *b"hhu1";

const STATE_AT: u64 = 4;
const WRITTEN: u8 = 0;
const BUSY: u8 = 1;

const WAITS_AT: u64 = 32;

/// How many bytes a record has with the byte for those who wait.
const RECORD_BYTES: usize = 33;

/// What a record says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// What the workspace takes; none if a change was going on, or if the record makes no sense.
    pub(super) usage: Option<Usage>,
    /// Whether another process waits.
    pub(super) others_wait: bool,
}

impl Record {
    pub(super) fn read(file: &File) -> io::Result<Self> {
        let mut bytes = [0; RECORD_BYTES];
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            usage: decode(&bytes),
            others_wait: bytes.get(32).is_some_and(|byte| *byte != 0),
        })
    }
}

fn decode(bytes: &[u8]) -> Option<Usage> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 8)?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    };
    let usage = Usage { bytes: number(8)?, files: number(16)? };
    let whole = encode(usage);
    (bytes.get(..whole.len()) == Some(whole.as_slice())).then_some(usage)
}

fn encode(usage: Usage) -> Vec<u8> {
    let counters = [usage.bytes.to_le_bytes(), usage.files.to_le_bytes()].concat();
    let hash = Sha256::digest(&counters);
    let hash = hash.get(..8).unwrap_or_default();
    [MARK.as_slice(), &[WRITTEN, 0, 0, 0], &counters, hash].concat()
}

/// Writes what a workspace takes.
pub(super) fn write(file: &File, usage: Usage) -> io::Result<()> {
    file.write_all_at(&encode(usage), 0)
}

/// Says that a change is going on.
pub(super) fn mark_busy(file: &File) -> io::Result<()> {
    file.write_all_at(&[BUSY], STATE_AT)
}

/// Says that a change did not take place after all.
pub(super) fn mark_written(file: &File) -> io::Result<()> {
    file.write_all_at(&[WRITTEN], STATE_AT)
}

/// Asks whoever has the ledger to leave some time to others. It is only asked: nothing depends on
/// it.
pub(super) fn ask(file: &File) {
    drop(file.write_all_at(&[1], WAITS_AT));
}

/// Takes note that others have asked.
pub(super) fn clear_ask(file: &File) {
    drop(file.write_all_at(&[0], WAITS_AT));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let file = tempfile::tempfile().expect("a file");
        assert_eq!(Record::read(&file).expect("a record"), Record::default());
        let usage = Usage { bytes: 1 << 40, files: 7 };
        write(&file, usage).expect("written");
        ask(&file);
        let wanted = Record { usage: Some(usage), others_wait: true };
        assert_eq!(Record::read(&file).expect("a record"), wanted);
        clear_ask(&file);
        mark_busy(&file).expect("marked");
        assert_eq!(Record::read(&file).expect("a record"), Record::default());
        mark_written(&file).expect("marked");
        assert_eq!(Record::read(&file).expect("a record").usage, Some(usage));
    }

    #[test]
    fn what_is_torn_says_nothing() {
        let usage = Usage { bytes: 123, files: 456 };
        let whole = encode(usage);
        let old = encode(Usage { bytes: 124, files: 455 });
        assert_eq!(decode(&whole), Some(usage));
        for at in 0..whole.len() {
            let front = whole.get(..at).unwrap_or_default();
            assert_eq!(decode(front), None, "the first {at} bytes");
            let torn = [front, old.get(at..).unwrap_or_default()].concat();
            let is_old = torn == old;
            assert!(is_old || torn == whole || decode(&torn).is_none(), "torn at {at}");
            let mut wrong = whole.clone();
            if let Some(byte) = wrong.get_mut(at) {
                *byte ^= 0x10;
            }
            assert_eq!(decode(&wrong), None, "a wrong byte at {at}");
        }
    }
}
