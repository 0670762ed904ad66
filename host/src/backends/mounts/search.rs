//! Which layers take part in a search, and what each is asked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use handhold_core::globs::GlobRule;
use handhold_core::limits::VCS_DIRECTORIES;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind, WalkReport};

use super::layer::{Layer, Place};
use super::paths::{above, beneath};
use super::{Mounts, parse};
use crate::backend::{Backend, View};
use crate::backends::Memory;

/// What a request says about where to look.
pub(super) struct Asked<'a> {
    pub(super) path: &'a str,
    /// The pattern for paths.
    pub(super) glob: Option<&'a str>,
    pub(super) include_ignored: bool,
    pub(super) offload_path: &'a str,
}

/// A backend that takes part in a search.
pub(super) struct Part {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) view: View,
    pub(super) offload_path: String,
}

/// The backends that take part in a search.
pub(super) struct Parts {
    /// The one in which it starts.
    pub(super) first: Part,
    /// What takes its place if it has nothing there.
    pub(super) instead: Option<Part>,
    /// Those that are shown beneath the start.
    pub(super) others: Vec<Part>,
    /// What there is to say without asking them.
    pub(super) report: WalkReport,
}

impl Parts {
    /// Whether one backend gives the whole answer.
    pub(super) fn is_one(&self) -> bool {
        self.instead.is_none() && self.others.is_empty() && self.report == WalkReport::default()
    }
}

impl Mounts {
    /// Finds the backends for a search; none if nothing of all this is shown where it starts.
    pub(super) async fn parts(
        &self,
        asked: Asked<'_>,
        view: &View,
    ) -> Result<Option<Parts>, ErrorCode> {
        let path = parse(asked.path)?;
        let Some((start, _)) = view.start(&path) else { return Ok(None) };
        let offload = parse(asked.offload_path).ok().filter(|path| !path.is_root());
        let (layer, inner) = self.route(&start)?;
        let is_ours = layer.is_on_the_way(&inner);
        let first = match layer.place(&inner, true).await? {
            Place::Here(_) => layer.part(view, offload.as_ref()).await?,
            Place::InTheWay if is_ours => empty(&start, view),
            Place::InTheWay => return Err(ErrorCode::NotFound),
        };
        let instead = is_ours.then(|| empty(&start, view));
        let mut parts = Parts { first, instead, others: Vec::new(), report: WalkReport::default() };
        // Who names a file means it.
        let all = asked.include_ignored
            || asked.glob.is_some_and(|glob| names_a_file(glob, path.relative()));
        for layer in &*self.layers {
            if layer.at() == &start || !layer.at().is_within(&start) || is_hidden(layer, view) {
                continue;
            }
            if !all && is_left_out(layer.at(), &start, offload.as_ref()) {
                parts.report.ignored = true;
                continue;
            }
            match layer.part(view, offload.as_ref()).await {
                Ok(part) => parts.others.push(part),
                Err(error) => parts.report.join(failed(error, layer.view(view).at())?),
            }
        }
        Ok(Some(parts))
    }
}

impl Layer {
    /// The view of this layer.
    fn view(&self, view: &View) -> View {
        if self.at().is_root() { view.clone() } else { view.beneath(self.at().relative()) }
    }

    async fn part(&self, view: &View, offload: Option<&WorkspacePath>) -> Result<Part, ErrorCode> {
        let mut view = self.view(view);
        if !self.is_whole() {
            view = view.hiding(self.mask().await?);
        }
        let offload_path = offload
            .and_then(|offload| self.inner(offload))
            .filter(|offload| !offload.is_root())
            // No directory has the empty path.
            .map_or_else(String::new, |offload| offload.as_str().to_owned());
        Ok(Part { backend: Arc::clone(self.backend()), view, offload_path })
    }
}

/// A directory with nothing in it.
fn empty(at: &WorkspacePath, view: &View) -> Part {
    let view = if at.is_root() { view.clone() } else { view.beneath(at.relative()) };
    Part { backend: Arc::new(Memory::new()), view, offload_path: String::new() }
}

/// Whether what is above has hidden a mount.
fn is_hidden(layer: &Layer, view: &View) -> bool {
    let at = layer.at();
    let hides = |dir: &WorkspacePath| view.hides(dir.relative(), FileKind::Directory);
    hides(at) || above(at).iter().any(hides)
}

/// Whether a pattern names one file, and where.
fn names_a_file(glob: &str, asked: &str) -> bool {
    GlobRule::new(glob, asked).is_ok_and(|rule| rule.literal_path().is_some())
}

/// Whether a walk from `start` leaves out a mount, or a directory on the way to it.
fn is_left_out(
    point: &WorkspacePath,
    start: &WorkspacePath,
    offload: Option<&WorkspacePath>,
) -> bool {
    let in_offload = offload.is_some_and(|offload| {
        offload != start && offload.is_within(start) && point.is_within(offload)
    });
    let rest = beneath(point.relative(), start.relative()).unwrap_or_default();
    in_offload || rest.split('/').any(|name| VCS_DIRECTORIES.contains(&name))
}

/// What an error of a backend that is shown at `at` is for a search that goes on without it.
///
/// Fails for what is wrong with the request.
pub(super) fn failed(error: ErrorCode, at: &str) -> Result<WalkReport, ErrorCode> {
    match error {
        ErrorCode::InvalidArguments(_) | ErrorCode::TooLarge(_) | ErrorCode::Cancelled => {
            Err(error)
        }
        // It is gone, as a directory may be.
        ErrorCode::NotFound => Ok(WalkReport::default()),
        ErrorCode::TimedOut => Ok(WalkReport { stopped: true, ..WalkReport::default() }),
        _ => {
            let unreadable = vec![format!("/{at}/")];
            Ok(WalkReport { unreadable, unreadable_count: 1, ..WalkReport::default() })
        }
    }
}

/// The time that all parts of a search have together.
pub(super) struct Clock {
    deadline: Instant,
}

impl Clock {
    pub(super) fn new(milliseconds: u64) -> Self {
        let time = Duration::from_millis(milliseconds.min(u64::from(u32::MAX)));
        Self { deadline: Instant::now() + time }
    }

    /// How many milliseconds are left.
    pub(super) fn left(&self) -> u64 {
        let left = self.deadline.saturating_duration_since(Instant::now());
        u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
    }
}
