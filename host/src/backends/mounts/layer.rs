//! A backend, where it is shown, and which of its places others take.

use std::collections::BTreeSet;
use std::sync::Arc;

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};

use super::parse;
use super::paths::{above, beneath, join};
use super::spot::Spot;
use crate::backend::Backend;

/// A backend and its place. Paths that its functions take are those of the backend, if their names
/// do not say otherwise.
pub(super) struct Layer {
    at: Arc<WorkspacePath>,
    backend: Arc<dyn Backend>,
    /// The backend for paths that have been checked, in which no link leads elsewhere meanwhile.
    checked: Arc<dyn Backend>,
    /// The places where other layers are shown, by path.
    holes: Arc<[WorkspacePath]>,
}

/// Where a path of a layer leads.
pub(super) enum Place<'a> {
    /// To a place of the backend.
    Here(Spot<'a>),
    /// To what would be in an empty directory: the backend has no directory on the way to a mount
    /// point, but something else.
    InTheWay,
}

impl Layer {
    pub(super) fn new(at: WorkspacePath, backend: Arc<dyn Backend>) -> Self {
        Self::leaving(Arc::new(at), Arc::from([]), backend)
    }

    fn leaving(
        at: Arc<WorkspacePath>,
        holes: Arc<[WorkspacePath]>,
        backend: Arc<dyn Backend>,
    ) -> Self {
        let checked = backend.without_links().unwrap_or_else(|| Arc::clone(&backend));
        Self { at, backend, checked, holes }
    }

    /// A layer at the same place that leaves the same places to others.
    pub(super) fn over(&self, backend: Arc<dyn Backend>) -> Self {
        Self::leaving(Arc::clone(&self.at), Arc::clone(&self.holes), backend)
    }

    /// Leaves a place to the layer that is shown at `point`.
    pub(super) fn make_room(&mut self, point: &WorkspacePath) {
        self.holes = self.holes.iter().cloned().chain(self.inner(point)).collect();
    }

    /// The same layer in which no link is followed; none if the backend can have no links.
    pub(super) fn without_links(&self) -> Option<Self> {
        if Arc::ptr_eq(&self.backend, &self.checked) {
            return None;
        }
        let (backend, checked) = (Arc::clone(&self.checked), Arc::clone(&self.checked));
        let (at, holes) = (Arc::clone(&self.at), Arc::clone(&self.holes));
        Some(Self { at, backend, checked, holes })
    }

    /// Where it is shown.
    pub(super) fn at(&self) -> &WorkspacePath {
        &self.at
    }

    pub(super) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Whether no other layer takes a place of it.
    pub(super) fn is_whole(&self) -> bool {
        self.holes.is_empty()
    }

    /// The path in the backend of what is shown at `shown`; none if that is elsewhere.
    pub(super) fn inner(&self, shown: &WorkspacePath) -> Option<WorkspacePath> {
        let rest = beneath(shown.relative(), self.at.relative())?;
        Some(join(&WorkspacePath::root(), rest))
    }

    /// Where a path of the backend is shown.
    pub(super) fn shown(&self, path: &WorkspacePath) -> WorkspacePath {
        join(&self.at, path.relative())
    }

    /// Whether another layer is shown at `path`.
    pub(super) fn is_hole(&self, path: &WorkspacePath) -> bool {
        self.holes.contains(path)
    }

    /// Whether another layer is shown beneath `path`.
    pub(super) fn is_on_the_way(&self, path: &WorkspacePath) -> bool {
        self.holes.iter().any(|hole| hole != path && hole.is_within(path))
    }

