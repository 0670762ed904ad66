//! A workspace in memory.

mod tree;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use handhold_core::lines::read_window;
use handhold_core::path::WorkspacePath;
use handhold_core::search::{self, Base, Budget, Hiding, Tree};
use handhold_core::types::{
    BytesPage, Condition, ErrorCode, FileInfo, FileKind, GlobPage, GlobRequest, GrepPage,
    GrepRequest, LsPage, ReadOutcome, ReadRequest, Removed, WriteRequest, Written,
};

use self::tree::MemoryTree;
use super::{MAX_READ_BYTES, blocking};
use crate::backend::{Backend, Draft, View};

/// A workspace in memory, empty at first and gone with the last handle.
///
/// It has files and directories, no links and no permissions. Handles made by `clone` show the
/// same workspace.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    state: Arc<RwLock<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// By path without the leading slash; the root has no entry.
    nodes: BTreeMap<String, Node>,
    /// How many writes there were, for versions.
    writes: u64,
}

#[derive(Clone, Debug)]
enum Node {
    Directory { modified: SystemTime },
    File(File),
}

#[derive(Clone, Debug)]
struct File {
    content: Arc<Vec<u8>>,
    version: u64,
    modified: SystemTime,
}

impl File {
    fn version(&self) -> String {
        format!("m{:x}", self.version)
    }
}

impl Memory {
    /// An empty workspace.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this is the only handle of a workspace that was never written to.
    pub(crate) fn is_unused(&self) -> bool {
        // Nobody else has a handle to make another one of meanwhile.
        Arc::strong_count(&self.state) == 1 && self.read_state().writes == 0
    }

    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, path: &str) -> Result<File, ErrorCode> {
        let path = parse(path)?;
        let state = self.read_state();
        match state.find(&path)? {
            Some(Node::File(file)) => Ok(file.clone()),
            Some(Node::Directory { .. }) => Err(ErrorCode::IsDirectory),
            None if path.is_root() => Err(ErrorCode::IsDirectory),
            None => Err(ErrorCode::NotFound),
        }
    }

    fn write_file(&self, request: WriteRequest, append: bool) -> Result<Written, ErrorCode> {
        let WriteRequest { path, mut content, condition, dry_run } = request;
        let how = How { condition: &condition, append, dry_run };
        self.write_state().put(&parse(&path)?, &mut content, how)
    }

    /// Where a search starts; none if nothing of this workspace is shown there.
    fn start(&self, asked: &str, view: &View) -> Result<Option<Start>, ErrorCode> {
        let asked = parse(asked)?;
        let Some((path, shown)) = view.start(&asked) else { return Ok(None) };
        let is_file = self.is_file_base(&path)?;
        let (real, asked) = (path.relative().to_owned(), asked.relative().to_owned());
        Ok(Some(Start { real, shown, asked, root: view.at().to_owned(), is_file }))
    }

    /// What a search sees.
    fn tree(&self, view: View) -> impl Tree {
        let hides = move |path: &OsStr, kind| view.hides(&path.to_string_lossy(), kind);
        Hiding::new(MemoryTree(self.clone()), hides)
    }

    /// Whether a search starts at a file.
    fn is_file_base(&self, path: &WorkspacePath) -> Result<bool, ErrorCode> {
        match self.read_state().find(path)? {
            Some(Node::File(_)) => Ok(true),
            Some(Node::Directory { .. }) => Ok(false),
            None if path.is_root() => Ok(false),
            None => Err(ErrorCode::NotFound),
        }
    }
}

/// Where a search starts.
struct Start {
    real: String,
    shown: String,
    asked: String,
    root: String,
    is_file: bool,
}

impl Start {
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

fn parse(path: &str) -> Result<WorkspacePath, ErrorCode> {
    WorkspacePath::parse(path).map_err(|error| ErrorCode::InvalidPath(error.to_string()))
}

fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

impl State {
    /// The node at `path`; none if nothing is there, or for the root. Fails if a part of the path
    /// is a file.
    fn find(&self, path: &WorkspacePath) -> Result<Option<&Node>, ErrorCode> {
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            if let Some(Node::File(_)) = self.nodes.get(dir.relative()) {
                return Err(ErrorCode::NotADirectory);
            }
            above = dir.parent();
        }
        Ok(self.nodes.get(path.relative()))
    }

    /// All paths beneath a directory, itself not among them.
    fn beneath(&self, path: &WorkspacePath) -> impl Iterator<Item = (&String, &Node)> {
        let prefix = prefix(path);
        let range = (Bound::Excluded(prefix.clone()), Bound::Unbounded);
        self.nodes.range(range).take_while(move |(key, _)| key.starts_with(&prefix))
    }

