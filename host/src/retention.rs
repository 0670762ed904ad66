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

/// How many of the newest off-loaded results stay as long as together they take no more than half of
/// the space: a conversation may still speak of them.
pub const KEPT_RESULTS: usize = 20;

/// How many entries are listed at once.
const LIST_ENTRIES: u64 = 1000;

/// How much of off-loaded results a workspace keeps, and for how long.
///
/// The directory for them is theirs alone: every regular file directly in it counts as a result.
/// When another one is saved, those that are too old are removed, and the oldest until there is
/// room. The newest [`KEPT_RESULTS`] are not removed as far as they take half of the space; what
/// they leave no room for is cut, and the notice says so. Results that are being saved at the same
/// time do not count each other, and what is being saved is not counted before it has its name.
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

/// A draft for which older results make room when it is published.
pub(crate) struct KeptResults {
    backend: Arc<dyn Backend>,
    draft: Box<dyn Draft>,
    /// Those that may go, the oldest first.
    removable: VecDeque<Saved>,
    /// How many bytes all others have.
    kept_bytes: u64,
    /// How many bytes the draft has, and may have.
    size: u64,
    most: u64,
    retention: Retention,
}

impl KeptResults {
    /// Begins a draft in the directory of results.
    pub(crate) async fn draft(
        backend: Arc<dyn Backend>,
        directory: &str,
        retention: Retention,
    ) -> Result<Box<dyn Draft>, ErrorCode> {
        let mut results = list(&*backend, directory).await?;
        results.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
        let mut kept_bytes = 0;
        let is_kept = |result: &&Saved| {
            kept_bytes += result.size;
            kept_bytes <= retention.bytes / 2
        };
        let newest = results.iter().rev().take(KEPT_RESULTS);
        let kept = results.split_off(results.len() - newest.take_while(is_kept).count());
        let kept_bytes: u64 = kept.iter().map(|result| result.size).sum();
        let most = retention.bytes.saturating_sub(kept_bytes);
        let draft = backend.draft(directory).await?;
        let removable = VecDeque::from(results);
        Ok(Box::new(Self { backend, draft, removable, kept_bytes, size: 0, most, retention }))
    }

    /// Removes what is too old, and the oldest until there is room for the draft.
    async fn make_room(&mut self) -> Result<(), ErrorCode> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let oldest = now.saturating_sub(self.retention.age).as_millis();
        let mut bytes = self.kept_bytes + self.size;
        bytes += self.removable.iter().map(|result| result.size).sum::<u64>();
        while let Some(result) = self.removable.front() {
            if bytes <= self.retention.bytes && u128::from(result.modified) >= oldest {
                break;
            }
            match self.backend.remove(&result.path, false).await {
                Ok(_) | Err(ErrorCode::NotFound) => bytes -= result.size,
                // It stays, and still counts.
                Err(_) => {}
            }
            self.removable.pop_front();
        }
        if bytes > self.retention.bytes { Err(too_large()) } else { Ok(()) }
    }
}

fn too_large() -> ErrorCode {
    ErrorCode::TooLarge("saved results may take no more space".to_owned())
}

#[async_trait]
impl Draft for KeptResults {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        let size = self.size.saturating_add(content.len() as u64);
        if size > self.most {
            return Err(too_large());
        }
        self.draft.push(content).await?;
        self.size = size;
        Ok(())
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        self.make_room().await?;
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
