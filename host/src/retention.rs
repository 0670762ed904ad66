//! How much of off-loaded results a workspace keeps, and for how long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use crate::backend::{Backend, Condition, Draft, ErrorCode, FileKind, Written};

/// How many bytes the off-loaded results of a workspace may have together unless
/// [`Retention::bytes`] says otherwise: 1 GiB.
pub const DEFAULT_RESULTS_BYTES: u64 = 1 << 30;

/// How old an off-loaded result may become unless [`Retention::age`] says otherwise: 30 days.
pub const DEFAULT_RESULTS_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How many of the newest off-loaded results always stay: a conversation may still speak of them.
pub const KEPT_RESULTS: usize = 20;

/// How many entries are listed at once.
const LIST_ENTRIES: u64 = 1000;

/// How much of off-loaded results a workspace keeps, and for how long.
///
/// The directory for them is theirs alone: every regular file directly in it counts as a result.
/// When another one is saved, those that are too old are removed, and the oldest until there is
/// room. The newest [`KEPT_RESULTS`] are never removed; what they leave no room for is cut, and
/// the notice says so. Results that are being saved at the same time do not count each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How many bytes they may have together.
    pub bytes: u64,
    /// How old they may become.
    pub age: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self { bytes: DEFAULT_RESULTS_BYTES, age: DEFAULT_RESULTS_AGE }
    }
}

/// A result that is there already.
struct Saved {
    path: String,
    size: u64,
    modified: u64,
}

/// A draft for which older results make room.
pub(crate) struct KeptResults {
    backend: Arc<dyn Backend>,
    draft: Box<dyn Draft>,
    /// Those that may go, the oldest first.
    removable: VecDeque<Saved>,
    /// How many bytes all have, with the draft.
    bytes: u64,
    most: u64,
}

impl KeptResults {
    /// Begins a draft in the directory of results, after those that are too old are removed.
    pub(crate) async fn draft(
        backend: Arc<dyn Backend>,
        directory: &str,
        retention: Retention,
    ) -> Result<Box<dyn Draft>, ErrorCode> {
        let mut results = list(&*backend, directory).await?;
        results.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
        let bytes = results.iter().map(|result| result.size).sum();
        results.truncate(results.len().saturating_sub(KEPT_RESULTS));
        let draft = backend.draft(directory).await?;
        let removable = VecDeque::from(results);
        let mut kept = Self { backend, draft, removable, bytes, most: retention.bytes };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let oldest = now.saturating_sub(retention.age).as_millis();
        while kept.removable.front().is_some_and(|result| u128::from(result.modified) < oldest) {
            kept.remove_oldest().await;
        }
        Ok(Box::new(kept))
    }

    /// Removes the oldest result that may go; false if there is none.
    async fn remove_oldest(&mut self) -> bool {
        let Some(result) = self.removable.pop_front() else { return false };
        match self.backend.remove(&result.path, false).await {
            Ok(_) | Err(ErrorCode::NotFound) => self.bytes -= result.size,
            // It stays, and still counts.
            Err(_) => {}
        }
        true
    }
}

#[async_trait]
impl Draft for KeptResults {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        let more = content.len() as u64;
        while self.bytes.saturating_add(more) > self.most {
            if !self.remove_oldest().await {
                return Err(ErrorCode::TooLarge("saved results may take no more space".to_owned()));
            }
        }
        self.draft.push(content).await?;
        self.bytes += more;
        Ok(())
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        self.draft.publish(name, condition).await
    }
}

/// The results in a directory, which need not exist.
async fn list(backend: &dyn Backend, directory: &str) -> Result<Vec<Saved>, ErrorCode> {
    let mut results = Vec::new();
    let mut seen = 0;
    loop {
        let page = match backend.ls_info(directory, seen, LIST_ENTRIES).await {
            Ok(page) if !page.is_directory => return Err(ErrorCode::NotADirectory),
            Ok(page) => page,
            Err(ErrorCode::NotFound) => return Ok(results),
            Err(error) => return Err(error),
        };
        seen += page.entries.len() as u64;
        let at_end = page.entries.is_empty() || seen >= page.total;
        let files = page.entries.into_iter().filter(|entry| entry.kind == FileKind::File);
        results.extend(files.map(|entry| Saved {
            path: entry.path,
            size: entry.size,
            modified: entry.modified,
        }));
        if at_end {
            return Ok(results);
        }
    }
}
