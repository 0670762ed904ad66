//! How trees differ.

use std::os::unix::fs::symlink;

use super::*;
use DiffKind::{Added, Changed, Removed};

fn found(differences: &[(&str, DiffKind)]) -> Vec<(String, DiffKind)> {
    differences.iter().map(|(path, change)| ((*path).to_owned(), *change)).collect()
}

#[tokio::test]
async fn what_did_not_change_does_not_differ() {
    let world = World::new();
    for path in ["a-b", "a.b", "a/b", "b/c/d", "b/c-d", "z"] {
        world.put(path, path);
    }
    symlink("z", world.at("link")).expect("a link");
    world.take("one").await;
    assert_eq!(world.diff("one", None).await, []);
    world.take("two").await;
    assert_eq!(world.diff("one", Some("two")).await, []);
    assert_eq!(world.diff("one", Some("one")).await, []);
    // Nor does what was written again with the same content, or only touched.
    let content = fs::read(world.at("z")).expect("a file");
    fs::write(world.at("z"), content).expect("written");
    set_time(&world.at("a-b"), Duration::from_secs(5));
    fs::rename(world.at("b"), world.at("away")).expect("moved");
    fs::rename(world.at("away"), world.at("b")).expect("moved");
    assert_eq!(world.diff("one", None).await, []);
    world.take("three").await;
    assert_eq!(world.diff("one", Some("three")).await, []);
}

#[tokio::test]
async fn every_kind_of_change_is_found_in_order() {
    let world = World::new();
    for path in ["a/one", "a/two", "a-b", "file", "becomes a directory", "m/o/d/e", "same", "x/y"] {
        world.put(path, "content");
    }
    fs::create_dir(world.at("becomes a file")).expect("a directory");
    world.put("becomes a file/inner", "content");
    symlink("same", world.at("link")).expect("a link");
    symlink("same", world.at("other link")).expect("a link");
    world.put(name(b"\xff"), "content");
    world.take("before").await;

    fs::remove_file(world.at("a/one")).expect("removed");
    world.put("a/three", "content");
    world.put("file", "CONTENT");
    fs::remove_file(world.at("becomes a directory")).expect("removed");
    world.put("becomes a directory/inner", "content");
    fs::remove_dir_all(world.at("becomes a file")).expect("removed");
    world.put("becomes a file", "content");
    set_mode(&world.at("m/o/d/e"), 0o600);
    set_mode(&world.at("m"), 0o700);
    fs::remove_file(world.at("link")).expect("removed");
    symlink("a", world.at("link")).expect("a link");
    fs::remove_file(world.at("other link")).expect("removed");
    world.put("other link", "content");
    fs::remove_dir_all(world.at("x")).expect("removed");
    world.put("zz/new/file", "content");
    world.put(name(b"\xff"), "other");

    let wanted = found(&[
        ("/a/one", Removed),
        ("/a/three", Added),
        ("/becomes a directory", Changed),
        ("/becomes a directory/inner", Added),
        ("/becomes a file", Changed),
        ("/becomes a file/inner", Removed),
        ("/file", Changed),
        ("/link", Changed),
        ("/m", Changed),
        ("/m/o/d/e", Changed),
        ("/other link", Changed),
        ("/x", Removed),
        ("/x/y", Removed),
        ("/zz", Added),
        ("/zz/new", Added),
        ("/zz/new/file", Added),
        ("/\u{fffd}", Changed),
    ]);
    assert_eq!(world.diff("before", None).await, wanted);
    world.take("after").await;
    assert_eq!(world.diff("before", Some("after")).await, wanted);
    let turned: Vec<_> = wanted
        .into_iter()
        .map(|(path, change)| match change {
            Added => (path, Removed),
            Removed => (path, Added),
            Changed => (path, Changed),
        })
        .collect();
    assert_eq!(world.diff("after", Some("before")).await, turned);
}

#[tokio::test]
async fn another_content_of_the_same_size_and_time_is_found() {
    let world = World::new();
    let time = Duration::new(1_700_000_000, 7);
    world.put("a", "content");
    set_time(&world.at("a"), time);
    world.take("s").await;
    // In place, at once: the inode, the size, and the time stay.
    fs::write(world.at("a"), "CONTENT").expect("written");
    set_time(&world.at("a"), time);
    assert_eq!(world.diff("s", None).await, found(&[("/a", Changed)]));
    world.take("t").await;
    assert_eq!(world.diff("s", Some("t")).await, found(&[("/a", Changed)]));
    world.restore("s").await;
    assert_eq!(fs::read(world.at("a")).expect("a file"), b"content");
    world.restore("t").await;
    assert_eq!(fs::read(world.at("a")).expect("a file"), b"CONTENT");
}

#[tokio::test]
async fn nothing_is_compared_with_what_is_not_there() {
    let world = World::new();
    world.put("a", "content");
    for (name, other) in [("s", None), ("s", Some("s"))] {
        let none = world.files.diff(None, THREAD, name, other).await;
        assert!(matches!(none, Err(SnapshotError::NoSnapshot(_))), "{none:?}");
    }
    world.take("s").await;
    let none = world.files.diff(None, THREAD, "s", Some("other")).await;
    assert!(matches!(&none, Err(SnapshotError::NoSnapshot(name)) if name == "other"), "{none:?}");
}
