//! Writing, in its turn: looked at, checked, done, and written down in the ledger.

use std::sync::Arc;

use handhold_core::path::WorkspacePath;
use handhold_core::types::{Condition, ErrorCode, WriteRequest, Written};

use super::finish::finish;
use super::ledger::{LedgerEntry, Turn, Usage};
use super::look::Seen;
use super::room::{Room, settle};
use super::{ATTEMPTS, Quota, unsettled};
use crate::backend::Backend;

/// How a file gets content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Write,
    Append,
}

impl Manner {
    pub(super) async fn run(
        self,
        backend: &Arc<dyn Backend>,
        request: WriteRequest,
    ) -> Result<Written, ErrorCode> {
        match self {
            Self::Write => backend.write(request).await,
            Self::Append => backend.append(request).await,
        }
    }
}

pub(super) fn parse(path: &str) -> Result<WorkspacePath, ErrorCode> {
    WorkspacePath::parse(path).map_err(|error| ErrorCode::InvalidPath(error.to_string()))
}

impl Quota {
    pub(super) async fn put(
        &self,
        request: WriteRequest,
        manner: Manner,
    ) -> Result<Written, ErrorCode> {
        let path = parse(&request.path)?;
        let turn = if request.dry_run { Turn::Look } else { Turn::Change };
        let more = request.content.len() as u64;
        let mut make = false;
        for _ in 0..ATTEMPTS {
            let entry = self.turn(turn, make).await?;
            let seen = self.look(&path, request.condition.clone(), manner).await?;
            let size = match manner {
                Manner::Write => more,
                Manner::Append => seen.size.unwrap_or(0).saturating_add(more),
            };
            let entry = match self.room(entry, seen.growth(size), 0).await? {
                Room::Enough(entry) => entry,
                Room::Counted => continue,
            };
            if request.dry_run {
                return manner.run(&self.inner, request).await;
            }
            // Nothing is made before it is clear that there will be something to keep.
            let Some(entry) = entry else {
                make = true;
                continue;
            };
            let quota = self.clone();
            return finish(async move { quota.put_now(entry, request, manner, &path, seen).await })
                .await;
        }
        Err(unsettled())
    }

    async fn put_now(
        &self,
        mut entry: Box<dyn LedgerEntry>,
        request: WriteRequest,
        manner: Manner,
        path: &WorkspacePath,
        seen: Seen,
    ) -> Result<Written, ErrorCode> {
        let usage = entry.usage();
        entry.mark_busy().await?;
        let result = manner.run(&self.inner, request).await;
        let usage = self.after_put(usage, path, seen, &result).await;
        settle(entry, usage).await;
        result
    }

    /// What the workspace takes after a file was written, or was not.
    pub(super) async fn after_put(
        &self,
        usage: Option<Usage>,
        path: &WorkspacePath,
        seen: Seen,
        result: &Result<Written, ErrorCode>,
    ) -> Option<Usage> {
        let usage = usage?;
        let (before, now) = match result {
            Ok(written) => {
                let before = Seen { size: written.previous_size, ..seen };
                (before, Seen { size: Some(written.size), missing: 0 })
            }
            // Directories may have been made all the same.
            Err(_) => (seen, self.look(path, Condition::Always, Manner::Write).await.ok()?),
        };
        usage.change(now.takes(before), before.takes(before))
    }
}
