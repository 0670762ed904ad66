//! The places of results are exchanged for links while results are saved.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use handhold::{KEPT_RESULTS, Media};
use handhold_conformance::runtime;
use handhold_conformance::world::CANARY;
use serde_json::json;

use super::{RESULTS, configured, result, save, save_with, strict};
use crate::site::{Site, discard, facts, plant};
use crate::special::Watch;

/// Counts how often results were saved, and how often they could not be.
#[derive(Default)]
struct Counts {
    saved: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    fn add(&self, path: Option<&String>) {
        let counter = if path.is_some() { &self.saved } else { &self.refused };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Fails unless the race went both ways.
    fn check(&self) {
        let (saved, refused) = (self.saved.load(Ordering::Relaxed), &self.refused);
        assert!(saved > 0, "nothing was ever saved");
        assert!(refused.load(Ordering::Relaxed) > 0, "nothing was ever refused");
    }
}

fn directory(place: &Path) {
    plant(place, "inside");
}

/// Fails unless the way out is open to who would take it.
fn check_the_bait(site: &Site) {
    let place = site.inside(RESULTS);
    symlink(site.canary(), &place).unwrap();
    assert!(fs::read_to_string(place.join("file.txt")).unwrap().contains(CANARY));
    fs::remove_file(place).unwrap();
}

#[test]
fn a_directory_for_results_that_becomes_a_link_is_never_written_through() {
    let site = Site::new();
    check_the_bait(&site);
    let before = facts(&site.canary());
    let place = site.inside(RESULTS);
    let counts = Counts::default();
    let names = AtomicU64::new(0);
    let image = Media { media_type: "image/gif".to_owned(), data: b"no image".to_vec() };
    site.race_steps(
        || site.swap_with_links(&place, "", directory),
        5,
        |step| {
            let new = format!("new-{}", names.fetch_add(1, Ordering::Relaxed));
            let offloaded = match step {
                0 => save(&site, Some("x"), &result("one")),
                1 => save(&site, Some(&new), &result(&new)),
                2 => save(&site, None, &result(&new)),
                3 => save(&site, Some("sub"), &result("two")),
                _ => {
                    let text = runtime().block_on(async {
                        let workspace = site.workspace();
                        let mut output =
                            strict().output(workspace, "web", Some("i")).await.unwrap();
                        output.media(&image).await.unwrap()
                    });
                    let text = text.expect("it is no image");
                    assert!(!text.contains(CANARY) && text.contains("saved"), "{text}");
                    return;
                }
            };
            counts.add(offloaded.path.as_ref());
        },
    );
    counts.check();
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
    site.check_inside();
    site.directory.check_outside();
}

#[test]
fn a_name_that_becomes_a_link_is_never_followed_out() {
    let site = Site::new();
    let text = result("same");
    // Whoever looks through the link finds what he has already.
    fs::write(site.canary().join("same.txt"), &text).unwrap();
    let place = site.inside(RESULTS).join("x");
    fs::create_dir(site.inside(RESULTS)).unwrap();
    let before = facts(&site.canary());
    let watch = Watch::new(&[&site.canary().join("same.txt")]);
    let counts = Counts::default();
    site.race_steps(
        || site.swap_with_links(&place, "same.txt", |place| fs::write(place, "inside\n").unwrap()),
        3,
        |step| {
            let mark = ["same", "one", "two"][step];
            counts.add(save(&site, Some("x"), &result(mark)).path.as_ref());
        },
    );
    assert!(counts.saved.load(Ordering::Relaxed) > 0, "nothing was ever saved");
    assert!(!watch.has_seen_an_opening(), "the canary was opened");
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
    site.check_inside();
    site.directory.check_outside();
}

/// How many bytes results may take: what the newest of them need, and a little more.
const ROOM: u64 = 20 << 10;

/// A directory with an old result that has to make room, and the results that are kept.
fn full_directory(place: &Path) {
    fs::create_dir(place).unwrap();
    let old = fs::File::create(place.join("file.txt")).unwrap();
    old.set_len(ROOM - 100).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    for n in 0..KEPT_RESULTS {
        fs::write(place.join(format!("kept-{n}")), "").unwrap();
    }
}

#[test]
fn results_that_make_room_are_never_removed_through_a_link() {
    let toolbox = configured("[offload]\ntokens = 25\nspace = \"20 KiB\"");
    let site = Site::new();
    check_the_bait(&site);
    // What must go inside has the name of a canary.
    let place = site.inside(RESULTS);
    full_directory(&place);
    assert!(save_with(&toolbox, &site, Some("x"), &result("one")).path.is_some());
    assert!(!place.join("file.txt").exists(), "nothing has made room, so that this is no test");
    fs::remove_dir_all(&place).unwrap();
    let before = facts(&site.canary());
    let counts = Counts::default();
    site.race_steps(
        || {
            site.swap_with_links(&place, "", full_directory);
            // Now and then there is time to save one: making room takes many steps.
            let whole = site.base("stage/whole");
            full_directory(&whole);
            discard(&place);
            drop(fs::rename(&whole, &place));
            discard(&whole);
            std::thread::sleep(Duration::from_millis(20));
        },
        2,
        |step| {
            let offloaded = save_with(&toolbox, &site, [Some("x"), None][step], &result("one"));
            counts.add(offloaded.path.as_ref());
        },
    );
    counts.check();
    assert_eq!(facts(&site.canary()), before, "the outside was changed");
    site.check_inside();
    site.directory.check_outside();
}

#[test]
fn a_directory_for_results_that_is_deleted_and_moved_holds_nothing_up() {
    let site = Site::new();
    let counts = Counts::default();
    site.race_steps(
        || {
            let results = "/large_tool_result";
            site.call("move_file", json!({ "source": results, "destination": "/away/results" }));
            site.call("delete_file", json!({ "path": results, "recursive": true }));
            site.call("delete_file", json!({ "path": "/away", "recursive": true }));
        },
        3,
        |step| {
            let id = [Some("x"), Some("y"), None][step];
            counts.add(save(&site, id, &result(["one", "two", "three"][step])).path.as_ref());
        },
    );
    assert!(counts.saved.load(Ordering::Relaxed) > 0, "nothing was ever saved");
    site.directory.check_outside();
    // And afterwards all is well.
    assert_eq!(super::saved(&site, Some("z"), &result("four")), "/large_tool_result/z");
}
