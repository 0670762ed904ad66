//! Searches that do not see what may not be read.

use std::sync::Arc;

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, WalkReport};

use super::Rules;
use super::place::{Place, parse};
use super::rule::Operation;
use crate::backend::View;

/// What a search sees, and what its paths stand for.
pub(super) struct Narrowed {
    pub(super) view: View,
    /// Where it starts, and how that is shown.
    pub(super) start: Place,
    shown: String,
}

impl Rules {
    /// What a search sees that is asked to start at `asked`; none if nothing of this workspace is
    /// shown there. Fails with `not-found` if the start is not seen.
    pub(super) async fn narrow(
        &self,
        asked: &str,
        view: &View,
    ) -> Result<Option<Narrowed>, ErrorCode> {
        let Some((start, shown)) = view.start(&parse(asked)?) else { return Ok(None) };
        let start = self.place_to_read(start, true).await?;
        let set = Arc::clone(&self.set);
        let mut view = view.clone().hiding_kinds(move |path, kind| set.hides(path, kind));
        if start.named != start.real {
            // What lies beneath a link is not seen either if its name by way of it is denied.
            let (set, start) = (Arc::clone(&self.set), start.clone());
            view = view.hiding_kinds(move |path, kind| {
                let rest = beneath(path, start.real.relative());
                rest.is_some_and(|rest| set.hides(start.named.child(rest).relative(), kind))
            });
        }
        Ok(Some(Narrowed { view, start, shown }))
    }

    /// Takes out of a report what may not be seen: a directory that a search has to go through to
    /// something that may be seen, and that cannot be read.
    pub(super) fn trim(&self, report: &mut WalkReport, narrowed: &Narrowed) {
        let before = report.unreadable.len();
        report.unreadable.retain(|shown| {
            let shown = WorkspacePath::root().child(shown.trim_matches('/'));
            let real = match beneath(shown.relative(), &narrowed.shown) {
                Some(rest) => narrowed.start.real.child(rest),
                None if shown.relative() == narrowed.shown => narrowed.start.real.clone(),
                // An ignore file above the start, which is seen.
                None => return true,
            };
            self.set.allows(Operation::Read, &real)
        });
        let hidden = (before - report.unreadable.len()) as u64;
        report.unreadable_count = report.unreadable_count.saturating_sub(hidden);
    }
}

/// What is left of a path beneath another one, both without a leading slash.
fn beneath<'a>(path: &'a str, above: &str) -> Option<&'a str> {
    if above.is_empty() {
        return Some(path);
    }
    path.strip_prefix(above)?.strip_prefix('/')
}
