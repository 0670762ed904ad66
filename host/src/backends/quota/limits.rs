//! What is allowed.

use handhold_core::types::ErrorCode;

use super::ledger::Usage;

/// How much a workspace may take; none for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotaLimits {
    /// How many bytes its regular files may have together.
    pub bytes: Option<u64>,
    /// How many files, links, special files and directories it may have together.
    pub files: Option<u64>,
    /// How many bytes one regular file may have.
    pub file_bytes: Option<u64>,
}

/// By how much a change makes a workspace larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backends) struct Growth {
    /// How many bytes are added.
    pub(in crate::backends) bytes: u64,
    /// How many files and directories are made.
    pub(in crate::backends) files: u64,
    /// How large the file will be.
    pub(in crate::backends) size: u64,
}

impl QuotaLimits {
    /// Whether what the workspace takes must be known for a change.
    pub(super) fn concern(self, growth: Growth) -> bool {
        growth.bytes > 0 && self.bytes.is_some() || growth.files > 0 && self.files.is_some()
    }

    /// Checks that one file may grow to a size.
    pub(super) fn check_file(self, growth: Growth) -> Result<(), ErrorCode> {
        check(growth.bytes, growth.size, self.file_bytes)
    }

    /// Checks that there is room, beside what is there and what others have reserved.
    pub(in crate::backends) fn check(
        self,
        usage: Usage,
        reserved: u64,
        growth: Growth,
    ) -> Result<(), ErrorCode> {
        let bytes = usage.bytes.saturating_add(reserved).saturating_add(growth.bytes);
        check(growth.bytes, bytes, self.bytes)?;
        check(growth.files, usage.files.saturating_add(growth.files), self.files)
    }
}

/// Whether `more` may be added if that makes `all`.
fn check(more: u64, all: u64, most: Option<u64>) -> Result<(), ErrorCode> {
    match most {
        Some(most) if more > 0 && all > most => Err(ErrorCode::QuotaExceeded),
        _ => Ok(()),
    }
}
