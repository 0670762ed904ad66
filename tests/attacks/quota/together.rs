//! 64 calls at once: those that pass one by one do not pass together.

use serde_json::json;

use super::*;
use crate::concurrent::all_at_once;

const WRITERS: usize = 64;

/// Makes the calls at once, and says how many found room.
fn fill(place: &Limited, tool: &str, call: impl Fn(usize) -> Value) -> usize {
    let calls: Vec<Value> = (0..WRITERS).map(call).collect();
    all_at_once(&place.site, tool, &calls).iter().filter(|answer| has_room(answer)).count()
}

#[test]
fn bytes_are_exact_for_writers_at_once() {
    let place = Limited::new(bytes(10_500));
    let good = fill(&place, "write_file", |n| write(&format!("/{}/{n}", n % 5), 1000));
    assert_eq!(good, 10);
    assert_eq!(place.check().bytes, 10_000);
    // Now all of them grow by a little.
    let good = fill(&place, "write_file", |n| append(&format!("/new{n}"), 100));
    assert_eq!(good, 5);
    assert_eq!(place.check().bytes, 10_500);
}

#[test]
fn files_are_exact_for_writers_at_once() {
    let place = Limited::new(files(11));
    let good = fill(&place, "write_file", |n| write(&format!("/dir/{n}"), 1));
    assert_eq!(good, 10, "and the directory, which one of them makes");
    assert_eq!(place.check(), taken(10, 11));
    let place = Limited::new(files(11));
    let good = fill(&place, "write_file", |n| write(&format!("/{n}/d/f"), 1));
    assert_eq!(good, 3, "each with two directories of its own");
    assert_eq!(place.check(), taken(3, 9));
}

#[test]
fn one_file_is_exact_for_writers_at_once() {
    for limits in [QuotaLimits { file_bytes: Some(1050), ..NONE }, bytes(1050)] {
        let place = Limited::new(limits);
        assert_eq!(fill(&place, "write_file", |_| append("/log", 100)), 10);
        assert_eq!(place.check(), taken(1000, 1));
    }
}

#[test]
fn only_what_grows_is_refused_at_once() {
    let place = Limited::new(bytes(3000));
    place.write("/file", 3000).good();
    let good = fill(&place, "write_file", |n| write("/file", 3000 - n));
    assert!(good > 0);
    let now = place.check().bytes;
    assert!(now > 3000 - WRITERS as u64, "{now}");
}

#[test]
fn moves_at_once_are_charged_for_the_directories_they_make() {
    let place = Limited::new(files(WRITERS as u64 + 10));
    for n in 0..WRITERS {
        place.write(&format!("/{n}"), 1).good();
    }
    let good = fill(
        &place,
        "move_file",
        |n| json!({ "source": format!("/{n}"), "destination": format!("/d{n}/e/f") }),
    );
    assert_eq!(good, 5);
    assert_eq!(place.check(), taken(WRITERS as u64, WRITERS as u64 + 10));
}

#[test]
fn changes_of_all_kinds_at_once_leave_the_ledger_right() {
    let limits = QuotaLimits { bytes: Some(8000), files: Some(20), file_bytes: Some(2500) };
    let place = Limited::new(limits);
    std::thread::scope(|scope| {
        for task in 0..8_usize {
            let place = &place;
            scope.spawn(move || {
                let mut seed = task * 31 + 11;
                for n in 0..60 {
                    seed = seed * 7621 % 100_003;
                    let path = format!("/{}/{}", seed % 3, seed % 4);
                    let other = format!("/{}/{}", seed % 5 % 3, seed % 7 % 4);
                    let answer = match n % 6 {
                        0 | 1 => place.write(&path, seed % 3000),
                        2 => place.append(&path, seed % 700),
                        3 => place.rename(&path, &other),
                        4 => place.delete(&path),
                        _ => place.delete(&format!("/{}", seed % 3)),
                    };
                    assert_ne!(answer.code.as_deref(), Some("unavailable"), "{}", answer.text);
                }
            });
        }
    });
    place.check();
    place.site.directory.check_outside();
}
