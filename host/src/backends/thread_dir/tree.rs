//! A workspace as a tree to search.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::AtomicBool;

use handhold_core::search::{self, Base, Budget, Hiding, Tree, TreeEntry, TreeFile};
use handhold_core::types::{ErrorCode, FileKind, GlobPage, GlobRequest, GrepPage, GrepRequest};
use rustix::fs::{AtFlags, Mode, ResolveFlags};
use rustix::io::Errno;

use super::super::blocking::search_threads;
use super::read::{Found, MAX_ENTRIES, open_regular};
use super::root::OPEN_DIR;
use super::{ThreadDir, parse, stat};
use crate::backend::View;

/// How often opening a directory is tried again when something on the way is renamed meanwhile.
const MAX_RETRIES: usize = 8;

/// The directory of a workspace, to be searched.
struct DirTree {
    root: OwnedFd,
}

impl ThreadDir {
    pub(super) fn glob(
        &self,
        request: &GlobRequest,
        view: &View,
        cancelled: &AtomicBool,
    ) -> Result<GlobPage, ErrorCode> {
        let budget = Budget::new(request.time_ms, cancelled, search_threads());
        match self.start(&request.path, view)? {
            Start::Elsewhere => Ok(GlobPage::default()),
            Start::Unused(place) => search::glob(&Nothing, place.base(), request, &budget),
            Start::Here(tree, place) if view.hides_something() => {
                search::glob(&hiding(tree, view), place.base(), request, &budget)
            }
            Start::Here(tree, place) => search::glob(&tree, place.base(), request, &budget),
        }
    }

    pub(super) fn grep(
        &self,
        request: &GrepRequest,
        view: &View,
        cancelled: &AtomicBool,
    ) -> Result<GrepPage, ErrorCode> {
        let budget = Budget::new(request.time_ms, cancelled, search_threads());
        match self.start(&request.path, view)? {
            Start::Elsewhere => Ok(GrepPage { complete: true, ..GrepPage::default() }),
            Start::Unused(place) => search::grep(&Nothing, place.base(), request, &budget),
            Start::Here(tree, place) if view.hides_something() => {
                search::grep(&hiding(tree, view), place.base(), request, &budget)
            }
            Start::Here(tree, place) => search::grep(&tree, place.base(), request, &budget),
        }
    }

    /// Where a search starts.
    fn start(&self, asked: &str, view: &View) -> Result<Start, ErrorCode> {
        let asked = parse(asked)?;
        let Some((path, shown)) = view.start(&asked) else { return Ok(Start::Elsewhere) };
        let asked = asked.relative().to_owned();
        let root = view.at().to_owned();
        let mut place = StartPlace { real: String::new(), shown, asked, root, is_file: false };
        let real = match self.find(&path)? {
            Found::Unused => return Ok(Start::Unused(place)),
            Found::Root(_) => OsString::new(),
            Found::Entry(_, _, found, real) => {
                place.is_file = match stat::kind(&found) {
                    FileKind::Directory => false,
                    FileKind::File => true,
                    FileKind::Link | FileKind::Other => return Err(ErrorCode::NotAFile),
                };
                real
            }
        };
        let Some(root) = self.open()? else { return Ok(Start::Unused(place)) };
        // A link can hold a name that is not UTF-8, and such names cannot be searched.
        place.real = real.into_string().map_err(|_| ErrorCode::Unsupported)?;
        Ok(Start::Here(DirTree { root }, place))
    }
}

/// Where a search starts.
enum Start {
    /// Nothing of this workspace is shown there.
    Elsewhere,
    /// In a workspace that has no directory yet.
    Unused(StartPlace),
    Here(DirTree, StartPlace),
}

struct StartPlace {
    real: String,
    shown: String,
    asked: String,
    root: String,
    is_file: bool,
}

impl StartPlace {
    fn base(&self) -> Base<'_> {
        Base {
            real: &self.real,
            shown: &self.shown,
            is_file: self.is_file,
            asked: &self.asked,
            root: &self.root,
        }
    }
}

fn hiding(tree: DirTree, view: &View) -> impl Tree {
    Hiding::new(tree, |path: &OsStr, kind| view.hides(&path.to_string_lossy(), kind))
}

impl Tree for DirTree {
    type Dir = OwnedFd;
    type File = File;

    fn open_dir(&self, path: &OsStr) -> io::Result<OwnedFd> {
        let path = if path.is_empty() { OsStr::new(".") } else { path };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        for _ in 0..MAX_RETRIES {
            match rustix::fs::openat2(&self.root, path, OPEN_DIR, Mode::empty(), resolve) {
                Ok(dir) => return Ok(dir),
                Err(Errno::AGAIN) => {}
                // A link took the place of a directory: what was there is gone.
                Err(Errno::LOOP | Errno::XDEV) => return Err(io::ErrorKind::NotADirectory.into()),
                Err(Errno::NOSYS | Errno::PERM) => return self.open_dir_by_steps(path),
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    fn entries(&self, dir: &OwnedFd) -> io::Result<Vec<TreeEntry>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match entry.file_type() {
                rustix::fs::FileType::Unknown => {
                    match rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(found) => stat::kind(&found),
                        Err(Errno::NOENT) => continue,
                        Err(errno) => return Err(errno.into()),
                    }
                }
                kind => stat::of_type(kind),
            };
            if entries.len() == MAX_ENTRIES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            entries.push(TreeEntry { name, kind });
        }
        Ok(entries)
    }

    fn open_file(&self, dir: &OwnedFd, name: &OsStr) -> io::Result<Option<TreeFile<File>>> {
        match open_regular(dir, name) {
            Ok(Some((reader, found))) => Ok(Some(TreeFile { reader, size: stat::size(&found) })),
            // A link, or something that is never opened, took the place of the file.
            Ok(None) | Err(Errno::LOOP | Errno::NXIO) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    fn modified(&self, dir: &OwnedFd, name: &OsStr) -> io::Result<u64> {
        let found = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(stat::modified(&found))
    }
}

impl DirTree {
    /// Opens a directory one name at a time, where the system cannot do it in one step.
    fn open_dir_by_steps(&self, path: &OsStr) -> io::Result<OwnedFd> {
        let mut dir = rustix::fs::openat(&self.root, ".", OPEN_DIR, Mode::empty())?;
        for name in std::path::Path::new(path) {
            if name == ".." {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            dir = match rustix::fs::openat(&dir, name, OPEN_DIR, Mode::empty()) {
                Err(Errno::LOOP) => return Err(io::ErrorKind::NotADirectory.into()),
                result => result?,
            };
        }
        Ok(dir)
    }
}

/// The tree of a workspace that has no directory yet.
struct Nothing;

impl Tree for Nothing {
    type Dir = ();
    type File = io::Empty;

    fn open_dir(&self, path: &OsStr) -> io::Result<()> {
        if path.is_empty() { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn entries(&self, (): &()) -> io::Result<Vec<TreeEntry>> {
        Ok(Vec::new())
    }

    fn open_file(&self, (): &(), _: &OsStr) -> io::Result<Option<TreeFile<io::Empty>>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn modified(&self, (): &(), _: &OsStr) -> io::Result<u64> {
        Err(io::ErrorKind::NotFound.into())
    }
}
