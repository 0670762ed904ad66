//! `grep` over all layers.

use handhold_core::grep_pages::join;
use handhold_core::search::MergedGrep;
use handhold_core::types::{ErrorCode, GrepPage, GrepRequest, WalkReport};

use super::Mounts;
use super::search::{Asked, Clock, Part, failed};
use crate::backend::View;

impl Mounts {
    pub(super) async fn grep(
        &self,
        request: GrepRequest,
        view: &View,
    ) -> Result<GrepPage, ErrorCode> {
        let clock = Clock::new(request.time_ms);
        let asked = Asked {
            path: &request.path,
            glob: request.glob.as_deref(),
            include_ignored: request.include_ignored,
            offload_path: &request.offload_path,
        };
        let Some(parts) = self.parts(asked, view).await? else {
            return Ok(GrepPage { complete: true, ..GrepPage::default() });
        };
        if parts.is_one() {
            return parts.first.ask_grep(&request, &clock).await;
        }
        let mut merged = MergedGrep::new(&request);
        let first = match (parts.first.first_results(&merged, &clock).await, parts.instead) {
            (Err(ErrorCode::NotFound), Some(instead)) => {
                instead.first_results(&merged, &clock).await
            }
            (result, _) => result,
        };
        merged.add(first?);
        merged.note(parts.report);
        for part in parts.others {
            if merged.is_past(part.view.at()) {
                continue;
            }
            if clock.left() == 0 {
                merged.note(WalkReport { stopped: true, ..WalkReport::default() });
                break;
            }
            match part.first_results(&merged, &clock).await {
                Ok(page) => merged.add(page),
                Err(error) => merged.note(failed(error, part.view.at())?),
            }
        }
        merged.finish()
    }
}

impl Part {
    async fn ask_grep(&self, request: &GrepRequest, clock: &Clock) -> Result<GrepPage, ErrorCode> {
        let request = GrepRequest {
            offload_path: self.offload_path.clone(),
            time_ms: clock.left(),
            ..request.clone()
        };
        self.backend.grep_raw(request, &self.view).await
    }

    /// All that can be on the merged page, also from a backend that gives short pages.
    async fn first_results(
        &self,
        merged: &MergedGrep<'_>,
        clock: &Clock,
    ) -> Result<GrepPage, ErrorCode> {
        let mut page = self.ask_grep(&merged.first(), clock).await?;
        while let Some(next) = merged.next(&page) {
            let more = self.ask_grep(&next, clock).await?;
            let report = more.report.clone();
            let ended = more.files.is_empty();
            join(&mut page, more);
            // The last search went furthest.
            page.report = WalkReport { stopped: page.report.stopped, ..report };
            if ended {
                break;
            }
        }
        Ok(page)
    }
}
