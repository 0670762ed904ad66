//! Lists that somebody has changed.

use std::os::unix::fs::symlink;

use super::*;

/// Changes the list of the snapshot `s`. Its first line keeps its length.
fn tamper(world: &World, change: impl FnOnce(&mut Vec<String>)) {
    let path = world.kept("manifests/s");
    let text = fs::read_to_string(&path).expect("a list");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    lines[0] = padded(&lines[0]);
    fs::remove_file(&path).expect("removed");
    fs::write(&path, lines.join("\n") + "\n").expect("written");
}

async fn world() -> World {
    let world = World::new();
    world.put("d/a", "content");
    world.put("e", "content too");
    world.take("s").await;
    world
}

/// The lines are: about the whole, `d`, `d/a`, `e`.
const D: usize = 1;
const A: usize = 2;
const E: usize = 3;

#[tokio::test]
async fn no_list_leads_out_of_the_tree() {
    let outside = tempfile::tempdir().expect("a directory");
    let canary = outside.path().join("canary");
    fs::write(&canary, "canary").expect("written");
    let shown = outside.path().display().to_string();
    let link = |line: &str, target: &str| {
        let start = line.find(",\"size\"").or_else(|| line.rfind('}')).expect("an end");
        let kind = if line.contains("\"directory\"") { "\"directory\"" } else { "\"file\"" };
        format!("{},\"target\":\"{target}\"}}", line[..start].replacen(kind, "\"link\"", 1))
    };
    let rename = |line: &str, name: &str| {
        let start = line.find("\"name\":\"").expect("a name") + 8;
        let end = start + line[start..].find('"').expect("an end");
        format!("{}{name}{}", &line[..start], &line[end..])
    };
    type Change<'a> = Box<dyn Fn(&mut Vec<String>) + 'a>;
    let named = |line: usize, name: String| -> Change<'_> {
        Box::new(move |lines| lines[line] = rename(&lines[line], &name))
    };
    let mut changes: Vec<Change<'_>> = Vec::new();
    for name in [
        "..",
        ".",
        "",
        "/",
        "../canary",
        "x/../../canary",
        "a/b",
        "%2f",
        "%2e%2e",
        "%00",
        "\\u0000",
        &canary.display().to_string(),
        &shown,
    ] {
        changes.push(named(A, name.to_owned()));
        changes.push(named(D, name.to_owned()));
    }
    // A link with entries.
    changes.push(Box::new(|lines| lines[D] = link(&lines[D], &shown)));
    changes.push(Box::new(|lines| lines[D] = link(&lines[D], "..")));
    // A file with entries, entries in nothing, and entries out of order.
    changes.push(Box::new(|lines| lines[E] = lines[E].replacen("\"depth\":0", "\"depth\":2", 1)));
    changes.push(Box::new(|lines| lines[D] = lines[D].replacen("\"depth\":0", "\"depth\":1", 1)));
    changes.push(Box::new(|lines| lines[A] = lines[A].replacen("\"depth\":1", "\"depth\":7", 1)));
    changes.push(Box::new(|lines| lines.swap(A, E)));
    changes.push(Box::new(|lines| lines.swap(D, E)));
    // A link, and then a file in its place.
    changes.push(Box::new(|lines| {
        lines[A] = link(&lines[E], &canary.display().to_string());
    }));
    // Twice the same, too many, too few.
    changes.push(Box::new(|lines| lines.push(lines[E].clone())));
    changes.push(Box::new(|lines| lines[A] = lines[D].clone()));
    changes.push(Box::new(|lines| drop(lines.pop())));
    changes.push(Box::new(|lines| lines[0] = lines[0].replacen("\"files\":3", "\"files\":2", 1)));
    changes.push(Box::new(|lines| lines[0] = lines[0].replacen("\"files\":3", "\"files\":4", 1)));
    // More or fewer bytes than there are.
    for bytes in ["\"bytes\":17", "\"bytes\":19"] {
        changes.push(Box::new(move |lines| {
            lines[0] = lines[0].replacen("\"bytes\":18", bytes, 1);
        }));
    }
    // Objects from elsewhere.
    let (no_digits, no_object) = ("gggggggggggggggggggg", "00000000000000000000");
    for object in ["..", "../../../../canary", "", "0", no_digits, no_object] {
        changes.push(Box::new(move |lines| {
            let start = lines[E].find("\"object\":\"").expect("an object") + 10;
            lines[E].replace_range(start..start + 20, object);
        }));
    }
    // Permission bits and times that are none.
    changes.push(Box::new(|lines| lines[E] = lines[E].replacen("\"mode\":", "\"mode\":2048", 1)));
    changes.push(Box::new(|lines| {
        let start = lines[E].find("\"modified\":[").expect("a time") + 12;
        let end = start + lines[E][start..].find(']').expect("an end");
        lines[E].replace_range(start..end, "0,1073741823");
    }));
    changes.push(Box::new(|lines| lines[E] = lines[E].replacen('{', "{\"more\":1,", 1)));
    changes.push(Box::new(|lines| lines[E] = "x".repeat(1 << 20)));
    for (number, change) in changes.iter().enumerate() {
        let world = world().await;
        let before = world.tree();
        tamper(&world, |lines| change(lines));
        let result = world.try_restore("s", NONE).await;
        assert!(matches!(result, Err(SnapshotError::Damaged(_))), "{number}: {result:?}");
        assert_eq!(world.tree(), before, "{number}");
        assert_eq!(world.leftovers(), [""; 0], "{number}");
        assert_eq!(fs::read(&canary).expect("a file"), b"canary");
        assert_eq!(names(outside.path()), ["canary"]);
        assert_eq!(names(world.base.path()), [".handhold", THREAD]);
        // It can still be removed, and the rest goes on.
        world.take("t").await;
        world.remove("s").await;
        world.restore("t").await;
        assert_eq!(world.tree(), before);
    }
}

