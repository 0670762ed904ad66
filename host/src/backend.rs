//! What a workspace is to the tools: a [`Backend`].

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
pub use handhold_core::types::{
    BytesPage, Condition, ErrorCode, FileInfo, FileKind, FileOrder, GlobPage, GlobRequest,
    GrepFile, GrepLine, GrepLineKind, GrepMode, GrepPage, GrepRequest, LinePage, LsPage,
    ReadOutcome, ReadRequest, Removed, WalkReport, WriteRequest, Written,
};

/// A tree of files that the tools work on.
///
/// The functions mirror the interfaces `reader` and `writer` of the WIT, whose documentation says
/// what each does, in which order results come and which errors are meant for which case. Paths
/// arrive normalised (`/src/a.rs`) and have kept the rules of `path-resolution.md`; an
/// implementation that hands them to a file system still has to make sure that links do not lead
/// out.
///
/// What all backends have in common is not to be written again: line windows, glob and grep are
/// functions of `handhold_core` over a reader or a tree.
///
/// A call may be dropped at any point; what it was writing must then be old or new.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Lists the entries of a directory from number `offset` on, at most `limit` of them.
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode>;

    /// Reads a window of lines.
    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode>;

    /// Reads at most `length` bytes from `offset` on.
    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode>;

    /// Finds regular files whose path matches a pattern, as far as the view shows them.
    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode>;

    /// Searches the content of regular files, as far as the view shows them.
    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode>;

    /// The path without links of what is at `path`, or would be if it were made. Whether a link at
    /// its end is followed says `follow_last`.
    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode>;

    /// The same workspace for paths that have been resolved: where a link would be followed,
    /// nothing is found (`not-found`). None if the workspace can have no links.
    ///
    /// With it, who checks a path and then uses it cannot be redirected by a link that was put in
    /// its way meanwhile. A backend with links has to give it, and a decorator to pass it on.
    fn without_links(&self) -> Option<Arc<dyn Backend>> {
        None
    }

    /// Makes `content` the content of a file.
    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode>;

    /// Puts `content` behind what is in a file.
    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode>;

    /// Begins a file in the making that is to have its place in `directory`, which need not exist.
    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode>;

    /// Removes a file, a link, or a directory.
    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode>;

    /// Removes a regular file if it is at `version`; else it fails with `conflict`.
    ///
    /// A backend that has files does both in one step. As it is written here, it looks first: a
    /// change between the two is lost.
    async fn remove_version(&self, path: &str, version: &str) -> Result<Removed, ErrorCode> {
        if self.read_bytes(path, 0, 0).await?.version != version {
            return Err(ErrorCode::Conflict);
        }
        self.remove(path, false).await
    }

    /// Moves a file, a link, or a directory.
    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode>;
}

/// A file in the making, of any size; dropping it throws away what has not been published.
///
/// Mirrors the resource `draft` of the WIT's `writer`.
#[async_trait]
pub trait Draft: Send {
    /// Puts bytes behind those it has: all of them, or none if it fails.
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode>;

    /// Gives it the name `name` in its directory. If that fails, it may be tried again.
    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode>;
}

/// How much of a backend a search sees, and where it is shown.
///
/// The paths of a request's `path`, of patterns and of results are those that are shown; its
/// `offload_path` is a path of the backend.
///
/// Decorators narrow it on the way to the backend that has the files.
#[derive(Clone, Default)]
pub struct View {
    /// Where the root of the backend is shown, as in `skills`; empty for the root.
    at: String,
    hides: Vec<Arc<Hides>>,
}

/// Whether the entry at a path is hidden, given what it is.
type Hides = dyn Fn(&str, FileKind) -> bool + Send + Sync;

impl View {
    /// Where the root of the backend is shown (`skills`); empty for the root.
    #[must_use]
    pub fn at(&self) -> &str {
        &self.at
    }

    /// Whether the entry at `path` of the backend (`src/a.rs`, without links), which is a `kind`,
    /// is not there to see.
    #[must_use]
    pub fn hides(&self, path: &str, kind: FileKind) -> bool {
        self.hides.iter().any(|hides| hides(path, kind))
    }

    /// Whether anything may be hidden.
    #[must_use]
    pub fn hides_something(&self) -> bool {
        !self.hides.is_empty()
    }

    /// The same view without the entries for whose path `hides` is true, and all beneath them.
    #[must_use]
    pub fn hiding(self, hides: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.hiding_kinds(move |path, _| hides(path))
    }

    /// The same view without the entries for whose path and kind `hides` is true, and all beneath
    /// them: so a directory can be passed through in which a file of its path would be hidden.
    #[must_use]
    pub fn hiding_kinds(
        mut self,
        hides: impl Fn(&str, FileKind) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.hides.push(Arc::new(hides));
        self
    }

    /// The view of a backend whose root is the directory `path` of this one.
    #[must_use]
    pub fn beneath(&self, path: &str) -> Self {
        let at = if self.at.is_empty() { path.to_owned() } else { format!("{}/{path}", self.at) };
        let mut view = Self { at, hides: Vec::new() };
        if self.hides_something() {
            let (above, prefix) = (self.clone(), format!("{path}/"));
            view =
                view.hiding_kinds(move |path, kind| above.hides(&format!("{prefix}{path}"), kind));
        }
        view
    }

    /// Where a search that was asked to start at `asked` starts in the backend, and how that place
    /// is shown; none if the backend is not shown there.
    #[must_use]
    pub fn start(&self, asked: &WorkspacePath) -> Option<(WorkspacePath, String)> {
        let relative = asked.relative();
        if self.at.is_empty() {
            return Some((asked.clone(), relative.to_owned()));
        }
        if relative == self.at {
            return Some((WorkspacePath::root(), self.at.clone()));
        }
        if let Some(rest) = relative.strip_prefix(&self.at).and_then(|rest| rest.strip_prefix('/'))
        {
            return Some((WorkspacePath::root().child(rest), relative.to_owned()));
        }
        let is_above = relative.is_empty()
            || self.at.strip_prefix(relative).is_some_and(|rest| rest.starts_with('/'));
        is_above.then(|| (WorkspacePath::root(), self.at.clone()))
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("at", &self.at).field("hides", &self.hides.len()).finish()
    }
}
