//! Snapshots while others change the thread.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

const WRITERS: usize = 8;

const SNAPSHOTS: usize = 12;

/// Each of so many writers gives `/a/{n}` a number and then `/b/{n}`. At every moment the second is
/// the same or one behind; a snapshot in which it is ahead has seen two moments.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_snapshot_is_one_moment() {
    let world = World::new();
    for n in 0..100 {
        world.put(format!("between/{n}"), vec![b'x'; 2000]);
    }
    for n in 0..WRITERS {
        world.put(format!("a/{n}"), "0");
        world.put(format!("b/{n}"), "0");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|n| {
            let (files, stop) = (world.files.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut count = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    count += 1;
                    for dir in ["a", "b"] {
                        let path = format!("/{dir}/{n}");
                        write(&files, &path, &count.to_string(), Condition::Always).await;
                    }
                }
                count
            })
        })
        .collect();
    // Each is taken before it is given up: nobody is kept waiting for long.
    for n in 0..SNAPSHOTS {
        world.take(&n.to_string()).await;
    }
    stop.store(true, Ordering::Relaxed);
    let mut counts = Vec::new();
    for writer in writers {
        counts.push(writer.await.expect("no panic"));
    }
    assert!(counts.iter().all(|count| *count > 10), "all of them write: {counts:?}");
    let mut before = [0; WRITERS];
    for n in 0..SNAPSHOTS {
        world.restore(&n.to_string()).await;
        for (writer, before) in before.iter_mut().enumerate() {
            let number = |dir: &str| -> u64 {
                let text = fs::read_to_string(world.at(format!("{dir}/{writer}")));
                text.expect("a file").parse().expect("a number")
            };
            let (a, b) = (number("a"), number("b"));
            assert!(b <= a && a <= b + 1, "snapshot {n}, writer {writer}: {a} and {b}");
            assert!(*before <= a, "snapshots come one after the other");
            *before = a;
        }
        assert_eq!(names(&world.at("between")).len(), 100);
    }
    // What was copied before it was written again is not kept.
    for n in 0..SNAPSHOTS {
        world.remove(&n.to_string()).await;
    }
    assert_eq!(world.objects(), [""; 0]);
    assert_eq!(world.leftovers(), [""; 0]);
}

/// Readers see the one tree or the other, and no change is lost without an error.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_restoration_is_seen_whole() {
    let world = World::new();
    let fill = |content: &str| {
        for n in 0..50 {
            world.put(format!("d/{n}"), content);
        }
    };
    fill("one");
    world.take("one").await;
    fill("two");
    world.take("two").await;
    let stop = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (stop, top) = (Arc::clone(&stop), world.at(""));
        move || {
            let mut seen = [0, 0];
            while !stop.load(Ordering::Relaxed) {
                // What is opened at once is of one tree.
                let dir = fs::File::open(&top).expect("the thread is always there");
                let read = |n: usize| {
                    use std::io::Read;
                    let path = format!("d/{n}");
                    let flags = rustix::fs::OFlags::RDONLY;
                    let file = rustix::fs::openat(&dir, path, flags, rustix::fs::Mode::empty());
                    let mut text = String::new();
                    fs::File::from(file.ok()?).read_to_string(&mut text).ok()?;
                    Some(text)
                };
                // An old tree is taken apart while we look; what is still there must agree.
                if let (Some(first), Some(last)) = (read(0), read(49)) {
                    assert_eq!(first, last);
                    seen[usize::from(first == "two")] += 1;
                }
            }
            seen
        }
    });
    for _ in 0..15 {
        world.restore("one").await;
        world.restore("two").await;
    }
    stop.store(true, Ordering::Relaxed);
    let seen = reader.join().expect("no panic");
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

/// Several at once come one after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_at_once_wait_for_each_other() {
    let world = World::new();
    for n in 0..20 {
        world.put(format!("{n}"), "content");
    }
    world.take("base").await;
    let tasks: Vec<_> = (0..12)
        .map(|n| {
            // Each has a root of its own, as another process has.
            let files = AgentFiles::at_ambient_path(world.base.path());
            tokio::spawn(async move {
                let name = format!("s{n}");
                match n % 3 {
                    0 => files.restore(None, THREAD, "base", NONE).await.map(drop),
                    1 => files.snapshot(None, THREAD, &name, NONE).await.map(drop),
                    _ => {
                        files.snapshot(None, THREAD, &name, NONE).await?;
                        files.remove_snapshot(None, THREAD, &name).await.map(drop)
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic").expect("done");
    }
    assert_eq!(world.list().await.len(), 5);
    assert_eq!(world.objects().len(), 20);
    for info in world.list().await {
        assert_eq!(world.diff("base", Some(&info.name)).await, []);
    }
}
