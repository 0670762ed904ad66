//! Links in a workspace that lead out, when snapshots are taken and restored.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::site::plant;

#[test]
fn a_link_comes_back_as_a_link_and_is_never_followed() {
    let site = Site::new();
    let canary = facts(&site.canary());
    plant(&site.inside("real"), "inside");
    let targets = [
        ("absolute", site.canary().join("file.txt")),
        ("relative", Path::new("../../canary/file.txt").to_owned()),
        ("directory", site.canary()),
        ("real/up", Path::new("../../../canary").to_owned()),
        ("real/sub/up", site.canary().join("sub")),
        ("records", Path::new("../.handhold").to_owned()),
        ("nowhere", Path::new("../../none").to_owned()),
        ("root", Path::new("/").to_owned()),
    ];
    for (name, target) in &targets {
        symlink(target, site.inside(name)).unwrap();
    }
    let snapshots = Snapshots::of(&site);
    let taken = snapshots.take("s").unwrap();
    assert_eq!((taken.files, taken.skipped), (12, 0), "links count, what they lead to does not");
    assert_eq!(snapshots.objects().len(), 2);
    site.check_inside();
    for entry in entries(&site.inside("")) {
        if fs::symlink_metadata(&entry).unwrap().is_dir() {
            fs::remove_dir_all(entry).unwrap();
        } else {
            fs::remove_file(entry).unwrap();
        }
    }
    // Where directories and files were there are links now.
    symlink(site.canary(), site.inside("real")).unwrap();
    symlink(site.canary(), site.inside("absolute")).unwrap();
    let differences = snapshots.diff("s").unwrap();
    assert!(differences.iter().all(|found| !found.path.contains("CANARY")), "{differences:?}");
    for _ in 0..2 {
        snapshots.restore("s").unwrap();
        for (name, target) in &targets {
            assert_eq!(fs::read_link(site.inside(name)).unwrap(), *target, "{name}");
        }
        assert_eq!(site.read("real/sub/inner.txt"), "inside two\n");
        assert_eq!(facts(&site.canary()), canary);
    }
    for path in ["/absolute", "/directory/file.txt", "/real/up/file.txt", "/root/etc"] {
        site.call("read_file", json!({ "file_path": path })).failed("not-permitted");
    }
    // A thread whose directory was made a link is none.
    fs::rename(site.inside(""), site.base("away")).unwrap();
    symlink(site.canary(), site.inside("").to_str().unwrap().trim_end_matches('/')).unwrap();
    for result in [
        snapshots.take("t").map(drop),
        snapshots.diff("s").map(drop),
        snapshots.restore("s").map(drop),
    ] {
        assert!(result.is_err(), "{result:?}");
    }
    assert_eq!(facts(&site.canary()), canary);
    site.directory.check_outside();
}

#[test]
fn swaps_of_directories_and_files_for_links_lead_nowhere() {
    for (place, target, make) in [
        ("d", "", (|place| plant(place, "inside")) as fn(&Path)),
        ("d/sub", "sub", |place| plant(place, "inside")),
        ("d/file.txt", "file.txt", |place| fs::write(place, "inside").unwrap()),
    ] {
        let site = Site::new();
        let canary = facts(&site.canary());
        plant(&site.inside("d"), "inside");
        let snapshots = Snapshots::of(&site);
        snapshots.take("base").unwrap();
        let done = [const { AtomicUsize::new(0) }; 4];
        let attack = || {
            if !site.inside("d").is_dir() {
                // A snapshot of the moment between two steps was restored.
                drop(fs::remove_file(site.inside("d")));
                drop(fs::create_dir(site.inside("d")));
            }
            site.swap_with_links(&site.inside(place), target, make);
        };
        site.race_steps(attack, 4, |step| {
            let result = match step {
                0 => snapshots.take("s").map(drop),
                1 => snapshots.diff("base").map(|found| {
                    // Nothing beneath a link is met.
                    assert!(found.iter().all(|found| !found.path.contains("CANARY")), "{found:?}");
                }),
                2 => snapshots.restore("base").map(drop),
                _ => snapshots.remove("s").map(drop),
            };
            // It may fail, but not succeed with something else.
            done[step].fetch_add(usize::from(result.is_ok()), Ordering::Relaxed);
        });
        let done = done.map(AtomicUsize::into_inner);
        assert!(done.iter().all(|done| *done > 0), "{place}: {done:?}");
        drop(snapshots.remove("s"));
        snapshots.restore("base").unwrap();
        assert_eq!(site.read("d/sub/inner.txt"), "inside two\n");
        site.check_inside();
        assert_eq!(facts(&site.canary()), canary, "{place}");
        snapshots.remove("base").unwrap();
        assert_eq!(snapshots.objects(), [""; 0].map(PathBuf::from), "{place}");
        site.directory.check_outside();
    }
}
