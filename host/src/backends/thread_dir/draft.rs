//! A file in the making that is written in several steps.

use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{Condition, ErrorCode, Written};

use super::{ThreadDir, blocking, change};
use crate::backend::Draft;

/// A draft of a workspace.
pub(super) struct ThreadDraft {
    thread: ThreadDir,
    directory: WorkspacePath,
    /// None once it is published, or when a step was given up on.
    file: Option<change::Draft>,
}

impl ThreadDraft {
    pub(super) async fn open(
        thread: ThreadDir,
        directory: WorkspacePath,
    ) -> Result<Self, ErrorCode> {
        let this = thread.clone();
        let open = move || {
            let draft = change::Draft::of_thread(this.root.records()?, &this.id)?;
            // Making a draft is a use.
            drop(this.open()?);
            Ok(draft)
        };
        let file = blocking::run(move |_| open()).await?;
        Ok(Self { thread, directory, file: Some(file) })
    }

    /// Does one step where it may block. If the step is given up on, the file is thrown away.
    async fn step<T: Send + 'static>(
        &mut self,
        step: impl FnOnce(&mut change::Draft, &AtomicBool) -> Result<T, ErrorCode> + Send + 'static,
    ) -> Result<T, ErrorCode> {
        let Some(mut file) = self.file.take() else { return Err(ErrorCode::Cancelled) };
        let (file, result) = blocking::run(move |cancelled| {
            let result = step(&mut file, cancelled);
            Ok((file, result))
        })
        .await?;
        self.file = Some(file);
        result
    }
}

#[async_trait]
impl Draft for ThreadDraft {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        self.step(move |file, _| file.write(&content)).await
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        let (thread, path) = (self.thread.clone(), self.directory.entry(name)?);
        let written = self
            .step(move |file, cancelled| thread.put_draft(&path, file, &condition, cancelled))
            .await?;
        self.file = None;
        Ok(written)
    }
}
