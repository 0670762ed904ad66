//! Writing and appending.

use std::sync::atomic::{AtomicBool, Ordering};

use handhold_core::path::WorkspacePath;
use handhold_core::types::{Condition, ErrorCode, FileKind, WriteRequest, Written};
use rustix::fs::{Access, AtFlags, Stat};
use rustix::io::Errno;

use super::change::Draft;
use super::errors::code;
use super::read::open_regular;
use super::resolve::{Entry, FOLLOW, How, Place, bytes};
use super::{ThreadDir, parse, stat};

/// How often a write starts over because its place was exchanged meanwhile.
const ATTEMPTS: usize = 8;

/// The permission of an owner to write.
const OWNER_WRITES: u32 = 0o200;

impl ThreadDir {
    pub(super) fn put(
        &self,
        request: &WriteRequest,
        append: bool,
        cancelled: &AtomicBool,
    ) -> Result<Written, ErrorCode> {
        let path = parse(&request.path)?;
        if path.is_root() {
            return Err(ErrorCode::IsDirectory);
        }
        let content = Content::Bytes { bytes: &request.content, append };
        self.put_content(&path, &request.condition, content, request.dry_run, cancelled)
    }

    /// Gives a draft the name `path`.
    pub(super) fn put_draft(
        &self,
        path: &WorkspacePath,
        draft: &mut Draft,
        condition: &Condition,
        cancelled: &AtomicBool,
    ) -> Result<Written, ErrorCode> {
        self.put_content(path, condition, Content::Draft(draft), false, cancelled)
    }

    fn put_content(
        &self,
        path: &WorkspacePath,
        condition: &Condition,
        mut content: Content<'_>,
        dry_run: bool,
        cancelled: &AtomicBool,
    ) -> Result<Written, ErrorCode> {
        for _ in 0..ATTEMPTS {
            let put = self.try_put(path, condition, &mut content, dry_run, cancelled)?;
            if let Some(written) = put {
                return Ok(written);
            }
        }
        Err(ErrorCode::Unavailable("the file keeps changing its kind".to_owned()))
    }

    /// Writes once; none if the place was exchanged meanwhile.
    fn try_put(
        &self,
        path: &WorkspacePath,
        condition: &Condition,
        content: &mut Content<'_>,
        dry_run: bool,
        cancelled: &AtomicBool,
    ) -> Result<Option<Written>, ErrorCode> {
        let mut hold = if dry_run { None } else { self.hold_if_made()? };
        // Everything is looked at before anything is made.
        let seen = self.look(path)?;
        let old = check_target(seen.as_ref().and_then(|entry| entry.stat.as_ref()))?;
        condition.check(old.map(stat::version).as_deref())?;
        if dry_run {
            if let Some(entry) = &seen {
                // A file is given its name in its directory.
                let access = Access::WRITE_OK | Access::EXEC_OK;
                rustix::fs::accessat(&entry.dir, ".", access, AtFlags::EACCESS).map_err(code)?;
            }
            return Ok(Some(answer(content, old, old.map(stat::version))));
        }
        if hold.is_none() {
            if seen.is_some() {
                // Somebody else has just made the workspace.
                return Ok(None);
            }
            hold = Some(self.hold_new()?);
        }
        let entry = match seen {
            Some(entry) => entry,
            None => self.make_parents(path)?,
        };
        let records = self.root.records()?;
        let _lock = records.lock(&entry.dir, bytes(&entry.name))?;
        let now = match rustix::fs::statat(&entry.dir, &entry.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if stat::kind(&found) == FileKind::Link => return Ok(None),
            Ok(found) => Some(found),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(code(errno)),
        };
        let old = check_target(now.as_ref())?;
        condition.check(old.map(stat::version).as_deref())?;
        let mut made;
        let draft = match content {
            Content::Draft(draft) => &mut **draft,
            Content::Bytes { bytes, append } => {
                made = Draft::new(records)?;
                if *append && old.is_some() {
                    match open_regular(&entry.dir, &entry.name) {
                        Ok(Some((file, found))) if same_file(&found, old) => {
                            made.copy(&file, stat::size(&found), cancelled)?;
                        }
                        Ok(_) | Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
                        Err(errno) => return Err(code(errno)),
                    }
                }
                made.write(bytes)?;
                &mut made
            }
        };
        draft.inherit(old)?;
        // A write that its caller has given up on must not come after a later one.
        if cancelled.load(Ordering::Relaxed) {
            return Err(ErrorCode::Cancelled);
        }
        let placed = match draft.place(&entry.dir, &entry.name, old.is_none()) {
            // Another program made it between the look and the rename.
            Err(ErrorCode::AlreadyExists) if old.is_none() => return Ok(None),
            // Its directory was removed.
            Err(ErrorCode::NotFound) => return Ok(None),
            result => result?,
        };
        drop(hold);
        Ok(Some(Written {
            size: stat::size(&placed),
            previous_size: old.map(stat::size),
            version: stat::version(&placed),
        }))
    }

    /// What is at `path`, links followed; none if its directory does not exist.
    fn look(&self, path: &WorkspacePath) -> Result<Option<Entry>, ErrorCode> {
        let Some(root) = self.open()? else { return Ok(None) };
        match self.find_place(root, path, FOLLOW)? {
            Place::Root(_) => Err(ErrorCode::IsDirectory),
            Place::Entry(entry) => Ok(Some(*entry)),
            Place::NoParent(_) => Ok(None),
        }
    }

    /// The place for a new entry at `path`, whose directories are made.
    pub(super) fn make_parents(&self, path: &WorkspacePath) -> Result<Entry, ErrorCode> {
        let root = self.root.create_beneath(&self.id.names)?;
        match self.find_place(root, path, How { follow_last: true, make_parents: true })? {
            Place::Root(_) => Err(ErrorCode::IsDirectory),
            Place::Entry(entry) => Ok(*entry),
            Place::NoParent(_) => Err(ErrorCode::NotFound),
        }
    }
}

/// Checks that a write may replace what is there.
pub(super) fn check_target(found: Option<&Stat>) -> Result<Option<&Stat>, ErrorCode> {
    let Some(found) = found else { return Ok(None) };
    match stat::kind(found) {
        FileKind::Directory => Err(ErrorCode::IsDirectory),
        FileKind::Link | FileKind::Other => Err(ErrorCode::NotAFile),
        FileKind::File if found.st_mode & OWNER_WRITES == 0 => Err(ErrorCode::NotPermitted),
        FileKind::File => Ok(Some(found)),
    }
}

/// Whether both are one file.
pub(super) fn same_file(one: &Stat, other: Option<&Stat>) -> bool {
    other.is_some_and(|other| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

/// What a file is to have.
enum Content<'a> {
    /// These bytes, or those it has and these.
    Bytes { bytes: &'a [u8], append: bool },
    /// What a draft has.
    Draft(&'a mut Draft),
}

/// The answer to a write that changes nothing.
fn answer(content: &Content<'_>, old: Option<&Stat>, version: Option<String>) -> Written {
    let before = old.map(stat::size);
    let size = match content {
        Content::Bytes { bytes, append: true } => before.unwrap_or(0) + bytes.len() as u64,
        Content::Bytes { bytes, append: false } => bytes.len() as u64,
        Content::Draft(_) => 0,
    };
    Written { size, previous_size: before, version: version.unwrap_or_default() }
}
