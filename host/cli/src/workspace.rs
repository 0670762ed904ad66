//! From options to a toolbox and workspaces.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use handhold::backends::{AgentFiles, IdError};
use handhold::{
    Access, BackendFactory as _, CallContext, Layers, Policy, Settings, Threads, Toolbox, Workspace,
};
use handhold_artifact::{FILE_TOOLS, READ_TOOLS};

use crate::args::WorkspaceArgs;
use crate::audit;

/// Where workspaces are if no root is given.
const DEFAULT_ROOT: &str = "agent_files";

/// A toolbox, and the workspaces of threads.
pub(crate) struct Hands {
    pub(crate) toolbox: Toolbox,
    threads: Threads,
    access: Access,
}

impl Hands {
    /// Makes a toolbox for up to `calls` calls at once; 0 for one without a pool.
    pub(crate) fn new(args: &WorkspaceArgs, calls: u32) -> Result<Self> {
        let settings = settings(args.config.as_deref())?;
        let threads = |policy| {
            let threads = if args.memory {
                Threads::in_memory(policy)
            } else {
                Threads::in_directory(files(args.root.as_deref()), policy)
            };
            threads.context("the configuration cannot be used")
        };
        // What is wrong with it is told before anything is made.
        drop(threads(settings.policy())?);
        let mut builder = Toolbox::builder()
            .config(settings.config.clone())
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
        let audit = settings.audit_file.as_deref().map(audit::open).transpose()?;
        let threads = threads(Policy { audit, ..settings.policy() })?;
        Ok(Self { toolbox, threads, access: access(args) })
    }

    /// What calls may do.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// The workspace of a run.
    pub(crate) fn workspace(&self, context: &CallContext) -> Result<Workspace, IdError> {
        let workspace = Workspace::shared(self.threads.backend(context)?);
        Ok(if self.access == Access::ReadOnly { workspace.read_only() } else { workspace })
    }
}

/// The directories of all threads.
pub(crate) fn files(root: Option<&Path>) -> AgentFiles {
    AgentFiles::at_ambient_path(absolute(root.unwrap_or(Path::new(DEFAULT_ROOT))))
}

/// A path from the root of the machine, so that those of the command line and of the configuration
/// can be compared.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What calls may do.
fn access(args: &WorkspaceArgs) -> Access {
    if args.read_only { Access::ReadOnly } else { Access::ReadWrite }
}

/// What the configuration file says, checked; without one, everything is as it is built in.
pub(crate) fn settings(path: Option<&Path>) -> Result<Settings> {
    let Some(path) = path else { return Ok(Settings::default()) };
    let named = || format!("the configuration {}", path.display());
    let text = std::fs::read_to_string(path).with_context(named)?;
    let path = absolute(path);
    let dir = path.parent().unwrap_or(Path::new(""));
    let settings = Settings::from_toml(&text).with_context(named)?.relative_to(dir);
    drop(Layers::new(settings.policy()).with_context(named)?);
    for (n, mount) in settings.mounts.iter().enumerate() {
        // What is not there would be shown as empty. One that may be written is made by a write.
        let is_dir = std::fs::symlink_metadata(&mount.dir).is_ok_and(|found| found.is_dir());
        ensure!(
            is_dir || !mount.read_only,
            "{}: `mounts[{n}].dir`: {} is no directory",
            named(),
            mount.dir.display()
        );
    }
    Ok(settings)
}

/// Where compiled code is kept: the user's directory for caches.
fn cache_dir() -> Option<PathBuf> {
    let from =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let caches = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("handhold"))
}
