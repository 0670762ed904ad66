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
    current: &'a Offered,
}

/// A tool as it is offered.
pub struct Offered {
    /// The tool.
    pub tool: &'static dyn Tool,
    /// The name.
    pub name: String,
    /// The description, if it is not the built-in one.
    pub description: Option<String>,
    /// How many tokens its result may have, if that is its own number.
    pub tokens: Option<u64>,
}

impl Offered {
    /// A tool as a configuration offers it; none if it does not.
    #[must_use]
    pub fn new(tool: &'static dyn Tool, config: &Config) -> Option<Self> {
        let setting = config.tools.iter().find(|setting| setting.tool == tool.name());
        if setting.is_some_and(|setting| !setting.enabled) {
            return None;
        }
        Some(Self {
            tool,
            name: setting
                .and_then(|setting| setting.name.clone())
                .unwrap_or_else(|| tool.name().to_owned()),
            description: setting.and_then(|setting| setting.description.clone()),
            tokens: setting.and_then(|setting| setting.tokens),
        })
    }
}

impl<'a> Context<'a> {
    /// What `current`, a tool of `offered`, works with.
    #[must_use]
    pub fn new(
        reader: &'a dyn Reader,
        writer: Option<&'a dyn Writer>,
        config: &'a Config,
        offered: &'a [Offered],
        current: &'a Offered,
    ) -> Self {
        Self { reader, writer, config, offered, current }
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

    /// How many bytes the text of a page of this tool may have, if it is its own number.
    #[must_use]
    pub fn own_page_bytes(&self) -> Option<u64> {
        self.current.tokens.map(|tokens| tokens.saturating_mul(TOKEN_BYTES))
    }

    /// How many bytes a page of lines may have: what its tokens take, and no more than half of a
    /// result.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        let config = self.config();
        let tokens = self.current.tokens.unwrap_or(config.offload.tokens);
        tokens.saturating_mul(TOKEN_BYTES).min(config.result_bytes / 2)
    }

    /// The name under which a tool is offered; none if it is not.
    #[must_use]
    pub fn name_of(&self, tool: &str) -> Option<&str> {
        let offered = self.offered.iter().find(|offered| offered.tool.name() == tool)?;
        Some(&offered.name)
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
