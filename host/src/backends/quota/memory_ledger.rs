//! A ledger for a workspace that only this process has.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use handhold_core::types::ErrorCode;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::ledger::{Ledger, LedgerEntry, Reservation, Turn, Usage};

/// A ledger in memory, for a workspace that no other process changes.
///
/// Handles made by `clone` are one ledger. At first it knows nothing, so that the first change
/// counts.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger {
    usage: Arc<Mutex<Option<Usage>>>,
    reserved: Arc<AtomicU64>,
}

impl MemoryLedger {
    /// A ledger that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn begin(&self, _: Turn) -> Result<Box<dyn LedgerEntry>, ErrorCode> {
        let held = Arc::clone(&self.usage).lock_owned().await;
        Ok(Box::new(MemoryEntry { held, reserved: Arc::clone(&self.reserved) }))
    }

    async fn begin_if_kept(&self, turn: Turn) -> Result<Option<Box<dyn LedgerEntry>>, ErrorCode> {
        self.begin(turn).await.map(Some)
    }
}

struct MemoryEntry {
    held: OwnedMutexGuard<Option<Usage>>,
    reserved: Arc<AtomicU64>,
}

#[async_trait]
impl LedgerEntry for MemoryEntry {
    fn usage(&self) -> Option<Usage> {
        *self.held
    }

    fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed)
    }

    async fn mark_busy(&mut self) -> Result<(), ErrorCode> {
        *self.held = None;
        Ok(())
    }

    async fn commit(mut self: Box<Self>, usage: Option<Usage>) -> Result<(), ErrorCode> {
        *self.held = usage;
        Ok(())
    }

    async fn reserve(&mut self, bytes: u64) -> Result<Box<dyn Reservation>, ErrorCode> {
        let mut reservation = MemoryReservation { all: Arc::clone(&self.reserved), bytes: 0 };
        reservation.set(bytes).await?;
        Ok(Box::new(reservation))
    }
}

struct MemoryReservation {
    all: Arc<AtomicU64>,
    bytes: u64,
}

#[async_trait]
impl Reservation for MemoryReservation {
    async fn set(&mut self, bytes: u64) -> Result<(), ErrorCode> {
        self.all.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
