//! What holds for the workspaces of all threads: what is shared, allowed, limited, written down.

pub(crate) mod apart;

mod sessions;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use self::sessions::Sessions;
use crate::backend::Backend;
use crate::backends::{
    Audit, AuditContext, AuditSink, Fresh, Ledger, Memory, Mount, MountError, Mounts, Quota,
    QuotaLimits, ReadOnly, Rule, RuleError, Rules, SharedDirError, ThreadDir,
};
use crate::call_context::CallContext;

/// What holds for all threads.
#[derive(Clone, Default)]
pub struct Policy {
    /// Directories that all threads share.
    pub mounts: Vec<SharedDirectory>,
    /// What may be read and written. The first rule that matches decides.
    pub rules: Vec<Rule>,
    /// How much each thread may take, without what is shared.
    pub quota: QuotaLimits,
    /// Where changes are written down; none for nowhere.
    pub audit: Option<Arc<dyn AuditSink>>,
    /// Whether a file that has changed since a session read it is not overwritten.
    ///
    /// What a session has read is kept in memory: a new process knows nothing of it. With 10 000
    /// sessions, those that have not been used for longest are forgotten for others; what is
    /// forgotten may be overwritten.
    pub refuse_stale: bool,
}

/// A directory of the machine that is shown in every workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedDirectory {
    /// Where it is shown, as in `/skills`.
    pub path: String,
    /// The directory of the machine. Neither does it lie in another shared one, nor in a
    /// workspace, nor does it hold workspaces: that is checked by the names of paths, which must all
    /// be absolute or all be relative for that. One that does not exist is empty, until a write
    /// makes it.
    pub dir: PathBuf,
    /// Whether it may not be changed.
    pub read_only: bool,
}

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A rule is wrong.
    #[error("`{}` {}", .0.field, .0.message)]
    Rule(RuleError),
    /// A mount is wrong.
    #[error("`mounts`: {0}")]
    Mount(#[from] MountError),
    /// The directory of a mount cannot be shared.
    #[error("`mounts`: `{path}`: {error}")]
    Directory {
        /// Where it was to be shown.
        path: String,
        /// What is wrong with it.
        error: SharedDirError,
    },
    /// The directory of a mount lies in another one, or in a workspace, or holds the workspaces.
    #[error("`mounts`: the directory of `{path}` and {other} lie in one another")]
    Overlap {
        /// Where it was to be shown.
        path: String,
        /// What it overlaps with.
        other: String,
    },
}

/// A policy that has been checked, to be put over the files of a thread.
pub struct Layers {
    policy: Policy,
    /// The rules over no files.
    rules: Option<Rules>,
    /// The mounts in no files.
    mounts: Option<Mounts>,
    sessions: Mutex<Sessions>,
}

impl Layers {
    /// Checks a policy. Does no I/O.
    ///
    /// # Errors
    /// Fails for a policy that cannot be used.
    pub fn new(policy: Policy) -> Result<Self, PolicyError> {
        let nothing = Arc::new(Memory::new());
        let rules = match policy.rules.as_slice() {
            [] => None,
            rules => Some(Rules::new(nothing.clone(), rules.to_vec()).map_err(PolicyError::Rule)?),
        };
        let mut mounts = Vec::new();
        for SharedDirectory { path, dir, read_only } in &policy.mounts {
            let shared = ThreadDir::at_ambient_path(dir)
                .map_err(|error| PolicyError::Directory { path: path.clone(), error })?;
            let backend: Arc<dyn Backend> = Arc::new(shared);
            let backend = if *read_only { Arc::new(ReadOnly::new(backend)) } else { backend };
            mounts.push(Mount { path: path.clone(), backend });
        }
        let mounts = if mounts.is_empty() { None } else { Some(Mounts::new(nothing, mounts)?) };
        apart::check_shared(&policy.mounts)?;
        Ok(Self { policy, rules, mounts, sessions: Mutex::default() })
    }

    /// The files of a thread as a run may use them. Does no I/O.
    #[must_use]
    pub fn over(
        &self,
        own: Arc<dyn Backend>,
        ledger: Arc<dyn Ledger>,
        context: &CallContext,
    ) -> Arc<dyn Backend> {
        // From the inside out: what is charged, what is shown, what is allowed, what is told.
        let mut backend = own;
        if self.policy.quota != QuotaLimits::default() {
            backend = Arc::new(Quota::new(backend, self.policy.quota, ledger));
        }
        if let Some(mounts) = &self.mounts {
            backend = Arc::new(mounts.over(backend));
        }
        if let Some(rules) = &self.rules {
            backend = Arc::new(rules.over(backend));
        }
        if self.policy.refuse_stale {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            let seen = sessions.seen(context);
            drop(sessions);
            backend = Arc::new(Fresh::new(backend, seen));
        }
        if let Some(sink) = &self.policy.audit {
            let who = AuditContext {
                tenant: context.tenant.clone(),
                thread: context.thread.clone(),
                call_id: context.call_id.clone(),
                tool: context.tool.clone(),
            };
            backend = Arc::new(Audit::new(backend, Arc::clone(sink), who));
        }
        backend
    }
}
