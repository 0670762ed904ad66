//! Removing: what was taken away is released.

use std::sync::Arc;

use handhold_core::types::{ErrorCode, Removed};

use super::Quota;
use super::finish::finish;
use super::ledger::{Turn, Usage};
use super::look::is_certain;
use super::room::settle;

impl Quota {
    pub(super) async fn take_away(
        &self,
        path: &str,
        recursive: bool,
    ) -> Result<Removed, ErrorCode> {
        let Some(mut entry) = self.turn(Turn::Change, false).await? else {
            // There is nothing, and the backend knows how to say so.
            let result = self.inner.remove(path, recursive).await;
            return self.unless_used(result).await;
        };
        let (inner, path) = (Arc::clone(&self.inner), path.to_owned());
        finish(async move {
            let usage = entry.usage();
            entry.mark_busy().await?;
            let result = inner.remove(&path, recursive).await;
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
