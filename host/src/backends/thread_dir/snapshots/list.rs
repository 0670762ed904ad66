//! Listing snapshots.

use std::collections::{HashMap, hash_map};
use std::sync::atomic::AtomicBool;

use super::super::id::ThreadId;
use super::super::root::Root;
use super::alone::check;
use super::entry::What;
use super::manifest::Header;
use super::object::ObjectName;
use super::store::Store;
use super::{SnapshotError, SnapshotInfo};

/// Who needs an object.
enum Needed {
    /// The snapshot of this number alone.
    By(usize),
    ByMany,
}

/// The snapshots of a thread, the oldest first.
pub(super) fn list(
    root: &Root,
    id: &ThreadId,
    cancelled: &AtomicBool,
) -> Result<Vec<SnapshotInfo>, SnapshotError> {
    if root.open_beneath(&id.names)?.is_none() {
        return Err(SnapshotError::NotFound);
    }
    let Some(store) = Store::open(root, id)? else { return Ok(Vec::new()) };
    let mut infos: Vec<SnapshotInfo> = Vec::new();
    let mut needed: HashMap<ObjectName, Needed> = HashMap::new();
    for file_name in store.file_names()? {
        // It may have been removed meanwhile.
        let Some(mut list) = store.manifest(&file_name)? else { continue };
        let number = infos.len();
        let Header { name, created, bytes, files, skipped, .. } = list.header.clone();
        let own_bytes = list.bytes()?;
        infos.push(SnapshotInfo { name, created, bytes, files, skipped, own_bytes });
        while let Some(entry) = list.next()? {
            check(cancelled)?;
            let What::File { size, object } = entry.what else { continue };
            match needed.entry(object) {
                hash_map::Entry::Vacant(place) => {
                    place.insert(Needed::By(number));
                    if let Some(info) = infos.get_mut(number) {
                        info.own_bytes = info.own_bytes.saturating_add(size);
                    }
                }
                hash_map::Entry::Occupied(mut place) => match *place.get() {
                    Needed::By(owner) if owner != number => {
                        place.insert(Needed::ByMany);
                        if let Some(info) = infos.get_mut(owner) {
                            info.own_bytes = info.own_bytes.saturating_sub(size);
                        }
                    }
                    Needed::By(_) | Needed::ByMany => {}
                },
            }
        }
    }
    infos.sort_by(|one, other| (one.created, &one.name).cmp(&(other.created, &other.name)));
    Ok(infos)
}
