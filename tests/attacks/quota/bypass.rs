//! Ways around the limits: moves, hard links, holes.

use super::*;

#[test]
fn moving_over_a_file_gives_back_what_it_took_and_no_more() {
    let place = Limited::new(QuotaLimits { bytes: Some(150), files: Some(4), ..NONE });
    place.write("/d/keep", 50).good();
    for n in 0..40 {
        place.write("/new", 50 + n).good();
        place.rename("/new", "/d/keep").good();
        assert_eq!(place.check(), taken(50 + n as u64, 2));
        place.write("/back", 50).good();
        place.rename("/back", "/d/keep").good();
    }
    place.write("/a", 100).good();
    place.write("/b", 1).failed("quota-exceeded");
    assert_eq!(place.check(), taken(150, 3));
}

#[test]
fn moving_a_tree_about_changes_nothing_but_the_directories_above() {
    let place = Limited::new(QuotaLimits { bytes: Some(100), files: Some(9), ..NONE });
    place.write("/t/u/a", 40).good();
    place.write("/t/u/b", 60).good();
    for n in 0..10 {
        place.rename("/t", "/x/y/t").good();
        assert_eq!(place.check(), taken(100, 6), "round {n}");
        place.rename("/x/y/t", "/t").good();
        place.rename("/x", "/t/u/x").good();
        assert_eq!(place.check(), taken(100, 6), "round {n}");
        place.rename("/t", "/t/u/x/y/z").failed("invalid-path");
        place.rename("/t/u/a", "/t/u/b/c").failed("not-a-directory");
        place.rename("/none", "/p/q/r").failed("not-found");
        place.rename("/t", "/1/2/3/4/t").failed("quota-exceeded");
        place.delete("/t/u/x").good();
        assert_eq!(place.check(), taken(100, 4), "round {n}");
    }
}

#[test]
fn each_name_of_a_file_is_charged() {
    let place = Limited::new(bytes(160));
    place.site.write("a", "x".repeat(50));
    for name in ["b", "c"] {
        fs::hard_link(place.site.inside("a"), place.site.inside(name)).unwrap();
    }
    assert_eq!(place.check(), taken(150, 3));
    // The name that is written gets a file of its own.
    place.append("/a", 11).failed("quota-exceeded");
    place.append("/a", 10).good();
    assert_eq!(place.check(), taken(160, 3));
    place.rename("/b", "/c").good();
    assert_eq!(place.check(), taken(110, 2), "two names of one file become one");
    fs::hard_link(place.site.inside("c"), place.site.inside("d")).unwrap();
    fs::remove_file(place.site.directory.root().join(".handhold/usage").join(THREAD)).unwrap();
    place.write("/e", 1).failed("quota-exceeded");
    place.delete("/c").good();
    place.write("/e", 50).good();
    assert_eq!(place.check(), taken(160, 3));
}

#[test]
fn a_hole_is_charged_for_its_size() {
    const HOLE: u64 = 1 << 30;
    let place = Limited::new(bytes(HOLE + 10));
    fs::File::create(place.site.inside("hole")).unwrap().set_len(HOLE).unwrap();
    assert_eq!(place.check(), taken(HOLE, 1));
    place.append("/hole", 11).failed("quota-exceeded");
    place.write("/a", 11).failed("quota-exceeded");
    place.write("/a", 10).good();
    place.append("/hole", 1).failed("quota-exceeded");
    place.rename("/hole", "/moved").good();
    assert_eq!(place.check(), taken(HOLE + 10, 2));
    place.write("/moved", 5).good();
    assert_eq!(place.check(), taken(15, 2));
}

#[test]
fn what_is_over_the_limits_already_does_not_grow() {
    let place = Limited::new(QuotaLimits { bytes: Some(100), files: Some(3), ..NONE });
    for n in 0..9 {
        place.site.write(&format!("{n}"), "x".repeat(50));
    }
    place.append("/0", 1).failed("quota-exceeded");
    place.write("/new", 0).failed("quota-exceeded");
    place.rename("/0", "/d/0").failed("quota-exceeded");
    place.write("/0", 50).good();
    place.write("/0", 10).good();
    place.rename("/1", "/2").good();
    for n in 2..8 {
        place.delete(&format!("/{n}")).good();
    }
    assert_eq!(place.check(), taken(60, 2));
}
