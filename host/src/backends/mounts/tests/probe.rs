//! A backend that can be told to behave in odd ways, and that remembers what it was asked.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;

/// A backend over another.
pub(super) struct Probe {
    inner: Arc<dyn Backend>,
    error: Option<ErrorCode>,
    remove_error: Option<ErrorCode>,
    wait: Duration,
    /// Whether its pages are shorter than asked for.
    short: bool,
    calls: AtomicU64,
    times: Mutex<Vec<u64>>,
    /// The path of a file, and after how many reads of it another content is put in it.
    restless: Option<(String, u64)>,
    pub(super) largest_read: AtomicU64,
    pub(super) largest_push: Arc<AtomicU64>,
}

impl Probe {
    pub(super) fn new(inner: Arc<dyn Backend>) -> Self {
        Self {
            inner,
            error: None,
            remove_error: None,
            wait: Duration::ZERO,
            short: false,
            calls: AtomicU64::new(0),
            times: Mutex::default(),
            restless: None,
            largest_read: AtomicU64::new(0),
            largest_push: Arc::default(),
        }
    }

    /// Every search fails.
    pub(super) fn failing(self, error: ErrorCode) -> Self {
        Self { error: Some(error), ..self }
    }

    /// Every removal fails.
    pub(super) fn keeping(self, error: ErrorCode) -> Self {
        Self { remove_error: Some(error), ..self }
    }

    /// Every search takes this long.
    pub(super) fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    pub(super) fn short(self) -> Self {
        Self { short: true, ..self }
    }

    /// A file changes after so many reads.
    pub(super) fn restless(self, path: &str, reads: u64) -> Self {
        Self { restless: Some((path.to_owned(), reads)), ..self }
    }

    /// The time that each search was given.
    pub(super) fn times(&self) -> Vec<u64> {
        self.times.lock().expect("no panic").clone()
    }

    fn shorten(&self, wanted: u64) -> u64 {
        if !self.short {
            return wanted;
        }
        (1 + self.calls.fetch_add(1, Ordering::Relaxed) % 3).min(wanted.max(1))
    }

    async fn search(&self, time_ms: u64) -> Result<(), ErrorCode> {
        self.times.lock().expect("no panic").push(time_ms);
        tokio::time::sleep(self.wait).await;
        self.error.clone().map_or(Ok(()), Err)
    }
}

struct ProbeDraft {
    inner: Box<dyn Draft>,
    largest_push: Arc<AtomicU64>,
}

#[async_trait]
impl Draft for ProbeDraft {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        self.largest_push.fetch_max(content.len() as u64, Ordering::Relaxed);
        self.inner.push(content).await
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        self.inner.publish(name, condition).await
    }
}

#[async_trait]
impl Backend for Probe {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        self.inner.ls_info(path, offset, self.shorten(limit)).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        self.inner.read(request).await
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        self.largest_read.fetch_max(length, Ordering::Relaxed);
        let page = self.inner.read_bytes(path, offset, length).await;
        if let Some((restless, reads)) = &self.restless
            && restless == path
            && self.calls.fetch_add(1, Ordering::Relaxed) + 1 == *reads
        {
            put(&*self.inner, path, "changed").await?;
        }
        page
    }

    async fn glob_info(
        &self,
        mut request: GlobRequest,
        view: &View,
    ) -> Result<GlobPage, ErrorCode> {
        self.search(request.time_ms).await?;
        request.limit = self.shorten(request.limit);
        self.inner.glob_info(request, view).await
    }

    async fn grep_raw(&self, mut request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        self.search(request.time_ms).await?;
        request.limit = self.shorten(request.limit);
        self.inner.grep_raw(request, view).await
    }

    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        self.inner.resolve(path, follow_last).await
    }

    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.inner.write(request).await
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.inner.append(request).await
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        let inner = self.inner.draft(directory).await?;
        Ok(Box::new(ProbeDraft { inner, largest_push: Arc::clone(&self.largest_push) }))
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        match &self.remove_error {
            Some(error) => Err(error.clone()),
            None => self.inner.remove(path, recursive).await,
        }
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        self.inner.rename(source, destination, overwrite).await
    }
}
