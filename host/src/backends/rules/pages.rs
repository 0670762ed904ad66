//! All entries of a directory, page by page.

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileInfo, LsPage};

use crate::backend::Backend;

/// How many entries are listed at once. A backend may read a whole directory for every page, so
/// that large pages are cheaper.
const LISTED_AT_ONCE: u64 = 65_536;

/// The pages of a directory's entries, or the one page of a file.
pub(super) struct Pages<'a> {
    backend: &'a dyn Backend,
    path: &'a WorkspacePath,
    seen: u64,
    is_over: bool,
}

impl<'a> Pages<'a> {
    /// Pages of what is at `path`; `backend` should not follow links.
    pub(super) fn of(backend: &'a dyn Backend, path: &'a WorkspacePath) -> Self {
        Self { backend, path, seen: 0, is_over: false }
    }

    /// The next page; none after the last, of which there is at least one.
    pub(super) async fn next(&mut self) -> Result<Option<LsPage>, ErrorCode> {
        if self.is_over {
            return Ok(None);
        }
        let page = self.backend.ls_info(self.path.as_str(), self.seen, LISTED_AT_ONCE).await?;
        self.seen += page.entries.len() as u64;
        self.is_over = page.entries.is_empty() || self.seen >= page.total || !page.is_directory;
        Ok(Some(page))
    }
}

/// The name of a listed entry.
pub(super) fn name(entry: &FileInfo) -> &str {
    entry.path.rsplit_once('/').map_or(&*entry.path, |(_, name)| name)
}

/// Whether a listed name may stand for one that is not UTF-8, which no path leads to.
pub(super) fn may_be_undecodable(name: &str) -> bool {
    name.contains('\u{fffd}')
}