    /// The entries of a directory: names and nodes, in order of names.
    fn children(&self, path: &WorkspacePath) -> Vec<(&str, &Node)> {
        let skip = prefix(path).len();
        let mut children: Vec<(&str, &Node)> = self
            .beneath(path)
            .filter_map(|(key, node)| key.get(skip..).map(|name| (name, node)))
            .filter(|(name, _)| !name.contains('/'))
            .collect();
        children.sort_unstable_by_key(|(name, _)| *name);
        children
    }

    fn make_parents(&mut self, path: &WorkspacePath) {
        let now = SystemTime::now();
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| !dir.is_root()) {
            self.nodes
                .entry(dir.relative().to_owned())
                .or_insert(Node::Directory { modified: now });
            above = dir.parent();
        }
    }

    /// Writes a file; takes the content out if it does.
    fn put(
        &mut self,
        path: &WorkspacePath,
        content: &mut Vec<u8>,
        how: How<'_>,
    ) -> Result<Written, ErrorCode> {
        let before = match self.find(path)? {
            Some(Node::Directory { .. }) => return Err(ErrorCode::IsDirectory),
            None if path.is_root() => return Err(ErrorCode::IsDirectory),
            Some(Node::File(file)) => Some(file.clone()),
            None => None,
        };
        how.condition.check(before.as_ref().map(File::version).as_deref())?;
        let previous_size = before.as_ref().map(|file| file.content.len() as u64);
        let kept = before.as_ref().filter(|_| how.append).map(|file| file.content.as_slice());
        let size = (kept.map_or(0, <[u8]>::len) + content.len()) as u64;
        if how.dry_run {
            let version = before.map(|file| file.version()).unwrap_or_default();
            return Ok(Written { size, previous_size, version });
        }
        let content = match kept {
            Some(kept) => [kept, content.as_slice()].concat(),
            None => std::mem::take(content),
        };
        self.make_parents(path);
        self.writes += 1;
        let file =
            File { content: Arc::new(content), version: self.writes, modified: SystemTime::now() };
        let version = file.version();
        self.nodes.insert(path.relative().to_owned(), Node::File(file));
        Ok(Written { size, previous_size, version })
    }
}

/// How a file is written.
struct How<'a> {
    condition: &'a Condition,
    append: bool,
    dry_run: bool,
}

/// A file in the making.
struct MemoryDraft {
    memory: Memory,
    directory: WorkspacePath,
    /// None once it is published.
    content: Option<Vec<u8>>,
}

#[async_trait]
impl Draft for MemoryDraft {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        self.content.as_mut().ok_or(ErrorCode::Cancelled)?.extend_from_slice(&content);
        Ok(())
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        let how = How { condition: &condition, append: false, dry_run: false };
        let path = self.directory.entry(name)?;
        let content = self.content.as_mut().ok_or(ErrorCode::Cancelled)?;
        let written = self.memory.write_state().put(&path, content, how)?;
        self.content = None;
        Ok(written)
    }
}

/// The start of the paths beneath a directory.
fn prefix(path: &WorkspacePath) -> String {
    if path.is_root() { String::new() } else { format!("{}/", path.relative()) }
}

