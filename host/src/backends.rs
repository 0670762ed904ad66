//! The backends that come with the library.

mod audit;
mod blocking;
mod fresh;
mod memory;
mod mounts;
mod quota;
mod read_only;
mod rules;
#[cfg(target_os = "linux")]
mod thread_dir;

pub use audit::{Audit, AuditContext, AuditEntry, AuditSink, ChangeKind, JsonLines};
pub use fresh::{Fresh, Seen};
pub use memory::Memory;
pub use mounts::{Mount, MountError, Mounts};
pub use quota::{Ledger, LedgerEntry, MemoryLedger, Quota, QuotaLimits, Reservation, Turn, Usage};
pub use read_only::ReadOnly;
pub use rules::{Mode, Operation, Rule, RuleError, Rules};
#[cfg(target_os = "linux")]
pub use thread_dir::{
    AgentFiles, DeleteError, DiffKind, Difference, FileLedger, IdError, Lifetime, MAX_SNAPSHOTS,
    Restored, SharedDirError, SnapshotError, SnapshotInfo, ThreadDir, ThreadInfo,
};

/// How many bytes one `read_bytes` gives at most: 1 MiB, so that no caller can make the host hold
/// more than that at once.
const MAX_READ_BYTES: u64 = 1 << 20;
