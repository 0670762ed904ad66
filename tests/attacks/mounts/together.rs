//! Several threads, and several views, in one shared directory.

use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::site;

/// How many edits are made at once.
const SLOTS: usize = 24;

/// Does something for each number below `n`, all at once; what comes of each, in order.
fn all_at_once<T: Send>(n: usize, step: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(n);
    std::thread::scope(|scope| {
        let steps: Vec<_> = (0..n)
            .map(|number| {
                let (start, step) = (&start, &step);
                scope.spawn(move || {
                    start.wait();
                    step(number)
                })
            })
            .collect();
        steps.into_iter().map(|step| step.join().unwrap()).collect()
    })
}

#[test]
fn edits_of_several_threads_in_one_shared_directory_are_not_lost() {
    let site = site();
    let line = |slot: usize, state: &str| format!("slot {slot:03}: {state}\n");
    let open: String = (0..SLOTS).map(|slot| line(slot, "open")).collect();
    fs::write(site.base("notes/slots.txt"), open).unwrap();
    let codes = all_at_once(SLOTS, |slot| {
        let workspace = site.other(&format!("thread-{}", slot % 3));
        let at = if slot % 2 == 0 { "/notes" } else { "/twin" };
        let arguments = json!({
            "file_path": format!("{at}/slots.txt"),
            "old_string": line(slot, "open"),
            "new_string": line(slot, "done"),
        });
        site.call_in(&workspace, "edit_file", arguments).code
    });
    let state = |code: &Option<String>| match code.as_deref() {
        None => "done",
        Some("conflict") => "open",
        code => panic!("{code:?}"),
    };
    let wanted: String =
        codes.iter().enumerate().map(|(slot, code)| line(slot, state(code))).collect();
    assert!(codes.iter().any(Option::is_none), "one of them must be the first");
    assert_eq!(fs::read_to_string(site.base("notes/slots.txt")).unwrap(), wanted);
    site.directory.check_outside();
}

#[test]
fn of_writes_over_one_version_from_two_threads_one_succeeds() {
    let site = site();
    for round in 0..20 {
        let read = site.call("read_file", json!({ "file_path": "/notes/file.txt" })).good();
        let version = read.structured["version"].as_str().unwrap().to_owned();
        let content = |thread: usize| format!("{round}: thread {thread}\n");
        let codes = all_at_once(2, |thread| {
            let workspace = site.other(&format!("thread-{thread}"));
            let at = ["/notes", "/twin"][thread];
            let arguments = json!({
                "file_path": format!("{at}/file.txt"),
                "content": content(thread),
                "if_version": version,
            });
            site.call_in(&workspace, "write_file", arguments).code
        });
        let good: Vec<usize> = (0..2).filter(|thread| codes[*thread].is_none()).collect();
        assert_eq!(good.len(), 1, "{codes:?}");
        assert!(codes.contains(&Some("conflict".to_owned())), "{codes:?}");
        let found = fs::read_to_string(site.base("notes/file.txt")).unwrap();
        assert_eq!(found, content(good[0]));
    }
    site.directory.check_outside();
}

#[test]
fn of_moves_of_one_file_out_of_a_shared_directory_one_succeeds() {
    let site = site();
    for round in 0..30 {
        fs::write(site.base("notes/one.txt"), format!("round {round}")).unwrap();
        let codes = all_at_once(4, |thread| {
            let workspace = site.other(&format!("thread-{thread}"));
            let source = if thread % 2 == 0 { "/notes/one.txt" } else { "/twin/one.txt" };
            let arguments = json!({ "source": source, "destination": format!("/{round}.txt") });
            site.call_in(&workspace, "move_file", arguments).code
        });
        for (thread, code) in codes.iter().enumerate() {
            let there = site.directory.root().join(format!("thread-{thread}/{round}.txt"));
            assert_eq!(code.is_none(), there.exists(), "{codes:?}");
            let lost = matches!(code.as_deref(), Some("conflict" | "not-found"));
            assert!(code.is_none() || lost, "{codes:?}");
        }
        let is_there = site.base("notes/one.txt").exists();
        assert_eq!(codes.iter().filter(|code| code.is_none()).count(), 1, "{codes:?} {is_there}");
        assert!(!is_there, "{codes:?}");
    }
    site.directory.check_outside();
}

#[test]
fn edits_of_a_file_that_is_moved_to_and_fro_are_not_lost() {
    const MOVES: usize = 60;
    let site = site();
    let [shared, own] = [site.base("notes/number.txt"), site.inside("number.txt")];
    fs::write(&shared, "0\n").unwrap();
    let is_over = AtomicBool::new(false);
    let added = std::thread::scope(|scope| {
        let editors: Vec<_> = (0..2)
            .map(|editor| {
                let (site, shared, is_over) = (&site, &shared, &is_over);
                scope.spawn(move || {
                    let workspace = site.other(&format!("editor-{editor}"));
                    let mut added = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let Ok(text) = fs::read_to_string(shared) else { continue };
                        let number: u64 = text.trim_end().parse().unwrap();
                        let edit = json!({
                            "file_path": "/notes/number.txt",
                            "old_string": text,
                            "new_string": format!("{}\n", number + 1),
                        });
                        let code = site.call_in(&workspace, "edit_file", edit).code;
                        let refused = ["conflict", "not-found", "no-match"];
                        match code.as_deref() {
                            None => added += 1,
                            Some(code) => assert!(refused.contains(&code), "{code}"),
                        }
                    }
                    added
                })
            })
            .collect();
        let mut moves = 0;
        while moves < MOVES {
            for (source, destination) in
                [("/notes/number.txt", "/number.txt"), ("/number.txt", "/notes/number.txt")]
            {
                loop {
                    let arguments = json!({ "source": source, "destination": destination });
                    match site.call("move_file", arguments).code.as_deref() {
                        None => break,
                        code => assert_eq!(code, Some("conflict")),
                    }
                }
                moves += 1;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        editors.into_iter().map(|editor| editor.join().unwrap()).sum::<u64>()
    });
    assert!(!own.exists() && added > 0, "{added}");
    assert_eq!(fs::read_to_string(&shared).unwrap(), format!("{added}\n"));
    site.directory.check_outside();
}
