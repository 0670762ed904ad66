//! A backend that keeps to the letter of the interface and to nothing more: its pages are shorter
//! than asked for, in ways that differ from call to call.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use handhold::backend::{
    Backend, BytesPage, Draft, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage,
    ReadOutcome, ReadRequest, Removed, View, WriteRequest, Written,
};

/// Gives short pages of another backend.
pub struct Strict<B> {
    inner: B,
    calls: AtomicU64,
}

impl<B> Strict<B> {
    /// Makes `inner` strict.
    pub fn new(inner: B) -> Self {
        Self { inner, calls: AtomicU64::new(0) }
    }

    /// Less than `wanted`, but at least 1 of it and at least a ninth: a large answer must not take
    /// a call for every piece.
    fn shorten(&self, wanted: u64) -> u64 {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let least = (wanted / 9).max(1);
        (least + call % 3).min(wanted.max(1))
    }
}

#[async_trait]
impl<B: Backend> Backend for Strict<B> {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        self.inner.ls_info(path, offset, self.shorten(limit)).await
    }

    async fn read(&self, mut request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        request.limit = self.shorten(request.limit);
        self.inner.read(request).await
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        self.inner.read_bytes(path, offset, self.shorten(length)).await
    }

    async fn glob_info(
        &self,
        mut request: GlobRequest,
        view: &View,
    ) -> Result<GlobPage, ErrorCode> {
        request.limit = self.shorten(request.limit);
        self.inner.glob_info(request, view).await
    }

    async fn grep_raw(&self, mut request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        // No limit is a limit of a thousand here.
        let limit = if request.limit == 0 { 1000 } else { request.limit };
        request.limit = self.shorten(limit);
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
        self.inner.draft(directory).await
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        self.inner.remove(path, recursive).await
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
