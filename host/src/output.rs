//! Results of any tool, kept from growing too large for a model.

use std::time::Duration;

use handhold_core::failure::Failure;
use handhold_core::types::{Media, OutputEnd};
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::exports::handhold::fs::results::Guest;
use crate::state::CallState;
use crate::toolbox::{Toolbox, broken, deadline, timed_out};
use crate::workspace::Workspace;

/// How much of a text is handed to the instance at once: 1 MiB.
const CHUNK_BYTES: usize = 1 << 20;

/// A result that another tool gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedResult {
    /// The name of the tool.
    pub tool: String,
    /// The caller's own name for the call. It names the file; without one, the content does.
    pub call_id: Option<String>,
    /// Whether the call failed.
    pub is_error: bool,
    /// What it gave, in order.
    pub content: Vec<Block>,
}

/// A part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// An image, or something else that is not text.
    Media(Media),
}

/// Why a result could not be handed over.
#[derive(Debug, thiserror::Error)]
#[error("the result could not be handed over: {0}")]
pub struct OutputError(String);

/// The result of one call, handed over piece by piece; made by [`Toolbox::output`].
///
/// It takes a place of the toolbox's concurrent calls until it ends or is dropped, and bounded
/// memory whatever the size of the result. A result that is dropped before its end leaves nothing.
pub struct Output {
    store: Store<CallState>,
    guest: Guest,
    output: ResourceAny,
    time: Duration,
    _turn: OwnedSemaphorePermit,
}

impl Toolbox {
    /// Keeps the result of another tool from being too large: its text is saved in the workspace
    /// and replaced by a notice, if there is more of it than `offload` of the configuration
    /// allows. Everything else stays as it is.
    ///
    /// Text that is too large is never given back whole: if something breaks, the answer says so
    /// in its place, and is an error.
    pub async fn offload(&self, workspace: &Workspace, result: HandedResult) -> HandedResult {
        match self.hand_over(workspace, &result).await {
            Ok(content) => HandedResult { content: content.unwrap_or(result.content), ..result },
            Err(error) => HandedResult {
                is_error: true,
                content: vec![Block::Text(format!("Error: {error}"))],
                ..result
            },
        }
    }

    /// The blocks that stand in the place of those of a result; none if all stay.
    async fn hand_over(
        &self,
        workspace: &Workspace,
        result: &HandedResult,
    ) -> Result<Option<Vec<Block>>, OutputError> {
        let mut output = self.output(workspace, &result.tool, result.call_id.as_deref()).await?;
        let mut others = Vec::new();
        for block in &result.content {
            others.push(match block {
                Block::Text(text) => {
                    output.next_block().await?;
                    output.push(text.as_bytes()).await?;
                    None
                }
                Block::Media(media) => output.media(media).await?.map(Block::Text),
            });
        }
        let end = output.finish(result.is_error).await?;
        if end.offloaded.is_none() && others.iter().all(Option::is_none) {
            return Ok(None);
        }
        // The notice stands where the text began.
        let mut notice = end.offloaded.map(|offloaded| Block::Text(offloaded.text));
        let is_large = notice.is_some();
        let blocks = result.content.iter().zip(others).filter_map(|(block, other)| match block {
            Block::Text(_) if is_large => notice.take(),
            block => Some(other.unwrap_or_else(|| block.clone())),
        });
        Ok(Some(blocks.collect()))
    }

    /// Begins to take the result of a call of `tool`.
    ///
    /// # Errors
    /// Fails if there is no component for the workspace, or if it breaks down.
    pub async fn output(
        &self,
        workspace: &Workspace,
        tool: &str,
        call_id: Option<&str>,
    ) -> Result<Output, OutputError> {
        let Some(tools) = self.tools(workspace.access()) else {
            return Err(OutputError("no component for this workspace is loaded".to_owned()));
        };
        let Some(turn) = self.turn().await else {
            return Err(OutputError("the toolbox is closed".to_owned()));
        };
        let time = self.call_time();
        let mut store = self.store(std::sync::Arc::clone(&workspace.backend));
        let begin = async {
            let instance = tools.instance.instantiate_async(&mut store).await?;
            let guest = tools.results.load(&mut store, &instance)?;
            let output = guest.output().call_open(&mut store, self.config(), tool, call_id).await?;
            Ok((guest, output))
        };
        let begun: wasmtime::Result<_> = begin.await;
        let (guest, output) = begun.map_err(|error| trapped(&error, &store, time))?;
        let output = output.map_err(|error| {
            OutputError(format!("the configuration is wrong at {}: {}", error.field, error.message))
        })?;
        Ok(Output { store, guest, output, time, _turn: turn })
    }
}

impl Output {
    /// Takes the next bytes of text, and gives those that may be passed on as they come: all up to
    /// the limit, and none behind it. What is given never ends within a character.
    ///
    /// # Errors
    /// Fails if the instance breaks down; the result is lost then.
    pub async fn push(&mut self, text: &[u8]) -> Result<Vec<u8>, OutputError> {
        let mut given = Vec::new();
        for chunk in text.chunks(CHUNK_BYTES) {
            self.store.data_mut().deadline = deadline(self.time);
            let guest = self.guest.output();
            let push = guest.call_push(&mut self.store, self.output, chunk);
            let pushed = tokio::time::timeout(self.time, push).await;
            given.append(&mut self.answered(pushed)?);
        }
        Ok(given)
    }

    /// Begins another block of text. In the file a line feed stands between two, and it counts.
    ///
    /// # Errors
    /// As [`Output::push`].
    pub async fn next_block(&mut self) -> Result<(), OutputError> {
        self.store.data_mut().deadline = deadline(self.time);
        let guest = self.guest.output();
        let next = guest.call_next_block(&mut self.store, self.output);
        let done = tokio::time::timeout(self.time, next).await;
        self.answered(done)
    }

    /// Takes a block that is not text. None if it stays, else the text for its place.
    ///
    /// # Errors
    /// As [`Output::push`].
    pub async fn media(&mut self, media: &Media) -> Result<Option<String>, OutputError> {
        self.store.data_mut().deadline = deadline(self.time);
        let guest = self.guest.output();
        let take = guest.call_media(&mut self.store, self.output, media);
        let taken = tokio::time::timeout(self.time, take).await;
        self.answered(taken)
    }

    /// Ends the result, of a call that failed if `is_error`.
    ///
    /// # Errors
    /// As [`Output::push`].
    pub async fn finish(mut self, is_error: bool) -> Result<OutputEnd, OutputError> {
        self.store.data_mut().deadline = deadline(self.time);
        let guest = self.guest.output();
        let finish = guest.call_finish(&mut self.store, self.output, is_error);
        let ended = tokio::time::timeout(self.time, finish).await;
        self.answered(ended)
    }

    fn answered<T>(
        &self,
        answer: Result<wasmtime::Result<T>, tokio::time::error::Elapsed>,
    ) -> Result<T, OutputError> {
        match answer {
            Ok(answer) => answer.map_err(|error| trapped(&error, &self.store, self.time)),
            Err(_) => Err(failed(timed_out(self.time))),
        }
    }
}

fn trapped(error: &wasmtime::Error, store: &Store<CallState>, time: Duration) -> OutputError {
    failed(broken(error, &store.data().memory, time))
}

fn failed(failure: Failure) -> OutputError {
    OutputError(failure.message)
}
