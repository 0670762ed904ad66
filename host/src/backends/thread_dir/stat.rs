//! What the system says about a file, as callers see it.

use std::fmt::Write;

use handhold_core::types::{FileKind, Version};
use rustix::fs::{FileType, Stat};
use sha2::{Digest, Sha256};

/// How many bytes of a hash make a version: enough that no two are equal by chance.
pub(super) const VERSION_BYTES: usize = 10;

/// What an entry is.
pub(super) fn kind(stat: &Stat) -> FileKind {
    of_type(FileType::from_raw_mode(stat.st_mode))
}

/// What an entry of this type is.
pub(super) fn of_type(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Other,
    }
}

/// The size in bytes.
pub(super) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// When the content last changed, in nanoseconds since the Unix epoch; 0 for times before it.
#[expect(clippy::useless_conversion, reason = "the types of the fields differ between systems")]
pub(super) fn modified(stat: &Stat) -> u64 {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanos = u64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// When anything about a file last changed, in nanoseconds since the Unix epoch: a time that only
/// the system sets.
#[expect(clippy::useless_conversion, reason = "the types of the fields differ between systems")]
pub(super) fn changed(stat: &Stat) -> u64 {
    let seconds = u64::try_from(stat.st_ctime).unwrap_or(0);
    let nanos = u64::try_from(stat.st_ctime_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// The version of a file.
///
/// It is made from what changes with the content, not from the content, so that a page of a large
/// file costs no more than the page. Every write of ours gives a file a new inode and a time of
/// its own in nanoseconds (see `change`); a foreign write changes the times and mostly the size.
pub(super) fn version(stat: &Stat) -> Version {
    let mut version = String::with_capacity(2 * VERSION_BYTES);
    for byte in version_bytes(stat) {
        // Writing to a string cannot fail.
        let _ = write!(version, "{byte:02x}");
    }
    version
}

/// The version of a file as bytes.
pub(super) fn version_bytes(stat: &Stat) -> [u8; VERSION_BYTES] {
    let mut hash = Sha256::new();
    hash.update(stat.st_dev.to_le_bytes());
    hash.update(stat.st_ino.to_le_bytes());
    hash.update(stat.st_size.to_le_bytes());
    hash.update(stat.st_mtime.to_le_bytes());
    hash.update(stat.st_mtime_nsec.to_le_bytes());
    hash.update(stat.st_ctime.to_le_bytes());
    hash.update(stat.st_ctime_nsec.to_le_bytes());
    let mut version = [0; VERSION_BYTES];
    for (byte, hashed) in version.iter_mut().zip(hash.finalize()) {
        *byte = hashed;
    }
    version
}
