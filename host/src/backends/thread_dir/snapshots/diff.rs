//! How two trees differ: two snapshots, or a snapshot and what is there now.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs::File;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;
use rustix::fs::FlockOperation;

use super::super::errors::code;
use super::super::read::open_regular;
use super::alone::check;
use super::content::is_same;
use super::entry::{Entry, What};
use super::manifest::Manifest;
use super::object::{self, ObjectName};
use super::origins::Origins;
use super::store::Store;
use super::text::shown;
use super::walk::Walk;
use super::{Asked, SnapshotError};

/// How many bytes the paths that differ may have together: 64 MiB.
const MAX_PATH_BYTES: usize = 64 << 20;

/// An entry that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Its path, as tools show it (`/src/a.rs`); bytes that are not UTF-8 are U+FFFD.
    pub path: String,
    /// How it differs.
    pub change: DiffKind,
}

/// How an entry differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiffKind {
    /// It is not in the snapshot, but in the other one, or there now.
    Added,
    /// It is in the snapshot only.
    Removed,
    /// It is in both, and not the same.
    Changed,
}

/// Compares a snapshot with another one, or with what is there now.
pub(super) fn diff(
    asked: &Asked,
    other: Option<&Asked>,
    cancelled: &AtomicBool,
) -> Result<Vec<Difference>, SnapshotError> {
    let Asked { root, id, file_name, .. } = asked;
    let Some(top) = root.open_beneath(&id.names)? else { return Err(SnapshotError::NotFound) };
    let how = FlockOperation::NonBlockingLockShared;
    let store = Store::wait(root, id, how, cancelled)?.ok_or_else(|| asked.missing())?;
    let mut one = store.manifest(file_name)?.ok_or_else(|| asked.missing())?;
    let other = match other {
        Some(other) => {
            let list = store.manifest(&other.file_name)?;
            Tree::Kept(list.ok_or_else(|| other.missing())?)
        }
        None => {
            root.touch(id, &top);
            Tree::Present(Walk::new(top)?, Origins::read(&store))
        }
    };
    let mut merge = Merge { store: &store, other, cancelled, found: Vec::new(), path_bytes: 0 };
    let (mut before, mut after) = (one.next()?, merge.other.next()?);
    loop {
        check(cancelled)?;
        // Both have come to the same directory, or the one that is deeper is in what the other one
        // does not have.
        let order = match (&before, &after) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(before), Some(after)) => {
                after.depth.cmp(&before.depth).then_with(|| before.name.cmp(&after.name))
            }
        };
        match (order, &before, &after) {
            (Ordering::Less, ..) => merge.push(one.shown(), DiffKind::Removed)?,
            (Ordering::Equal, Some(before), Some(after))
                if merge.is_same(&one, before, after)? => {}
            (Ordering::Equal, ..) => merge.push(one.shown(), DiffKind::Changed)?,
            (Ordering::Greater, ..) => merge.push(merge.other.shown(), DiffKind::Added)?,
        }
        if order.is_le() {
            before = one.next()?;
        }
        if order.is_ge() {
            after = merge.other.next()?;
        }
    }
    let mut found = merge.found;
    found.sort();
    Ok(found)
}

/// A comparison that is going on.
struct Merge<'a> {
    store: &'a Store,
    other: Tree,
    cancelled: &'a AtomicBool,
    found: Vec<Difference>,
    path_bytes: usize,
}

impl Merge<'_> {
    fn push(&mut self, path: String, change: DiffKind) -> Result<(), ErrorCode> {
        self.path_bytes += path.len();
        if self.path_bytes > MAX_PATH_BYTES {
            return Err(ErrorCode::TooLarge(
                "the paths that differ have more than 64 MiB together".to_owned(),
            ));
        }
        self.found.push(Difference { path, change });
        Ok(())
    }

    /// Whether an entry of the snapshot is the same as the last one of the other tree.
    fn is_same(
        &self,
        list: &Manifest,
        before: &Entry,
        after: &Entry,
    ) -> Result<bool, SnapshotError> {
        let is_same_mode = before.meta.mode == after.meta.mode;
        match (&before.what, &after.what) {
            (What::Directory, What::Directory) => Ok(is_same_mode),
            (What::Link { target: one }, What::Link { target: other }) => Ok(one == other),
            (
                What::File { size: one_size, object: one },
                What::File { size: other_size, object: other },
            ) => {
                if !is_same_mode || one_size != other_size {
                    return Ok(false);
                }
                if one == other || self.other.origin(*other) == Some(*one) {
                    return Ok(true);
                }
                let size = *one_size;
                let content = object::open(&self.store.objects, *one, size)?;
                let content = content.ok_or_else(|| list.damaged())?;
                match self.other.open(self.store, &after.name, *other, size)? {
                    Some(other) => Ok(is_same(&content, &other, size, self.cancelled)?),
                    None => Ok(false),
                }
            }
            _ => Ok(false),
        }
    }
}

/// What a snapshot is compared with.
enum Tree {
    Kept(Manifest),
    Present(Walk, Origins),
}

impl Tree {
    fn next(&mut self) -> Result<Option<Entry>, SnapshotError> {
        match self {
            Self::Kept(list) => list.next(),
            Self::Present(walk, _) => Ok(walk.next()?),
        }
    }

    /// The path of the last entry.
    fn shown(&self) -> String {
        match self {
            Self::Kept(list) => list.shown(),
            Self::Present(walk, _) => shown(walk.path()),
        }
    }

    /// The object that a file of this version was restored from.
    fn origin(&self, version: ObjectName) -> Option<ObjectName> {
        match self {
            Self::Kept(_) => None,
            Self::Present(_, origins) => origins.of(version),
        }
    }

    /// Opens the last entry, a file; none if it has been exchanged.
    fn open(
        &self,
        store: &Store,
        name: &OsStr,
        object: ObjectName,
        size: u64,
    ) -> Result<Option<File>, SnapshotError> {
        match self {
            Self::Kept(list) => match object::open(&store.objects, object, size)? {
                Some(file) => Ok(Some(file)),
                None => Err(list.damaged()),
            },
            Self::Present(walk, _) => match open_regular(walk.dir(), name) {
                Ok(found) => Ok(found.map(|(file, _)| file)),
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP) => Ok(None),
                Err(errno) => Err(code(errno).into()),
            },
        }
    }
}
