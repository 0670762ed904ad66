//! A workspace as a tree to search.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::AtomicBool;

use handhold_core::search::{self, Base, Budget, Tree, TreeEntry, TreeFile};
use handhold_core::types::{ErrorCode, FileKind, GlobPage, GlobRequest, GrepPage, GrepRequest};
use rustix::fs::{AtFlags, Mode, ResolveFlags};
use rustix::io::Errno;

use super::super::blocking::search_threads;
use super::read::{Found, MAX_ENTRIES, open_regular};
use super::root::OPEN_DIR;
use super::{ThreadDir, parse, stat};

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
        cancelled: &AtomicBool,
    ) -> Result<GlobPage, ErrorCode> {
        let budget = Budget::new(request.time_ms, cancelled, search_threads());
        match self.search_base(&request.path)? {
            Some(start) => search::glob(&start.tree, start.base(), request, &budget),
            None => search::glob(
                &Nothing,
                Base { real: "", shown: "", is_file: false },
                request,
                &budget,
            ),
        }
    }

    pub(super) fn grep(
        &self,
        request: &GrepRequest,
        cancelled: &AtomicBool,
    ) -> Result<GrepPage, ErrorCode> {
        let budget = Budget::new(request.time_ms, cancelled, search_threads());
        match self.search_base(&request.path)? {
            Some(start) => search::grep(&start.tree, start.base(), request, &budget),
            None => search::grep(
                &Nothing,
                Base { real: "", shown: "", is_file: false },
                request,
                &budget,
            ),
        }
    }

    /// Where a search starts; none for the root of a workspace that has no directory yet.
    fn search_base(&self, path: &str) -> Result<Option<Start>, ErrorCode> {
        let path = parse(path)?;
        let (real, is_file) = match self.find(&path)? {
            Found::Unused => return Ok(None),
            Found::Root(_) => (OsString::new(), false),
            Found::Entry(_, _, found, real) => match stat::kind(&found) {
                FileKind::Directory => (real, false),
                FileKind::File => (real, true),
                FileKind::Link | FileKind::Other => return Err(ErrorCode::NotAFile),
            },
        };
        let Some(root) = self.open()? else { return Ok(None) };
        // A link can hold a name that is not UTF-8, and such names cannot be searched.
        let real = real.into_string().map_err(|_| ErrorCode::Unsupported)?;
        let shown = path.relative().to_owned();
        Ok(Some(Start { tree: DirTree { root }, real, shown, is_file }))
    }
}

struct Start {
    tree: DirTree,
    real: String,
    shown: String,
    is_file: bool,
}

impl Start {
    fn base(&self) -> Base<'_> {
        Base { real: &self.real, shown: &self.shown, is_file: self.is_file }
    }
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
