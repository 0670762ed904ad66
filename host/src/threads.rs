//! The workspaces of threads: from the context of a run to a backend.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::Backend;
use crate::backends::{AgentFiles, IdError, Memory, MemoryLedger};
use crate::call_context::CallContext;
use crate::policy::{Layers, Policy, PolicyError, apart};

/// Makes the backend of a run.
pub trait BackendFactory: Send + Sync {
    /// The backend for a context. Does no I/O.
    ///
    /// # Errors
    /// Fails for an id that cannot be one.
    fn backend(&self, context: &CallContext) -> Result<Arc<dyn Backend>, IdError>;
}

/// The workspaces of all threads, with one policy.
pub struct Threads {
    store: Store,
    layers: Layers,
}

enum Store {
    Directory(AgentFiles),
    Memory(Mutex<InMemory>),
}

/// A tenant and a thread.
type Key = (Option<String>, String);

/// With how many workspaces the first look is made for those that nobody has written to.
const FIRST_LOOK: usize = 64;

/// Workspaces in memory.
#[derive(Default)]
struct InMemory {
    all: HashMap<Key, (Memory, Arc<MemoryLedger>)>,
    /// With how many workspaces the next look is made.
    next_look: usize,
}

impl InMemory {
    /// A workspace, which is empty at first. Those that are still empty, and that nobody has, are
    /// forgotten now and then: that does not show.
    fn workspace(&mut self, key: Key) -> (Memory, Arc<MemoryLedger>) {
        if self.all.len() >= self.next_look.max(FIRST_LOOK) && !self.all.contains_key(&key) {
            self.all.retain(|_, (memory, _)| !memory.is_unused());
            self.next_look = 2 * self.all.len();
        }
        self.all.entry(key).or_default().clone()
    }
}

impl Threads {
    /// Threads whose workspaces are directories.
    ///
    /// # Errors
    /// Fails for a policy that cannot be used.
    pub fn in_directory(files: AgentFiles, policy: Policy) -> Result<Self, PolicyError> {
        apart::check_workspaces(&policy.mounts, files.path())?;
        Ok(Self { store: Store::Directory(files), layers: Layers::new(policy)? })
    }

    /// Threads whose workspaces are in memory, as long as this lives. There is no end to them: a
    /// host that takes thread ids from others needs a quota, or its own end of this. Those that were
    /// never written to take nothing.
    ///
    /// # Errors
    /// Fails for a policy that cannot be used.
    pub fn in_memory(policy: Policy) -> Result<Self, PolicyError> {
        Ok(Self { store: Store::Memory(Mutex::default()), layers: Layers::new(policy)? })
    }
}

impl BackendFactory for Threads {
    fn backend(&self, context: &CallContext) -> Result<Arc<dyn Backend>, IdError> {
        let (tenant, thread) = (context.tenant.as_deref(), context.thread.as_str());
        Ok(match &self.store {
            Store::Directory(files) => {
                let own = files.thread(tenant, thread)?;
                let ledger = Arc::new(own.ledger());
                self.layers.over(Arc::new(own), ledger, context)
            }
            Store::Memory(threads) => {
                tenant.map_or(Ok(()), IdError::check)?;
                IdError::check(thread)?;
                let key = (context.tenant.clone(), context.thread.clone());
                let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
                let (memory, ledger) = threads.workspace(key);
                drop(threads);
                self.layers.over(Arc::new(memory), ledger, context)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Condition, WriteRequest};

    #[tokio::test]
    async fn workspaces_in_memory_stay_if_they_are_used_and_no_others() {
        let threads = Threads::in_memory(Policy::default()).expect("a good policy");
        let open = |n: usize| {
            let context = CallContext { thread: format!("{n}"), ..CallContext::default() };
            threads.backend(&context).expect("a good id")
        };
        let held = open(0);
        let file = |path: &str| WriteRequest {
            path: path.to_owned(),
            content: b"x".to_vec(),
            condition: Condition::Always,
            dry_run: false,
        };
        open(1).write(file("/a")).await.expect("written");
        for n in 2..100 * FIRST_LOOK {
            assert_eq!(open(n).ls_info("/", 0, 9).await.expect("an empty root").total, 0);
        }
        let Store::Memory(all) = &threads.store else { panic!("they are in memory") };
        assert!(all.lock().expect("the workspaces").all.len() <= FIRST_LOOK);
        held.write(file("/b")).await.expect("written");
        for (n, path) in [(0, "/b"), (1, "/a")] {
            assert_eq!(open(n).read_bytes(path, 0, 9).await.expect("the file").data, b"x");
        }
    }
}
