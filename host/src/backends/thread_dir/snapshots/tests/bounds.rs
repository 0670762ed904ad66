//! What is refused, and what is counted.

use super::super::super::{DeleteError, Lifetime};
use super::*;

#[tokio::test]
async fn of_an_unused_thread_nothing_is_made() {
    let base = tempfile::tempdir().expect("a directory");
    let root = base.path().join("root");
    let files = AgentFiles::at_ambient_path(&root);
    for made in [false, true] {
        if made {
            fs::create_dir(&root).expect("a directory");
        }
        let results = [
            files.snapshot(None, THREAD, "s", NONE).await.map(drop),
            files.snapshots(None, THREAD).await.map(drop),
            files.restore(None, THREAD, "s", NONE).await.map(drop),
            files.diff(None, THREAD, "s", None).await.map(drop),
            files.remove_snapshot(None, THREAD, "s").await.map(drop),
        ];
        for result in results {
            assert!(matches!(result, Err(SnapshotError::NotFound)), "{result:?}");
        }
        assert_eq!(files.usage(None, THREAD).await.expect("a usage"), None);
        assert_eq!(root.exists(), made);
    }
    assert_eq!(names(&root), [""; 0]);
}

#[tokio::test]
async fn names_have_the_rules_of_ids_and_are_used_once() {
    let world = World::new();
    world.put("a", "content");
    let long = "x".repeat(512);
    let good = ["s", "S", "..", "a/b", "objects", "\u{e9} \n", ".", &long];
    for name in good {
        assert_eq!(world.take(name).await.name, name);
        let again = world.try_take(name, NONE).await;
        assert!(matches!(again, Err(SnapshotError::AlreadyExists)), "{again:?}");
    }
    let mut listed: Vec<String> = world.list().await.into_iter().map(|info| info.name).collect();
    listed.sort();
    let mut wanted = good.map(str::to_owned);
    wanted.sort();
    assert_eq!(listed, wanted);
    for name in good {
        world.restore(name).await;
        world.remove(name).await;
    }
    assert_eq!(names(&world.kept("")), ["manifests", "objects", "origins"]);
    for name in ["", "a\0b", &"x".repeat(513)] {
        let error = world.try_take(name, NONE).await;
        assert!(matches!(error, Err(SnapshotError::Id(_))), "{error:?}");
        let error = world.files.diff(None, THREAD, "s", Some(name)).await;
        assert!(matches!(error, Err(SnapshotError::Id(_))), "{error:?}");
    }
}

#[tokio::test]
async fn a_thread_has_only_so_many() {
    let world = World::new();
    world.put("a", "content");
    world.take("0").await;
    let list = fs::read_to_string(world.kept("manifests/0")).expect("a list");
    let (whole, rest) = list.split_once('\n').expect("lines");
    for n in 1..MAX_SNAPSHOTS {
        let whole = whole.replacen("\"name\":\"0\"", &format!("\"name\":\"{n}\""), 1);
        let list = format!("{}\n{rest}", padded(&whole));
        fs::write(world.kept("manifests").join(n.to_string()), list).expect("written");
    }
    assert_eq!(world.list().await.len(), MAX_SNAPSHOTS);
    let error = world.try_take("more", NONE).await;
    assert!(matches!(error, Err(SnapshotError::TooMany)), "{error:?}");
    world.remove("500").await;
    world.take("more").await;
    assert_eq!(world.objects().len(), 1);
}

#[tokio::test]
async fn a_thread_in_use_is_not_touched() {
    let (world, other) = (World::new(), World::new());
    let mut holds = Vec::new();
    for world in [&world, &other] {
        world.put("a", "content");
        world.take("s").await;
        let thread = world.files.thread(None, THREAD).expect("an id");
        holds.push(thread.hold_if_made().expect("held").expect("made"));
    }
    let (taken, restored) =
        tokio::join!(world.try_take("more", NONE), other.try_restore("s", NONE),);
    assert!(matches!(taken, Err(SnapshotError::InUse)), "{taken:?}");
    assert!(matches!(restored, Err(SnapshotError::InUse)), "{restored:?}");
    // Looking needs nobody's leave.
    assert_eq!(world.list().await.len(), 1);
    assert_eq!(world.diff("s", None).await, []);
    drop(holds);
    world.take("more").await;
    for world in [world, other] {
        world.restore("s").await;
        assert_eq!(world.leftovers(), [""; 0]);
    }
}

#[tokio::test]
async fn a_deleted_thread_leaves_no_snapshots() {
    let world = World::new();
    world.put("a", "secret");
    world.take("s").await;
    world.files.delete(None, THREAD).await.expect("deleted");
    assert!(!world.kept("").exists());
    assert_eq!(world.leftovers(), [""; 0]);
    let error = world.try_restore("s", NONE).await;
    assert!(matches!(error, Err(SnapshotError::NotFound)), "{error:?}");
    // The next thread of this id begins without any.
    write(&world.files, "/b", "new", Condition::Always).await;
    assert_eq!(world.list().await, []);
    assert_eq!(world.bytes().await, 0);
    // A thread without snapshots is deleted as ever.
    world.files.delete(None, THREAD).await.expect("deleted");
    // And one that is being restored is not.
    write(&world.files, "/c", "new", Condition::Always).await;
    world.take("s").await;
    let root = &world.files.root;
    let id = ThreadId::new(None, THREAD).expect("an id");
    let how = rustix::fs::FlockOperation::NonBlockingLockShared;
    let busy = store::Store::wait(root, &id, how, &AtomicBool::new(false)).expect("a store");
    assert!(busy.is_some());
    tokio::time::sleep(Duration::from_millis(5)).await;
    let over = Lifetime { idle: Some(Duration::ZERO), age: None };
    assert_eq!(world.files.gc(None, over, false).await.expect("some"), []);
    assert_eq!(world.list().await.len(), 1);
    drop(busy);
    assert_eq!(world.files.gc(None, over, false).await.expect("some").len(), 1);
    assert!(!world.kept("").exists());
    // Nor do snapshots stay of a thread that somebody else has removed.
    world.put("a", "secret");
    world.take("s").await;
    fs::remove_dir_all(world.at("")).expect("removed");
    let error = world.files.delete(None, THREAD).await;
    assert!(matches!(error, Err(DeleteError::NotFound)), "{error:?}");
    assert!(!world.kept("").exists());
}
