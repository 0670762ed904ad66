//! What drafts have reserved: a small file for each, locked as long as the draft lives. A file that
//! nobody has locked is left over from a process that ended.
//!
//! They are made and looked at only by who holds the ledger; they are removed at any time.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::types::ErrorCode;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::super::blocking;
use super::super::errors::{code, io_code};
use super::super::root::{OPEN_DIR, random_name};
use super::{failed, lock};
use crate::backends::quota::Reservation;

/// The name of the directory for the reservations of a thread. No name of a record ends so.
fn directory(key: &str) -> String {
    format!("{key}@")
}

/// How many bytes are reserved. What is left over is removed.
pub(super) fn sum(all: &OwnedFd, key: &str) -> Result<u64, ErrorCode> {
    let dir = match rustix::fs::openat(all, directory(key), OPEN_DIR, Mode::empty()) {
        Ok(dir) => dir,
        Err(Errno::NOENT) => return Ok(0),
        Err(errno) => return Err(failed(code(errno))),
    };
    let (mut sum, mut left) = (0_u64, 0);
    for entry in rustix::fs::Dir::read_from(&dir).map_err(|errno| failed(code(errno)))? {
        let entry = entry.map_err(|errno| failed(code(errno)))?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&dir, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(failed(code(errno))),
        };
        if lock(&file)? {
            let _ = rustix::fs::unlinkat(&dir, name, AtFlags::empty());
            continue;
        }
        let mut bytes = [0; 8];
        if file.read_exact_at(&mut bytes, 0).is_ok() {
            sum = sum.saturating_add(u64::from_le_bytes(bytes));
        }
        left += 1;
    }
    if left == 0 {
        // Most threads have no drafts, and are asked about them at each change.
        let _ = rustix::fs::unlinkat(all, directory(key), AtFlags::REMOVEDIR);
    }
    Ok(sum)
}

/// Reserves bytes.
pub(super) async fn make(
    all: Arc<OwnedFd>,
    key: Arc<str>,
    bytes: u64,
) -> Result<FileReservation, ErrorCode> {
    blocking::run(move |_| {
        let directory = directory(&key);
        match rustix::fs::mkdirat(&all, &directory, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(code(errno))),
        }
        let name = format!("{directory}/{}", random_name()?);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&all, &name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| failed(code(errno)))?;
        let reservation = FileReservation { all, name, file: Arc::new(File::from(file)) };
        lock(&reservation.file)?;
        reservation.write(bytes)?;
        Ok(reservation)
    })
    .await
}

/// A file that says how much is reserved.
pub(super) struct FileReservation {
    all: Arc<OwnedFd>,
    name: String,
    file: Arc<File>,
}

impl FileReservation {
    fn write(&self, bytes: u64) -> Result<(), ErrorCode> {
        write(&self.file, bytes)
    }
}

fn write(file: &File, bytes: u64) -> Result<(), ErrorCode> {
    file.write_all_at(&bytes.to_le_bytes(), 0).map_err(|error| failed(io_code(&error)))
}

#[async_trait]
impl Reservation for FileReservation {
    async fn set(&mut self, bytes: u64) -> Result<(), ErrorCode> {
        let file = Arc::clone(&self.file);
        blocking::run(move |_| write(&file, bytes)).await
    }
}

impl Drop for FileReservation {
    fn drop(&mut self) {
        // If this fails, it is found to be left over.
        let _ = rustix::fs::unlinkat(&self.all, &self.name, AtFlags::empty());
    }
}
