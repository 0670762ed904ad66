//! Many results with one id at the same time: each is where its answer says, and none is lost.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Barrier;

use handhold::Workspace;
use handhold::backend::Backend;
use handhold::backends::Memory;
use handhold_conformance::{runtime, shared_toolbox};

use super::{RESULTS, hand_over, result};
use crate::cli::Offload;
use crate::site::Site;

/// How many results there are.
const RESULTS_AT_ONCE: usize = 64;

/// How many of them differ.
const CONTENTS: usize = 8;

/// How often all come at once.
const ROUNDS: usize = 10;

/// The content of the result number `n`: all have one size, over the built-in limit.
fn content(n: usize) -> String {
    result(&format!("content {}", n % CONTENTS)).repeat(100)
}

/// Hands over the results of some numbers, each on a thread of its own, all at once, and gives
/// their paths.
fn all_at_once(workspace: &Workspace, id: Option<&str>, numbers: &[usize]) -> Vec<String> {
    let start = Barrier::new(numbers.len());
    std::thread::scope(|scope| {
        let running: Vec<_> = numbers
            .iter()
            .map(|n| {
                scope.spawn(|| {
                    let content = content(*n);
                    start.wait();
                    let ended =
                        hand_over(shared_toolbox(), workspace, id, content.as_bytes(), 30_000);
                    ended.path.unwrap_or_else(|| panic!("{}", ended.text))
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Fails unless every content is in one file, and every answer names the file of its own.
fn check(answers: &[(usize, String)], files: &BTreeMap<String, String>, round: usize) {
    assert_eq!(answers.len(), RESULTS_AT_ONCE);
    for (n, path) in answers {
        let found = files.get(path);
        assert!(found == Some(&content(*n)), "round {round}: {path} is not result {n}");
    }
    let mut contents: Vec<&String> = files.values().collect();
    contents.sort();
    let mut wanted: Vec<String> = (0..CONTENTS).map(content).collect();
    wanted.sort();
    assert!(contents == wanted.iter().collect::<Vec<_>>(), "round {round}: {:?}", files.keys());
}

/// All results that are saved in a directory, by path.
fn files(site: &Site) -> BTreeMap<String, String> {
    let entries = fs::read_dir(site.inside(RESULTS)).unwrap();
    let files = entries.map(|entry| {
        let path = format!("{RESULTS}/{}", entry.unwrap().file_name().into_string().unwrap());
        let content = site.read(&path);
        (format!("/{path}"), content)
    });
    files.collect()
}

#[test]
fn results_with_one_id_from_many_threads_are_all_there() {
    let numbers: Vec<usize> = (0..RESULTS_AT_ONCE).collect();
    for id in [Some("same"), Some("no safe id"), None] {
        let site = Site::new();
        for round in 0..4 * ROUNDS {
            let paths = all_at_once(site.workspace(), id, &numbers);
            let answers: Vec<_> = numbers.iter().copied().zip(paths).collect();
            check(&answers, &files(&site), round);
            // A retry of all changes nothing; most times all is new.
            if round % 5 > 0 {
                fs::remove_dir_all(site.inside(RESULTS)).unwrap();
            }
        }
        site.directory.check_outside();
    }
}

#[test]
fn results_with_one_id_in_memory_are_all_there() {
    let numbers: Vec<usize> = (0..RESULTS_AT_ONCE).collect();
    for round in 0..ROUNDS {
        let memory = Memory::new();
        let paths = all_at_once(&Workspace::new(memory.clone()), Some("same"), &numbers);
        let answers: Vec<_> = numbers.iter().copied().zip(paths).collect();
        let files = runtime().block_on(async {
            let mut files = BTreeMap::new();
            for entry in memory.ls_info("/large_tool_result", 0, 1000).await.unwrap().entries {
                let page = memory.read_bytes(&entry.path, 0, 1 << 20).await.unwrap();
                files.insert(entry.path, String::from_utf8(page.data).unwrap());
            }
            files
        });
        check(&answers, &files, round);
    }
}

/// The path that an answer names.
fn named(shown: &[u8]) -> String {
    let shown = std::str::from_utf8(shown).unwrap();
    let line = shown.lines().next().unwrap();
    let path = line.split_once(" All of it is saved in ").map(|(_, path)| path);
    path.and_then(|path| path.strip_suffix('.')).unwrap_or_else(|| panic!("{shown}")).to_owned()
}

/// Starts processes that take the results of the first numbers, and have all but the end of them.
fn processes(site: &Site, id: &str, n: usize) -> Vec<Offload> {
    let start = |n| {
        let mut process = Offload::start(&site.directory.root(), "", &["--call-id", id]);
        // More than a pipe holds: it has begun to read then.
        process.push(content(n).as_bytes());
        process
    };
    (0..n).map(start).collect()
}

/// Lets processes come to their ends at once while other work is done, and gives their paths.
fn end_all<T>(processes: Vec<Offload>, meanwhile: impl FnOnce() -> T) -> (Vec<String>, T) {
    let start = Barrier::new(processes.len() + 1);
    let end = |process: Offload| {
        start.wait();
        named(&process.end())
    };
    std::thread::scope(|scope| {
        let end = &end;
        let ends: Vec<_> =
            processes.into_iter().map(|process| scope.spawn(move || end(process))).collect();
        start.wait();
        let done = meanwhile();
        (ends.into_iter().map(|thread| thread.join().unwrap()).collect(), done)
    })
}

#[test]
fn results_with_one_id_from_several_processes_and_threads_are_all_there() {
    const PROCESSES: usize = 16;
    let site = Site::new();
    // The first toolbox of this process takes its time.
    shared_toolbox();
    let numbers: Vec<usize> = (PROCESSES..RESULTS_AT_ONCE).collect();
    for round in 0..ROUNDS {
        let id = format!("round-{round}");
        let processes = processes(&site, &id, PROCESSES);
        let (ends, paths) =
            end_all(processes, || all_at_once(site.workspace(), Some(&id), &numbers));
        let answers: Vec<_> = (0..RESULTS_AT_ONCE).zip(ends.into_iter().chain(paths)).collect();
        check(&answers, &files(&site), round);
        fs::remove_dir_all(site.inside(RESULTS)).unwrap();
    }
    site.directory.check_outside();
}

#[test]
fn results_with_one_id_from_processes_alone_are_all_there() {
    let site = Site::new();
    let mut answers = Vec::new();
    for wave in 0..2 {
        // The second half meets the files of the first.
        let processes = processes(&site, "same", RESULTS_AT_ONCE / 2);
        let (ends, ()) = end_all(processes, || ());
        answers.extend(ends.into_iter().enumerate());
        assert_eq!(files(&site).len(), CONTENTS, "wave {wave}");
    }
    check(&answers, &files(&site), 0);
    site.directory.check_outside();
}
