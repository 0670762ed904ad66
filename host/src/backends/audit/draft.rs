//! A draft whose publishing is written down.

use async_trait::async_trait;
use handhold_core::types::{Condition, ErrorCode, Written};
use sha2::Sha256;

use super::{Audit, ChangeKind, hash};
use crate::backend::Draft;

/// A draft, and the hash of what it has.
pub(super) struct AuditedDraft {
    inner: Box<dyn Draft>,
    audit: Audit,
    directory: String,
    size: u64,
    hash: Sha256,
}

impl AuditedDraft {
    pub(super) fn new(inner: Box<dyn Draft>, audit: Audit, directory: &str) -> Self {
        let directory = directory.trim_end_matches('/').to_owned();
        Self { inner, audit, directory, size: 0, hash: Sha256::default() }
    }
}

#[async_trait]
impl Draft for AuditedDraft {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        let more = content.len() as u64;
        let (hash, content) = hash::update(self.hash.clone(), content).await?;
        self.inner.push(content).await?;
        (self.size, self.hash) = (self.size + more, hash);
        Ok(())
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        let path = format!("{}/{name}", self.directory);
        let mut attempt = self.audit.attempt(ChangeKind::Publish, &path);
        attempt.entry.size = Some(self.size);
        attempt.entry.hash = Some(hash::in_hex(self.hash.clone()));
        attempt.ended(self.inner.publish(name, condition).await)
    }
}
