//! From options to a toolbox and workspaces.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use handhold::backends::{AgentFiles, IdError, Memory};
use handhold::{Access, Settings, Toolbox, Workspace};
use handhold_artifact::{FILE_TOOLS, READ_TOOLS};

use crate::args::WorkspaceArgs;

/// Where workspaces are if no root is given.
const DEFAULT_ROOT: &str = "agent_files";

/// A toolbox, and the workspaces of threads.
pub(crate) struct Hands {
    pub(crate) toolbox: Toolbox,
    store: Store,
    access: Access,
}

enum Store {
    Directory(AgentFiles),
    Memory(Mutex<HashMap<(Option<String>, String), Memory>>),
}

impl Hands {
    /// Makes a toolbox for up to `calls` calls at once; 0 for one without a pool.
    pub(crate) fn new(args: &WorkspaceArgs, calls: u32) -> Result<Self> {
        let settings = settings(args.config.as_deref())?;
        let mut builder = Toolbox::builder()
            .config(settings.config)
            .memory(settings.memory_bytes)
            .retention(settings.retention)
            .concurrent_calls(calls);
        builder = if args.read_only {
            builder.read_tools(READ_TOOLS.component)
        } else {
            builder.file_tools(FILE_TOOLS.component)
        };
        if let Some(dir) = cache_dir() {
            builder = builder.code_cache(dir);
        }
        let toolbox = builder.build().context("the toolbox cannot be made")?;
        let store = if args.memory {
            Store::Memory(Mutex::default())
        } else {
            let root = args.root.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_ROOT));
            Store::Directory(AgentFiles::at_ambient_path(root))
        };
        Ok(Self { toolbox, store, access: access(args) })
    }

    /// What calls may do.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// The workspace of a thread.
    pub(crate) fn workspace(
        &self,
        tenant: Option<&str>,
        thread: &str,
    ) -> Result<Workspace, IdError> {
        let workspace = match &self.store {
            Store::Directory(files) => Workspace::new(files.thread(tenant, thread)?),
            Store::Memory(threads) => {
                // The rules for ids are the same.
                AgentFiles::at_ambient_path("").thread(tenant, thread)?;
                let key = (tenant.map(str::to_owned), thread.to_owned());
                let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
                Workspace::new(threads.entry(key).or_default().clone())
            }
        };
        Ok(if self.access == Access::ReadOnly { workspace.read_only() } else { workspace })
    }
}

/// What calls may do.
fn access(args: &WorkspaceArgs) -> Access {
    if args.read_only { Access::ReadOnly } else { Access::ReadWrite }
}

/// What the configuration file says; without one, everything is as it is built in.
fn settings(path: Option<&Path>) -> Result<Settings> {
    let Some(path) = path else { return Ok(Settings::default()) };
    let named = || format!("the configuration {}", path.display());
    let text = std::fs::read_to_string(path).with_context(named)?;
    Settings::from_toml(&text).with_context(named)
}

/// Where compiled code is kept: the user's directory for caches.
fn cache_dir() -> Option<PathBuf> {
    let from =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let caches = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("handhold"))
}
