//! The threads of a root: which there are, what they take, and their end.

mod end;
mod find;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use handhold_core::types::ErrorCode;

use self::end::{By, End, end};
use self::find::{Found, Times, find_all};
use super::super::blocking;
use super::id::ThreadId;
use super::life::now_ms;
use super::names::{IdError, directory_name};
use super::remove::sweep;
use super::root::{AgentFiles, Root};

/// How long the end of a thread waits until nobody changes it any more.
const DELETE_WAIT: Duration = Duration::from_secs(5);

/// How often it looks meanwhile.
const DELETE_LOOK: Duration = Duration::from_millis(20);

/// A thread that has a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The tenant; none for a thread of no tenant.
    pub tenant: Option<String>,
    /// The thread. If the id of one of both is long and the record is lost, that is the name of
    /// its directory.
    pub thread: String,
    /// How many bytes its regular files have.
    pub bytes: u64,
    /// How many bytes its snapshots take: contents, each once, and lists of entries. They count in
    /// its quota, beside its files.
    pub snapshot_bytes: u64,
    /// How many files, links, and directories it has.
    pub files: u64,
    /// When it was made, in milliseconds since the Unix epoch; if its record was lost, when its
    /// directory was.
    pub created: u64,
    /// When it was last used, in milliseconds since the Unix epoch.
    pub last_used: u64,
}

/// Why a thread was not deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// The id cannot be one.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The thread has no directory.
    #[error("there is no such thread")]
    NotFound,
    /// A call that changes it is running.
    #[error("the thread is in use")]
    InUse,
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] ErrorCode),
}

/// How long threads live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    /// How long after its last use a thread is deleted; none for never.
    pub idle: Option<Duration>,
    /// How long after it was made a thread is deleted; none for never.
    pub age: Option<Duration>,
}

impl Lifetime {
    fn is_over(&self, times: Times) -> bool {
        let now = now_ms();
        let over = |limit: Option<Duration>, since: u64| {
            limit.is_some_and(|limit| u128::from(now.saturating_sub(since)) > limit.as_millis())
        };
        over(self.idle, times.last_used) || over(self.age, times.created)
    }
}

impl AgentFiles {
    /// The threads that have a directory, by tenant and directory name; only those of a tenant, if
    /// one is given. Directories with a name that no id has are nobody's, and are left alone.
    ///
    /// # Errors
    /// Fails if the root or a thread cannot be read.
    pub async fn list(&self, tenant: Option<&str>) -> Result<Vec<ThreadInfo>, ErrorCode> {
        let tenant = match tenant.map(directory_name).transpose() {
            Ok(tenant) => tenant,
            // No thread has it.
            Err(_) => return Ok(Vec::new()),
        };
        let root = self.root.clone();
        blocking::run(move |cancelled| {
            let found = find_all(&root, tenant.as_deref())?;
            found.iter().filter_map(|found| found.info(&root, cancelled).transpose()).collect()
        })
        .await
    }

    /// What one thread takes; none if it has no directory.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub async fn usage(
        &self,
        tenant: Option<&str>,
        thread: &str,
    ) -> Result<Option<ThreadInfo>, ErrorCode> {
        let Ok(id) = ThreadId::new(tenant, thread) else { return Ok(None) };
        let root = self.root.clone();
        blocking::run(move |cancelled| Found { id, is_known: true }.info(&root, cancelled)).await
    }

    /// Deletes a thread with all that the host keeps of it. It is gone in one step; what it took
    /// is given back afterwards, by the next process if this one ends before. Links in it are
    /// removed, and what they lead to stays.
    ///
    /// Calls that read do not hold it up, and a draft is published to a new thread of the same id.
    ///
    /// # Errors
    /// Fails if it has no directory, or if it is being changed for some seconds.
    pub async fn delete(&self, tenant: Option<&str>, thread: &str) -> Result<(), DeleteError> {
        let id = ThreadId::new(tenant, thread)?;
        let until = Instant::now() + DELETE_WAIT;
        loop {
            let (root, id) = (self.root.clone(), id.clone());
            match blocking::run(move |_| end(&root, &id, By::Owner)).await? {
                End::Deleted => return Ok(()),
                End::Absent => return Err(DeleteError::NotFound),
                End::Spared | End::InUse if Instant::now() >= until => {
                    return Err(DeleteError::InUse);
                }
                End::Spared | End::InUse => tokio::time::sleep(DELETE_LOOK).await,
            }
        }
    }

    /// Deletes the threads whose time is over, and gives them; with `dry_run` it only says which
    /// they are. Only those of a tenant, if one is given. A thread that is in use is left for the
    /// next time: one that a call is reading, searching or changing, or that has an open draft.
    ///
    /// A time in the future, by a clock that was put back, is taken for now. What crashed
    /// processes have left half-made is removed too.
    ///
    /// # Errors
    /// Fails if the root cannot be read, or if a thread cannot be read or removed; the others are
    /// deleted all the same.
    pub async fn gc(
        &self,
        tenant: Option<&str>,
        lifetime: Lifetime,
        dry_run: bool,
    ) -> Result<Vec<ThreadInfo>, ErrorCode> {
        let tenant = match tenant.map(directory_name).transpose() {
            Ok(tenant) => tenant,
            Err(_) => return Ok(Vec::new()),
        };
        let root = self.root.clone();
        blocking::run(move |cancelled| {
            if !dry_run && root.open_all(&[])?.is_some() {
                sweep(&root.records()?.tmp);
            }
            let (mut over, mut failed) = (Vec::new(), None);
            for found in find_all(&root, tenant.as_deref())? {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(ErrorCode::Cancelled);
                }
                match collect(&root, &found, lifetime, dry_run, cancelled) {
                    Ok(info) => over.extend(info),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            failed.map_or(Ok(over), Err)
        })
        .await
    }
}

/// Deletes a thread if its time is over; none if it stays.
fn collect(
    root: &Root,
    found: &Found,
    lifetime: Lifetime,
    dry_run: bool,
    cancelled: &AtomicBool,
) -> Result<Option<ThreadInfo>, ErrorCode> {
    if !found.times(root, cancelled)?.is_some_and(|times| lifetime.is_over(times)) {
        return Ok(None);
    }
    let info = found.info(root, cancelled)?;
    let is_deleted = || Ok(end(root, &found.id, By::Clock(lifetime))? == End::Deleted);
    Ok(if dry_run || is_deleted()? { info } else { None })
}