#[async_trait]
impl Backend for Memory {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        let path = parse(path)?;
        let state = self.read_state();
        let info = |path: String, node: &Node| match node {
            Node::Directory { modified } => FileInfo {
                path,
                kind: FileKind::Directory,
                size: 0,
                modified: millis(*modified),
                link_target: None,
            },
            Node::File(file) => FileInfo {
                path,
                kind: FileKind::File,
                size: file.content.len() as u64,
                modified: millis(file.modified),
                link_target: None,
            },
        };
        match state.find(&path)? {
            Some(node @ Node::File(_)) => {
                let entries =
                    if offset == 0 { vec![info(path.as_str().to_owned(), node)] } else { vec![] };
                return Ok(LsPage { entries, total: 1, undecodable: 0, is_directory: false });
            }
            None if !path.is_root() => return Err(ErrorCode::NotFound),
            _ => {}
        }
        let children = state.children(&path);
        let total = children.len() as u64;
        let entries = children
            .into_iter()
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .map(|(name, node)| info(path.child(name).as_str().to_owned(), node))
            .collect();
        Ok(LsPage { entries, total, undecodable: 0, is_directory: true })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        let file = self.file(&request.path)?;
        read_window(&mut file.content.as_slice(), &request, &file.version())
            .map_err(|error| ErrorCode::Unavailable(error.kind().to_string()))
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        let file = self.file(path)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = file.content.get(start..).unwrap_or_default();
        let length = usize::try_from(length.min(MAX_READ_BYTES)).unwrap_or(usize::MAX);
        let data = rest.get(..length).unwrap_or(rest).to_vec();
        Ok(BytesPage { data, size: file.content.len() as u64, version: file.version() })
    }

    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        let (memory, view) = (self.clone(), view.clone());
        blocking::run(move |cancelled| {
            let budget = Budget::new(request.time_ms, cancelled, blocking::search_threads());
            let Some(start) = memory.start(&request.path, &view)? else {
                return Ok(GlobPage::default());
            };
            search::glob(&memory.tree(view), start.base(), &request, &budget)
        })
        .await
    }

    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        let (memory, view) = (self.clone(), view.clone());
        blocking::run(move |cancelled| {
            let budget = Budget::new(request.time_ms, cancelled, blocking::search_threads());
            let Some(start) = memory.start(&request.path, &view)? else {
                return Ok(GrepPage { complete: true, ..GrepPage::default() });
            };
            search::grep(&memory.tree(view), start.base(), &request, &budget)
        })
        .await
    }

    async fn resolve(&self, path: &str, _: bool) -> Result<String, ErrorCode> {
        Ok(parse(path)?.as_str().to_owned())
    }

    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.write_file(request, false)
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.write_file(request, true)
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        let directory = parse(directory)?;
        Ok(Box::new(MemoryDraft { memory: self.clone(), directory, content: Some(Vec::new()) }))
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        let path = parse(path)?;
        if path.is_root() {
            return Err(ErrorCode::NotPermitted);
        }
        let mut state = self.write_state();
        let mut removed = Removed::default();
        match state.find(&path)? {
            None => return Err(ErrorCode::NotFound),
            Some(Node::File(file)) => {
                removed.files = 1;
                removed.bytes = file.content.len() as u64;
            }
            Some(Node::Directory { .. }) => {
                removed.directories = 1;
                let beneath: Vec<String> =
                    state.beneath(&path).map(|(key, _)| key.clone()).collect();
                if !beneath.is_empty() && !recursive {
                    return Err(ErrorCode::NotEmpty);
                }
                for key in beneath {
                    match state.nodes.remove(&key) {
                        Some(Node::File(file)) => {
                            removed.files += 1;
                            removed.bytes += file.content.len() as u64;
                        }
                        _ => removed.directories += 1,
                    }
                }
            }
        }
        state.nodes.remove(path.relative());
        Ok(removed)
    }

    async fn remove_version(&self, path: &str, version: &str) -> Result<Removed, ErrorCode> {
        let path = parse(path)?;
        let mut state = self.write_state();
        let bytes = match state.find(&path)? {
            None => return Err(ErrorCode::NotFound),
            Some(Node::File(file)) if file.version() == version => file.content.len() as u64,
            Some(_) => return Err(ErrorCode::Conflict),
        };
        state.nodes.remove(path.relative());
        Ok(Removed { files: 1, directories: 0, bytes })
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        let (source, destination) = (parse(source)?, parse(destination)?);
        if source.is_root() {
            return Err(ErrorCode::NotPermitted);
        }
        if destination.is_within(&source) {
            return Err(ErrorCode::InvalidPath(format!("{source} cannot be moved into itself")));
        }
        let mut state = self.write_state();
        let is_directory = match state.find(&source)? {
            None => return Err(ErrorCode::NotFound),
            Some(node) => matches!(node, Node::Directory { .. }),
        };
        match state.find(&destination)? {
            _ if destination.is_root() => return Err(ErrorCode::IsDirectory),
            None => {}
            Some(_) if !overwrite => return Err(ErrorCode::AlreadyExists),
            Some(Node::Directory { .. }) => return Err(ErrorCode::IsDirectory),
            // A directory never takes the place of a file.
            Some(Node::File(_)) if is_directory => return Err(ErrorCode::NotADirectory),
            Some(Node::File(_)) => {}
        }
        state.make_parents(&destination);
        let beneath: Vec<String> = state.beneath(&source).map(|(key, _)| key.clone()).collect();
        for key in std::iter::once(source.relative().to_owned()).chain(beneath) {
            if let Some(node) = state.nodes.remove(&key) {
                let rest = key.get(source.relative().len()..).unwrap_or_default();
                state.nodes.insert(format!("{}{rest}", destination.relative()), node);
            }
        }
        Ok(())
    }
}
