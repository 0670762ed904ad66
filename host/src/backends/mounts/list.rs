//! Listing a directory in which other layers are shown.
//!
//! The entries of the backend come in pages of its own. To give pages with some entries less and
//! some more, it is found out first which of the special ones the backend has. There are no more of
//! these than mounts, however large the directory is.

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileInfo, FileKind, LsPage};

use super::layer::{Layer, Place, is_something_else};
use super::spot::Spot;

/// Lists what is at `path` of a layer.
pub(super) async fn list(
    layer: &Layer,
    path: &WorkspacePath,
    offset: u64,
    limit: u64,
) -> Result<LsPage, ErrorCode> {
    let is_ours = layer.is_on_the_way(path);
    let listing = match layer.place(path, true).await? {
        Place::Here(spot) => Listing::of(layer, path, spot).await?,
        Place::InTheWay if is_ours => Listing::of_mounts(layer, path),
        Place::InTheWay => return Err(ErrorCode::NotFound),
    };
    let mut page = listing.page(offset, limit).await?;
    let shown = layer.shown(path);
    for entry in &mut page.entries {
        let place = if page.is_directory { shown.child(name(entry)) } else { shown.clone() };
        entry.path = place.as_str().to_owned();
    }
    Ok(page)
}

/// The directory of a backend, and what is different in its listing.
struct Listing<'a> {
    /// None if the backend does not have the directory.
    spot: Option<Spot<'a>>,
    /// Names of the backend's entries that are hidden.
    removed: Vec<String>,
    /// Names of directories that are there besides, in order.
    added: Vec<String>,
    /// Whether the directory is there in any case.
    is_ours: bool,
}

impl<'a> Listing<'a> {
    /// A directory in whose place the backend has something else.
    fn of_mounts(layer: &Layer, path: &WorkspacePath) -> Self {
        let added = layer.fixed_names(path).into_iter().map(str::to_owned).collect();
        Self { spot: None, removed: Vec::new(), added, is_ours: true }
    }

    /// What is at a place of the backend that was asked for as `path`.
    async fn of(layer: &Layer, path: &WorkspacePath, spot: Spot<'a>) -> Result<Self, ErrorCode> {
        let real = spot.path();
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for name in layer.fixed_names(real) {
            let child = real.child(name);
            let there = layer.entry(&child).await?;
            let is_hidden = layer.is_hole(&child) || is_something_else(there);
            if there.is_some() && is_hidden {
                removed.push(name.to_owned());
            }
            // By a link, what the backend has is seen, and no mount.
            if real == path && (there.is_none() || is_hidden) {
                added.push(name.to_owned());
            }
        }
        Ok(Self { spot: Some(spot), removed, added, is_ours: layer.is_on_the_way(path) })
    }

    async fn page(&self, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        if self.removed.is_empty() && self.added.is_empty() {
            return self.source_page(offset, limit).await;
        }
        let (added, removed) = (self.added.len() as u64, self.removed.len() as u64);
        // As much as can belong to the page, whatever comes before it.
        let from = offset.saturating_sub(added);
        let wanted = limit.saturating_add(added).saturating_add(removed);
        let mut source = self.source_page(from, wanted).await?;
        if !source.is_directory {
            return Ok(source);
        }
        let mut at_end = false;
        while (source.entries.len() as u64) < wanted && !at_end {
            let done = source.entries.len() as u64;
            let next = from.saturating_add(done);
            at_end = next >= source.total;
            if !at_end {
                let more = self.source_page(next, wanted - done).await?;
                at_end = more.entries.is_empty();
                source.entries.extend(more.entries);
            }
        }
        let (start, merged) = self.merge(from, source.entries, at_end);
        let skip = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let total = source.total.saturating_sub(removed).saturating_add(added);
        let entries = merged.into_iter().skip(skip).take(limit).collect();
        Ok(LsPage { entries, total, ..source })
    }

    /// Makes the changes in `entries` of the backend, of which the first is number `from`. Returns
    /// the number of the first of the result too.
    fn merge(&self, from: u64, entries: Vec<FileInfo>, at_end: bool) -> (u64, Vec<FileInfo>) {
        let mut added = self.added.iter().peekable();
        let mut start = from;
        if let Some(first) = entries.first().map(|entry| name(entry).to_owned())
            && from > 0
        {
            let gone = self.removed.iter().filter(|removed| **removed < first).count();
            start = start.saturating_sub(gone as u64);
            while added.next_if(|added| **added < first).is_some() {
                start += 1;
            }
        }
        let mut merged = Vec::with_capacity(entries.len() + self.added.len());
        for entry in entries {
            let here = name(&entry);
            while let Some(before) = added.next_if(|added| added.as_str() <= here) {
                merged.push(directory(before));
            }
            if !self.removed.iter().any(|removed| removed == here) {
                merged.push(entry);
            }
        }
        if at_end {
            merged.extend(added.map(|name| directory(name)));
        }
        (start, merged)
    }

    /// A page of the backend; an empty one if the directory is there only for what is shown in it.
    async fn source_page(&self, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        let nothing = LsPage { entries: vec![], total: 0, undecodable: 0, is_directory: true };
        let Some(spot) = &self.spot else { return Ok(nothing) };
        match spot.backend().ls_info(spot.as_str(), offset, limit).await {
            Err(ErrorCode::NotFound) if self.is_ours => Ok(nothing),
            Ok(page) if self.is_ours && !page.is_directory => Ok(nothing),
            page => page.map_err(|error| spot.failed(error)),
        }
    }
}

/// An entry that the backend does not have. Where it is shown is said later.
fn directory(name: &str) -> FileInfo {
    let path = format!("/{name}");
    FileInfo { path, kind: FileKind::Directory, size: 0, modified: 0, link_target: None }
}

fn name(entry: &FileInfo) -> &str {
    entry.path.rsplit('/').next().unwrap_or_default()
}
