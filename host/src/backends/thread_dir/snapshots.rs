//! Snapshots of a workspace: what it was at one moment, to compare with and to go back to.
//!
//! ```text
//! {root}/.handhold/snapshots/{key}/manifests/{name}  one snapshot: all entries of the tree
//! {root}/.handhold/snapshots/{key}/objects/{object}  the content of a file, never changed
//! {root}/.handhold/snapshots/{key}/origins           what restored files were made of
//! {root}/.handhold/snapshots/{key}/unsettled         there may be objects that nobody needs
//! ```
//!
//! An object is named by the version of the file that it was taken of, so that a file that has not
//! changed since is not copied again. It is a clone of the file where the file system can do that,
//! else a copy, and never a link: other programs may write in place.
//!
//! Whoever takes, restores or removes a snapshot has the lock of the thread's directory of
//! snapshots. He takes the thread for himself only for the moment that counts.

mod account;
mod alone;
mod build;
mod content;
mod diff;
mod ending;
mod entry;
mod exchange;
mod keep;
mod list;
mod manifest;
mod object;
mod origins;
mod remove;
mod restore;
mod scratch;
mod settling;
mod store;
mod take;
mod text;
mod walk;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;

pub use self::diff::{DiffKind, Difference};
pub(super) use self::ending::{end, forget};
pub use self::restore::Restored;
pub(super) use self::store::snapshot_bytes;
use super::super::blocking;
use super::super::quota::QuotaLimits;
use super::ThreadDir;
use super::id::ThreadId;
use super::ledger::FileLedger;
use super::names::{IdError, directory_name};
use super::root::{AgentFiles, Root};

/// How many snapshots a thread can have.
pub const MAX_SNAPSHOTS: usize = 1000;

/// What a snapshot is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Its name.
    pub name: String,
    /// When it was taken, in milliseconds since the Unix epoch.
    pub created: u64,
    /// How many bytes the regular files of the workspace had. A file with two names counts twice.
    pub bytes: u64,
    /// How many files, links, and directories the workspace had.
    pub files: u64,
    /// How many FIFOs, sockets and devices the workspace had. They are not in the snapshot.
    pub skipped: u64,
    /// How many bytes would be free if the snapshot were removed: contents that no other snapshot
    /// has, and the list of its entries.
    pub own_bytes: u64,
}

/// Why nothing became of a snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The tenant, the thread or the name of the snapshot cannot be one.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The thread has no directory.
    #[error("there is no such thread")]
    NotFound,
    /// The thread has no snapshot of this name.
    #[error("there is no such snapshot: {0:?}")]
    NoSnapshot(String),
    /// The thread has a snapshot of this name already.
    #[error("there is a snapshot of this name already")]
    AlreadyExists,
    /// The thread has 1000 snapshots already.
    #[error("a thread has at most {MAX_SNAPSHOTS} snapshots")]
    TooMany,
    /// The thread was being changed, or another snapshot of it taken, for some seconds.
    #[error("the thread is in use")]
    InUse,
    /// What is kept of this snapshot makes no sense, or a part of it is missing.
    #[error("the snapshot {0:?} is damaged")]
    Damaged(String),
    /// The storage failed, or there is no room.
    #[error(transparent)]
    Storage(#[from] ErrorCode),
}

/// A snapshot that is asked for.
#[derive(Clone)]
struct Asked {
    root: Arc<Root>,
    id: Arc<ThreadId>,
    /// The name of the snapshot, and of the file for it.
    name: String,
    file_name: String,
    ledger: FileLedger,
}

impl AgentFiles {
    /// Takes a snapshot of a thread, as it is at one moment: regular files, directories and links
    /// with their permission bits, owners, and times. A file with several names becomes several
    /// files. FIFOs, sockets and devices are left out and counted; access control lists and
    /// extended attributes are left out.
    ///
    /// Changes through this library wait while the moment lasts: not for copying, which is done
    /// before, as far as files do not change meanwhile. A file that other programs keep writing
    /// makes it fail.
    ///
    /// What the snapshot adds counts in the quota of the thread: the contents that no other
    /// snapshot of it has, and the list of its entries. Without limits it is written down, and
    /// always allowed.
    ///
    /// # Errors
    /// Fails if the thread has no directory, if it has a snapshot of this name or 1000 snapshots,
    /// if it is being changed for some seconds, and with `quota-exceeded` if the limits leave no
    /// room for it. Nothing stays of it then.
    pub async fn snapshot(
        &self,
        tenant: Option<&str>,
        thread: &str,
        name: &str,
        limits: QuotaLimits,
    ) -> Result<SnapshotInfo, SnapshotError> {
        take::take(self.ask(tenant, thread, name)?, limits).await
    }

