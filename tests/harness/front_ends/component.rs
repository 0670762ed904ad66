//! The component in this process, over each backend.

use std::sync::Arc;

use anyhow::Result;
use handhold::backends::{AgentFiles, Memory};
use handhold::{Settings, ToolCall, Toolbox, Workspace};
use handhold_artifact::{FILE_TOOLS, READ_TOOLS};

use super::{Answer, FrontEnd, Session, is_root};
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
            Self::Memory | Self::Strict => false,
            Self::Directory => need != "unprivileged" || !is_root(),
        }
    }

    fn open(&self, case: &Case) -> Result<(World, Box<dyn Session>)> {
        let toolbox = match &case.config {
            None => Tools::Shared(shared_toolbox()),
            Some(text) => Tools::Own(Arc::new(toolbox(&Settings::from_toml(text)?)?)),
        };
        let memory = Memory::new();
        let (world, workspace) = match self {
            Self::Memory => (World::Memory(memory.clone()), Workspace::new(memory)),
            Self::Strict => (World::Memory(memory.clone()), Workspace::new(Strict::new(memory))),
            Self::Directory => {
                let directory = Directory::new();
                let files = AgentFiles::at_ambient_path(directory.root());
                (World::Directory(directory), Workspace::new(files.thread(None, THREAD)?))
            }
        };
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

impl Session for ComponentSession {
    fn call(&mut self, tool: &str, arguments: &str) -> Result<Answer> {
        let call = ToolCall {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            call_id: Some("call".to_owned()),
        };
        let toolbox = match &self.toolbox {
            Tools::Shared(toolbox) => toolbox,
            Tools::Own(toolbox) => toolbox.as_ref(),
        };
        let result = runtime().block_on(toolbox.call(&self.workspace, call));
        Ok(Answer {
            is_error: result.is_error,
            text: result.text,
            structured: serde_json::from_str(&result.structured)?,
        })
    }
}
