//! Moving: directories that are made are charged, and what is replaced is released.

use handhold_core::path::WorkspacePath;
use handhold_core::types::ErrorCode;

use super::finish::finish;
use super::ledger::{LedgerEntry, Turn, Usage};
use super::limits::Growth;
use super::look::{Replaced, is_certain};
use super::room::{Room, settle};
use super::write::parse;
use super::{ATTEMPTS, Quota, unsettled};

impl Quota {
    pub(super) async fn give_name(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        let (from, to) = (parse(source)?, parse(destination)?);
        if from.is_root() || to.is_within(&from) {
            // This leads to nothing, and the backend knows how to say so.
            return self.inner.rename(source, destination, overwrite).await;
        }
        for _ in 0..ATTEMPTS {
            let Some(entry) = self.turn(Turn::Change, false).await? else {
                let result = self.inner.rename(source, destination, overwrite).await;
                return self.unless_used(result).await;
            };
            let missing = self.missing(&to).await?;
            let replaced = if overwrite { self.replaced(&to).await } else { Replaced::Nothing };
            let growth = Growth { bytes: 0, files: missing, size: 0 };
            let entry = match self.room(Some(entry), growth, 0).await {
                Ok(Room::Enough(Some(entry))) => entry,
                Ok(Room::Enough(None) | Room::Counted) => continue,
                // What is not there cannot be moved, whether or not there is room.
                Err(error) => return Err(self.refusal(&from, &to).await.unwrap_or(error)),
            };
            let (quota, source) = (self.clone(), source.to_owned());
            return finish(async move {
                quota.move_now(entry, &source, &to, overwrite, missing, replaced).await
            })
            .await;
        }
        Err(unsettled())
    }

    async fn move_now(
        &self,
        mut entry: Box<dyn LedgerEntry>,
        source: &str,
        to: &WorkspacePath,
        overwrite: bool,
        missing: u64,
        replaced: Replaced,
    ) -> Result<(), ErrorCode> {
        let usage = entry.usage();
        entry.mark_busy().await?;
        let result = self.inner.rename(source, to.as_str(), overwrite).await;
        let made = match &result {
            Ok(()) => Some(missing),
            // Directories may have been made all the same.
            Err(error) if is_certain(error) => {
                self.missing(to).await.ok().map(|now| missing.saturating_sub(now))
            }
            Err(_) => None,
        };
        let less = match (&result, replaced) {
            (Err(_), _) | (Ok(()), Replaced::Nothing) => Some(Usage::default()),
            (Ok(()), Replaced::File(bytes)) => Some(Usage { bytes, files: 1 }),
            (Ok(()), Replaced::Unclear) => None,
        };
        let usage = usage
            .zip(made)
            .zip(less)
            .and_then(|((usage, made), less)| usage.change(Usage { bytes: 0, files: made }, less));
        settle(entry, usage).await;
        result
    }

    /// Why a move would fail also if there was room.
    async fn refusal(&self, from: &WorkspacePath, to: &WorkspacePath) -> Option<ErrorCode> {
        for path in [from, to] {
            if let Err(error) = self.inner.resolve(path.as_str(), false).await {
                return Some(error);
            }
        }
        match self.inner.read_bytes(from.as_str(), 0, 0).await {
            // A link that leads nowhere is something that can be moved.
            Err(error @ (ErrorCode::NotFound | ErrorCode::NotADirectory)) => {
                self.inner.resolve(from.as_str(), true).await.ok().map(|_| error)
            }
            _ => None,
        }
    }
}
