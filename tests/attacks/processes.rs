//! Several processes on one root: nothing that succeeds is lost.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::cli::{Batch, code};
use crate::site::Site;

/// How many processes there are.
const PROCESSES: usize = 3;

fn start(site: &Site) -> Vec<Batch> {
    let root = site.directory.root();
    let mut all: Vec<Batch> =
        (0..PROCESSES).map(|_| Batch::start(&root, "", &["--jobs", "4"])).collect();
    for batch in &mut all {
        // Now all are ready.
        assert_eq!(code(&batch.call("ls", &json!({}))), "");
    }
    all
}

#[test]
fn edits_of_several_processes_survive_or_are_a_conflict() {
    const EDITS: usize = 20;
    let site = Site::new();
    let open = |process: usize, n: usize| format!("process {process} slot {n:02}: open\n");
    let done = |process: usize, n: usize| format!("process {process} slot {n:02}: done\n");
    let mut wanted: String =
        (0..PROCESSES).flat_map(|p| (0..EDITS).map(move |n| open(p, n))).collect();
    site.write("slots.txt", &wanted);
    let mut all = start(&site);
    for n in 0..EDITS {
        for (process, batch) in all.iter_mut().enumerate() {
            let (old, new) = (open(process, n), done(process, n));
            let edit = json!({ "file_path": "/slots.txt", "old_string": old, "new_string": new });
            batch.send("edit_file", &edit);
        }
    }
    let mut good = 0;
    for n in 0..EDITS {
        for (process, batch) in all.iter_mut().enumerate() {
            let answer = batch.receive();
            match code(&answer) {
                "" => {
                    good += 1;
                    wanted = wanted.replace(&open(process, n), &done(process, n));
                }
                code => assert_eq!(code, "conflict", "{answer}"),
            }
        }
    }
    assert!(good > 0, "one of them must be the first");
    assert_eq!(site.read("slots.txt"), wanted);
    drop(all);
    site.directory.check_outside();
}

#[test]
fn of_writes_of_one_version_by_several_processes_exactly_one_succeeds() {
    let site = Site::new();
    let mut all = start(&site);
    let first = json!({ "file_path": "/file.txt", "content": "start" });
    let mut version = all[0].call("write_file", &first)["structured"]["version"].clone();
    let mut versions = BTreeSet::from([version.to_string()]);
    for round in 0..200 {
        for (process, batch) in all.iter_mut().enumerate() {
            let content = format!("round {round:03} by {process}");
            let write =
                json!({ "file_path": "/file.txt", "content": content, "if_version": version });
            batch.send("write_file", &write);
        }
        let answers: Vec<Value> = all.iter_mut().map(Batch::receive).collect();
        let winners: Vec<usize> =
            (0..PROCESSES).filter(|process| code(&answers[*process]).is_empty()).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        for answer in &answers {
            assert!(matches!(code(answer), "" | "conflict"), "{answer}");
        }
        assert_eq!(site.read("file.txt"), format!("round {round:03} by {}", winners[0]));
        version = answers[winners[0]]["structured"]["version"].clone();
        assert!(versions.insert(version.to_string()), "a version came back: {version}");
    }
}

#[test]
fn of_creations_by_several_processes_exactly_one_succeeds() {
    let site = Site::new();
    let mut all = start(&site);
    for round in 0..100 {
        let path = format!("/dir{round}/sub/file.txt");
        for (process, batch) in all.iter_mut().enumerate() {
            let content = format!("by {process}");
            let create = json!({ "file_path": path, "content": content, "mode": "create" });
            batch.send("write_file", &create);
        }
        let codes: Vec<String> =
            all.iter_mut().map(|batch| code(&batch.receive()).to_owned()).collect();
        let winners: Vec<usize> =
            (0..PROCESSES).filter(|process| codes[*process].is_empty()).collect();
        assert_eq!(winners.len(), 1, "{codes:?}");
        let others = codes.iter().filter(|code| *code == "already-exists").count();
        assert_eq!(others, PROCESSES - 1, "{codes:?}");
        assert_eq!(site.read(&path[1..]), format!("by {}", winners[0]));
    }
}

#[test]
fn appends_of_several_processes_are_all_there() {
    const LINES: usize = 40;
    let site = Site::new();
    let mut all = start(&site);
    for n in 0..LINES {
        for (process, batch) in all.iter_mut().enumerate() {
            let line = format!("{process}:{n}\n");
            let append = json!({ "file_path": "/log.txt", "content": line, "mode": "append" });
            batch.send("write_file", &append);
        }
    }
    for _ in 0..LINES {
        for batch in &mut all {
            let answer = batch.receive();
            assert_eq!(code(&answer), "", "{answer}");
        }
    }
    let log = site.read("log.txt");
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    let mut wanted: Vec<String> =
        (0..PROCESSES).flat_map(|p| (0..LINES).map(move |n| format!("{p}:{n}"))).collect();
    wanted.sort_unstable();
    assert_eq!(lines, wanted);
}

#[test]
fn a_tree_is_deleted_once_by_several_processes() {
    let site = Site::new();
    let mut all = start(&site);
    for round in 0..50 {
        for file in 0..20 {
            site.write(&format!("tree/d{}/f{file}.txt", file % 4), "x");
        }
        for batch in &mut all {
            batch.send("delete_file", &json!({ "path": "/tree", "recursive": true }));
        }
        let answers: Vec<Value> = all.iter_mut().map(Batch::receive).collect();
        let winners = answers.iter().filter(|answer| code(answer).is_empty());
        let files: Vec<&Value> = winners.map(|answer| &answer["structured"]["files"]).collect();
        assert_eq!(files, [20], "round {round}: {answers:?}");
        for answer in &answers {
            assert!(matches!(code(answer), "" | "not-found"), "{answer}");
        }
    }
    assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 0);
    drop(all);
    site.directory.check_outside();
}
