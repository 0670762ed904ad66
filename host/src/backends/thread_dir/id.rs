//! A thread of a tenant: where its files are, and the name of what the host keeps of it.

use sha2::{Digest, Sha256};

use super::names::{IdError, directory_name};
use super::root::TENANTS;

/// The longest name of a record, in bytes. Longer ones are a hash.
const MAX_KEY_BYTES: usize = 200;

/// A thread of a tenant, or of none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadId {
    pub(super) tenant: Option<String>,
    pub(super) thread: String,
    /// The names of directories from the root to the workspace.
    pub(super) names: Vec<String>,
}

impl ThreadId {
    pub(super) fn new(tenant: Option<&str>, thread: &str) -> Result<Self, IdError> {
        let name = directory_name(thread)?;
        let names = match tenant {
            None => vec![name],
            Some(tenant) => vec![TENANTS.to_owned(), directory_name(tenant)?, name],
        };
        Ok(Self { tenant: tenant.map(str::to_owned), thread: thread.to_owned(), names })
    }

    /// The name of what the host keeps of this thread. No directory name that an id has been given
    /// has an `@`, so that no two threads share one; that of a shared directory can.
    pub(super) fn key(&self) -> String {
        let names: Vec<&str> =
            self.names.iter().map(String::as_str).filter(|name| *name != TENANTS).collect();
        let key = names.join("@");
        if key.len() <= MAX_KEY_BYTES && names.iter().all(|name| !name.contains('@')) {
            return key;
        }
        let hash: String =
            Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("@{hash}")
    }

    /// How the names of this thread's drafts begin. That another thread has the same by chance
    /// does no harm: it is left alone a little longer.
    pub(super) fn draft_mark(&self) -> String {
        let hash = Sha256::digest(self.key().as_bytes());
        hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_a_key_of_its_own() {
        let long = "x".repeat(150);
        let ids = [
            (None, "a"),
            (None, "b"),
            (Some("a"), "b"),
            (Some("b"), "a"),
            (Some("a"), "a"),
            (None, "a@b"),
            (None, "@"),
            (Some(long.as_str()), &long),
            (None, &long),
            (Some(long.as_str()), "x"),
            (None, ".tenants"),
            (Some(".tenants"), "a"),
        ];
        let mut keys: Vec<String> = ids
            .iter()
            .map(|(tenant, thread)| ThreadId::new(*tenant, thread).expect("an id").key())
            .collect();
        assert!(keys.iter().all(|key| key.len() <= 255 && !key.starts_with('.')));
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), ids.len());
    }
}
