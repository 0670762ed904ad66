//! How much a workspace may take: its bytes, its files, and the size of one file.

mod count;
mod draft;
mod finish;
mod ledger;
mod limits;
mod look;
mod memory_ledger;
mod remove;
mod rename;
mod room;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest, Removed, WriteRequest, Written,
};

pub use self::ledger::{Ledger, LedgerEntry, Reservation, Turn, Usage};
pub(super) use self::limits::Growth;
pub use self::limits::QuotaLimits;
pub use self::memory_ledger::MemoryLedger;
use self::remove::What;
use self::write::Manner;
use crate::backend::{Backend, Draft, View};

/// How often a change starts over because the ledger was not known, and had to be counted. More
/// than once only if other processes crash meanwhile.
const ATTEMPTS: usize = 8;

/// A workspace that may only take so much.
///
/// Everything in it counts. Directories, links and special files are files of 0 bytes; a file with
/// two names counts twice. A change that would make the workspace larger than it may be fails with
/// `quota-exceeded` and leaves everything as it was. What makes nothing larger is always allowed,
/// also when the workspace has more than it may.
///
/// What the workspace takes is kept in a [`Ledger`], which lets one change in after the other. So
/// the limits are exact between all that use one ledger, and the files need not be counted for
/// each change. A file in the making is charged as it grows, up to 8 MiB ahead while there is
/// plenty of room.
///
/// # What makes the ledger wrong
/// Changes that do not come through here: other programs in the directory, and backends without
/// the quota. The ledger does not notice; [`Self::recount`] puts it right. After a crash in the
/// middle of a change it counts again by itself. After a crash of the system the ledger may be
/// older than the files, or newer.
///
/// # Calls that are given up
/// A change that has begun goes on if its future is dropped, so that the ledger knows how it ended.
/// One that still waits for its turn is not made.
///
/// The quota belongs directly over the backend that has the files, whose ledger it is given:
///
/// ```
/// use std::sync::Arc;
/// use handhold::backends::{Memory, MemoryLedger, Quota, QuotaLimits};
///
/// let limits = QuotaLimits { bytes: Some(1 << 30), ..QuotaLimits::default() };
/// let quota = Quota::new(Arc::new(Memory::new()), limits, Arc::new(MemoryLedger::new()));
/// ```
#[derive(Clone)]
pub struct Quota {
    inner: Arc<dyn Backend>,
    limits: QuotaLimits,
    ledger: Arc<dyn Ledger>,
}

impl Quota {
    /// Puts limits on a backend. All that use one workspace must use one ledger.
    ///
    /// Does no I/O.
    #[must_use]
    pub fn new(inner: Arc<dyn Backend>, limits: QuotaLimits, ledger: Arc<dyn Ledger>) -> Self {
        Self { inner, limits, ledger }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> QuotaLimits {
        self.limits
    }

    /// What the workspace takes. Files in the making are not in it.
    ///
    /// The ledger says so; if it does not know, the files are counted. Of a workspace that nobody
    /// has used yet, nothing is made.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read, or the files cannot be counted.
    pub async fn usage(&self) -> Result<Usage, ErrorCode> {
        let Some(entry) = self.turn(Turn::Look, false).await? else {
            return Ok(Usage::default());
        };
        match entry.usage() {
            Some(usage) => Ok(usage),
            None => self.count(entry).await,
        }
    }

    /// Counts what the workspace takes, and puts the ledger right. Changes wait meanwhile.
    ///
    /// # Errors
    /// As [`Self::usage`].
    pub async fn recount(&self) -> Result<Usage, ErrorCode> {
        match self.turn(Turn::Look, false).await? {
            Some(entry) => self.count(entry).await,
            None => Ok(Usage::default()),
        }
    }

    /// Waits for a turn. None if nothing was ever kept of the workspace and it is empty, unless
    /// `make`.
    async fn turn(
        &self,
        turn: Turn,
        make: bool,
    ) -> Result<Option<Box<dyn LedgerEntry>>, ErrorCode> {
        if !make {
            if let Some(entry) = self.ledger.begin_if_kept(turn).await? {
                return Ok(Some(entry));
            }
            if self.inner.ls_info("/", 0, 1).await?.total == 0 {
                return Ok(None);
            }
        }
        self.ledger.begin(turn).await.map(Some)
    }
}

/// The ledger does not come to rest.
fn unsettled() -> ErrorCode {
    ErrorCode::Unavailable("what the workspace takes keeps being unknown".to_owned())
}

#[async_trait]
impl Backend for Quota {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        self.inner.ls_info(path, offset, limit).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        self.inner.read(request).await
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        self.inner.read_bytes(path, offset, length).await
    }

    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        self.inner.glob_info(request, view).await
    }

    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        self.inner.grep_raw(request, view).await
    }

    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        self.inner.resolve(path, follow_last).await
    }

    fn without_links(&self) -> Option<Arc<dyn Backend>> {
        Some(Arc::new(Self { inner: self.inner.without_links()?, ..self.clone() }))
    }

    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.put(request, Manner::Write).await
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.put(request, Manner::Append).await
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        draft::open(self, directory).await
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        self.take_away(path, What::Entry { recursive }).await
    }

    async fn remove_version(&self, path: &str, version: &str) -> Result<Removed, ErrorCode> {
        self.take_away(path, What::Version(version.to_owned())).await
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        self.give_name(source, destination, overwrite).await
    }
}
