//! Work that blocks, off the threads that run futures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use handhold_core::types::ErrorCode;

/// How many threads one search uses at most. More do not help: a search of a warm tree is bound
/// by memory, of a cold one by the disk.
const MAX_SEARCH_THREADS: usize = 8;

/// Runs `work` on a thread for blocking work. If the returned future is dropped, `cancelled`
/// becomes true, and what `work` gives is thrown away.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> Result<T, ErrorCode> + Send + 'static,
) -> Result<T, ErrorCode> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let guard = CancelOnDrop(Arc::clone(&cancelled));
    let result = tokio::task::spawn_blocking(move || {
        // It may have waited for a thread longer than its caller for it.
        if cancelled.load(Ordering::Relaxed) { Err(ErrorCode::Cancelled) } else { work(&cancelled) }
    })
    .await;
    drop(guard);
    result.unwrap_or_else(|_| Err(ErrorCode::Other(Some("the operation broke down".to_owned()))))
}

/// How many threads a search may use on this machine.
pub(super) fn search_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_SEARCH_THREADS)
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
