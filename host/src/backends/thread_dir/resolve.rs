//! From a path to a directory descriptor and a name, links included.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};
use rustix::fs::{AtFlags, Mode, Stat};
use rustix::io::Errno;

use super::errors::code;
use super::root::OPEN_DIR;
use super::stat;

/// How many links one path may have: Linux's own limit.
const MAX_LINKS: usize = 40;

/// How often a step is tried again when its directory is exchanged meanwhile.
const MAX_RETRIES: usize = 8;

/// Where a path leads.
pub(super) enum Place {
    /// To the root of the workspace.
    Root(OwnedFd),
    /// To an entry of a directory, which may not exist.
    Entry(Box<Entry>),
    /// Nowhere: a directory on the way does not exist. This would be the path without links.
    NoParent(OsString),
}

/// An entry of a directory.
pub(super) struct Entry {
    pub(super) dir: OwnedFd,
    pub(super) name: OsString,
    /// What is there; none if nothing is.
    pub(super) stat: Option<Stat>,
    /// The path from the root without links.
    pub(super) real: OsString,
}

impl Entry {
    pub(super) fn kind(&self) -> Option<FileKind> {
        self.stat.as_ref().map(stat::kind)
    }
}

/// How a path is resolved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct How {
    /// Whether a link at the end is followed.
    pub(super) follow_last: bool,
    /// Whether missing directories on the way are made.
    pub(super) make_parents: bool,
}

/// Follows a link at the end, and makes nothing.
pub(super) const FOLLOW: How = How { follow_last: true, make_parents: false };

/// Stops at a link at the end, and makes nothing.
pub(super) const NO_FOLLOW: How = How { follow_last: false, make_parents: false };

/// What becomes of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// They are followed as far as they stay inside.
    Follow,
    /// Where one would be followed nothing is found: the path was resolved before, and a link in
    /// it was put there since.
    Refuse,
}

/// Resolves `path` beneath `root`.
///
/// Fails with `not-permitted` for a link that leads out, with `not-found` for one that leads
/// nowhere, and with `not-a-directory` if a part of the path is a file.
pub(super) fn resolve(
    root: OwnedFd,
    path: &WorkspacePath,
    how: How,
    links: Links,
) -> Result<Place, ErrorCode> {
    let mut walk = Walk {
        root,
        here: None,
        names: Vec::new(),
        todo: path.components().map(|name| (OsString::from(name), false)).collect(),
        links: 0,
        retries: 0,
    };
    while let Some((name, from_link)) = walk.todo.pop_front() {
        if name.is_empty() || name == "." {
            continue;
        }
        if name == ".." {
            walk.go_up()?;
            continue;
        }
        let last = walk.todo.iter().all(|(name, _)| name.is_empty() || name == ".");
        if !last && walk.go_down(&name)? {
            continue;
        }
        let found = match rustix::fs::statat(walk.dir(), &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            // The target of a link must exist.
            Err(Errno::NOENT) if from_link => return Err(ErrorCode::NotFound),
            Err(Errno::NOENT) if last => return walk.entry(name, None),
            Err(Errno::NOENT) if how.make_parents => {
                walk.make(&name)?;
                walk.todo.push_front((name, from_link));
                continue;
            }
            Err(Errno::NOENT) => return Ok(walk.nowhere(&name)),
            Err(errno) => return Err(code(errno)),
        };
        match stat::kind(&found) {
            FileKind::Link if (!last || how.follow_last) && links == Links::Refuse => {
                return Err(ErrorCode::NotFound);
            }
            FileKind::Link if !last || how.follow_last => walk.expand(&name)?,
            _ if last => return walk.entry(name, Some(found)),
            // It became a directory after it was tried as one.
            FileKind::Directory => walk.again(name, from_link)?,
            _ => return Err(ErrorCode::NotADirectory),
        }
    }
    // The path, or a link at its end, leads to a directory that is open already.
    walk.end()
}

/// A walk down a path. It holds two directories, however long the path is.
struct Walk {
    root: OwnedFd,
    /// The directory it has come to; none for the root.
    here: Option<OwnedFd>,
    /// The names from the root to here.
    names: Vec<OsString>,
    /// What is still to be walked, and whether it comes from a link.
    todo: VecDeque<(OsString, bool)>,
    links: usize,
    retries: usize,
}

