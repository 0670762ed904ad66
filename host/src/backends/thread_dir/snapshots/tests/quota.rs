//! Snapshots count in what their thread may take.

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::account::Account;
use super::*;

fn bytes(most: u64) -> QuotaLimits {
    QuotaLimits { bytes: Some(most), ..NONE }
}

fn is_full<T: std::fmt::Debug>(result: Result<T, SnapshotError>) -> bool {
    match result {
        Err(SnapshotError::Storage(ErrorCode::QuotaExceeded)) => true,
        Ok(_) => false,
        other => panic!("{other:?}"),
    }
}

async fn put(quota: &Quota, path: &str, size: usize) -> Result<(), ErrorCode> {
    let (path, content) = (path.to_owned(), vec![b'q'; size]);
    let request = WriteRequest { path, content, condition: Condition::Always, dry_run: false };
    quota.write(request).await.map(drop)
}

#[tokio::test]
async fn a_snapshot_takes_the_room_that_it_needs_or_none() {
    let world = World::new();
    for n in 0..10 {
        world.put(format!("{n}"), vec![b'0' + n; 1000]);
    }
    fs::hard_link(world.at("0"), world.at("other")).expect("a link");
    world.take("s").await;
    let needed = world.bytes().await;
    assert!(needed > 10_000);
    assert_eq!(world.remove("s").await, needed);
    let there = world.count();
    assert_eq!(there, Usage { bytes: 11_000, files: 11 });
    for (most, fits) in [(0, false), (11_000, false), (16_500, false), (needed - 1, false)]
        .map(|(more, fits)| (if more < 11_000 { 11_000 + more } else { more }, fits))
        .into_iter()
        .chain([(11_000 + needed, true)])
    {
        assert_eq!(is_full(world.try_take("s", bytes(most)).await), !fits, "{most}");
        assert_eq!(world.objects().len(), if fits { 10 } else { 0 });
        let usage = world.ledger().await.expect("it was counted");
        assert_eq!(usage.bytes, if fits { most } else { 11_000 });
        assert!(!world.kept("unsettled").exists());
        assert_eq!(world.leftovers(), [""; 0]);
    }
    // Another one only takes its list.
    let list = fs::metadata(world.kept("manifests/s")).expect("a list").len();
    let most = 11_000 + needed + list;
    assert!(is_full(world.try_take("t", bytes(most - 1)).await));
    world.try_take("t", bytes(most)).await.expect("room");
    assert_eq!(world.ledger().await.map(|usage| usage.bytes), Some(most));
    // Nobody else has room now, until one is removed.
    let quota = world.quota(bytes(most));
    assert_eq!(put(&quota, "/new", 1).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(world.remove("t").await, list);
    assert_eq!(put(&quota, "/new", 1).await, Ok(()));
    assert_eq!(world.ledger().await, Some(world.count()));
}

#[tokio::test]
async fn a_restoration_takes_what_the_workspace_grows_by() {
    let world = World::new();
    world.put("d/a", vec![b'a'; 1000]);
    world.put("d/b", vec![b'b'; 1000]);
    world.take("large").await;
    fs::remove_dir_all(world.at("d")).expect("removed");
    world.put("c", vec![b'c'; 500]);
    world.take("small").await;
    let (small, before) = (world.tree(), world.count());
    let limits = |bytes, files| QuotaLimits {
        bytes: Some(before.bytes + bytes),
        files: Some(before.files + files),
        file_bytes: None,
    };
    for (bytes, files) in [(1499, 2), (1500, 1), (0, 0)] {
        assert!(is_full(world.try_restore("large", limits(bytes, files)).await));
        assert_eq!(world.tree(), small);
        assert_eq!(world.ledger().await, Some(before));
        assert_eq!(world.leftovers(), [""; 0]);
    }
    let restored = world.try_restore("large", limits(1500, 2)).await.expect("restored");
    assert_eq!(restored, Restored { bytes: 2000, files: 3, skipped: 0 });
    let after = Usage { bytes: before.bytes + 1500, files: before.files + 2 };
    assert_eq!(world.ledger().await, Some(after));
    // What makes nothing larger is allowed in any case.
    let nothing = QuotaLimits { bytes: Some(1), files: Some(1), file_bytes: Some(1) };
    world.try_restore("large", nothing).await.expect("restored");
    world.try_restore("small", nothing).await.expect("restored");
    assert_eq!(world.ledger().await, Some(before));
    // One that fails takes nothing.
    fs::remove_dir_all(world.kept("objects")).expect("removed");
    fs::create_dir(world.kept("objects")).expect("a directory");
    world.quota(NONE).recount().await.expect("counted");
    let result = world.try_restore("large", limits(1500, 2)).await;
    assert!(matches!(result, Err(SnapshotError::Damaged(_))), "{result:?}");
    assert_eq!(world.ledger().await, Some(world.count()));
    assert_eq!(world.tree(), small);
    assert_eq!(world.leftovers(), [""; 0]);
}

#[tokio::test]
async fn the_ledger_stays_right_without_limits() {
    let world = World::new();
    let quota = world.quota(bytes(1 << 20));
    for n in 0..5 {
        put(&quota, &format!("/d/{n}"), 100 * n).await.expect("room");
    }
    assert!(world.ledger().await.is_some());
    world.take("one").await;
    assert!(world.ledger().await.is_some(), "it is known after a snapshot");
    put(&quota, "/d/1", 5000).await.expect("room");
    quota.remove("/d/2", false).await.expect("removed");
    world.take("two").await;
    world.restore("one").await;
    assert!(world.ledger().await.is_some(), "it is known after a restoration");
    world.take("three").await;
    for name in ["two", "one", "three"] {
        world.remove(name).await;
        assert!(world.ledger().await.is_some(), "it is known when {name} is removed");
    }
    assert_eq!(world.bytes().await, 0);
    assert_eq!(quota.recount().await, Ok(world.count()));
    // Nor do those make it wrong that fail.
    world.take("s").await;
    for result in [
        world.try_take("s", NONE).await.map(drop),
        world.try_restore("no", NONE).await.map(drop),
        world.files.remove_snapshot(None, THREAD, "no").await.map(drop),
    ] {
        assert!(result.is_err());
        assert!(world.ledger().await.is_some());
    }
}

#[tokio::test]
async fn what_is_not_known_is_counted_with_the_snapshots() {
    let world = World::new();
    world.put("a", "content");
    world.take("s").await;
    assert_eq!(world.ledger().await, None, "nobody has asked");
    assert_eq!(world.quota(NONE).usage().await, Ok(world.count()));
    // What a process left over is counted, and given back when it is swept.
    fs::write(world.kept("objects/0123456789abcdef0123"), "left over").expect("written");
    fs::write(world.kept("unsettled"), "").expect("written");
    assert_eq!(world.quota(NONE).recount().await, Ok(world.count()));
    let most = world.count().bytes + fs::metadata(world.kept("manifests/s")).expect("one").len();
    world.try_take("t", bytes(most - 9)).await.expect("the room of what was left over");
    assert_eq!(world.ledger().await, Some(world.count()));
    assert_eq!(world.objects().len(), 1);
    // The snapshots of a thread without a directory count as well: the next write makes it.
    world.quota(NONE).recount().await.expect("counted");
    fs::remove_dir_all(world.at("")).expect("removed");
    let kept = world.quota(NONE).recount().await.expect("counted");
    fs::create_dir(world.at("")).expect("a directory");
    assert_eq!(kept, world.count());
    assert!(kept.bytes > 7);
}

#[tokio::test]
async fn what_a_snapshot_reserves_is_not_there_for_others() {
    let world = World::new();
    let quota = world.quota(bytes(1000));
    put(&quota, "/a", 100).await.expect("room");
    let ledger = world.files.thread(None, THREAD).expect("an id").ledger();
    let mut account = Account::new(ledger, bytes(1000));
    let more = |bytes| move |now: Usage| Usage { bytes: now.bytes + bytes, ..now };
    assert!(is_full(account.reserve(more(901)).await));
    account.reserve(more(900)).await.expect("room");
    assert_eq!(put(&quota, "/b", 1).await, Err(ErrorCode::QuotaExceeded));
    // It is its own room, and can be used.
    let done = account.change(|books, _| {
        assert_eq!(books.room(), 900);
        books.usage = books
            .usage
            .and_then(|usage| usage.change(Usage { bytes: 850, files: 0 }, Usage::default()));
        Ok(())
    });
    done.await.expect("charged");
    assert_eq!(put(&quota, "/b", 51).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(put(&quota, "/b", 50).await, Ok(()));
}

/// Writers and snapshots at the same time, with little room.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_ever_over_the_limit() {
    const MOST: u64 = 200_000;
    let world = World::new();
    let stop = Arc::new(AtomicBool::new(false));
    let full = Arc::new(AtomicBool::new(false));
    let mut tasks = Vec::new();
    for task in 0..6_usize {
        // Each has a root of its own, as another process has.
        let files = AgentFiles::at_ambient_path(world.base.path());
        let (stop, full) = (Arc::clone(&stop), Arc::clone(&full));
        let quota = world.quota(bytes(MOST));
        tasks.push(tokio::spawn(async move {
            for n in (0..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                let path = format!("/{task}/{}", n % 7);
                let done = match (task, n % 3) {
                    (0..4, 2) => quota.remove(&path, false).await.map(drop),
                    (0..4, _) => put(&quota, &path, 700 * (n % 11 + task)).await,
                    _ => {
                        let name = format!("{task}-{}", n % 2);
                        drop(files.remove_snapshot(None, THREAD, &name).await);
                        let taken = files.snapshot(None, THREAD, &name, bytes(MOST)).await;
                        let other = format!("{task}-{}", n / 2 % 2);
                        let restored = match n % 5 {
                            0 => files.restore(None, THREAD, &other, bytes(MOST)).await.map(drop),
                            _ => Ok(()),
                        };
                        for result in [taken.map(drop), restored] {
                            match result {
                                Ok(()) | Err(SnapshotError::NoSnapshot(_)) => {}
                                result => full.store(is_full(result), Ordering::Relaxed),
                            }
                        }
                        Ok(())
                    }
                };
                match done {
                    Ok(()) | Err(ErrorCode::NotFound) => {}
                    Err(ErrorCode::QuotaExceeded) => full.store(true, Ordering::Relaxed),
                    Err(error) => panic!("{error:?}"),
                }
            }
        }));
    }
    let ledger = world.files.thread(None, THREAD).expect("an id").ledger();
    let mut known = 0;
    while known < 100 || !full.load(Ordering::Relaxed) {
        assert!(!tasks.iter().any(tokio::task::JoinHandle::is_finished), "one has failed");
        let entry = ledger.begin(Turn::Look).await.expect("a turn");
        let there = world.count();
        if let Some(usage) = entry.usage() {
            assert_eq!(usage, there);
            known += 1;
        }
        assert!(there.bytes + entry.reserved() <= MOST, "{there:?} and {}", entry.reserved());
        drop(entry);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.expect("no panic");
    }
    assert_eq!(world.quota(NONE).usage().await, Ok(world.count()));
    assert_eq!(world.quota(NONE).recount().await, Ok(world.count()));
    assert_eq!(world.leftovers(), [""; 0]);
}
