//! Listing directories and reading files.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use handhold_core::lines::{ByteSource, read_window};
use handhold_core::path::WorkspacePath;
use handhold_core::types::{
    BytesPage, ErrorCode, FileInfo, FileKind, LsPage, ReadOutcome, ReadRequest,
};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::super::MAX_READ_BYTES;
use super::errors::{code, io_code};
use super::resolve::{Entry, FOLLOW, Place, open_dir};
use super::{ThreadDir, parse, stat};

/// How many entries of one directory are listed at most: a million. Their names are held while
/// they are sorted.
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// How often opening a workspace is tried again while somebody else has its directory alone.
const PIN_ATTEMPTS: usize = 5;

/// How long to wait between two tries.
const PIN_LOOK: Duration = Duration::from_millis(1);

/// How to open a file: never a link, and without waiting for the other end of a FIFO.
const OPEN_FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Opens the regular file `name` of a directory. Nothing else is opened, unless it takes the
/// file's place between two system calls, and then it is not read.
pub(super) fn open_regular(
    dir: impl AsFd,
    name: impl rustix::path::Arg,
) -> Result<Option<(File, Stat)>, Errno> {
    let file = rustix::fs::openat(dir, name, OPEN_FILE, Mode::empty())?;
    let found = rustix::fs::fstat(&file)?;
    Ok((stat::kind(&found) == FileKind::File).then(|| (File::from(file), found)))
}

/// A file whose bytes are read at any position.
struct FileSource<'a> {
    file: File,
    size: u64,
    /// Whether nobody waits for the bytes any more: a scan of a huge file then ends.
    cancelled: &'a AtomicBool,
}

