//! The rules alone: no component, no WebAssembly.

use anyhow::{Result, anyhow};
use handhold::Settings;
use handhold::backend::{
    Backend as _, BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage,
    ReadOutcome, ReadRequest, Removed, WriteRequest, Written,
};
use handhold::backends::Memory;
use handhold_core::backend::{Reader, Writer};
use handhold_core::toolbox::Toolbox;
use handhold_core::tools::{ALL_TOOLS, READ_TOOLS};
use handhold_core::types::ToolCall;

use super::{Answer, FrontEnd, Session};
use crate::case::Case;
use crate::runtime;
use crate::world::World;

/// The rules over memory.
pub struct Native;

impl FrontEnd for Native {
    fn name(&self) -> &'static str {
        "core+memory"
    }

    fn can(&self, _: &str) -> bool {
        false
    }

    fn open(&self, case: &Case) -> Result<(World, Box<dyn Session>)> {
        let settings = case.config.as_deref().map(Settings::from_toml).transpose()?;
        let tools = if case.read_only { READ_TOOLS } else { ALL_TOOLS };
        let toolbox = Toolbox::open(tools, settings.unwrap_or_default().config)
            .map_err(|error| anyhow!("{}: {}", error.field, error.message))?;
        let memory = Memory::new();
        let session =
            NativeSession { toolbox, backend: Blocking(memory.clone()), writes: !case.read_only };
        Ok((World::Memory(memory), Box::new(session)))
    }
}

struct NativeSession {
    toolbox: Toolbox,
    backend: Blocking,
    writes: bool,
}

impl Session for NativeSession {
    fn call(&mut self, tool: &str, arguments: &str) -> Result<Answer> {
        let call = ToolCall {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            call_id: Some("call".to_owned()),
        };
        let writer = self.writes.then_some(&self.backend as &dyn Writer);
        let result = self.toolbox.call(&self.backend, writer, call);
        Ok(Answer {
            is_error: result.is_error,
            text: result.text,
            structured: serde_json::from_str(&result.structured)?,
        })
    }
}

/// A backend of the host as one of the rules.
struct Blocking(Memory);

impl Reader for Blocking {
    fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        runtime().block_on(self.0.ls_info(path, offset, limit))
    }

    fn read(&self, request: &ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        runtime().block_on(self.0.read(request.clone()))
    }

    fn read_bytes(&self, path: &str, offset: u64, length: u64) -> Result<BytesPage, ErrorCode> {
        runtime().block_on(self.0.read_bytes(path, offset, length))
    }

    fn glob_info(&self, request: &GlobRequest) -> Result<GlobPage, ErrorCode> {
        runtime().block_on(self.0.glob_info(request.clone()))
    }

    fn grep_raw(&self, request: &GrepRequest) -> Result<GrepPage, ErrorCode> {
        runtime().block_on(self.0.grep_raw(request.clone()))
    }
}

impl Writer for Blocking {
    fn write(&self, request: &WriteRequest) -> Result<Written, ErrorCode> {
        runtime().block_on(self.0.write(request.clone()))
    }

    fn append(&self, request: &WriteRequest) -> Result<Written, ErrorCode> {
        runtime().block_on(self.0.append(request.clone()))
    }

    fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        runtime().block_on(self.0.remove(path, recursive))
    }

    fn rename(&self, source: &str, destination: &str, overwrite: bool) -> Result<(), ErrorCode> {
        runtime().block_on(self.0.rename(source, destination, overwrite))
    }
}
