//! What a backend provides for a search.

use std::ffi::{OsStr, OsString};
use std::io;

use crate::types::FileKind;

/// A tree of directories and regular files.
///
/// Paths are relative to the root of the workspace (`src/a.rs`; the root is empty) and hold no
/// links: an implementation must not follow any.
pub trait Tree: Sync {
    /// An open directory.
    type Dir;
    /// An open file.
    type File: io::Read;

    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// Fails if it cannot be opened, or is a link or no directory.
    fn open_dir(&self, path: &OsStr) -> io::Result<Self::Dir>;

    /// The entries of a directory, in any order.
    ///
    /// # Errors
    /// Fails if they cannot be read.
    fn entries(&self, dir: &Self::Dir) -> io::Result<Vec<TreeEntry>>;

    /// Opens the regular file `name` of a directory; none if it is something else.
    ///
    /// # Errors
    /// Fails if it cannot be opened.
    fn open_file(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<Option<TreeFile<Self::File>>>;

    /// When the file `name` of a directory was last modified, in nanoseconds since the Unix epoch.
    ///
    /// # Errors
    /// Fails if that cannot be found out.
    fn modified(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<u64>;
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct TreeEntry {
    /// The name as it is stored.
    pub name: OsString,
    /// What it is; links are not followed.
    pub kind: FileKind,
}

/// An open file and its size in bytes.
#[derive(Debug)]
pub struct TreeFile<F> {
    /// The file, at its front.
    pub reader: F,
    /// How many bytes it has.
    pub size: u64,
}

/// Where a search starts.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// Where that really is: relative to the root, without a link.
    pub real: &'a str,
    /// How it was named: relative to the root.
    pub shown: &'a str,
    /// Whether it is a file.
    pub is_file: bool,
    /// Where the search was asked to start, which patterns are relative to. It is above `shown` if
    /// the tree is shown somewhere beneath it.
    pub asked: &'a str,
    /// Where the root of the tree is shown; empty for the root.
    pub root: &'a str,
}

/// A tree of which a part is not there to see.
#[derive(Debug)]
pub struct Hiding<T, F> {
    tree: T,
    hides: F,
}

impl<T: Tree, F: Fn(&OsStr, FileKind) -> bool + Sync> Hiding<T, F> {
    /// Hides the entries for whose path and kind `hides` is true, with all that is beneath them.
    pub fn new(tree: T, hides: F) -> Self {
        Self { tree, hides }
    }
}

impl<T: Tree, F: Fn(&OsStr, FileKind) -> bool + Sync> Tree for Hiding<T, F> {
    /// A directory and its path.
    type Dir = (OsString, T::Dir);
    type File = T::File;

    fn open_dir(&self, path: &OsStr) -> io::Result<Self::Dir> {
        // A walk does not come to what lies beneath a hidden directory, but a search may name it.
        if prefixes(path).any(|path| (self.hides)(path, FileKind::Directory)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok((path.to_owned(), self.tree.open_dir(path)?))
    }

    fn entries(&self, (path, dir): &Self::Dir) -> io::Result<Vec<TreeEntry>> {
        let mut entries = self.tree.entries(dir)?;
        entries.retain(|entry| !(self.hides)(&join(path, &entry.name), entry.kind));
        Ok(entries)
    }

    fn open_file(
        &self,
        (path, dir): &Self::Dir,
        name: &OsStr,
    ) -> io::Result<Option<TreeFile<T::File>>> {
        if (self.hides)(&join(path, name), FileKind::File) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.tree.open_file(dir, name)
    }

    fn modified(&self, (_, dir): &Self::Dir, name: &OsStr) -> io::Result<u64> {
        self.tree.modified(dir, name)
    }
}

/// A relative path and all directories above it, without the root.
fn prefixes(path: &OsStr) -> impl Iterator<Item = &OsStr> {
    let above = std::path::Path::new(path).ancestors();
    above.map(std::path::Path::as_os_str).filter(|path| !path.is_empty())
}

/// Joins two relative paths, of which the first may be empty.
pub(super) fn join(dir: &OsStr, name: &OsStr) -> OsString {
    if dir.is_empty() {
        return name.to_owned();
    }
    let mut path = OsString::with_capacity(dir.len() + 1 + name.len());
    path.push(dir);
    path.push("/");
    path.push(name);
    path
}
