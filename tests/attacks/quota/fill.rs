//! Filling a workspace from one place: with small files, a large one, appends, overwrites.

use serde_json::json;

use super::*;

#[test]
fn many_small_files_end_at_the_limit_of_files() {
    let place = Limited::new(QuotaLimits { files: Some(40), bytes: Some(1 << 20), ..NONE });
    for n in 0..100 {
        // Every fourth comes with two directories of its own.
        let path = if n % 4 == 0 { format!("/d{n}/e/f") } else { format!("/{n}") };
        has_room(&place.write(&path, n % 2));
        place.check();
    }
    assert_eq!(place.check().files, 40, "all the room was used");
    place.delete("/1").good();
    place.write("/d/f", 0).failed("quota-exceeded");
    place.append("/new", 1).good();
    place.append("/more", 1).failed("quota-exceeded");
    assert_eq!(place.check().files, 40);
    place.delete("/d0").good();
    assert_eq!(place.check().files, 37, "a directory is given back with all that is in it");
    place.write("/a/b/c", 1).good();
    assert_eq!(place.check().files, 40);
}

#[test]
fn a_path_of_many_directories_is_charged_before_it_is_made() {
    let place = Limited::new(files(30));
    let deep = format!("{}/f", "/d".repeat(30));
    place.write(&deep, 1).failed("quota-exceeded");
    place.append(&deep, 1).failed("quota-exceeded");
    assert_eq!(place.check(), taken(0, 0));
    place.write("/a", 1).good();
    place.rename("/a", &deep).failed("quota-exceeded");
    assert_eq!(place.check(), taken(1, 1));
    place.write(&format!("{}/f", "/d".repeat(28)), 1).good();
    assert_eq!(place.check(), taken(2, 30));
}

#[test]
fn a_large_file_ends_at_the_limit_of_one_file() {
    let place = Limited::new(QuotaLimits { bytes: Some(3500), file_bytes: Some(1000), ..NONE });
    place.write("/large", 1001).failed("quota-exceeded");
    assert_eq!(place.check(), taken(0, 0));
    place.write("/large", 1000).good();
    place.append("/large", 1).failed("quota-exceeded");
    let longer = json!({ "file_path": "/large", "old_string": "x", "new_string": "xy", "replace_all": true });
    place.site.call("edit_file", longer.clone()).failed("quota-exceeded");
    let shorter = json!({ "file_path": "/large", "old_string": "xxx", "new_string": "z", "replace_all": true });
    place.site.call("edit_file", shorter).good();
    assert_eq!(place.check(), taken(334, 1));
    for n in 0..3 {
        place.write(&format!("/{n}"), 1000).good();
    }
    place.append("/large", 167).failed("quota-exceeded");
    place.append("/large", 166).good();
    assert_eq!(place.check(), taken(3500, 4));
}

#[test]
fn appending_over_and_over_ends_at_the_limit() {
    for limits in [bytes(1000), QuotaLimits { file_bytes: Some(1000), ..NONE }] {
        let place = Limited::new(limits);
        let mut good = 0;
        while has_room(&place.append("/log", 7)) {
            good += 1;
            assert_eq!(place.check(), taken(7 * good, 1));
        }
        assert_eq!(good, 1000 / 7);
        place.append("/log", 6).good();
        place.append("/log", 0).good();
        place.append("/log", 1).failed("quota-exceeded");
        assert_eq!(place.check(), taken(1000, 1));
    }
}

#[test]
fn overwriting_over_and_over_neither_loses_nor_gains() {
    let limits = QuotaLimits { bytes: Some(5000), files: Some(12), file_bytes: Some(2000) };
    let place = Limited::new(limits);
    let mut refused = 0;
    let mut seed = 7_usize;
    for n in 0..400 {
        seed = seed * 7621 % 100_003;
        let path = format!("/{}/{}", seed % 3, seed % 5);
        let answer = match n % 8 {
            0..4 => place.write(&path, seed % 2200),
            4 | 5 => place.append(&path, seed % 300),
            6 => place.rename(&path, &format!("/{}/{}", seed % 4, seed % 7)),
            _ => place.delete(&path),
        };
        match answer.code.as_deref() {
            None | Some("not-found" | "invalid-path" | "invalid-arguments") => {}
            Some("quota-exceeded") => refused += 1,
            Some(_) => panic!("{}", answer.text),
        }
        place.check();
    }
    assert!(refused > 20, "only {refused} changes were refused");
    for dir in ["/0", "/1", "/2", "/3"] {
        place.delete(dir);
    }
    assert_eq!(place.check(), taken(0, 0));
    for path in ["/a", "/b"] {
        place.write(path, 2000).good();
    }
    place.write("/c", 1001).failed("quota-exceeded");
    place.write("/c", 1000).good();
    assert_eq!(place.check(), taken(5000, 3));
}

#[test]
fn what_is_only_tried_is_checked_and_charges_nothing() {
    let place = Limited::new(bytes(100));
    place.write("/a", 60).good();
    let edit = |new: usize| {
        let (old, new) = ("x".repeat(60), "y".repeat(new));
        json!({ "file_path": "/a", "old_string": old, "new_string": new, "dry_run": true })
    };
    for _ in 0..50 {
        place.site.call("edit_file", edit(100)).good();
    }
    place.site.call("edit_file", edit(101)).failed("quota-exceeded");
    assert_eq!(place.check(), taken(60, 1));
    place.append("/a", 40).good();
    assert_eq!(place.check(), taken(100, 1));
}
