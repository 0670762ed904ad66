//! Saved results as ways around the limits.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use handhold::backends::{Ledger, Turn};
use handhold::{Block, HandedResult};

use super::*;
use crate::cli::Offload;
use crate::offload::{hand_over, result, strict};

/// How long anything may take that has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Hands a result over in pieces; whether it was saved.
fn save(place: &Limited, id: &str, text: &str) -> bool {
    let ended = hand_over(strict(), place.site.workspace(), Some(id), text.as_bytes(), 100);
    if ended.path.is_none() {
        let why = "could not be saved, because no space is left;";
        assert!(ended.text.contains(why), "{}", ended.text);
    }
    ended.path.is_some()
}

/// How many bytes drafts have reserved.
fn reserved(place: &Limited) -> u64 {
    let files = AgentFiles::at_ambient_path(place.site.directory.root());
    let ledger = files.thread(None, THREAD).unwrap().ledger();
    runtime().block_on(ledger.begin(Turn::Look)).unwrap().reserved()
}

#[test]
fn a_result_without_room_is_told_and_leaves_nothing() {
    let text = result("x");
    let size = text.len() as u64;
    for limits in [bytes(size - 1), files(1), QuotaLimits { file_bytes: Some(size - 1), ..NONE }] {
        let place = Limited::new(limits);
        for _ in 0..3 {
            assert!(!save(&place, "x", &text), "{limits:?}");
            assert_eq!(place.check(), taken(0, 0), "{limits:?}");
        }
        assert_eq!(reserved(&place), 0);
        place.site.directory.check_outside();
        // What there is room for is not lost.
        place.write("/a", 10).good();
        assert_eq!(place.check(), taken(10, 1));
    }
}

#[test]
fn results_are_charged_as_other_files_are() {
    let text = result("x");
    let size = text.len() as u64;
    let place = Limited::new(bytes(2 * size + 5));
    assert!(save(&place, "x", &text));
    assert_eq!(place.check(), taken(size, 2));
    assert!(save(&place, "x", &text), "it is there already");
    assert_eq!(place.check(), taken(size, 2));
    assert!(save(&place, "x", &result("y")), "it gets another name");
    assert_eq!(place.check(), taken(2 * size, 3));
    assert!(!save(&place, "z", &text));
    place.write("/a", 6).failed("quota-exceeded");
    place.write("/a", 5).good();
    place.delete("/large_tool_result").good();
    assert_eq!(place.check(), taken(5, 1));
    place.write("/a", 2 * text.len() + 5).good();
    place.check();
}

#[test]
fn results_that_are_handed_over_whole_are_charged_too() {
    let text = result("x");
    let place = Limited::new(bytes(text.len() as u64));
    for (id, is_saved) in [("x", true), ("y", false)] {
        let handed = HandedResult {
            tool: "web".to_owned(),
            call_id: Some(id.to_owned()),
            is_error: false,
            content: vec![Block::Text(text.clone())],
        };
        let handed = runtime().block_on(strict().offload(place.site.workspace(), handed));
        let [Block::Text(shown)] = handed.content.as_slice() else { panic!("{handed:?}") };
        let saved = format!("saved in /large_tool_result/{id}.");
        assert_eq!(shown.contains(&saved), is_saved, "{shown}");
        assert_eq!(place.check(), taken(text.len() as u64, 2));
    }
}

#[test]
fn results_at_once_do_not_pass_together() {
    const RESULTS: usize = 16;
    let text = result("x");
    let size = text.len() as u64;
    for (limits, most) in [(bytes(3 * size + size / 2), 3), (files(4), 3)] {
        let place = Limited::new(limits);
        let start = Barrier::new(RESULTS);
        let saved = std::thread::scope(|scope| {
            let all: Vec<_> = (0..RESULTS)
                .map(|n| {
                    let (place, start, text) = (&place, &start, &text);
                    scope.spawn(move || {
                        start.wait();
                        save(place, &format!("r{n}"), text)
                    })
                })
                .collect();
            all.into_iter().map(|it| it.join().unwrap()).filter(|is_saved| *is_saved).count()
        });
        assert!(saved <= most, "{saved} were saved");
        let usage = place.check();
        assert_eq!(usage.bytes, saved as u64 * size);
        assert_eq!(reserved(&place), 0);
        place.site.directory.check_outside();
    }
}

#[test]
fn what_comes_slowly_keeps_its_room_and_gives_it_back_when_its_process_is_killed() {
    const PIECE: usize = 1 << 20;
    let place = Limited::new(bytes(2 * PIECE as u64));
    let config = configuration(&place.site, "bytes = \"2 MiB\"");
    place.write("/a", 1).good();
    let root = place.site.directory.root();
    let mut process = Offload::start(&root, "", &["--call-id", "x", "--config", &config]);
    process.push(&vec![b'x'; PIECE]);
    let end = Instant::now() + PATIENCE;
    while reserved(&place) < PIECE as u64 {
        assert!(Instant::now() < end, "it reserves nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    place.append("/a", PIECE).failed("quota-exceeded");
    // It is not in the workspace, and a killed process has nothing.
    assert_eq!(place.check(), taken(1, 1));
    process.kill();
    place.append("/a", 2 * PIECE - 1).good();
    assert_eq!(place.check(), taken(2 * PIECE as u64, 1));
    assert_eq!(reserved(&place), 0);
}
