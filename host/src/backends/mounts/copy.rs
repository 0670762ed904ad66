//! Moving a file from one layer to another: copying it, and removing it then.

use handhold_core::path::WorkspacePath;
use handhold_core::types::{BytesPage, Condition, ErrorCode, Version, WriteRequest, Written};

use super::spot::Spot;

/// How much is copied at once: 1 MiB.
const COPY_BYTES: u64 = 1 << 20;

/// A name for a file that is never made: whether it could be tells about its directory.
const PROBE_NAME: &str = ".handhold-probe";

/// A file that goes from one layer to another.
pub(super) struct Copy<'a> {
    pub(super) from: Spot<'a>,
    pub(super) to: Spot<'a>,
    /// Whether it takes the place of a file.
    pub(super) replaces: bool,
}

impl Copy<'_> {
    /// Copies the file and removes it where it was.
    ///
    /// Fails with `conflict` if it changes meanwhile.
    pub(super) async fn and_remove(self) -> Result<(), ErrorCode> {
        self.check_removable().await?;
        let (written, version) = self.copy().await?;
        let Err(error) = self.from.remove_version(&version).await else { return Ok(()) };
        // There is nothing to put back in the place of a copy that replaced a file.
        if written.previous_size.is_none() {
            // If that fails, there are two of them, or it is somebody else's by now.
            drop(self.to.remove_version(&written.version).await);
        }
        // Someone else has removed it meanwhile, or has moved it to where it is now.
        Err(if error == ErrorCode::NotFound { ErrorCode::Conflict } else { error })
    }

    /// Checks, as far as it can be known before, that the file may be removed.
    async fn check_removable(&self) -> Result<(), ErrorCode> {
        // A read-only file may be removed all the same. But if that failed in the end, a file that
        // was replaced would be lost.
        if !self.replaces || self.from.may_write(self.from.path()).await {
            Ok(())
        } else {
            Err(ErrorCode::NotPermitted)
        }
    }

    /// Copies the file. Returns what was written, and the version that was read.
    async fn copy(&self) -> Result<(Written, Version), ErrorCode> {
        let (Some(parent), Some(name)) = (self.to.path().parent(), self.to.path().name()) else {
            return Err(ErrorCode::IsDirectory);
        };
        let draft = self.to.backend().draft(parent.as_str()).await;
        let mut draft = draft.map_err(|error| self.to.failed(error))?;
        let (mut done, mut version) = (0, None);
        loop {
            let page = self.from.read(done, COPY_BYTES).await?;
            // A page of another version would make a file that never was.
            if version.get_or_insert_with(|| page.version.clone()) != &page.version {
                return Err(ErrorCode::Conflict);
            }
            if page.data.is_empty() {
                break;
            }
            done += page.data.len() as u64;
            draft.push(page.data).await.map_err(|error| self.to.failed(error))?;
        }
        let condition = if self.replaces { Condition::Always } else { Condition::Absent };
        let written = draft.publish(name, condition).await;
        Ok((written.map_err(|error| self.to.failed(error))?, version.unwrap_or_default()))
    }
}

impl Spot<'_> {
    /// Whether nothing forbids to change what is there, or to put it there or take it away.
    pub(super) async fn may_change(&self) -> bool {
        if self.may_write(self.path()).await {
            return true;
        }
        match self.path().parent() {
            Some(dir) => self.may_write(&dir.child(PROBE_NAME)).await,
            None => false,
        }
    }

    /// Whether nothing forbids to write at a path of the backend.
    async fn may_write(&self, path: &WorkspacePath) -> bool {
        let request = WriteRequest {
            path: path.as_str().to_owned(),
            content: Vec::new(),
            condition: Condition::Always,
            dry_run: true,
        };
        !matches!(self.backend().write(request).await, Err(ErrorCode::NotPermitted))
    }

    async fn read(&self, offset: u64, length: u64) -> Result<BytesPage, ErrorCode> {
        let page = self.backend().read_bytes(self.as_str(), offset, length).await;
        page.map_err(|error| self.failed(error))
    }

    async fn remove_version(&self, version: &str) -> Result<(), ErrorCode> {
        let removed = self.backend().remove_version(self.as_str(), version).await;
        removed.map(drop).map_err(|error| self.failed(error))
    }
}
