//! How a toolbox is made.

use std::path::PathBuf;
use std::sync::Arc;

use handhold_core::types::Config;
use tokio::sync::Semaphore;

use super::{DEFAULT_CONCURRENT_CALLS, DEFAULT_MEMORY_BYTES, Toolbox, Tools};
use crate::engine::engine;
use crate::error::BuildError;
use crate::retention::Retention;
use crate::state::ResultsBound;
use crate::workspace::Access;

/// Makes a [`Toolbox`].
#[derive(Default)]
pub struct ToolboxBuilder {
    read_tools: Option<Vec<u8>>,
    file_tools: Option<Vec<u8>>,
    config: Config,
    memory_bytes: Option<usize>,
    concurrent_calls: Option<u32>,
    retention: Retention,
    code_cache: Option<PathBuf>,
}

impl ToolboxBuilder {
    /// The component of the world `read-tools`, for workspaces that are read only. Default: none.
    #[must_use]
    pub fn read_tools(mut self, component: impl Into<Vec<u8>>) -> Self {
        self.read_tools = Some(component.into());
        self
    }

    /// The component of the world `file-tools`, for workspaces that may be changed. Default: none.
    #[must_use]
    pub fn file_tools(mut self, component: impl Into<Vec<u8>>) -> Self {
        self.file_tools = Some(component.into());
        self
    }

    /// How the tools behave. Default: [`Config::default`].
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// How many bytes of memory the instance of a call may have. Default:
    /// [`DEFAULT_MEMORY_BYTES`].
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// How many calls run at once; 0 for one at a time without a pool of instances, which starts
    /// sooner. Default: [`DEFAULT_CONCURRENT_CALLS`].
    #[must_use]
    pub fn concurrent_calls(mut self, calls: u32) -> Self {
        self.concurrent_calls = Some(calls);
        self
    }

    /// How much of off-loaded results a workspace keeps. Default: [`Retention::default`].
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// A directory for compiled code. It is used only if nobody but this user can write to it.
    /// Default: none, and every toolbox compiles.
    #[must_use]
    pub fn code_cache(mut self, dir: impl Into<PathBuf>) -> Self {
        self.code_cache = Some(dir.into());
        self
    }

    /// Checks the configuration and compiles the components.
    ///
    /// This takes about a second when the code is not in the cache.
    ///
    /// # Errors
    /// Fails for a configuration that is wrong, naming the field, and for components that do not
    /// compile or import something else than their world.
    pub fn build(self) -> Result<Toolbox, BuildError> {
        // The rules are those of the component; here they need no instance.
        let config = handhold_core::toolbox::check(self.config)
            .map_err(|error| BuildError::Config { field: error.field, message: error.message })?;
        let memory_bytes = self.memory_bytes.unwrap_or(DEFAULT_MEMORY_BYTES);
        let calls = self.concurrent_calls.unwrap_or(DEFAULT_CONCURRENT_CALLS);
        let engine = engine(calls, memory_bytes).map_err(BuildError::engine)?;
        let load = |bytes: Option<Vec<u8>>, access| -> Result<Option<Tools>, BuildError> {
            let cache = self.code_cache.as_deref();
            bytes.map(|bytes| Tools::load(&engine, &bytes, access, cache)).transpose()
        };
        let read_tools = load(self.read_tools, Access::ReadOnly)?;
        let file_tools = load(self.file_tools, Access::ReadWrite)?;
        let turns = Arc::new(Semaphore::new(usize::try_from(calls.max(1)).unwrap_or(1)));
        let directory = config.offload.path.as_str().into();
        let results = ResultsBound { directory, retention: self.retention };
        Ok(Toolbox { engine, read_tools, file_tools, config, memory_bytes, results, turns })
    }
}