impl Walk {
    fn dir(&self) -> &OwnedFd {
        self.here.as_ref().unwrap_or(&self.root)
    }

    fn go_up(&mut self) -> Result<(), ErrorCode> {
        // Above the root is outside.
        if self.names.pop().is_none() {
            return Err(ErrorCode::NotPermitted);
        }
        self.here = self.reopen(&self.names)?;
        Ok(())
    }

    /// Opens a directory by the names that led to it; none for the root.
    fn reopen(&self, names: &[OsString]) -> Result<Option<OwnedFd>, ErrorCode> {
        let mut dir = None;
        for name in names {
            dir = Some(open_dir(dir.as_ref().unwrap_or(&self.root), name).map_err(code)?);
        }
        Ok(dir)
    }

    /// Enters the directory `name`; false if it is none, or is a link.
    fn go_down(&mut self, name: &OsStr) -> Result<bool, ErrorCode> {
        match open_dir(self.dir(), name) {
            Ok(dir) => {
                self.here = Some(dir);
                self.names.push(name.to_owned());
                Ok(true)
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(false),
            Err(errno) => Err(code(errno)),
        }
    }

    fn again(&mut self, name: OsString, from_link: bool) -> Result<(), ErrorCode> {
        self.retries += 1;
        if self.retries > MAX_RETRIES {
            return Err(ErrorCode::Unavailable("the path keeps changing".to_owned()));
        }
        self.todo.push_front((name, from_link));
        Ok(())
    }

    fn make(&self, name: &OsStr) -> Result<(), ErrorCode> {
        let mode = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        match rustix::fs::mkdirat(self.dir(), name, mode) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(code(errno)),
        }
    }

    /// Puts what the link `name` holds in its place.
    fn expand(&mut self, name: &OsStr) -> Result<(), ErrorCode> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(ErrorCode::InvalidPath(
                "the path has too many links, or links in a circle".to_owned(),
            ));
        }
        let target = match rustix::fs::readlinkat(self.dir(), name, Vec::new()) {
            Ok(target) => target.into_bytes(),
            // It is no link any more.
            Err(Errno::INVAL) => return self.again(name.to_owned(), false),
            Err(errno) => return Err(code(errno)),
        };
        // An absolute target is a path of the host.
        if target.first() == Some(&b'/') {
            return Err(ErrorCode::NotPermitted);
        }
        for part in target.split(|byte| *byte == b'/').rev() {
            self.todo.push_front((OsString::from_vec(part.to_vec()), true));
        }
        Ok(())
    }

    /// What the path would be if what is missing of it were made.
    fn nowhere(&self, name: &OsStr) -> Place {
        let rest = self.todo.iter().map(|(name, _)| name.as_os_str());
        let rest = rest.filter(|name| !name.is_empty() && *name != ".");
        let names = self.names.iter().map(OsString::as_os_str).chain([name]).chain(rest);
        Place::NoParent(names.collect::<Vec<_>>().join(OsStr::new("/")))
    }

    fn real(&self) -> OsString {
        self.names.join(OsStr::new("/"))
    }

    fn entry(mut self, name: OsString, stat: Option<Stat>) -> Result<Place, ErrorCode> {
        let mut real = self.real();
        if !real.is_empty() {
            real.push("/");
        }
        real.push(&name);
        let dir = self.here.take().unwrap_or(self.root);
        Ok(Place::Entry(Box::new(Entry { dir, name, stat, real })))
    }

    /// The directory that the walk has come to.
    fn end(mut self) -> Result<Place, ErrorCode> {
        let real = self.real();
        let Some((name, here)) = self.names.pop().zip(self.here.take()) else {
            return Ok(Place::Root(self.root));
        };
        let dir = self.reopen(&self.names)?.unwrap_or(self.root);
        let stat = rustix::fs::fstat(&here).map_err(code)?;
        Ok(Place::Entry(Box::new(Entry { dir, name, stat: Some(stat), real })))
    }
}

/// The bytes of a name.
pub(super) fn bytes(name: &OsStr) -> &[u8] {
    name.as_bytes()
}

/// Opens a directory to list it.
pub(super) fn open_dir(dir: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(dir, name, OPEN_DIR, Mode::empty())
}
