//! The rules alone: no component, no WebAssembly.

use anyhow::{Result, anyhow};
use handhold::Settings;
use handhold::backend::{
    Backend as _, BytesPage, Condition, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest,
    LsPage, ReadOutcome, ReadRequest, Removed, View, WriteRequest, Written,
};
use handhold::backends::Memory;
use handhold_core::backend::{Draft, Reader, Writer};
use handhold_core::toolbox::Toolbox;
use handhold_core::tools::{ALL_TOOLS, READ_TOOLS};
use handhold_core::types::ToolCall;
use serde_json::Value;

use super::{Answer, FrontEnd, Handed, HandedBlock, Session, show_media};
use crate::case::Case;
use crate::runtime;
use crate::world::{Directory, World};

/// The rules over memory.
pub struct Native;

impl FrontEnd for Native {
    fn name(&self) -> &'static str {
        "core+memory"
    }

    fn can(&self, need: &str) -> bool {
        matches!(need, "blocks" | "streams")
    }

    fn open(&self, case: &Case) -> Result<(World, Box<dyn Session>)> {
        let settings = case.config.as_deref().map(Settings::from_toml).transpose()?;
        let tools = if case.read_only { READ_TOOLS } else { ALL_TOOLS };
        let toolbox = Toolbox::open(tools, settings.unwrap_or_default().config)
            .map_err(|error| anyhow!("{}: {}", error.field, error.message))?;
        let memory = Memory::new();
        let session =
            NativeSession { toolbox, backend: Blocking(memory.clone()), writes: !case.read_only };
        Ok((World::Memory(memory, Directory::new()), Box::new(session)))
    }
}

struct NativeSession {
    toolbox: Toolbox,
    backend: Blocking,
    writes: bool,
}

impl Session for NativeSession {
    fn call(&mut self, tool: &str, arguments: &str, call_id: &str) -> Result<Answer> {
        let call = ToolCall {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            call_id: Some(call_id.to_owned()),
        };
        let writer = self.writes.then_some(&self.backend as &dyn Writer);
        let result = self.toolbox.call(&self.backend, writer, call);
        Ok(Answer {
            is_error: result.is_error,
            text: result.text,
            structured: serde_json::from_str(&result.structured)?,
        })
    }

    fn hand_over(&mut self, handed: &Handed<'_>) -> Result<Answer> {
        let writer = self.writes.then_some(&self.backend as &dyn Writer);
        let mut output = self.toolbox.output(&self.backend, writer, handed.tool, handed.call_id);
        let mut passed_on = Vec::new();
        let mut places = Vec::new();
        for block in &handed.blocks {
            places.push(match block {
                HandedBlock::Text(text) => {
                    output.next_block();
                    for piece in text.chunks(handed.pieces.unwrap_or(usize::MAX)) {
                        passed_on.append(&mut output.push(piece));
                    }
                    Err(String::from_utf8_lossy(text).into_owned())
                }
                HandedBlock::Media(media) => {
                    Ok(output.media(media).unwrap_or_else(|| show_media(media)))
                }
            });
        }
        let end = output.finish(handed.is_error);
        passed_on.extend(end.rest);
        let is_large = end.offloaded.is_some();
        let mut text = match end.offloaded {
            Some(offloaded) if handed.pieces.is_some() => {
                Some(String::from_utf8(passed_on)? + &offloaded.notice)
            }
            Some(offloaded) => Some(offloaded.text),
            // What was passed on is all of the text.
            None if handed.pieces.is_some() => {
                Some(String::from_utf8_lossy(&passed_on).into_owned())
            }
            None => None,
        };
        // A notice stands where the first block of text was.
        let take = |place: Result<String, String>| match place {
            Ok(media) => Some(media),
            Err(_) if is_large || handed.pieces.is_some() => text.take(),
            Err(text) => Some(text),
        };
        let lines: Vec<String> = places.into_iter().filter_map(take).collect();
        Ok(Answer { is_error: handed.is_error, text: lines.join("\n"), structured: Value::Null })
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
        runtime().block_on(self.0.glob_info(request.clone(), &View::default()))
    }

    fn grep_raw(&self, request: &GrepRequest) -> Result<GrepPage, ErrorCode> {
        runtime().block_on(self.0.grep_raw(request.clone(), &View::default()))
    }
}

impl Writer for Blocking {
    fn write(&self, request: &WriteRequest) -> Result<Written, ErrorCode> {
        runtime().block_on(self.0.write(request.clone()))
    }

    fn append(&self, request: &WriteRequest) -> Result<Written, ErrorCode> {
        runtime().block_on(self.0.append(request.clone()))
    }

    fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        let draft = runtime().block_on(self.0.draft(directory))?;
        Ok(Box::new(BlockingDraft(draft)))
    }

    fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        runtime().block_on(self.0.remove(path, recursive))
    }

    fn rename(&self, source: &str, destination: &str, overwrite: bool) -> Result<(), ErrorCode> {
        runtime().block_on(self.0.rename(source, destination, overwrite))
    }
}

/// A draft of the host as one of the rules.
struct BlockingDraft(Box<dyn handhold::backend::Draft>);

impl Draft for BlockingDraft {
    fn push(&mut self, content: &[u8]) -> Result<(), ErrorCode> {
        runtime().block_on(self.0.push(content.to_vec()))
    }

    fn publish(&mut self, name: &str, condition: &Condition) -> Result<Written, ErrorCode> {
        runtime().block_on(self.0.publish(name, condition.clone()))
    }
}
