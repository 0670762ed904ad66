//! Writes down every change of a workspace.

mod attempt;
mod draft;
mod entry;
mod hash;
mod json_lines;

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest, Removed, WriteRequest, Written,
};
use sha2::Sha256;

use self::attempt::Attempt;
use self::draft::AuditedDraft;
pub use self::entry::{AuditContext, AuditEntry, ChangeKind};
pub use self::json_lines::JsonLines;
use crate::backend::{Backend, Draft, View};

/// Where entries go.
pub trait AuditSink: Send + Sync {
    /// Takes one entry.
    ///
    /// It is called on the thread that runs the call, so that it must not block for long, and it
    /// must not panic. What it does about a failure of its own is its affair, but it must not keep
    /// silent: the change has been made by then, and its answer stays what it is.
    fn record(&self, entry: &AuditEntry);
}

/// A backend whose changes are written down: one entry for each that is tried, whether or not it
/// succeeds, when it has ended.
///
/// A `dry_run` is no change, and neither is a draft before it is published. What decorators above
/// this one refuse does not come here: to have refusals written down, put this one above them.
#[derive(Clone)]
pub struct Audit {
    inner: Arc<dyn Backend>,
    sink: Arc<dyn AuditSink>,
    who: AuditContext,
}

impl Audit {
    /// The same workspace, whose changes are told to `sink` as made for `who`.
    #[must_use]
    pub fn new(inner: Arc<dyn Backend>, sink: Arc<dyn AuditSink>, who: AuditContext) -> Self {
        Self { inner, sink, who }
    }

    fn attempt(&self, operation: ChangeKind, path: &str) -> Attempt {
        Attempt::new(Arc::clone(&self.sink), self.who.clone(), operation, path.to_owned())
    }

    /// Begins the attempt to write what a request holds.
    async fn attempt_to_write(
        &self,
        operation: ChangeKind,
        mut request: WriteRequest,
    ) -> Result<(Attempt, WriteRequest), ErrorCode> {
        let mut attempt = self.attempt(operation, &request.path);
        attempt.entry.size = Some(request.content.len() as u64);
        match hash::update(Sha256::default(), request.content).await {
            Ok((hash, content)) => {
                attempt.entry.hash = Some(hash::in_hex(hash));
                request.content = content;
                Ok((attempt, request))
            }
            Err(error) => attempt.ended(Err(error)),
        }
    }
}

#[async_trait]
impl Backend for Audit {
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
        Some(Arc::new(Self { inner: self.inner.without_links()?, ..self.clone() }))
    }

    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        if request.dry_run {
            return self.inner.write(request).await;
        }
        let (attempt, request) = self.attempt_to_write(ChangeKind::Write, request).await?;
        attempt.ended(self.inner.write(request).await)
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        if request.dry_run {
            return self.inner.append(request).await;
        }
        let (attempt, request) = self.attempt_to_write(ChangeKind::Append, request).await?;
        attempt.ended(self.inner.append(request).await)
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        let draft = self.inner.draft(directory).await?;
        Ok(Box::new(AuditedDraft::new(draft, self.clone(), directory)))
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        let mut attempt = self.attempt(ChangeKind::Remove, path);
        let removed = self.inner.remove(path, recursive).await;
        attempt.entry.removed = removed.as_ref().ok().cloned();
        attempt.ended(removed)
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        let mut attempt = self.attempt(ChangeKind::Rename, source);
        attempt.entry.destination = Some(destination.to_owned());
        attempt.ended(self.inner.rename(source, destination, overwrite).await)
    }
}

#[cfg(test)]
mod tests;
