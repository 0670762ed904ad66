//! Names of snapshots, and of the threads that they are of.

use std::collections::BTreeSet;
use std::fs;

use handhold_conformance::runtime;
use handhold_conformance::world::THREAD;

use super::*;

#[test]
fn a_name_is_never_a_path() {
    let site = Site::new();
    site.write("file.txt", "inside");
    let snapshots = Snapshots::of(&site);
    let long = ["x".repeat(512), format!("{}y", "x".repeat(511)), "/..".repeat(170)];
    let names: Vec<&str> = [
        "../../x",
        "../x",
        "..",
        ".",
        "a/b",
        "/etc/passwd",
        "/",
        "//",
        "a/../../../x",
        "s",
        "S",
        "\u{e9}",
        "e\u{301}",
        "\u{c9}",
        "manifests",
        "objects",
        "origins",
        "unsettled",
        "../origins",
        "../objects/x",
        "%2e%2e",
        "%2E%2E",
        "con",
        "nul",
        " ",
        "  ",
        "a\n",
        "\u{202e}",
        "-",
        "--json",
        "@",
        "a@b",
        ".handhold",
        "s.",
        "s%",
    ]
    .into_iter()
    .chain(long.iter().map(String::as_str))
    .collect();
    let around = || -> BTreeSet<_> {
        let mut all = facts(site.directory.base());
        all.retain(|path, _| !path.starts_with(snapshots.kept("")));
        all.into_keys().collect()
    };
    snapshots.take("first").unwrap();
    let before = around();
    for (n, name) in names.iter().enumerate() {
        fs::write(site.inside("file.txt"), n.to_string()).unwrap();
        assert_eq!(snapshots.take(name).unwrap().name, *name);
        let again = snapshots.take(name);
        assert!(matches!(again, Err(SnapshotError::AlreadyExists)), "{name:?}: {again:?}");
        assert_eq!(around(), before, "{name:?}");
    }
    assert_eq!(entries(&snapshots.kept("manifests")).len(), 1 + names.len());
    let listed: BTreeSet<String> = snapshots.list().into_iter().collect();
    assert!(names.iter().all(|name| listed.contains(*name)) && listed.len() == 1 + names.len());
    // Each is its own, and not its twin's.
    for (n, name) in names.iter().enumerate() {
        snapshots.restore(name).unwrap();
        assert_eq!(site.read("file.txt"), n.to_string(), "{name:?}");
        assert_eq!(snapshots.diff(name).unwrap(), []);
    }
    for name in &names {
        snapshots.remove(name).unwrap();
        let again = snapshots.restore(name);
        assert!(matches!(again, Err(SnapshotError::NoSnapshot(_))), "{name:?}: {again:?}");
    }
    assert_eq!(snapshots.list(), ["first"]);
    assert_eq!(around(), before);
    for name in ["", "\0", "a\0b", &"x".repeat(513)] {
        for result in [
            snapshots.take(name).map(drop),
            snapshots.restore(name).map(drop),
            snapshots.diff(name).map(drop),
            snapshots.remove(name).map(drop),
        ] {
            assert!(matches!(result, Err(SnapshotError::Id(_))), "{name:?}: {result:?}");
        }
    }
    site.directory.check_outside();
}

#[test]
fn threads_and_tenants_do_not_meet() {
    let site = Site::new();
    site.write("file.txt", "inside");
    let snapshots = Snapshots::of(&site);
    snapshots.take("s").unwrap();
    let before = facts(&snapshots.kept(""));
    let long = "x".repeat(300);
    let others = [
        (None, "Default"),
        (None, "DEFAULT"),
        (None, "default "),
        (None, "./default"),
        (None, "default@"),
        (None, "@default"),
        (None, "a@default"),
        (None, &long),
        (Some(THREAD), THREAD),
        (Some("a"), THREAD),
        (Some("a"), "@default"),
        (Some(THREAD), "a"),
        (Some(".tenants"), THREAD),
        (Some(&long), &long),
    ];
    let files = &snapshots.files;
    let names = ["s", "../default/s", "../../default/manifests/s", "/default/s", "default@s"];
    for (tenant, thread) in others {
        let whose = format!("{tenant:?} {thread}");
        for has_directory in [false, true] {
            if has_directory {
                make(files, tenant, thread);
                let list = runtime().block_on(files.snapshots(tenant, thread)).unwrap();
                assert_eq!(list, [], "{whose}");
            }
            for name in names {
                let results = runtime().block_on(async {
                    [
                        files.restore(tenant, thread, name, NONE).await.map(drop),
                        files.diff(tenant, thread, name, None).await.map(drop),
                        files.remove_snapshot(tenant, thread, name).await.map(drop),
                    ]
                });
                for result in results {
                    let is_none = match result {
                        Err(SnapshotError::NotFound) => !has_directory,
                        Err(SnapshotError::NoSnapshot(_)) => has_directory,
                        _ => false,
                    };
                    assert!(is_none, "{whose}, {name}: {result:?}");
                }
            }
        }
        // One of the same name is another one, and goes with its thread.
        let taken = runtime().block_on(files.snapshot(tenant, thread, "s", NONE)).unwrap();
        assert_eq!((taken.files, taken.bytes), (1, 5), "{whose}");
        runtime().block_on(files.delete(tenant, thread)).unwrap();
        assert_eq!(facts(&snapshots.kept("")), before, "{whose}");
    }
    assert_eq!(entries(&site.directory.root().join(".handhold/snapshots")).len(), 1);
    snapshots.restore("s").unwrap();
    assert_eq!(site.read("file.txt"), "inside");
    site.directory.check_outside();
}

/// Makes a thread with one file.
fn make(files: &AgentFiles, tenant: Option<&str>, thread: &str) {
    use handhold::backend::{Backend, Condition, WriteRequest};
    let request = WriteRequest {
        path: "/other".to_owned(),
        content: b"other".to_vec(),
        condition: Condition::Always,
        dry_run: false,
    };
    runtime().block_on(files.thread(tenant, thread).unwrap().write(request)).unwrap();
}
