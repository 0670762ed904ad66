//! What a ledger is: who may change a workspace now, and what it takes.

use async_trait::async_trait;
use handhold_core::types::ErrorCode;

/// What a workspace takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The sizes of regular files together.
    pub bytes: u64,
    /// How many files, links, special files and directories there are; the root is none of them.
    pub files: u64,
}

impl Usage {
    /// This and `more`, without `less`; none if `less` is more than there is, so that the numbers
    /// must be wrong.
    pub(in crate::backends) fn change(self, more: Self, less: Self) -> Option<Self> {
        let bytes = self.bytes.saturating_add(more.bytes).checked_sub(less.bytes)?;
        let files = self.files.saturating_add(more.files).checked_sub(less.files)?;
        Some(Self { bytes, files })
    }
}

/// What a turn is most likely for. It only saves time: a [`Self::Look`] may become a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// To see what the workspace takes.
    Look,
    /// To change the workspace.
    Change,
}

/// Lets the changes of a workspace in one after the other, and keeps what it takes.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Waits until nobody else has the ledger. It is given back when the entry is dropped.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    async fn begin(&self, turn: Turn) -> Result<Box<dyn LedgerEntry>, ErrorCode>;

    /// The same, and makes nothing: none if there is no ledger yet.
    ///
    /// # Errors
    /// As [`Self::begin`].
    async fn begin_if_kept(&self, turn: Turn) -> Result<Option<Box<dyn LedgerEntry>>, ErrorCode>;

    /// Counts what the workspace takes, if the ledger can do that by itself; none if it cannot, and
    /// the listings of the backend are to be added up.
    async fn count(&self) -> Option<Result<Usage, ErrorCode>> {
        None
    }
}

/// A ledger that nobody else has at the moment.
#[async_trait]
pub trait LedgerEntry: Send {
    /// What the workspace takes, by the last commit; none if nothing was committed yet, or if a
    /// change has begun since, and was never committed.
    fn usage(&self) -> Option<Usage>;

    /// How many bytes are reserved by all.
    fn reserved(&self) -> u64;

    /// Says that a change begins. Unless a commit follows, what the workspace takes is not known
    /// from then on, whatever ends this process.
    ///
    /// # Errors
    /// Fails if that cannot be recorded; the workspace must not be changed then.
    async fn mark_busy(&mut self) -> Result<(), ErrorCode>;

    /// Says what the workspace takes now; none if that is not known. Gives the ledger back.
    ///
    /// # Errors
    /// Fails if that cannot be recorded; it is not known then.
    async fn commit(self: Box<Self>, usage: Option<Usage>) -> Result<(), ErrorCode>;

    /// Reserves bytes until the answer is dropped, or this process ends.
    ///
    /// # Errors
    /// Fails if that cannot be recorded.
    async fn reserve(&mut self, bytes: u64) -> Result<Box<dyn Reservation>, ErrorCode>;
}

/// Bytes that are put aside for what is not in the workspace yet; dropping it gives them back.
#[async_trait]
pub trait Reservation: Send {
    /// Reserves so many bytes instead. An entry of the ledger must be held meanwhile.
    ///
    /// # Errors
    /// Fails if that cannot be recorded; it stays as it was then.
    async fn set(&mut self, bytes: u64) -> Result<(), ErrorCode>;
}