#[tokio::test]
async fn a_list_that_is_no_list_is_damaged() {
    for content in ["", "{}", "\n", "{\"handhold_snapshot\":1}", &" ".repeat(5000)] {
        let world = world().await;
        let list = world.kept("manifests/s");
        fs::remove_file(&list).expect("removed");
        fs::write(&list, content).expect("written");
        for result in [
            world.try_restore("s", NONE).await.map(drop),
            world.files.diff(None, THREAD, "s", None).await.map(drop),
            world.files.snapshots(None, THREAD).await.map(drop),
        ] {
            assert!(
                matches!(&result, Err(SnapshotError::Damaged(name)) if name == "s"),
                "{result:?}"
            );
        }
        assert!(world.remove("s").await > 0);
        assert_eq!(world.objects(), [""; 0]);
    }
}

#[tokio::test]
async fn a_damaged_list_frees_nothing_that_it_may_need() {
    let world = world().await;
    world.take("t").await;
    tamper(&world, |lines| lines[E] = "nonsense".to_owned());
    world.remove("t").await;
    assert_eq!(world.objects().len(), 2);
    fs::write(world.kept("unsettled"), "").expect("written");
    world.take("u").await;
    assert_eq!(world.objects().len(), 2);
}

#[tokio::test]
async fn links_among_the_records_are_not_followed() {
    let outside = tempfile::tempdir().expect("a directory");
    let canary = outside.path().join("canary");
    fs::write(&canary, "content too").expect("written");
    // An object of the right size.
    let world = world().await;
    for object in world.objects() {
        let path = world.kept("objects").join(object);
        fs::remove_file(&path).expect("removed");
        symlink(&canary, &path).expect("a link");
    }
    let result = world.try_restore("s", NONE).await;
    assert!(matches!(result, Err(SnapshotError::Damaged(_))), "{result:?}");
    // A snapshot does not write through it.
    world.take("t").await;
    world.remove("t").await;
    world.remove("s").await;
    assert_eq!(fs::read(&canary).expect("a file"), b"content too");
    // The list itself.
    world.take("s").await;
    let list = world.kept("manifests/s");
    fs::rename(&list, outside.path().join("list")).expect("moved");
    symlink(outside.path().join("list"), &list).expect("a link");
    let result = world.try_restore("s", NONE).await;
    assert!(matches!(result, Err(SnapshotError::Damaged(_))), "{result:?}");
    world.remove("s").await;
    assert!(outside.path().join("list").exists());
}
