//! Counting what a workspace takes.

use handhold_core::types::{ErrorCode, FileKind};

use super::Quota;
use super::finish::finish;
use super::ledger::{LedgerEntry, Usage};
use super::room::settle;
use crate::backend::Backend;

/// How many entries of a directory are asked for at once. A backend may read and sort the whole
/// directory for each page, so that pages must not be small; one of this size takes a few MiB.
const PAGE_ENTRIES: u64 = 10_000;

impl Quota {
    /// Counts what the workspace takes, and writes it down in the ledger.
    ///
    /// It goes on if the caller gives up: of a tree that takes longer to count than a call may
    /// take, nobody would ever know the size.
    pub(super) async fn count(&self, entry: Box<dyn LedgerEntry>) -> Result<Usage, ErrorCode> {
        let quota = self.clone();
        finish(async move {
            let counted = match quota.ledger.count().await {
                Some(counted) => counted,
                None => add_up(&*quota.inner).await,
            };
            let usage = counted.map_err(uncountable)?;
            settle(entry, Some(usage)).await;
            Ok(usage)
        })
        .await
    }
}

/// That a directory cannot be counted must not be taken for an answer about another path.
fn uncountable(error: ErrorCode) -> ErrorCode {
    match error {
        ErrorCode::Cancelled => ErrorCode::Cancelled,
        error => {
            ErrorCode::Unavailable(format!("what the workspace takes cannot be counted ({error})"))
        }
    }
}

/// Adds up the listings of a tree. Links are not followed. One page is held at a time, and the
/// paths of the directories that are still to be listed.
pub(super) async fn add_up(backend: &dyn Backend) -> Result<Usage, ErrorCode> {
    let mut usage = Usage::default();
    let mut todo = vec!["/".to_owned()];
    while let Some(directory) = todo.pop() {
        let mut seen = 0;
        loop {
            let page = match backend.ls_info(&directory, seen, PAGE_ENTRIES).await {
                Ok(page) if page.is_directory => page,
                // Another program removed or exchanged it. So it seems too if a name is not UTF-8.
                Ok(_) | Err(ErrorCode::NotFound | ErrorCode::NotADirectory) => break,
                Err(error) => return Err(error),
            };
            seen += page.entries.len() as u64;
            let at_end = page.entries.is_empty() || seen >= page.total;
            for entry in page.entries {
                usage.files += 1;
                match entry.kind {
                    FileKind::File => usage.bytes = usage.bytes.saturating_add(entry.size),
                    FileKind::Directory => todo.push(entry.path),
                    FileKind::Link | FileKind::Other => {}
                }
            }
            if at_end {
                break;
            }
        }
    }
    Ok(usage)
}
