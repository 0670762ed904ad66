//! Going through a tree that is there.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

use handhold_core::types::{ErrorCode, FileKind};
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;

use super::super::errors::code;
use super::super::resolve::open_dir;
use super::super::stat;
use super::entry::{Entry, Meta, What};
use super::object::ObjectName;

/// How many names are held at most: those still to come in all directories on the way to where the
/// walk is. A million, as for a listing.
const MAX_NAMES: usize = 1_000_000;

/// How often the walk looks again at what was exchanged between two steps, in all.
const MAX_RETRIES: usize = 1000;

/// A walk in the order of the list of a snapshot. It holds two directories, however deep the tree
/// is, and never follows a link.
pub(super) struct Walk {
    top: OwnedFd,
    here: OwnedFd,
    /// The directories from the top to here.
    levels: Vec<Level>,
    /// The name of the last entry; none if it is the directory that the walk has come to.
    last: Option<OsString>,
    names: usize,
    retries: usize,
    /// How many entries were left out: FIFOs, sockets and devices.
    pub(super) skipped: u64,
}

struct Level {
    name: OsString,
    /// What tells it from other directories.
    id: (u64, u64),
    /// The names still to come, the next one last.
    names: Vec<OsString>,
}

impl Walk {
    /// Begins at the top.
    pub(super) fn new(top: OwnedFd) -> Result<Self, ErrorCode> {
        let here = open_dir(&top, OsStr::new(".")).map_err(code)?;
        let mut walk =
            Self { top, here, levels: Vec::new(), last: None, names: 0, retries: 0, skipped: 0 };
        walk.enter(OsString::new())?;
        Ok(walk)
    }

    /// What the top directory is.
    pub(super) fn top(&self) -> Result<Meta, ErrorCode> {
        rustix::fs::fstat(&self.top).map(|found| Meta::of(&found)).map_err(code)
    }

    /// The directory that a file or link that came last is in.
    pub(super) fn dir(&self) -> &OwnedFd {
        &self.here
    }

    /// The names that lead to the last entry.
    pub(super) fn path(&self) -> Vec<&OsStr> {
        let above = self.levels.iter().skip(1).map(|level| level.name.as_os_str());
        above.chain(self.last.as_deref()).collect()
    }

    /// The next entry; none after the last one. What goes away meanwhile is not met.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, ErrorCode> {
        while let Some(level) = self.levels.last_mut() {
            let Some(name) = level.names.pop() else {
                self.leave()?;
                continue;
            };
            self.names -= 1;
            if let Some(entry) = self.look(name)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Meets the last entry, a file, once more: it was exchanged.
    pub(super) fn look_again(&mut self) -> Result<(), ErrorCode> {
        match self.last.take() {
            Some(name) => self.again(name),
            None => Ok(()),
        }
    }

    fn again(&mut self, name: OsString) -> Result<(), ErrorCode> {
        self.retries += 1;
        let Some(level) = self.levels.last_mut().filter(|_| self.retries <= MAX_RETRIES) else {
            return Err(unsteady());
        };
        level.names.push(name);
        self.names += 1;
        Ok(())
    }

    /// What is there; none if nothing is, if it is left out, or if it is to be met once more.
    fn look(&mut self, name: OsString) -> Result<Option<Entry>, ErrorCode> {
        let depth = self.levels.len().saturating_sub(1);
        let mut found = match rustix::fs::statat(&self.here, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(code(errno)),
        };
        let what = match stat::kind(&found) {
            FileKind::Other => {
                self.skipped += 1;
                return Ok(None);
            }
            FileKind::File => {
                What::File { size: stat::size(&found), object: ObjectName::of(&found) }
            }
            FileKind::Link => match rustix::fs::readlinkat(&self.here, &name, Vec::new()) {
                Ok(target) => What::Link { target: OsString::from_vec(target.into_bytes()) },
                Err(Errno::NOENT | Errno::INVAL) => return self.again(name).map(|()| None),
                Err(errno) => return Err(code(errno)),
            },
            FileKind::Directory => match open_dir(&self.here, &name) {
                Ok(dir) => {
                    found = rustix::fs::fstat(&dir).map_err(code)?;
                    self.here = dir;
                    What::Directory
                }
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                    return self.again(name).map(|()| None);
                }
                Err(errno) => return Err(code(errno)),
            },
        };
        if what == What::Directory {
            self.last = None;
            self.enter(name.clone())?;
        } else {
            self.last = Some(name.clone());
        }
        Ok(Some(Entry { depth, name, meta: Meta::of(&found), what }))
    }

    /// Begins with the directory that is open.
    fn enter(&mut self, name: OsString) -> Result<(), ErrorCode> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.here).map_err(code)? {
            let entry = entry.map_err(code)?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if self.names == MAX_NAMES {
                return Err(ErrorCode::TooLarge(format!(
                    "the directories on one path have more than {MAX_NAMES} entries"
                )));
            }
            self.names += 1;
            names.push(OsString::from_vec(name.to_vec()));
        }
        names.sort_unstable_by(|one, other| other.cmp(one));
        self.levels.push(Level { name, id: id_of(&self.here)?, names });
        Ok(())
    }

    /// Goes back to the directory above.
    fn leave(&mut self) -> Result<(), ErrorCode> {
        self.levels.pop();
        self.last = None;
        let Some(above) = self.levels.last() else { return Ok(()) };
        // It may have been moved meanwhile, and be in another one now.
        self.here = match open_dir(&self.here, OsStr::new("..")) {
            Ok(dir) if id_of(&dir)? == above.id => dir,
            _ => self.open_again()?,
        };
        Ok(())
    }

    /// Opens the directory that the walk has come back to by its names.
    fn open_again(&self) -> Result<OwnedFd, ErrorCode> {
        let mut dir = open_dir(&self.top, OsStr::new(".")).map_err(code)?;
        for level in self.levels.iter().skip(1) {
            dir = match open_dir(&dir, &level.name) {
                Ok(dir) => dir,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Err(unsteady()),
                Err(errno) => return Err(code(errno)),
            };
        }
        match self.levels.last() {
            Some(level) if level.id == id_of(&dir)? => Ok(dir),
            _ => Err(unsteady()),
        }
    }
}

fn unsteady() -> ErrorCode {
    ErrorCode::Unavailable("the workspace keeps changing".to_owned())
}

/// What tells a directory from others.
pub(super) fn id_of(dir: &OwnedFd) -> Result<(u64, u64), ErrorCode> {
    rustix::fs::fstat(dir).map(|found| id(&found)).map_err(code)
}

#[expect(clippy::useless_conversion, reason = "the types of the fields differ between systems")]
pub(super) fn id(found: &Stat) -> (u64, u64) {
    (u64::from(found.st_dev), u64::from(found.st_ino))
}