    /// The entries of a directory that are holes, or on the way to one.
    pub(super) fn fixed_names(&self, dir: &WorkspacePath) -> BTreeSet<&str> {
        self.holes
            .iter()
            .filter_map(|hole| beneath(hole.relative(), dir.relative()))
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// What hides the entries of the backend that are not to be seen.
    pub(super) async fn mask(&self) -> Result<impl Fn(&str) -> bool + use<>, ErrorCode> {
        let ways: BTreeSet<WorkspacePath> = self.holes.iter().flat_map(above).collect();
        let mut blocked: Vec<WorkspacePath> = Vec::new();
        // Those above come first.
        for way in ways {
            let known = blocked.iter().any(|above| way.is_within(above));
            if !known && is_something_else(self.entry(&way).await?) {
                blocked.push(way);
            }
        }
        let hidden: Vec<String> =
            self.holes.iter().chain(&blocked).map(|path| path.relative().to_owned()).collect();
        Ok(move |path: &str| hidden.iter().any(|hidden| beneath(path, hidden).is_some()))
    }

    /// Where a path leads; whether a link at its end is followed says `follow_last`.
    ///
    /// Fails with `not-found` if that is hidden.
    pub(super) async fn place(
        &self,
        path: &WorkspacePath,
        follow_last: bool,
    ) -> Result<Place<'_>, ErrorCode> {
        if self.is_whole() {
            return Ok(Place::Here(Spot::new(self, &self.backend, path.clone(), path)));
        }
        let mut ways = above(path);
        ways.push(path.clone());
        for way in ways.into_iter().filter(|way| self.is_on_the_way(way)) {
            match self.entry(&way).await? {
                Some(FileKind::Directory) => {}
                Some(_) => return Ok(Place::InTheWay),
                None => break,
            }
        }
        let given = Spot::new(self, &self.checked, path.clone(), path);
        let real = match self.backend.resolve(path.as_str(), follow_last).await {
            Ok(real) => parse(&real)?,
            // Why it fails there tells something about what is hidden.
            Err(_) if self.leads_to_a_hole(path).await? => return Err(ErrorCode::NotFound),
            Err(error) => return Err(given.failed(error)),
        };
        if self.holes.iter().any(|hole| real.is_within(hole)) {
            return Err(ErrorCode::NotFound);
        }
        // By a link to what is in the way of a mount point.
        if real != *path && self.is_on_the_way(&real) && is_something_else(self.entry(&real).await?)
        {
            return Err(ErrorCode::NotFound);
        }
        Ok(Place::Here(Spot::new(self, &self.checked, real, path)))
    }

    /// Whether a directory on the way to `path` is hidden, by a link.
    async fn leads_to_a_hole(&self, path: &WorkspacePath) -> Result<bool, ErrorCode> {
        for dir in above(path) {
            let Ok(real) = self.backend.resolve(dir.as_str(), true).await else { break };
            let real = parse(&real)?;
            if self.holes.iter().any(|hole| real.is_within(hole)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the backend has at `path`, to which no link leads; none if nothing is there.
    pub(super) async fn entry(&self, path: &WorkspacePath) -> Result<Option<FileKind>, ErrorCode> {
        Spot::new(self, &self.checked, path.clone(), path).kind().await
    }

    /// The place of a file that is to be read.
    pub(super) async fn to_read(&self, path: &WorkspacePath) -> Result<Spot<'_>, ErrorCode> {
        if self.is_on_the_way(path) {
            return Err(ErrorCode::IsDirectory);
        }
        match self.place(path, true).await? {
            Place::Here(spot) => Ok(spot),
            Place::InTheWay => Err(ErrorCode::NotFound),
        }
    }

    /// The place of a file that is to be written.
    pub(super) async fn to_write(&self, path: &WorkspacePath) -> Result<Spot<'_>, ErrorCode> {
        if self.is_hole(path) || self.is_on_the_way(path) {
            return Err(ErrorCode::IsDirectory);
        }
        match self.place(path, true).await? {
            Place::Here(spot) if self.is_on_the_way(spot.path()) => Err(ErrorCode::IsDirectory),
            Place::Here(spot) => Ok(spot),
            Place::InTheWay => Err(ErrorCode::NotPermitted),
        }
    }

    /// The place of what is to be removed or moved.
    pub(super) async fn to_take(&self, path: &WorkspacePath) -> Result<Spot<'_>, ErrorCode> {
        match self.free_place(path).await? {
            Place::Here(spot) => Ok(spot),
            Place::InTheWay => Err(ErrorCode::NotFound),
        }
    }

    /// The place to which something is to be moved.
    pub(super) async fn to_move_to(&self, path: &WorkspacePath) -> Result<Spot<'_>, ErrorCode> {
        match self.free_place(path).await? {
            Place::Here(spot) => Ok(spot),
            Place::InTheWay => Err(ErrorCode::NotPermitted),
        }
    }

    /// Where a path leads whose entry is to change; fails if that is fixed.
    async fn free_place(&self, path: &WorkspacePath) -> Result<Place<'_>, ErrorCode> {
        if path.is_root() || self.is_hole(path) || self.is_on_the_way(path) {
            return Err(ErrorCode::NotPermitted);
        }
        match self.place(path, false).await? {
            Place::Here(spot) if self.is_on_the_way(spot.path()) => Err(ErrorCode::NotPermitted),
            place => Ok(place),
        }
    }
}

/// Whether what is on the way to a mount point is no directory.
pub(super) fn is_something_else(entry: Option<FileKind>) -> bool {
    entry.is_some_and(|kind| kind != FileKind::Directory)
}
