//! A workspace that is only read.

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest, Removed, WriteRequest, Written,
};

use crate::backend::{Backend, Draft, View};

/// A backend of which nothing is changed: whatever would change it is `not-permitted`, whether or
/// not it would have succeeded, and so is a `dry_run` of it. Reading passes through.
#[derive(Clone)]
pub struct ReadOnly {
    inner: Arc<dyn Backend>,
}

impl ReadOnly {
    /// The same workspace, without a way to change it.
    #[must_use]
    pub fn new(inner: Arc<dyn Backend>) -> Self {
        Self { inner }
    }
}

#[async_trait]
impl Backend for ReadOnly {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        self.inner.ls_info(path, offset, limit).await
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
        self.inner.read_bytes(path, offset, length).await
    }

    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        self.inner.glob_info(request, view).await
    }

    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        self.inner.grep_raw(request, view).await
    }

    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        self.inner.resolve(path, follow_last).await
    }

    fn without_links(&self) -> Option<Arc<dyn Backend>> {
        Some(Arc::new(Self::new(self.inner.without_links()?)))
    }

    async fn write(&self, _: WriteRequest) -> Result<Written, ErrorCode> {
        Err(ErrorCode::NotPermitted)
    }

    async fn append(&self, _: WriteRequest) -> Result<Written, ErrorCode> {
        Err(ErrorCode::NotPermitted)
    }

    async fn draft(&self, _: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        Err(ErrorCode::NotPermitted)
    }

    async fn remove(&self, _: &str, _: bool) -> Result<Removed, ErrorCode> {
        Err(ErrorCode::NotPermitted)
    }

    async fn remove_version(&self, _: &str, _: &str) -> Result<Removed, ErrorCode> {
        Err(ErrorCode::NotPermitted)
    }

    async fn rename(&self, _: &str, _: &str, _: bool) -> Result<(), ErrorCode> {
        Err(ErrorCode::NotPermitted)
    }
}

#[cfg(test)]
mod tests;
