//! Moving files and directories.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;

use super::change::rename;
use super::errors::code;
use super::resolve::{Entry, How, NO_FOLLOW, Place, bytes};
use super::write::{check_target, same_file};
use super::{ThreadDir, stat};

impl ThreadDir {
    pub(super) fn give_name(
        &self,
        source: &WorkspacePath,
        destination: &WorkspacePath,
        overwrite: bool,
        cancelled: &AtomicBool,
    ) -> Result<(), ErrorCode> {
        if source.is_root() {
            return Err(ErrorCode::NotPermitted);
        }
        if destination.is_root() {
            return Err(ErrorCode::IsDirectory);
        }
        if destination.is_within(source) {
            return Err(into_itself(source));
        }
        let _hold = self.hold_if_made()?.ok_or(ErrorCode::NotFound)?;
        let from = self.entry(source)?.ok_or(ErrorCode::NotFound)?;
        let moved = from.stat.as_ref().ok_or(ErrorCode::NotFound)?;
        // Everything is looked at before anything is made.
        let seen = self.entry(destination)?;
        check(moved, seen.as_ref().and_then(|entry| entry.stat.as_ref()), overwrite)?;
        let to = match seen {
            Some(entry) => entry,
            None if self.is_beneath(destination, &from)? => return Err(into_itself(source)),
            None => self.make_destination(destination)?,
        };
        let records = self.root.records()?;
        let _locks =
            records.lock_both((&from.dir, bytes(&from.name)), (&to.dir, bytes(&to.name)))?;
        let moved = look(&from)?.ok_or(ErrorCode::NotFound)?;
        let there = look(&to)?;
        check(&moved, there.as_ref(), overwrite)?;
        if is_same_directory(&from.dir, &to.dir)? && from.name == to.name {
            // Two paths lead to one entry.
            return Err(ErrorCode::InvalidPath(format!(
                "{source} and {destination} are the same, by way of a link"
            )));
        }
        let linked = kind_is_file(&moved) && moved.st_nlink > 1;
        if cancelled.load(Ordering::Relaxed) {
            return Err(ErrorCode::Cancelled);
        }
        if linked && same_file(&moved, there.as_ref()) {
            // Two names of one file: the system would keep both.
            return rustix::fs::unlinkat(&from.dir, &from.name, AtFlags::empty()).map_err(code);
        }
        match rename(&from.dir, &from.name, &to.dir, &to.name, there.is_none()) {
            Err(Errno::INVAL) => Err(into_itself(source)),
            result => result.map_err(code),
        }
    }

    /// The entry at `path`, a link itself; none if its directory does not exist.
    fn entry(&self, path: &WorkspacePath) -> Result<Option<Entry>, ErrorCode> {
        let Some(root) = self.open()? else { return Ok(None) };
        match self.find_place(root, path, NO_FOLLOW)? {
            Place::Root(_) => Err(ErrorCode::IsDirectory),
            Place::Entry(entry) => Ok(Some(*entry)),
            Place::NoParent(_) => Ok(None),
        }
    }

    /// Whether a path whose directory is missing is beneath an entry, by way of a link.
    fn is_beneath(&self, path: &WorkspacePath, entry: &Entry) -> Result<bool, ErrorCode> {
        let Some(root) = self.open()? else { return Ok(false) };
        let place = self.find_place(root, path, NO_FOLLOW)?;
        Ok(matches!(place, Place::NoParent(real) if Path::new(&real).starts_with(&entry.real)))
    }

    fn make_destination(&self, path: &WorkspacePath) -> Result<Entry, ErrorCode> {
        let root = self.root.create_beneath(&self.id.names)?;
        match self.find_place(root, path, How { make_parents: true, ..NO_FOLLOW })? {
            Place::Entry(entry) => Ok(*entry),
            Place::Root(_) | Place::NoParent(_) => Err(ErrorCode::NotFound),
        }
    }
}

fn into_itself(source: &WorkspacePath) -> ErrorCode {
    ErrorCode::InvalidPath(format!("{source} cannot be moved into itself"))
}

fn is_same_directory(one: &OwnedFd, other: &OwnedFd) -> Result<bool, ErrorCode> {
    let other = rustix::fs::fstat(other).map_err(code)?;
    Ok(same_file(&rustix::fs::fstat(one).map_err(code)?, Some(&other)))
}

fn kind_is_file(found: &Stat) -> bool {
    stat::kind(found) == FileKind::File
}

fn look(entry: &Entry) -> Result<Option<Stat>, ErrorCode> {
    match rustix::fs::statat(&entry.dir, &entry.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(code(errno)),
    }
}

/// Checks that what is moved may take its place.
fn check(moved: &Stat, there: Option<&Stat>, overwrite: bool) -> Result<(), ErrorCode> {
    let Some(there) = there else { return Ok(()) };
    if !overwrite {
        return Err(ErrorCode::AlreadyExists);
    }
    if stat::kind(moved) == FileKind::Directory && stat::kind(there) != FileKind::Directory {
        return Err(ErrorCode::NotADirectory);
    }
    match stat::kind(there) {
        // The link itself is replaced.
        FileKind::Link => Ok(()),
        _ => check_target(Some(there)).map(drop),
    }
}
