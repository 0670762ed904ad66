//! Moving within a layer and from one to another.

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};

use super::copy::Copy;
use super::{Mounts, errors};

impl Mounts {
    pub(super) async fn move_entry(
        &self,
        source: &WorkspacePath,
        destination: &WorkspacePath,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        let (from_layer, path) = self.route(source)?;
        let from = from_layer.to_take(&path).await?;
        if destination.is_within(source) {
            return Err(ErrorCode::InvalidPath(format!("{source} cannot be moved into itself")));
        }
        if destination.is_root() {
            return Err(ErrorCode::IsDirectory);
        }
        let (to_layer, path) = self.route(destination)?;
        let to = to_layer.to_move_to(&path).await?;
        if from_layer.at() == to_layer.at() {
            let renamed = from.backend().rename(from.as_str(), to.as_str(), overwrite).await;
            return renamed.map_err(|error| errors::shown(error, &[&from, &to]));
        }
        // Where nothing may change, no other advice is of use.
        if !(from.may_change().await && to.may_change().await) {
            return Err(ErrorCode::NotPermitted);
        }
        match from.kind().await?.ok_or(ErrorCode::NotFound)? {
            FileKind::File => {}
            FileKind::Directory => {
                return Err(ErrorCode::InvalidArguments(format!(
                    "the directory {source} cannot be moved to {destination}, which is stored \
                     elsewhere; move its files one by one"
                )));
            }
            FileKind::Link | FileKind::Other => return Err(ErrorCode::Unsupported),
        }
        let there = to.kind().await?;
        match there {
            None => {}
            Some(_) if !overwrite => return Err(ErrorCode::AlreadyExists),
            Some(FileKind::File) => {}
            Some(FileKind::Directory) => return Err(ErrorCode::IsDirectory),
            Some(FileKind::Other) => return Err(ErrorCode::NotAFile),
            // A move replaces a link, and a write would follow it.
            Some(FileKind::Link) => return Err(ErrorCode::Unsupported),
        }
        Copy { from, to, replaces: there.is_some() }.and_remove().await
    }
}