impl ByteSource for FileSource<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        loop {
            match self.file.read_at(buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

impl ThreadDir {
    /// The directory of the workspace; none if the thread never wrote. As long as it is open, the
    /// thread is not collected.
    pub(super) fn open(&self) -> Result<Option<OwnedFd>, ErrorCode> {
        for attempt in 0.. {
            let Some(dir) = self.root.open_beneath(&self.id.names)? else { break };
            let pinned = rustix::fs::flock(&dir, FlockOperation::NonBlockingLockShared);
            // Somebody removes it at this moment, or has just put it there. Who cannot have a lock
            // does without.
            if pinned == Err(Errno::WOULDBLOCK) && attempt < PIN_ATTEMPTS {
                std::thread::sleep(PIN_LOOK);
                continue;
            }
            self.root.touch(&self.id, &dir);
            return Ok(Some(dir));
        }
        Ok(None)
    }

    /// The entry at `path`, which must exist and may be the root.
    pub(super) fn find(&self, path: &WorkspacePath) -> Result<Found, ErrorCode> {
        let Some(root) = self.open()? else {
            return if path.is_root() { Ok(Found::Unused) } else { Err(ErrorCode::NotFound) };
        };
        match self.find_place(root, path, FOLLOW)? {
            Place::Root(dir) => Ok(Found::Root(dir)),
            Place::Entry(entry) => {
                let Entry { dir, name, stat, real } = *entry;
                Ok(Found::Entry(dir, name, stat.ok_or(ErrorCode::NotFound)?, real))
            }
            Place::NoParent(_) => Err(ErrorCode::NotFound),
        }
    }

    fn open_file<'a>(
        &self,
        path: &WorkspacePath,
        cancelled: &'a AtomicBool,
    ) -> Result<(FileSource<'a>, Stat), ErrorCode> {
        let (dir, name, found) = match self.find(path)? {
            Found::Unused | Found::Root(_) => return Err(ErrorCode::IsDirectory),
            Found::Entry(dir, name, found, _) => (dir, name, found),
        };
        match stat::kind(&found) {
            FileKind::Directory => return Err(ErrorCode::IsDirectory),
            FileKind::File => {}
            FileKind::Link | FileKind::Other => return Err(ErrorCode::NotAFile),
        }
        let (file, found) = open_regular(dir, &name).map_err(code)?.ok_or(ErrorCode::NotAFile)?;
        Ok((FileSource { file, size: stat::size(&found), cancelled }, found))
    }

    pub(super) fn read_lines(
        &self,
        request: &ReadRequest,
        cancelled: &AtomicBool,
    ) -> Result<ReadOutcome, ErrorCode> {
        let (mut source, found) = self.open_file(&parse(&request.path)?, cancelled)?;
        read_window(&mut source, request, &stat::version(&found)).map_err(|error| io_code(&error))
    }

    pub(super) fn read_part(
        &self,
        path: &WorkspacePath,
        offset: u64,
        length: u64,
        cancelled: &AtomicBool,
    ) -> Result<BytesPage, ErrorCode> {
        let (mut source, found) = self.open_file(path, cancelled)?;
        let rest = source.size.saturating_sub(offset);
        let length = length.min(MAX_READ_BYTES).min(rest);
        let mut data = vec![0; usize::try_from(length).unwrap_or(0)];
        let mut done = 0;
        while let Some(buffer) = data.get_mut(done..).filter(|buffer| !buffer.is_empty()) {
            match source.read_at(offset + done as u64, buffer) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) => return Err(io_code(&error)),
            }
        }
        data.truncate(done);
        Ok(BytesPage { data, size: source.size, version: stat::version(&found) })
    }

    pub(super) fn ls(
        &self,
        path: &WorkspacePath,
        offset: u64,
        limit: u64,
    ) -> Result<LsPage, ErrorCode> {
        let dir = match self.find(path)? {
            Found::Unused => {
                return Ok(LsPage {
                    entries: vec![],
                    total: 0,
                    undecodable: 0,
                    is_directory: true,
                });
            }
            Found::Root(dir) => dir,
            Found::Entry(dir, name, found, _) => {
                if stat::kind(&found) != FileKind::Directory {
                    let entries = if offset == 0 {
                        vec![info(&dir, &name, path.as_str().to_owned(), &found)?]
                    } else {
                        vec![]
                    };
                    return Ok(LsPage { entries, total: 1, undecodable: 0, is_directory: false });
                }
                open_dir(&dir, &name).map_err(code)?
            }
        };
        let mut names = names(&dir)?;
        names.sort_unstable();
        let undecodable = names.iter().filter(|name| name.to_str().is_none()).count() as u64;
        let mut entries = Vec::new();
        let page = names
            .iter()
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
            .take(usize::try_from(limit).unwrap_or(usize::MAX));
        for name in page {
            let found = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => found,
                // It was removed meanwhile.
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(code(errno)),
            };
            let shown = path.child(&name.to_string_lossy()).as_str().to_owned();
            entries.push(info(&dir, name, shown, &found)?);
        }
        Ok(LsPage { entries, total: names.len() as u64, undecodable, is_directory: true })
    }
}

/// What an existing path leads to.
pub(super) enum Found {
    /// The root of a workspace that has no directory yet.
    Unused,
    /// The root of the workspace.
    Root(OwnedFd),
    /// An entry: its directory, its name, what it is, and its path from the root without links.
    Entry(OwnedFd, OsString, Stat, OsString),
}

fn info(dir: &OwnedFd, name: &OsString, path: String, found: &Stat) -> Result<FileInfo, ErrorCode> {
    let kind = stat::kind(found);
    let link_target = match kind {
        FileKind::Link => match rustix::fs::readlinkat(dir, name, Vec::new()) {
            Ok(target) => Some(target.to_string_lossy().into_owned()),
            Err(Errno::NOENT | Errno::INVAL) => None,
            Err(errno) => return Err(code(errno)),
        },
        _ => None,
    };
    let size = if kind == FileKind::File { stat::size(found) } else { 0 };
    Ok(FileInfo { path, kind, size, modified: stat::modified(found) / 1_000_000, link_target })
}

/// The names in a directory, in no order.
fn names(dir: &OwnedFd) -> Result<Vec<OsString>, ErrorCode> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(dir).map_err(code)? {
        let entry = entry.map_err(code)?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if names.len() == MAX_ENTRIES {
            return Err(ErrorCode::TooLarge(format!(
                "the directory has over {MAX_ENTRIES} entries; find files in it with a pattern"
            )));
        }
        names.push(OsString::from_vec(name.to_vec()));
    }
    Ok(names)
}
