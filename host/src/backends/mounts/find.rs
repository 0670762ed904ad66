//! `glob` over all layers.

use std::cmp::Reverse;
use std::collections::VecDeque;

use handhold_core::limits::MAX_PATH_BYTES;
use handhold_core::path::WorkspacePath;
use handhold_core::search::{first_files, glob_page};
use handhold_core::types::{ErrorCode, FileKind, FileOrder, GlobPage, GlobRequest, WalkReport};

use super::Mounts;
use super::paths::beneath;
use super::search::{Asked, Clock, Part, failed};
use crate::backend::View;

impl Mounts {
    pub(super) async fn find(
        &self,
        request: GlobRequest,
        view: &View,
    ) -> Result<GlobPage, ErrorCode> {
        let clock = Clock::new(request.time_ms);
        let asked = Asked {
            path: &request.path,
            glob: Some(&request.pattern),
            include_ignored: request.include_ignored,
            offload_path: &request.offload_path,
        };
        let Some(parts) = self.parts(asked, view).await? else { return Ok(GlobPage::default()) };
        if parts.is_one() {
            return parts.first.ask_glob(&request, &clock).await;
        }
        let mut merged = Merged { report: parts.report, ..Merged::default() };
        let first = match (parts.first.first_files(&request, &clock).await, parts.instead) {
            (Err(ErrorCode::NotFound), Some(instead)) => {
                instead.first_files(&request, &clock).await
            }
            (result, _) => result,
        };
        merged.add(&parts.first, first?);
        for part in &parts.others {
            if clock.left() == 0 {
                merged.report.stopped = true;
                break;
            }
            match part.first_files(&request, &clock).await {
                Ok(page) => merged.add(part, page),
                Err(error) => merged.report.join(failed(error, part.view.at())?),
            }
        }
        let files = glob_page(merged.in_order(&request, &clock).await, &request);
        Ok(GlobPage { files, total: merged.total, report: merged.report })
    }
}

impl Part {
    async fn ask_glob(&self, request: &GlobRequest, clock: &Clock) -> Result<GlobPage, ErrorCode> {
        let request = GlobRequest {
            offload_path: self.offload_path.clone(),
            time_ms: clock.left(),
            ..request.clone()
        };
        self.backend.glob_info(request, &self.view).await
    }

    /// All files that can be on the merged page, also from a backend that gives short pages.
    async fn first_files(
        &self,
        request: &GlobRequest,
        clock: &Clock,
    ) -> Result<GlobPage, ErrorCode> {
        let limit = first_files(request);
        // Those that come before the page take room as well.
        let before = request.offset.saturating_mul(MAX_PATH_BYTES as u64);
        let max_bytes = request.max_bytes.saturating_add(before);
        let mut asked = GlobRequest { offset: 0, limit, max_bytes, ..request.clone() };
        let mut page = self.ask_glob(&asked, clock).await?;
        loop {
            let done = page.files.len() as u64;
            if done >= limit || done >= page.total || page.report.stopped {
                return Ok(page);
            }
            let bytes: usize = page.files.iter().map(String::len).sum();
            asked.max_bytes = max_bytes.saturating_sub(bytes as u64);
            (asked.offset, asked.limit) = (done, limit - done);
            if asked.max_bytes == 0 {
                return Ok(page);
            }
            let more = self.ask_glob(&asked, clock).await?;
            (page.total, page.report) = (more.total, more.report);
            if more.files.is_empty() {
                return Ok(page);
            }
            page.files.extend(more.files);
        }
    }

    /// The path in the backend of what is shown at `shown`.
    fn path(&self, shown: &str) -> Option<WorkspacePath> {
        let path = beneath(shown.strip_prefix('/')?, self.view.at())?;
        WorkspacePath::parse(&format!("/{path}")).ok()
    }
}

/// What the layers have, each in its order.
#[derive(Default)]
struct Merged<'a> {
    lists: Vec<List<'a>>,
    total: u64,
    report: WalkReport,
}

/// What one layer has.
struct List<'a> {
    part: &'a Part,
    files: VecDeque<String>,
    /// When the first of them was modified, once that is known.
    modified: Option<u64>,
    /// Whether others come after them.
    more: bool,
}

impl<'a> Merged<'a> {
    fn add(&mut self, part: &'a Part, page: GlobPage) {
        self.total = self.total.saturating_add(page.total);
        // What was found before the time ran out is all there is.
        let more = !page.report.stopped && (page.files.len() as u64) < page.total;
        self.report.join(page.report);
        if !page.files.is_empty() {
            self.lists.push(List { part, files: page.files.into(), modified: None, more });
        }
    }

    /// The first files of all layers in the order of the request.
    ///
    /// Files of one layer stay in the order that they have there: it knows their times better.
    async fn in_order(&mut self, request: &GlobRequest, clock: &Clock) -> Vec<String> {
        let by_time = request.order == FileOrder::Modified && self.lists.len() > 1;
        let wanted = usize::try_from(first_files(request)).unwrap_or(usize::MAX);
        let mut files = Vec::new();
        while files.len() < wanted {
            if by_time {
                if clock.left() == 0 {
                    self.report.stopped = true;
                    break;
                }
                for list in &mut self.lists {
                    let lost = list.look_at_the_first().await;
                    self.total = self.total.saturating_sub(lost.files);
                    self.report.files = self.report.files.saturating_sub(lost.files);
                    self.report.join(WalkReport { files: 0, ..lost });
                }
            }
            // What comes next is not known where a layer has more than it gave.
            if self.lists.iter().any(|list| list.files.is_empty() && list.more) {
                break;
            }
            let next = self.lists.iter_mut().filter(|list| !list.files.is_empty());
            let Some(next) = next.min_by(|a, b| a.key().cmp(&b.key())) else { break };
            next.modified = None;
            files.extend(next.files.pop_front());
        }
        files
    }
}

impl List<'_> {
    fn key(&self) -> (Reverse<u64>, Option<&String>) {
        (Reverse(self.modified.unwrap_or_default()), self.files.front())
    }

    /// Finds out when the first file was modified. Files that are gone are left out, and so are
    /// those that cannot be looked at; the report has how many files that are.
    async fn look_at_the_first(&mut self) -> WalkReport {
        let mut lost = WalkReport::default();
        while let Some(file) = self.files.front().filter(|_| self.modified.is_none()) {
            let found = match self.part.path(file) {
                Some(path) => self.part.backend.ls_info(path.as_str(), 0, 1).await,
                None => Err(ErrorCode::NotFound),
            };
            match found.map(|page| page.entries.into_iter().next()) {
                Ok(Some(entry)) if entry.kind == FileKind::File => {
                    self.modified = Some(entry.modified);
                    break;
                }
                Ok(_) | Err(ErrorCode::NotFound | ErrorCode::NotADirectory) => {}
                Err(_) => {
                    lost.unreadable.push(file.clone());
                    lost.unreadable_count += 1;
                }
            }
            lost.files += 1;
            self.files.pop_front();
        }
        lost
    }
}
