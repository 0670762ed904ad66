//! Removing a snapshot, and objects that nobody needs.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use handhold_core::types::ErrorCode;
use rustix::fs::FlockOperation;

use super::account::Account;
use super::alone::check;
use super::entry::What;
use super::manifest::Manifest;
use super::object::{self, ObjectName};
use super::store::{Store, entries};
use super::{Asked, SnapshotError, run};
use crate::backends::quota::{QuotaLimits, Usage};

type Objects = BTreeSet<ObjectName>;

/// Removes a snapshot, and says how many bytes are free now.
pub(super) async fn remove(asked: Asked) -> Result<u64, SnapshotError> {
    let found = asked.clone();
    let (store, unneeded) = run(move |cancelled| find(&found, cancelled)).await?;
    let file_name = asked.file_name.clone();
    discard(&asked, store, Some(file_name), unneeded).await.map(|(_, freed)| freed)
}

/// Removes the objects that nobody needs if somebody has not come to it. If a list is damaged they
/// stay.
pub(super) async fn settle(asked: &Asked, store: Store) -> Result<Store, SnapshotError> {
    let (store, left_over) = run(move |cancelled| {
        let left_over = if store.is_unsettled()? {
            unneeded(&store, all(&store)?, None, cancelled)?
        } else {
            None
        };
        Ok((store, left_over))
    })
    .await?;
    match left_over {
        None => Ok(store),
        left_over => discard(asked, store, None, left_over).await.map(|(store, _)| store),
    }
}

/// Finds a snapshot, and the objects that nobody needs without it; none if nobody can tell.
fn find(asked: &Asked, cancelled: &AtomicBool) -> Result<(Store, Option<Objects>), SnapshotError> {
    let Asked { root, id, file_name, .. } = asked;
    if root.open_beneath(&id.names)?.is_none() {
        return Err(SnapshotError::NotFound);
    }
    let how = FlockOperation::NonBlockingLockExclusive;
    let store = Store::wait(root, id, how, cancelled)?.ok_or_else(|| asked.missing())?;
    let list = store.manifest(file_name).and_then(|list| list.ok_or_else(|| asked.missing()));
    let candidates = match list.and_then(|list| objects(list, cancelled)) {
        Ok(objects) if !store.is_unsettled()? => objects,
        // Nobody knows what it had, or what else there is.
        Ok(_) | Err(SnapshotError::Damaged(_)) => all(&store)?,
        Err(error) => return Err(error),
    };
    let unneeded = unneeded(&store, candidates, Some(file_name), cancelled)?;
    Ok((store, unneeded))
}

/// The objects of a list.
fn objects(mut list: Manifest, cancelled: &AtomicBool) -> Result<Objects, SnapshotError> {
    let mut objects = BTreeSet::new();
    while let Some(entry) = list.next()? {
        check(cancelled)?;
        if let What::File { object, .. } = entry.what {
            objects.insert(object);
        }
    }
    Ok(objects)
}

/// All objects.
fn all(store: &Store) -> Result<Objects, ErrorCode> {
    let names = entries(&store.objects)?.into_iter();
    Ok(names.filter_map(|name| ObjectName::parse(name.to_str()?)).collect())
}

/// Those objects that are in no list but one; none if another list is damaged, so that nobody
/// knows.
fn unneeded(
    store: &Store,
    mut candidates: Objects,
    but: Option<&str>,
    cancelled: &AtomicBool,
) -> Result<Option<Objects>, SnapshotError> {
    for file_name in store.file_names()?.iter().filter(|name| Some(name.as_str()) != but) {
        let list = store.manifest(file_name).and_then(|list| match list {
            Some(list) => objects(list, cancelled),
            None => Ok(BTreeSet::new()),
        });
        match list {
            Ok(needed) => candidates.retain(|object| !needed.contains(object)),
            Err(SnapshotError::Damaged(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(candidates))
}

/// Removes a list, if one is given, and objects, and says how many bytes they had. If nobody knows
/// which objects, they are left for later.
async fn discard(
    asked: &Asked,
    store: Store,
    list: Option<String>,
    objects: Option<Objects>,
) -> Result<(Store, u64), SnapshotError> {
    // What makes nothing larger is always allowed.
    let account = Account::new(asked.ledger.clone(), QuotaLimits::default());
    account
        .change(move |books, _| {
            store.unsettle()?;
            // If this is cut off, nobody knows how much of it there is.
            let usage = books.usage.take();
            let mut freed = match list {
                Some(name) => object::remove(&store.manifests, &name)?,
                None => 0,
            };
            let mut all_gone = objects.is_some();
            for name in objects.into_iter().flatten() {
                match object::remove(&store.objects, &name.to_string()) {
                    Ok(bytes) => freed = freed.saturating_add(bytes),
                    Err(_) => all_gone = false,
                }
            }
            if all_gone {
                store.settle();
            }
            let less = Usage { bytes: freed, files: 0 };
            books.usage = usage.and_then(|usage| usage.change(Usage::default(), less));
            Ok((store, freed))
        })
        .await
}