    /// The snapshots of a thread, the oldest first.
    ///
    /// # Errors
    /// Fails if the thread has no directory, or if a snapshot cannot be read.
    pub async fn snapshots(
        &self,
        tenant: Option<&str>,
        thread: &str,
    ) -> Result<Vec<SnapshotInfo>, SnapshotError> {
        let (root, id) = (Arc::clone(&self.root), ThreadId::new(tenant, thread)?);
        run(move |cancelled| list::list(&root, &id, cancelled)).await
    }

    /// Makes a thread what it was when a snapshot was taken. Everything that the snapshot does not
    /// have is gone. It is done in one step: whoever looks sees the one or the other. Where the
    /// file system cannot exchange two directories, there is nothing to see for a moment, and if
    /// the process ends just then, the thread is gone.
    ///
    /// Restored files have new versions. They are owned as they were as far as the system lets us;
    /// set-user-id, set-group-id and sticky bits are dropped.
    ///
    /// What the workspace grows by must have room in the quota, as far as `bytes` and `files` limit
    /// it; `file_bytes` is for what is written. The disk must have room for both trees for a moment.
    ///
    /// # Errors
    /// Fails if the thread has no directory or no such snapshot, if it is being changed for some
    /// seconds, and with `quota-exceeded` if the limits leave no room; it is as it was then.
    pub async fn restore(
        &self,
        tenant: Option<&str>,
        thread: &str,
        name: &str,
        limits: QuotaLimits,
    ) -> Result<Restored, SnapshotError> {
        restore::restore(self.ask(tenant, thread, name)?, limits).await
    }

    /// How another snapshot differs from a snapshot, or, without `other`, how the thread as it is
    /// now does; sorted by path. Changes that are made meanwhile may be in it or not.
    ///
    /// A file has changed if its content or its permission bits have, a link if its target has.
    /// Contents are compared if the versions say that there was a change and the sizes are the
    /// same; a change by other programs that leaves the version as it is is not seen. FIFOs,
    /// sockets and devices are not compared.
    ///
    /// # Errors
    /// Fails if the thread has no directory or no such snapshot, and with `too-large` if the paths
    /// that differ have more than 64 MiB.
    pub async fn diff(
        &self,
        tenant: Option<&str>,
        thread: &str,
        name: &str,
        other: Option<&str>,
    ) -> Result<Vec<Difference>, SnapshotError> {
        let asked = self.ask(tenant, thread, name)?;
        let other = other.map(|other| self.ask(tenant, thread, other)).transpose()?;
        run(move |cancelled| diff::diff(&asked, other.as_ref(), cancelled)).await
    }

    /// Removes a snapshot, and says how many bytes are free now: contents that other snapshots have
    /// too stay.
    ///
    /// # Errors
    /// Fails if the thread has no directory or no such snapshot, or if another snapshot of it is
    /// being taken or restored for some seconds.
    pub async fn remove_snapshot(
        &self,
        tenant: Option<&str>,
        thread: &str,
        name: &str,
    ) -> Result<u64, SnapshotError> {
        remove::remove(self.ask(tenant, thread, name)?).await
    }

    fn ask(&self, tenant: Option<&str>, thread: &str, name: &str) -> Result<Asked, SnapshotError> {
        let thread = self.thread(tenant, thread)?;
        let (file_name, ledger) = (directory_name(name)?, thread.ledger());
        let ThreadDir { root, id, .. } = thread;
        Ok(Asked { root, id, name: name.to_owned(), file_name, ledger })
    }
}

impl Asked {
    /// There is no such snapshot.
    fn missing(&self) -> SnapshotError {
        SnapshotError::NoSnapshot(self.name.clone())
    }
}

/// Does a step where it may block.
async fn run<T: Send + 'static>(
    step: impl FnOnce(&AtomicBool) -> Result<T, SnapshotError> + Send + 'static,
) -> Result<T, SnapshotError> {
    blocking::run(move |cancelled| Ok(step(cancelled))).await?
}
