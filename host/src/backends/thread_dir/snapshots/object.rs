//! The contents of files: one file for each, named by the version of the file it was taken of.

use std::fmt;
use std::fs::File;
use std::os::fd::OwnedFd;

use handhold_core::types::{ErrorCode, FileKind};
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::super::errors::code;
use super::super::read::open_regular;
use super::super::stat::{self, VERSION_BYTES, version_bytes};
use super::text::digit;

/// The name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ObjectName([u8; VERSION_BYTES]);

impl ObjectName {
    /// The version of a file.
    pub(super) fn of(found: &Stat) -> Self {
        Self(version_bytes(found))
    }

    /// A name that no version is.
    pub(super) fn random() -> Result<Self, ErrorCode> {
        let random = super::super::root::random_name()?;
        random.get(..2 * VERSION_BYTES).and_then(Self::parse).ok_or(ErrorCode::Other(None))
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut digits = text.bytes();
        let mut name = [0; VERSION_BYTES];
        for byte in &mut name {
            *byte = 16 * digit(digits.next()?)? + digit(digits.next()?)?;
        }
        digits.next().is_none().then_some(Self(name))
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for ObjectName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ObjectName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("no name of an object"))
    }
}

/// Whether there is an object of this size. One of another size was cut off by a crash of the
/// system, and is none.
pub(super) fn exists(objects: &OwnedFd, name: ObjectName, size: u64) -> Result<bool, ErrorCode> {
    match rustix::fs::statat(objects, name.to_string(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(stat::kind(&found) == FileKind::File && stat::size(&found) == size),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(code(errno)),
    }
}

/// Opens an object; none if it is not there or has another size.
pub(super) fn open(
    objects: &OwnedFd,
    name: ObjectName,
    size: u64,
) -> Result<Option<File>, ErrorCode> {
    match open_regular(objects, name.to_string()) {
        Ok(Some((file, found))) if stat::size(&found) == size => Ok(Some(file)),
        Ok(_) | Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Ok(None),
        Err(errno) => Err(code(errno)),
    }
}

/// Removes a file if there is one, and says how many bytes it had.
pub(super) fn remove(dir: &OwnedFd, name: &str) -> Result<u64, ErrorCode> {
    let removed = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).and_then(|found| {
        rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
        Ok(stat::size(&found))
    });
    match removed {
        Err(Errno::NOENT) => Ok(0),
        removed => removed.map_err(code),
    }
}
