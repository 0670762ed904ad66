//! Going back to a snapshot.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;

use rustix::fs::FlockOperation;

use super::super::errors::code;
use super::account::{Account, Books};
use super::alone::{alone, check};
use super::build::{Tree, lock_old};
use super::exchange::{Spot, exchange, let_move};
use super::manifest::Manifest;
use super::origins::OriginsWriter;
use super::settling::TICK;
use super::store::{Store, snapshot_bytes};
use super::{Asked, SnapshotError, run};
use crate::backends::quota::{QuotaLimits, Usage};

/// What a restored workspace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// How many bytes its regular files have.
    pub bytes: u64,
    /// How many files, links, and directories it has.
    pub files: u64,
    /// How many FIFOs, sockets and devices the workspace had when the snapshot was taken. They do
    /// not come back.
    pub skipped: u64,
}

/// Makes a thread what it was.
pub(super) async fn restore(asked: Asked, limits: QuotaLimits) -> Result<Restored, SnapshotError> {
    let found = asked.clone();
    let (store, list, after) = run(move |cancelled| find(&found, cancelled)).await?;
    let header = &list.header;
    let (bytes, files, skipped) = (header.bytes, header.files, header.skipped);
    let mut account = Account::new(asked.ledger.clone(), limits);
    account.reserve(|_| after).await?;
    let built = asked.clone();
    let (store, tree, origins) =
        run(move |cancelled| build(&built, store, list, cancelled)).await?;
    let put = move |books: &mut Books, cancelled: &AtomicBool| {
        books.check(after)?;
        let (tree, old) = put(&asked, tree, books, cancelled)?;
        books.usage = Some(after);
        Ok((store, tree, old))
    };
    let (store, tree, old) = account.change(put).await?;
    // Others may change the thread again.
    run(move |_| {
        // Without it, the next snapshot copies what need not be copied.
        drop(origins.place(&store.dir));
        drop(tree);
        drop(old);
        Ok(())
    })
    .await?;
    Ok(Restored { bytes, files, skipped })
}

/// Finds a snapshot, and says what the thread takes once it is restored: nothing else changes what
/// its snapshots have meanwhile.
fn find(asked: &Asked, cancelled: &AtomicBool) -> Result<(Store, Manifest, Usage), SnapshotError> {
    let Asked { root, id, file_name, .. } = asked;
    if root.open_beneath(&id.names)?.is_none() {
        return Err(SnapshotError::NotFound);
    }
    let how = FlockOperation::NonBlockingLockExclusive;
    let store = Store::wait(root, id, how, cancelled)?.ok_or_else(|| asked.missing())?;
    let list = store.manifest(file_name)?.ok_or_else(|| asked.missing())?;
    // Before anything is built in vain.
    drop(alone(root, id, cancelled)?);
    let bytes = list.header.bytes.saturating_add(snapshot_bytes(root, id)?);
    let after = Usage { bytes, files: list.header.files };
    Ok((store, list, after))
}

/// Builds the tree where nobody sees it.
fn build(
    asked: &Asked,
    store: Store,
    mut list: Manifest,
    cancelled: &AtomicBool,
) -> Result<(Store, Tree, OriginsWriter), SnapshotError> {
    let records = asked.root.records()?;
    let mut tree = Tree::new(records, list.header.top)?;
    let mut origins = OriginsWriter::new(records)?;
    tree.fill(&mut list, &store.objects, &mut origins, cancelled)?;
    tree.close()?;
    // From now on every write gives a restored file another version than the one that is noted.
    std::thread::sleep(TICK);
    Ok((store, tree, origins))
}

/// Puts the tree in the place of the one that is there, and gives both: what is to be taken apart,
/// and what tells others that somebody does so.
fn put(
    asked: &Asked,
    mut tree: Tree,
    books: &mut Books,
    cancelled: &AtomicBool,
) -> Result<(Tree, OwnedFd), SnapshotError> {
    let Asked { root, id, .. } = asked;
    let _hold = alone(root, id, cancelled)?;
    let (name, above) = id.names.split_last().ok_or(SnapshotError::NotFound)?;
    let dir = root.open_all(above)?.ok_or(SnapshotError::NotFound)?;
    let old = Spot { dir: &dir, name };
    let locked = lock_old(old).map_err(code)?;
    let mode = let_move(&locked)?;
    check(cancelled)?;
    // If this is cut off, nobody knows which of them is there.
    books.usage = None;
    match exchange(tree.spot(), old) {
        Ok(name) => tree.finish(name),
        Err(error) => {
            // It stays what it was.
            let _ = rustix::fs::fchmod(&locked, mode);
            return Err(error.into());
        }
    }
    Ok((tree, locked))
}
