//! Random changes: the ledger is right after each, and what is refused had no room.

mod places;

use handhold_core::types::Condition;
use proptest::prelude::*;

#[cfg(target_os = "linux")]
use self::places::InDirectory;
use self::places::InMemory;
use super::*;
use crate::backend::Draft;

#[derive(Clone, Debug)]
enum Change {
    Write { path: String, size: usize, is_append: bool, is_dry: bool, is_new: bool },
    Remove { path: String, recursive: bool },
    Rename { source: String, to: String, overwrite: bool },
    Draft { directory: String },
    Push { size: usize },
    Publish { name: String },
    Drop,
    Lose,
}

/// Few names, so that they meet.
fn path() -> impl Strategy<Value = String> {
    prop::collection::vec("[abcl]", 1..5).prop_map(|names| format!("/{}", names.join("/")))
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (path(), 0..40_usize, any::<bool>(), prop::bool::weighted(0.1), prop::bool::weighted(0.2))
            .prop_map(|(path, size, is_append, is_dry, is_new)| Change::Write {
                path, size, is_append, is_dry, is_new
            }),
        2 => (path(), any::<bool>())
            .prop_map(|(path, recursive)| Change::Remove { path, recursive }),
        4 => (path(), path(), any::<bool>())
            .prop_map(|(source, to, overwrite)| Change::Rename { source, to, overwrite }),
        1 => path().prop_map(|directory| Change::Draft { directory }),
        3 => (0..30_usize).prop_map(|size| Change::Push { size }),
        2 => "[abcl]".prop_map(|name| Change::Publish { name }),
        1 => Just(Change::Drop),
        1 => Just(Change::Lose),
    ]
}

fn limits() -> impl Strategy<Value = QuotaLimits> {
    let limit = |range: std::ops::Range<u64>| prop::option::weighted(0.7, range);
    // So few bytes that nothing is reserved ahead.
    (limit(0..64), limit(0..12), limit(0..40)).prop_map(|(bytes, files, file_bytes)| QuotaLimits {
        bytes,
        files,
        file_bytes,
    })
}

/// A draft that is open.
struct Open {
    draft: Box<dyn Draft>,
    directory: String,
    length: usize,
}

/// Makes one change.
async fn make(
    backend: &dyn Backend,
    change: &Change,
    open: &mut Option<Open>,
) -> Result<(), ErrorCode> {
    match change {
        Change::Write { path, size, is_append, is_dry, is_new } => {
            let condition = if *is_new { Condition::Absent } else { Condition::Always };
            let request = WriteRequest { condition, dry_run: *is_dry, ..request(path, *size) };
            if *is_append {
                backend.append(request).await.map(drop)
            } else {
                backend.write(request).await.map(drop)
            }
        }
        Change::Remove { path, recursive } => backend.remove(path, *recursive).await.map(drop),
        Change::Rename { source, to, overwrite } => backend.rename(source, to, *overwrite).await,
        Change::Draft { directory } => {
            let draft = backend.draft(directory).await?;
            *open = Some(Open { draft, directory: directory.clone(), length: 0 });
            Ok(())
        }
        Change::Push { size } => {
            let Some(open) = open else { return Ok(()) };
            open.draft.push(vec![b'd'; *size]).await?;
            open.length += size;
            Ok(())
        }
        Change::Publish { name } => {
            let Some(mut it) = open.take() else { return Ok(()) };
            let result = it.draft.publish(name, Condition::Always).await.map(drop);
            if result.is_err() {
                *open = Some(it);
            }
            result
        }
        Change::Drop => {
            *open = None;
            Ok(())
        }
        Change::Lose => Ok(()),
    }
}

/// What would be there if a change that was refused had been made in a copy without limits.
async fn unlimited(copy: &dyn Backend, change: &Change, open: Option<&Open>) -> (Usage, u64) {
    let length = open.map_or(0, |open| open.length);
    let (result, reserved, size) = match change {
        Change::Push { size } => (Ok(()), length + size, length + size),
        Change::Publish { name } => {
            let path = format!("{}/{name}", open.map_or("", |open| &open.directory));
            (write_to(copy, &path, length).await, 0, length)
        }
        Change::Write { path, size, is_append, is_new, .. } => {
            let made = Change::Write {
                path: path.clone(),
                size: *size,
                is_append: *is_append,
                is_dry: false,
                is_new: *is_new,
            };
            let result = make(copy, &made, &mut None).await;
            let page = copy.ls_info(path, 0, 1).await.expect("it is there");
            let size = page.entries.first().map_or(0, |entry| entry.size);
            (result, length, usize::try_from(size).expect("a size"))
        }
        other => (make(copy, other, &mut None).await, length, 0),
    };
    let is_into_itself =
        matches!(result, Err(ErrorCode::InvalidPath(_))) && matches!(change, Change::Rename { .. });
    assert!(result.is_ok() || is_into_itself, "the quota was not what was against it: {result:?}");
    let mut usage = add_up(copy).await.expect("a count");
    usage.bytes += reserved as u64;
    (usage, size as u64)
}

async fn write_to(backend: &dyn Backend, path: &str, size: usize) -> Result<(), ErrorCode> {
    backend.write(request(path, size)).await.map(drop)
}

/// A workspace, another one with the same in it, and how to lose the record.
trait Place {
    fn quota(&self) -> &Quota;
    async fn count(&self) -> Usage;
    async fn copy(&self) -> Box<dyn Backend>;
    async fn lose(&self);
}

async fn go_through(place: &impl Place, changes: &[Change]) {
    let quota = place.quota();
    let limits = quota.limits();
    let mut open = None;
    let mut before = place.count().await;
    for change in changes {
        if matches!(change, Change::Lose) {
            place.lose().await;
        }
        let result = make(quota, change, &mut open).await;
        let now = quota.usage().await.expect("a usage");
        assert_eq!(now, place.count().await, "after {change:?}");
        if result.is_err() || matches!(change, Change::Write { is_dry: true, .. }) {
            assert_eq!(now, before, "after {change:?}, {result:?}");
        }
        let is_over = |most: Option<u64>, all: u64| most.is_some_and(|most| all > most);
        assert!(now.bytes <= before.bytes || !is_over(limits.bytes, now.bytes), "{change:?}");
        assert!(now.files <= before.files || !is_over(limits.files, now.files), "{change:?}");
        if result == Err(ErrorCode::QuotaExceeded) {
            let copy = place.copy().await;
            let (would, size) = unlimited(&*copy, change, open.as_ref()).await;
            let no_room = is_over(limits.bytes, would.bytes)
                || is_over(limits.files, would.files)
                || is_over(limits.file_bytes, size);
            assert!(no_room, "{change:?} would have led to {would:?} and {size}");
        }
        before = now;
    }
}

fn run(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn in_memory_the_ledger_is_right_after_each_change(
        limits in limits(),
        changes in prop::collection::vec(change(), 1..40),
    ) {
        run(async { go_through(&InMemory(super::in_memory(limits)), &changes).await });
    }
}

#[cfg(target_os = "linux")]
proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn in_directories_the_ledger_is_right_after_each_change(
        limits in limits(),
        changes in prop::collection::vec(change(), 1..40),
    ) {
        run(async { go_through(&InDirectory::new(limits), &changes).await });
    }
}
