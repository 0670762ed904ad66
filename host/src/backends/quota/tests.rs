//! Tests of the quota: over memory, over directories, with random changes, and with several
//! processes.

#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod cost;
#[cfg(target_os = "linux")]
mod directories;
mod drafts;
#[cfg(target_os = "linux")]
mod given_up;
#[cfg(target_os = "linux")]
mod killed;
mod limits;
#[cfg(target_os = "linux")]
mod processes;
mod random;
#[cfg(target_os = "linux")]
mod site;
mod usage;

use std::sync::Arc;

use handhold_core::types::{Condition, ErrorCode, WriteRequest};

use super::count::add_up;
use super::{MemoryLedger, Quota, QuotaLimits, Usage};
use crate::backend::Backend;
use crate::backends::Memory;

const NONE: QuotaLimits = QuotaLimits { bytes: None, files: None, file_bytes: None };

fn bytes(most: u64) -> QuotaLimits {
    QuotaLimits { bytes: Some(most), ..NONE }
}

fn files(most: u64) -> QuotaLimits {
    QuotaLimits { files: Some(most), ..NONE }
}

fn taken(bytes: u64, files: u64) -> Usage {
    Usage { bytes, files }
}

/// A workspace in memory with limits.
fn in_memory(limits: QuotaLimits) -> Quota {
    Quota::new(Arc::new(Memory::new()), limits, Arc::new(MemoryLedger::new()))
}

fn request(path: &str, size: usize) -> WriteRequest {
    WriteRequest {
        path: path.to_owned(),
        content: vec![b'x'; size],
        condition: Condition::Always,
        dry_run: false,
    }
}

/// Writes a file of so many bytes.
async fn write(quota: &Quota, path: &str, size: usize) -> Result<(), ErrorCode> {
    quota.write(request(path, size)).await.map(drop)
}

/// Puts so many bytes behind a file.
async fn append(quota: &Quota, path: &str, size: usize) -> Result<(), ErrorCode> {
    quota.append(request(path, size)).await.map(drop)
}

/// What the ledger says, which must be what is there.
async fn checked(quota: &Quota) -> Usage {
    let usage = quota.usage().await.expect("a usage");
    assert_eq!(usage, add_up(&*quota.inner).await.expect("a count"), "the ledger is wrong");
    usage
}
