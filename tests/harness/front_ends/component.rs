//! The component in this process, over each backend.

use std::sync::Arc;

use anyhow::{Result, ensure};
use handhold::backend::Backend;
use handhold::backends::{AgentFiles, Ledger, Memory, MemoryLedger};
use handhold::{Block, CallContext, HandedResult, Layers, Settings, ToolCall, Toolbox, Workspace};
use handhold_artifact::{FILE_TOOLS, READ_TOOLS};
use serde_json::Value;

use super::{Answer, FrontEnd, Handed, HandedBlock, Session, is_root, show_media};
use crate::case::Case;
use crate::strict::Strict;
use crate::world::{Directory, THREAD, World};
use crate::{runtime, scratch_dir, shared_toolbox};

/// The component over a backend.
pub enum Component {
    /// Over memory.
    Memory,
    /// Over a backend that gives short pages.
    Strict,
    /// Over a directory.
    Directory,
}

/// Makes a toolbox with both components.
///
/// # Errors
/// Fails for a wrong configuration.
pub fn toolbox(settings: &Settings) -> Result<Toolbox> {
    Ok(Toolbox::builder()
        .read_tools(READ_TOOLS.component)
        .file_tools(FILE_TOOLS.component)
        .config(settings.config.clone())
        .memory(settings.memory_bytes)
        .retention(settings.retention)
        .concurrent_calls(64)
        .code_cache(scratch_dir().join("code"))
        .build()?)
}

impl FrontEnd for Component {
    fn name(&self) -> &'static str {
        match self {
            Self::Memory => "component+memory",
            Self::Strict => "component+strict",
            Self::Directory => "component+directory",
        }
    }

    fn can(&self, need: &str) -> bool {
        match self {
            _ if matches!(need, "blocks" | "streams" | "policy" | "retention") => true,
            Self::Memory | Self::Strict => false,
            Self::Directory => need != "unprivileged" || !is_root(),
        }
    }

    fn open(&self, case: &Case) -> Result<(World, Box<dyn Session>)> {
        let toolbox = match &case.config {
            None => Tools::Shared(shared_toolbox()),
            Some(text) => Tools::Own(Arc::new(toolbox(&Settings::from_toml(text)?)?)),
        };
        let directory = Directory::new();
        let settings = case.config.as_deref().map(Settings::from_toml).transpose()?;
        let policy = settings.unwrap_or_default().relative_to(directory.base()).policy();
        let memory = Memory::new();
        let in_memory: Arc<dyn Ledger> = Arc::new(MemoryLedger::new());
        let (world, own, ledger): (World, Arc<dyn Backend>, Arc<dyn Ledger>) = match self {
            Self::Memory => (World::Memory(memory.clone(), directory), Arc::new(memory), in_memory),
            Self::Strict => {
                let strict = Strict::new(memory.clone());
                (World::Memory(memory, directory), Arc::new(strict), in_memory)
            }
            Self::Directory => {
                let files = AgentFiles::at_ambient_path(directory.root());
                let own = files.thread(None, THREAD)?;
                let ledger = Arc::new(own.ledger());
                (World::Directory(directory), Arc::new(own), ledger)
            }
        };
        let layers = Layers::new(policy)?;
        let context = CallContext { thread: THREAD.to_owned(), ..CallContext::default() };
        let workspace = Workspace::shared(layers.over(own, ledger, &context));
        let workspace = if case.read_only { workspace.read_only() } else { workspace };
        Ok((world, Box::new(ComponentSession { toolbox, workspace })))
    }
}

enum Tools {
    Shared(&'static Toolbox),
    Own(Arc<Toolbox>),
}

struct ComponentSession {
    toolbox: Tools,
    workspace: Workspace,
}

impl ComponentSession {
    fn toolbox(&self) -> &Toolbox {
        match &self.toolbox {
            Tools::Shared(toolbox) => toolbox,
            Tools::Own(toolbox) => toolbox.as_ref(),
        }
    }

    /// Hands over a text piece by piece; what a model has seen then. Without pieces it is handed
    /// over at once, and a notice takes its place.
    async fn pass_on(&self, handed: &Handed<'_>, piece: Option<usize>) -> Result<String> {
        let (tool, call_id) = (handed.tool, handed.call_id);
        let mut output = self.toolbox().output(&self.workspace, tool, call_id).await?;
        let mut passed_on = Vec::new();
        for piece in handed.text()?.chunks(piece.unwrap_or(usize::MAX)) {
            passed_on.append(&mut output.push(piece).await?);
        }
        let end = output.finish(handed.is_error).await?;
        passed_on.extend(end.rest);
        let shown = String::from_utf8_lossy(&passed_on).into_owned();
        Ok(match end.offloaded {
            None => shown,
            Some(offloaded) if piece.is_some() => shown + &offloaded.notice,
            Some(offloaded) => offloaded.text,
        })
    }

    /// Hands over a whole result; what a model sees then.
    async fn replace(&self, handed: &Handed<'_>) -> Result<String> {
        let content: Result<Vec<Block>> = handed
            .blocks
            .iter()
            .map(|block| match block {
                HandedBlock::Text(text) => Ok(Block::Text(String::from_utf8(text.clone())?)),
                HandedBlock::Media(media) => Ok(Block::Media(media.clone())),
            })
            .collect();
        let result = HandedResult {
            tool: handed.tool.to_owned(),
            call_id: handed.call_id.map(str::to_owned),
            is_error: handed.is_error,
            content: content?,
        };
        let result = self.toolbox().offload(&self.workspace, result).await;
        ensure!(result.is_error == handed.is_error, "is_error has changed");
        ensure!(result.tool == handed.tool, "the name of the tool has changed");
        ensure!(result.call_id.as_deref() == handed.call_id, "the id has changed");
        let shown = result.content.iter().map(|block| match block {
            Block::Text(text) => text.clone(),
            Block::Media(media) => show_media(media),
        });
        Ok(shown.collect::<Vec<_>>().join("\n"))
    }
}

impl Session for ComponentSession {
    fn call(&mut self, tool: &str, arguments: &str, call_id: &str) -> Result<Answer> {
        let call = ToolCall {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            call_id: Some(call_id.to_owned()),
        };
        let result = runtime().block_on(self.toolbox().call(&self.workspace, call));
        Ok(Answer {
            is_error: result.is_error,
            text: result.text,
            structured: serde_json::from_str(&result.structured)?,
        })
    }

    fn hand_over(&mut self, handed: &Handed<'_>) -> Result<Answer> {
        let text = runtime().block_on(async {
            match handed.pieces {
                Some(piece) => self.pass_on(handed, Some(piece)).await,
                // Blocks are strings; bytes that are no text can only be handed over as such.
                None if handed.text().is_ok_and(|text| std::str::from_utf8(text).is_err()) => {
                    self.pass_on(handed, None).await
                }
                None => self.replace(handed).await,
            }
        })?;
        Ok(Answer { is_error: handed.is_error, text, structured: Value::Null })
    }
}
