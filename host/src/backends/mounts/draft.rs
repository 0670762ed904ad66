//! A file in the making that is to have its place in one of the layers.

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{Condition, ErrorCode, Written};

use super::layer::{Layer, Place};
use crate::backend::Draft;

/// A draft of a layer. Its directory decides which one that is.
///
/// Where something is mounted in the layer, a link is not published through: `already-exists` if
/// nothing was to be there, else `unsupported`.
pub(super) struct MountDraft {
    layer: Arc<Layer>,
    /// Where its directory is shown.
    shown: WorkspacePath,
    /// Its directory in the layer.
    directory: WorkspacePath,
    /// The same without links.
    real: WorkspacePath,
    draft: Box<dyn Draft>,
}

impl MountDraft {
    pub(super) async fn open(
        layer: Arc<Layer>,
        shown: WorkspacePath,
        directory: WorkspacePath,
    ) -> Result<Self, ErrorCode> {
        let (real, draft) = match layer.place(&directory, true).await? {
            Place::Here(spot) => {
                let draft = spot.backend().draft(spot.as_str()).await;
                (spot.path().clone(), draft.map_err(|error| spot.failed(error))?)
            }
            Place::InTheWay => return Err(ErrorCode::NotPermitted),
        };
        Ok(Self { layer, shown, directory, real, draft })
    }
}

#[async_trait]
impl Draft for MountDraft {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        self.draft.push(content).await
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        // This says what is wrong with a name, and where.
        self.shown.entry(name)?;
        let spot = self.layer.to_write(&self.directory.entry(name)?).await?;
        if *spot.path() != self.real.entry(name)? {
            // A link has the name, or has come in the way since.
            return Err(match condition {
                Condition::Absent => ErrorCode::AlreadyExists,
                Condition::Always | Condition::Matches(_) => ErrorCode::Unsupported,
            });
        }
        self.draft.publish(name, condition).await.map_err(|error| spot.failed(error))
    }
}
