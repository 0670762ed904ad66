//! Many calls on one file, from one process: nothing that succeeds is lost.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;

use serde_json::{Value, json};

use crate::site::{Answer, Site};

/// Makes calls of one tool, each on a thread of its own, all at once.
pub(crate) fn all_at_once(site: &Site, tool: &str, calls: &[Value]) -> Vec<Answer> {
    let start = Barrier::new(calls.len());
    std::thread::scope(|scope| {
        let running: Vec<_> = calls
            .iter()
            .map(|call| {
                scope.spawn(|| {
                    start.wait();
                    site.call(tool, call.clone())
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A file with a slot for each of `n` edits.
fn slots(n: usize) -> String {
    (0..n).map(|slot| format!("slot {slot:03}: open\n")).collect()
}

fn edit_of(slot: usize) -> Value {
    json!({
        "file_path": "/slots.txt",
        "old_string": format!("slot {slot:03}: open"),
        "new_string": format!("slot {slot:03}: done"),
    })
}

#[test]
fn edits_at_the_same_time_survive_or_are_a_conflict() {
    for n in [10, 50] {
        let site = Site::new();
        site.write("slots.txt", slots(n));
        let calls: Vec<Value> = (0..n).map(edit_of).collect();
        let answers = all_at_once(&site, "edit_file", &calls);
        let mut wanted = slots(n);
        let mut good = 0;
        for (slot, answer) in answers.iter().enumerate() {
            match answer.code.as_deref() {
                None => {
                    good += 1;
                    let open = format!("slot {slot:03}: open");
                    wanted = wanted.replace(&open, &format!("slot {slot:03}: done"));
                }
                code => assert_eq!(code, Some("conflict"), "{}", answer.text),
            }
        }
        assert!(good > 0, "one of them must be the first");
        assert_eq!(site.read("slots.txt"), wanted);
        site.directory.check_outside();
    }
}

#[test]
fn of_edits_of_one_version_at_the_same_time_only_one_succeeds() {
    let site = Site::new();
    for _ in 0..20 {
        site.write("slots.txt", slots(10));
        let read = site.call("read_file", json!({ "file_path": "/slots.txt" })).good();
        let calls: Vec<Value> = (0..10)
            .map(|slot| {
                let mut edit = edit_of(slot);
                edit["if_version"] = read.structured["version"].clone();
                edit
            })
            .collect();
        let answers = all_at_once(&site, "edit_file", &calls);
        let good = answers.iter().filter(|answer| answer.code.is_none()).count();
        let conflicts = answers.iter().filter(|a| a.code.as_deref() == Some("conflict")).count();
        assert_eq!((good, conflicts), (1, 9));
        assert_eq!(site.read("slots.txt").matches("done").count(), 1);
    }
}

#[test]
fn of_creations_at_the_same_time_exactly_one_succeeds() {
    let site = Site::new();
    for round in 0..20 {
        let path = format!("/new/{round}/file.txt");
        let calls: Vec<Value> = (0..20)
            .map(|n| json!({ "file_path": path, "content": format!("by {n}"), "mode": "create" }))
            .collect();
        let answers = all_at_once(&site, "write_file", &calls);
        let winners: Vec<usize> = (0..20).filter(|n| answers[*n].code.is_none()).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        for answer in answers.iter().filter(|answer| answer.code.is_some()) {
            assert_eq!(answer.code.as_deref(), Some("already-exists"), "{}", answer.text);
        }
        assert_eq!(site.read(&path[1..]), format!("by {}", winners[0]));
    }
    site.directory.check_outside();
}

#[test]
fn appends_at_the_same_time_are_all_there() {
    let site = Site::new();
    // The first of them makes the file.
    let calls: Vec<Value> = (0..50)
        .map(|n| {
            let line = format!("line {n}\n");
            json!({ "file_path": "/log/log.txt", "content": line, "mode": "append" })
        })
        .collect();
    let answers = all_at_once(&site, "write_file", &calls);
    for answer in &answers {
        assert_eq!(answer.code, None, "{}", answer.text);
    }
    let created = answers.iter().filter(|answer| answer.structured["created"] == true).count();
    assert_eq!(created, 1);
    let log = site.read("log/log.txt");
    let lines: BTreeSet<&str> = log.lines().collect();
    let wanted: Vec<String> = (0..50).map(|n| format!("line {n}")).collect();
    assert_eq!(lines, wanted.iter().map(String::as_str).collect());
    assert_eq!(log.lines().count(), 50);
    let versions: BTreeSet<String> =
        answers.iter().map(|answer| answer.structured["version"].to_string()).collect();
    assert_eq!(versions.len(), 50, "two contents have one version");
}

#[test]
fn moves_of_one_file_at_the_same_time_happen_once() {
    let site = Site::new();
    for round in 0..20 {
        site.write("source.txt", format!("round {round}"));
        let calls: Vec<Value> = (0..10)
            .map(
                |n| json!({ "source": "/source.txt", "destination": format!("/r{round}/{n}.txt") }),
            )
            .collect();
        let answers = all_at_once(&site, "move_file", &calls);
        let good: Vec<usize> = (0..10).filter(|n| answers[*n].code.is_none()).collect();
        assert_eq!(good.len(), 1, "{answers:?}");
        let there: Vec<_> = fs::read_dir(site.inside(&format!("r{round}")))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(there, [format!("{}.txt", good[0])]);
    }
    // Two that want to get to one place do not replace each other.
    for round in 0..20 {
        let calls: Vec<Value> = (0..10)
            .map(|n| {
                site.write(&format!("from{n}.txt"), format!("{n}"));
                let destination = format!("/to{round}.txt");
                json!({ "source": format!("/from{n}.txt"), "destination": destination })
            })
            .collect();
        let answers = all_at_once(&site, "move_file", &calls);
        let good: Vec<usize> = (0..10).filter(|n| answers[*n].code.is_none()).collect();
        assert_eq!(good.len(), 1, "{answers:?}");
        assert_eq!(site.read(&format!("to{round}.txt")), good[0].to_string());
        let left = (0..10).filter(|n| site.inside(&format!("from{n}.txt")).exists()).count();
        assert_eq!(left, 9);
    }
}
