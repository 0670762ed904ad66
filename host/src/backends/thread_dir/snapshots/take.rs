//! Taking a snapshot.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;

use super::super::life::now_ms;
use super::account::{Account, Books, is_limited};
use super::alone::{alone, check};
use super::entry::What;
use super::keep::{Keeper, Kept, When};
use super::manifest::{HEADER_BYTES, Header, Writer};
use super::origins::Origins;
use super::remove::settle;
use super::store::Store;
use super::text::shown;
use super::walk::Walk;
use super::{Asked, MAX_SNAPSHOTS, SnapshotError, SnapshotInfo, run};
use crate::backends::quota::{QuotaLimits, Usage};

/// Takes a snapshot.
pub(super) async fn take(asked: Asked, limits: QuotaLimits) -> Result<SnapshotInfo, SnapshotError> {
    let begun = asked.clone();
    let store = run(move |cancelled| begin(&begun, cancelled)).await?;
    // It may make the room that is needed.
    let store = settle(&asked, store).await?;
    let mut account = Account::new(asked.ledger.clone(), limits);
    let looked = asked.clone();
    let (store, origins, needed) = run(move |cancelled| {
        let origins = Origins::read(&store);
        let needed = if is_limited(limits) {
            needed(&looked, &store, &origins, cancelled)?
        } else {
            u64::MAX
        };
        Ok((store, origins, needed))
    })
    .await?;
    account.reserve(|now| Usage { bytes: now.bytes.saturating_add(needed), ..now }).await?;
    let copied = asked.clone();
    let keeper = run(move |cancelled| {
        let mut keeper = Keeper::new(store, origins, copied.root.records()?, needed)?;
        prepare(&copied, &mut keeper, cancelled)?;
        Ok(keeper)
    })
    .await?;
    account.change(move |books, cancelled| moment(&asked, keeper, books, cancelled)).await
}

/// Takes the snapshots of a thread that can have one more.
fn begin(asked: &Asked, cancelled: &AtomicBool) -> Result<Store, SnapshotError> {
    let Asked { root, id, .. } = asked;
    if root.open_beneath(&id.names)?.is_none() {
        return Err(SnapshotError::NotFound);
    }
    let store = Store::make(root, id, cancelled)?;
    let names = store.file_names()?;
    if names.contains(&asked.file_name) {
        return Err(SnapshotError::AlreadyExists);
    }
    if names.len() >= MAX_SNAPSHOTS {
        return Err(SnapshotError::TooMany);
    }
    // Before anything is copied in vain.
    drop(alone(root, id, cancelled)?);
    Ok(store)
}

/// How many bytes a snapshot would add if nothing changed any more: objects that are missing, and
/// the list.
fn needed(
    asked: &Asked,
    store: &Store,
    origins: &Origins,
    cancelled: &AtomicBool,
) -> Result<u64, SnapshotError> {
    let mut needed = HEADER_BYTES as u64;
    let mut missing = BTreeSet::new();
    look_ahead(asked, |_, entry| {
        check(cancelled)?;
        needed = needed.saturating_add(entry.to_line()?.len() as u64);
        if let What::File { size, object } = entry.what
            && store.find(origins, object, size)?.is_none()
            && missing.insert(object)
        {
            needed = needed.saturating_add(size);
        }
        Ok(())
    })?;
    Ok(needed)
}

/// Copies what is likely to be in the snapshot while others may still change it.
fn prepare(
    asked: &Asked,
    keeper: &mut Keeper,
    cancelled: &AtomicBool,
) -> Result<(), SnapshotError> {
    look_ahead(asked, |walk, mut entry| {
        check(cancelled)?;
        keeper.keep(walk.dir(), &mut entry, When::Before, cancelled).map(drop)
    })
}

/// Goes through a tree that may change meanwhile.
fn look_ahead(
    asked: &Asked,
    mut meet: impl FnMut(&Walk, super::entry::Entry) -> Result<(), ErrorCode>,
) -> Result<(), SnapshotError> {
    let mut walk = walk(asked)?;
    loop {
        match walk.next() {
            Ok(Some(entry)) => meet(&walk, entry)?,
            Ok(None) => return Ok(()),
            // It is looked at again when it does not change any more.
            Err(ErrorCode::Unavailable(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes the list of what there is at one moment, and with it the snapshot.
fn moment(
    asked: &Asked,
    mut keeper: Keeper,
    books: &mut Books,
    cancelled: &AtomicBool,
) -> Result<SnapshotInfo, SnapshotError> {
    keeper.begin_last(books.room());
    let _hold = alone(&asked.root, &asked.id, cancelled)?;
    let mut list_bytes = HEADER_BYTES as u64;
    keeper.take_room(list_bytes)?;
    let mut walk = walk(asked)?;
    let mut list = Writer::new(asked.root.records()?, &asked.name, now_ms(), walk.top()?)?;
    while let Some(mut entry) = walk.next()? {
        check(cancelled)?;
        match keeper.keep(walk.dir(), &mut entry, When::AtLast, cancelled)? {
            Kept::Yes => {
                let line = entry.to_line()?;
                keeper.take_room(line.len() as u64)?;
                list_bytes += line.len() as u64;
                list.add(&entry, &line)?;
                keeper.name(&entry);
            }
            Kept::Exchanged => walk.look_again()?,
            Kept::Unsteady => return Err(unsteady(&walk.path()).into()),
        }
    }
    let list = list.finish(walk.skipped)?;
    let own_bytes = keeper.named_bytes().saturating_add(list_bytes);
    let was_settled = !keeper.store.is_unsettled()?;
    keeper.store.unsettle()?;
    // If this is cut off, nobody knows how much of it there is.
    let usage = books.usage.take();
    let placed = keeper.place().and_then(|less| {
        let header = list.place(&keeper.store.manifests, &asked.file_name)?;
        Ok((header, less))
    });
    if (placed.is_ok() || keeper.take_back()) && was_settled {
        keeper.store.settle();
    }
    let (Header { name, created, bytes, files, skipped, .. }, less) = placed?;
    let size = |bytes| Usage { bytes, files: 0 };
    books.usage = usage.and_then(|usage| usage.change(size(own_bytes), size(less)));
    Ok(SnapshotInfo { name, created, bytes, files, skipped, own_bytes })
}

fn walk(asked: &Asked) -> Result<Walk, SnapshotError> {
    match asked.root.open_beneath(&asked.id.names)? {
        Some(top) => Ok(Walk::new(top)?),
        None => Err(SnapshotError::NotFound),
    }
}

/// What is wrong with a file that does not stop changing.
fn unsteady(path: &[&OsStr]) -> ErrorCode {
    // Quoted, so that no name can break out of the line.
    let path = shown(path.iter().copied());
    ErrorCode::Unavailable(format!("the file {path:?} keeps changing"))
}
