//! What a tool works with: the backend, the configuration, and the names of the other tools.

use super::Tool;
use crate::backend::{Reader, Writer};
use crate::failure::{Code, Failure};
use crate::limits::{MAX_PATH_BYTES, TOKEN_BYTES};
use crate::path::{WorkspacePath, unquote};
use crate::types::{Config, ErrorCode};

/// What a tool works with.
pub struct Context<'a> {
    /// Where files are found.
    pub reader: &'a dyn Reader,
    writer: Option<&'a dyn Writer>,
    config: &'a Config,
    offered: &'a [Offered],
}

/// A tool, and the name under which it is offered.
pub struct Offered {
    /// The tool.
    pub tool: &'static dyn Tool,
    /// The name.
    pub name: String,
}

impl<'a> Context<'a> {
    /// What a tool of `offered` works with.
    #[must_use]
    pub fn new(
        reader: &'a dyn Reader,
        writer: Option<&'a dyn Writer>,
        config: &'a Config,
        offered: &'a [Offered],
    ) -> Self {
        Self { reader, writer, config, offered }
    }

    /// How files are changed.
    ///
    /// # Errors
    /// Fails where nothing may be changed.
    pub fn writer(&self) -> Result<&dyn Writer, Failure> {
        self.writer.ok_or_else(|| Failure::new(Code::NotPermitted, "this workspace is read-only"))
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.config
    }

    /// How many bytes a page of lines may have: what its tokens take, and no more than half of a
    /// result.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        let config = self.config();
        config.page_tokens.saturating_mul(TOKEN_BYTES).min(config.result_bytes / 2)
    }

    /// The name under which a tool is offered.
    #[must_use]
    pub fn name_of<'s>(&'s self, tool: &'s str) -> &'s str {
        self.offered
            .iter()
            .find(|offered| offered.tool.name() == tool)
            .map_or(tool, |offered| &offered.name)
    }

    /// Reads a path argument. A path that was printed as a literal is taken as what it stands
    /// for, unless there is something of the literal's own name.
    ///
    /// # Errors
    /// Fails for a path that breaks the rules.
    pub fn path(&self, given: &str) -> Result<WorkspacePath, Failure> {
        let refused = |error| {
            let failure = Failure::from(error);
            if given.len() > MAX_PATH_BYTES { failure } else { failure.at(given) }
        };
        let plain = WorkspacePath::parse(given);
        let Some(unquoted) = unquote(given) else { return plain.map_err(refused) };
        if let Ok(literal) = &plain
            && !matches!(self.reader.ls_info(literal.as_str(), 0, 1), Err(ErrorCode::NotFound))
        {
            return plain.map_err(refused);
        }
        WorkspacePath::parse(&unquoted).map_err(refused)
    }
}
