//! A workspace in memory as a tree to search.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use handhold_core::path::WorkspacePath;
use handhold_core::search::{Tree, TreeEntry, TreeFile};
use handhold_core::types::FileKind;

use super::{File, Memory, Node};

/// A file that is read from its front.
pub(super) struct Reader {
    content: Arc<Vec<u8>>,
    position: usize,
}

impl io::Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut rest = self.content.get(self.position..).unwrap_or_default();
        let n = rest.read(buffer)?;
        self.position += n;
        Ok(n)
    }
}

/// The tree.
pub(super) struct MemoryTree(pub(super) Memory);

impl MemoryTree {
    fn file(&self, dir: &WorkspacePath, name: &OsStr) -> io::Result<Option<File>> {
        let name = name.to_str().ok_or(io::ErrorKind::NotFound)?;
        match self.0.read_state().nodes.get(dir.child(name).relative()) {
            Some(Node::File(file)) => Ok(Some(file.clone())),
            Some(Node::Directory { .. }) => Ok(None),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Tree for MemoryTree {
    type Dir = WorkspacePath;
    type File = Reader;

    fn open_dir(&self, path: &OsStr) -> io::Result<WorkspacePath> {
        let path = path
            .to_str()
            .and_then(|path| WorkspacePath::parse(&format!("/{path}")).ok())
            .ok_or(io::ErrorKind::NotFound)?;
        match self.0.read_state().nodes.get(path.relative()) {
            _ if path.is_root() => Ok(path),
            Some(Node::Directory { .. }) => Ok(path),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn entries(&self, dir: &WorkspacePath) -> io::Result<Vec<TreeEntry>> {
        let state = self.0.read_state();
        let entry = |(name, node): (&str, &Node)| TreeEntry {
            name: name.into(),
            kind: match node {
                Node::Directory { .. } => FileKind::Directory,
                Node::File(_) => FileKind::File,
            },
        };
        Ok(state.children(dir).into_iter().map(entry).collect())
    }

    fn open_file(&self, dir: &WorkspacePath, name: &OsStr) -> io::Result<Option<TreeFile<Reader>>> {
        Ok(self.file(dir, name)?.map(|file| TreeFile {
            size: file.content.len() as u64,
            reader: Reader { content: file.content, position: 0 },
        }))
    }

    fn modified(&self, dir: &WorkspacePath, name: &OsStr) -> io::Result<u64> {
        let file = self.file(dir, name)?.ok_or(io::ErrorKind::NotFound)?;
        let time = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }
}
