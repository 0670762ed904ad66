//! Removing: what was taken away is released.

use std::sync::Arc;

use handhold_core::types::{ErrorCode, Removed};

use super::Quota;
use super::finish::finish;
use super::ledger::{Turn, Usage};
use super::look::is_certain;
use super::room::settle;
use crate::backend::Backend;

/// What is removed.
pub(super) enum What {
    /// What is there; all that is in it too, if this says so.
    Entry { recursive: bool },
    /// A file at a version.
    Version(String),
}

impl What {
    async fn remove(&self, inner: &dyn Backend, path: &str) -> Result<Removed, ErrorCode> {
        match self {
            Self::Entry { recursive } => inner.remove(path, *recursive).await,
            Self::Version(version) => inner.remove_version(path, version).await,
        }
    }
}

impl Quota {
    pub(super) async fn take_away(&self, path: &str, what: What) -> Result<Removed, ErrorCode> {
        let Some(mut entry) = self.turn(Turn::Change, false).await? else {
            // There is nothing, and the backend knows how to say so.
            let result = what.remove(&*self.inner, path).await;
            return self.unless_used(result).await;
        };
        let (inner, path) = (Arc::clone(&self.inner), path.to_owned());
        finish(async move {
            let usage = entry.usage();
            entry.mark_busy().await?;
            let result = what.remove(&*inner, &path).await;
            let usage = match &result {
                Ok(Removed { files, directories, bytes }) => usage.and_then(|usage| {
                    let files = files.saturating_add(*directories);
                    usage.change(Usage::default(), Usage { bytes: *bytes, files })
                }),
                Err(error) => usage.filter(|_| is_certain(error)),
            };
            settle(entry, usage).await;
            result
        })
        .await
    }
}
