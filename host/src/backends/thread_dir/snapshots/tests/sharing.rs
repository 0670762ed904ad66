//! What did not change is kept once.

use super::*;

#[tokio::test]
async fn a_second_snapshot_copies_only_what_changed() {
    let world = World::new();
    for n in 0..50 {
        world.put(format!("d/{n}"), format!("content {n:04}"));
    }
    let first = world.take("first").await;
    let objects = world.objects();
    assert_eq!(objects.len(), 50);
    let list_bytes =
        |name: &str| fs::metadata(world.kept("manifests").join(name)).expect("a list").len();
    assert_eq!(first.own_bytes, 50 * 12 + list_bytes("first"));

    let same = world.take("same").await;
    assert_eq!(world.objects(), objects);
    assert_eq!(same.own_bytes, list_bytes("same"));
    assert_eq!((same.bytes, same.files), (first.bytes, first.files));

    world.put("d/7", "changed!");
    world.put("new", "12345");
    fs::remove_file(world.at("d/8")).expect("removed");
    let third = world.take("third").await;
    assert_eq!(world.objects().len(), 52);
    assert_eq!(third.own_bytes, 8 + 5 + list_bytes("third"));

    let list = world.list().await;
    assert_eq!(
        list.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(),
        ["first", "same", "third"]
    );
    // What the first two share belongs to neither of them.
    assert_eq!(list[0], SnapshotInfo { own_bytes: list_bytes("first"), ..first });
    assert_eq!(list[1], same);
    assert_eq!(list[2], third);
    let total = list.iter().map(|info| list_bytes(&info.name)).sum::<u64>();
    assert_eq!(world.bytes().await, 50 * 12 + 8 + 5 + total);
}

#[tokio::test]
async fn removing_frees_what_nobody_else_needs_and_only_that() {
    let world = World::new();
    world.put("same", "always the same");
    world.put("changes", "1");
    world.put("gone", "only in the first");
    world.take("first").await;
    world.put("changes", "two");
    fs::remove_file(world.at("gone")).expect("removed");
    world.take("second").await;
    world.take("third").await;
    let own: Vec<u64> = world.list().await.iter().map(|info| info.own_bytes).collect();
    let before = world.bytes().await;
    assert_eq!(world.objects().len(), 4);
    assert_eq!(world.remove("first").await, own[0]);
    assert_eq!(world.bytes().await, before - own[0]);
    assert_eq!(world.objects().len(), 2, "what was only in the first is gone");
    // The third needs all that the second has.
    assert_eq!(world.remove("second").await, own[1]);
    assert_eq!(world.objects().len(), 2);
    fs::remove_file(world.at("same")).expect("removed");
    world.restore("third").await;
    assert_eq!(fs::read(world.at("same")).expect("a file"), b"always the same");
    assert_eq!(fs::read(world.at("changes")).expect("a file"), b"two");
    world.remove("third").await;
    assert_eq!(world.objects(), [""; 0]);
    assert_eq!(world.bytes().await, 0);
    assert_eq!(world.list().await, []);
    let again = world.files.remove_snapshot(None, THREAD, "third").await;
    assert!(matches!(again, Err(SnapshotError::NoSnapshot(_))), "{again:?}");
    assert!(!world.kept("unsettled").exists());
}

#[tokio::test]
async fn what_was_restored_is_not_copied_again() {
    let world = World::new();
    for n in 0..20 {
        world.put(format!("{n}"), format!("content {n}"));
    }
    world.take("first").await;
    let objects = world.objects();
    fs::write(world.at("3"), "changed").expect("written");
    world.restore("first").await;
    assert_eq!(world.diff("first", None).await, []);
    world.take("second").await;
    assert_eq!(world.objects(), objects);
    assert_eq!(world.diff("first", Some("second")).await, []);
    // Nor after a change of one, and not when the one it was restored from is gone.
    world.put("5", "changed");
    world.remove("first").await;
    world.take("third").await;
    assert_eq!(world.objects().len(), 21);
    // Without an object a file is copied, whatever it was restored from.
    for name in ["second", "third"] {
        world.remove(name).await;
    }
    assert_eq!(world.objects().len(), 0);
    world.take("fourth").await;
    assert_eq!(world.objects().len(), 20);
    let before = world.tree();
    world.restore("fourth").await;
    assert_eq!(world.tree(), before);
}

#[tokio::test]
async fn a_file_that_is_moved_or_gets_another_mode_is_still_right() {
    let world = World::new();
    world.put("a", "content");
    world.take("first").await;
    fs::rename(world.at("a"), world.at("b")).expect("moved");
    set_mode(&world.at("b"), 0o600);
    let before = world.tree();
    world.take("second").await;
    world.restore("first").await;
    assert_eq!(names(&world.at("")), ["a"]);
    world.restore("second").await;
    assert_eq!(world.tree(), before);
}

#[tokio::test]
async fn an_object_that_was_cut_off_is_made_again() {
    let world = World::new();
    world.put("a", "content");
    world.take("first").await;
    let object = world.kept("objects").join(&world.objects()[0]);
    set_mode(&object, 0o600);
    fs::write(&object, "con").expect("written");
    let error = world.try_restore("first", NONE).await;
    assert!(matches!(error, Err(SnapshotError::Damaged(_))), "{error:?}");
    assert_eq!(fs::read(world.at("a")).expect("a file"), b"content");
    world.take("second").await;
    world.restore("first").await;
    assert_eq!(fs::read(world.at("a")).expect("a file"), b"content");
    assert_eq!(world.leftovers(), [""; 0]);
}

#[tokio::test]
async fn what_a_process_left_over_is_removed_by_the_next() {
    let world = World::new();
    world.put("a", "content");
    world.take("first").await;
    for (name, how) in [("0123456789abcdef0123", "taken"), ("00000000000000000000", "removed")] {
        let left = world.kept("objects").join(name);
        fs::write(&left, "left over").expect("written");
        fs::write(world.kept("unsettled"), "").expect("written");
        if how == "taken" {
            world.take(how).await;
        } else {
            assert!(world.remove("taken").await > 9);
        }
        assert!(!left.exists(), "when one is {how}");
        assert!(!world.kept("unsettled").exists());
        assert_eq!(world.objects().len(), 1);
    }
    world.restore("first").await;
    assert_eq!(fs::read(world.at("a")).expect("a file"), b"content");
}
