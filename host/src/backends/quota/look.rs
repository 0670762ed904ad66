//! What is at a path before it is changed.

use handhold_core::path::WorkspacePath;
use handhold_core::types::{Condition, ErrorCode, WriteRequest};

use super::Quota;
use super::ledger::Usage;
use super::limits::Growth;
use super::write::Manner;

/// What a write meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The size of the file; none if there is none.
    pub(super) size: Option<u64>,
    /// How many directories above it are missing.
    pub(super) missing: u64,
}

impl Seen {
    /// By how much a file of `size` bytes in this place makes the workspace larger.
    pub(super) fn growth(self, size: u64) -> Growth {
        let bytes = size.saturating_sub(self.size.unwrap_or(0));
        let files = if self.size.is_some() { 0 } else { self.missing.saturating_add(1) };
        Growth { bytes, files, size }
    }

    /// What the file takes, and the directories above it that were missing when `before` was seen.
    pub(super) fn takes(self, before: Self) -> Usage {
        let made = before.missing.saturating_sub(self.missing);
        Usage { bytes: self.size.unwrap_or(0), files: u64::from(self.size.is_some()) + made }
    }
}

/// What a move puts itself in the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// Nothing, or something that is not replaced.
    Nothing,
    /// A regular file of this size, or a link, which has none.
    File(u64),
    /// Nobody can tell.
    Unclear,
}

impl Quota {
    /// Looks where a file is to be written, with all checks of a write.
    pub(super) async fn look(
        &self,
        path: &WorkspacePath,
        condition: Condition,
        manner: Manner,
    ) -> Result<Seen, ErrorCode> {
        let request = WriteRequest {
            path: path.as_str().to_owned(),
            content: Vec::new(),
            condition,
            dry_run: true,
        };
        let size = manner.run(&self.inner, request).await?.previous_size;
        let missing = if size.is_some() { 0 } else { self.missing(path).await? };
        Ok(Seen { size, missing })
    }

    /// How many of the directories above `path` are missing. What cannot be passed is for the
    /// change itself to find.
    pub(super) async fn missing(&self, path: &WorkspacePath) -> Result<u64, ErrorCode> {
        let mut above = Vec::new();
        let mut next = path.parent();
        while let Some(dir) = next.filter(|dir| !dir.is_root()) {
            next = dir.parent();
            above.push(dir);
        }
        // From the longest path to the shortest: first all those that are missing, then all others.
        // Mostly the first is there, so that is what is tried first.
        let (mut low, mut high) = (0, above.len());
        let mut middle = 0;
        while low < high {
            let Some(dir) = above.get(middle) else { break };
            if self.is_missing(dir).await? {
                low = middle + 1;
            } else {
                high = middle;
            }
            middle = low.midpoint(high);
        }
        Ok(low as u64)
    }

    /// Whether nothing is at `path`. It is not listed: a directory can be large.
    async fn is_missing(&self, path: &WorkspacePath) -> Result<bool, ErrorCode> {
        match self.inner.read_bytes(path.as_str(), 0, 0).await {
            Err(ErrorCode::NotFound) => Ok(true),
            Err(error) if !is_certain(&error) => Err(error),
            _ => Ok(false),
        }
    }

    /// What a move to `path` replaces. A link there is not followed.
    pub(super) async fn replaced(&self, path: &WorkspacePath) -> Replaced {
        // If the move is refused because of what this is, it does not matter.
        let Ok(real) = self.inner.resolve(path.as_str(), false).await else {
            return Replaced::Unclear;
        };
        match self.inner.resolve(path.as_str(), true).await {
            Ok(end) if end == real => {}
            // It leads somewhere, or nowhere, or out: it is a link.
            Ok(_) => return Replaced::File(0),
            Err(error) if is_certain(&error) => return Replaced::File(0),
            Err(_) => return Replaced::Unclear,
        }
        match self.look(path, Condition::Always, Manner::Write).await {
            Ok(Seen { size: Some(size), .. }) => Replaced::File(size),
            Ok(Seen { size: None, .. }) => Replaced::Nothing,
            Err(_) => Replaced::Unclear,
        }
    }
}

/// Whether an error is the answer to what was looked at, so that nothing was changed but for
/// directories that were made on the way.
pub(super) fn is_certain(error: &ErrorCode) -> bool {
    match error {
        ErrorCode::NotFound
        | ErrorCode::AlreadyExists
        | ErrorCode::IsDirectory
        | ErrorCode::NotADirectory
        | ErrorCode::NotAFile
        | ErrorCode::NotEmpty
        | ErrorCode::InvalidPath(_)
        | ErrorCode::InvalidArguments(_)
        | ErrorCode::NotPermitted
        | ErrorCode::Conflict
        | ErrorCode::Unsupported => true,
        ErrorCode::TooLarge(_)
        | ErrorCode::QuotaExceeded
        | ErrorCode::TimedOut
        | ErrorCode::Cancelled
        | ErrorCode::Unavailable(_)
        | ErrorCode::Other(_) => false,
    }
}
