//! An entry of a tree, and the line for it in the list of a snapshot.
//!
//! A line has the depth and the name of an entry, not its path: a path can be as long as the tree
//! is deep. A name is one name, and what is above an entry is a directory that came before. So no
//! list can name anything outside of the tree.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use handhold_core::types::ErrorCode;
use rustix::fs::{AtFlags, Gid, Mode, Stat, Timespec, Timestamps, Uid};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::super::errors::code;
use super::object::ObjectName;
use super::text::{decode, encode};

/// The permission bits that come back. Bits that make a program run with the rights of its owner
/// do not.
pub(super) const KEPT_MODE: u32 = 0o777;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// The longest target of a link, in bytes.
const MAX_TARGET_BYTES: usize = 4096;

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// How many directories are above it, the top not counted.
    pub(super) depth: usize,
    pub(super) name: OsString,
    pub(super) meta: Meta,
    pub(super) what: What,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Directory,
    /// In a tree that is there, the object is the version.
    File {
        size: u64,
        object: ObjectName,
    },
    Link {
        target: OsString,
    },
}

/// What comes back besides the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meta {
    /// The permission bits.
    pub(super) mode: u32,
    /// The numbers of the owner and the group.
    owner: (u32, u32),
    /// When the content last changed, in seconds since the Unix epoch and nanoseconds.
    modified: (i64, i64),
}

impl Meta {
    pub(super) fn of(found: &Stat) -> Self {
        Self {
            mode: found.st_mode & KEPT_MODE,
            owner: (found.st_uid, found.st_gid),
            // Some systems have them without a sign, but mean one.
            modified: (
                i64::from_ne_bytes(found.st_mtime.to_ne_bytes()),
                i64::from_ne_bytes(found.st_mtime_nsec.to_ne_bytes()),
            ),
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.mode <= KEPT_MODE && (0..1_000_000_000).contains(&self.modified.1)
    }

    fn times(&self) -> Timestamps {
        let time = Timespec { tv_sec: self.modified.0, tv_nsec: self.modified.1 };
        Timestamps { last_access: time, last_modification: time }
    }

    /// Gives it to an open file or directory.
    pub(super) fn apply(&self, file: impl std::os::fd::AsFd) -> Result<(), ErrorCode> {
        let found = rustix::fs::fstat(&file).map_err(code)?;
        if (found.st_uid, found.st_gid) != self.owner {
            let (user, group) = self.owners();
            may_fail(rustix::fs::fchown(&file, user, group))?;
        }
        rustix::fs::fchmod(&file, Mode::from_raw_mode(self.mode)).map_err(code)?;
        rustix::fs::futimens(&file, &self.times()).map_err(code)
    }

    /// Gives it to a link, which has no permission bits.
    pub(super) fn apply_to_link(&self, dir: &OwnedFd, name: &OsString) -> Result<(), ErrorCode> {
        let (user, group) = self.owners();
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        may_fail(rustix::fs::chownat(dir, name, user, group, flags))?;
        rustix::fs::utimensat(dir, name, &self.times(), flags).map_err(code)
    }

    fn owners(&self) -> (Option<Uid>, Option<Gid>) {
        // This number means nobody.
        let some = |id: u32| (id != u32::MAX).then_some(id);
        (some(self.owner.0).map(Uid::from_raw), some(self.owner.1).map(Gid::from_raw))
    }
}

/// Only some may give files away; the content is right in any case.
fn may_fail(given: Result<(), Errno>) -> Result<(), ErrorCode> {
    match given {
        Ok(()) | Err(Errno::PERM | Errno::INVAL) => Ok(()),
        Err(errno) => Err(code(errno)),
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Directory,
    File,
    Link,
}

/// A line of a list.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    depth: usize,
    name: String,
    kind: Kind,
    meta: Meta,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    object: Option<ObjectName>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    target: Option<String>,
}

impl Entry {
    /// The line for it, with its end.
    pub(super) fn to_line(&self) -> Result<Vec<u8>, ErrorCode> {
        let (kind, size, object, target) = match &self.what {
            What::Directory => (Kind::Directory, None, None, None),
            What::File { size, object } => (Kind::File, Some(*size), Some(*object), None),
            What::Link { target } => (Kind::Link, None, None, Some(encode(target))),
        };
        let (depth, name, meta) = (self.depth, encode(&self.name), self.meta);
        let line = Line { depth, name, kind, meta, size, object, target };
        let mut line = serde_json::to_vec(&line).map_err(|_| ErrorCode::Other(None))?;
        line.push(b'\n');
        Ok(line)
    }

    /// The entry of a line without its end; none if the line makes no sense.
    pub(super) fn of_line(line: &[u8]) -> Option<Self> {
        let Line { depth, name, kind, meta, size, object, target } =
            serde_json::from_slice(line).ok()?;
        let what = match (kind, size, object, target) {
            (Kind::Directory, None, None, None) => What::Directory,
            (Kind::File, Some(size), Some(object), None) => What::File { size, object },
            (Kind::Link, None, None, Some(target)) => What::Link { target: decode(&target)? },
            _ => return None,
        };
        if let What::Link { target } = &what {
            let bytes = target.as_bytes();
            if bytes.is_empty() || bytes.len() > MAX_TARGET_BYTES || bytes.contains(&0) {
                return None;
            }
        }
        let name = decode(&name)?;
        (is_one_name(name.as_bytes()) && meta.is_valid()).then_some(Self {
            depth,
            name,
            meta,
            what,
        })
    }
}

/// Whether this is the name of an entry of a directory, and of nothing else.
fn is_one_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..")
        && name.len() <= MAX_NAME_BYTES
        && !name.iter().any(|byte| matches!(byte, b'/' | 0))
}
