//! Work that comes to its end also if nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// Runs `work` where it is awaited. If the answer is dropped, `work` goes on in the background.
///
/// Only the end of the runtime ends it.
pub(super) fn finish<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = T> + Send {
    Finish { work: Some(Box::pin(work)), runtime: Handle::try_current().ok() }
}

struct Finish<T: Send + 'static> {
    /// None once it has ended.
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    runtime: Option<Handle>,
}

impl<T: Send + 'static> Future for Finish<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Work that panics is not put back.
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let now = work.as_mut().poll(context);
        if now.is_pending() {
            self.work = Some(work);
        }
        now
    }
}

impl<T: Send + 'static> Drop for Finish<T> {
    fn drop(&mut self) {
        if let Some((work, runtime)) = self.work.take().zip(self.runtime.take()) {
            runtime.spawn(async move { drop(work.await) });
        }
    }
}
