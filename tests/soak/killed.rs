//! A process is killed at any moment, again and again. What it said is done is there, what it had
//! begun is there as a whole or not at all, and nothing else is.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use handhold::Access;
use handhold::backends::{DeleteError, Lifetime, Usage};
use handhold_conformance::runtime;
use handhold_conformance::world::Directory;
use serde_json::json;

use crate::area::Area;
use crate::child::{Process, Role, say};
use crate::host::{Host, Place, tree};
use crate::scale;

/// How many areas a process changes at once. Two of them are in one thread.
const AREAS: u64 = 8;

/// How many things a process has said at most when it is killed.
const MOST: u64 = 300;

/// The tenant whose threads are over as soon as nobody uses them.
const SHORT: &str = "short";

/// How many files such a thread has.
const SHORT_FILES: usize = 3;

/// The thread, the mark and the directory of an area.
fn area(name: &str, n: u64) -> (Place, String, String) {
    let tenant =
        [None, Some("north"), Some("south"), Some("North")][usize::try_from(n / 2).unwrap()];
    let place = Place { tenant: tenant.map(str::to_owned), thread: name.to_owned() };
    let mark = format!("{}{n}", place.mark());
    (place, mark, format!("/a{n}"))
}

fn short(name: &str, n: u64) -> Place {
    Place { tenant: Some(SHORT.to_owned()), thread: format!("{name}-{n}") }
}

/// What the process does that is killed.
pub(crate) async fn play(root: &Path, name: &str) {
    let host = Arc::new(Host::new(root));
    let mut tasks: Vec<_> =
        (0..AREAS).map(|n| tokio::spawn(change(Arc::clone(&host), name.to_owned(), n))).collect();
    tasks.push(tokio::spawn(collect(host, name.to_owned())));
    for task in tasks {
        task.await.unwrap();
    }
}

async fn change(host: Arc<Host>, name: String, n: u64) {
    let (place, mark, top) = area(&name, n);
    let mut area = Area::new(&mark, &top);
    let workspace = host.workspace(&place);
    loop {
        let step = area.step();
        let (tool, arguments) = area.advance();
        say(&format!("begun {n} {step}"));
        match host.call(&workspace, tool, &arguments).await {
            Ok(_) => say(&format!("done {n} {step}")),
            Err((code, text)) => say(&format!("failed {n} {step} {tool} {code} {text}")),
        }
    }
}

/// Makes threads, and has those removed that are over.
async fn collect(host: Arc<Host>, name: String) {
    let over = Lifetime { idle: Some(Duration::from_millis(1)), age: None };
    for n in 0.. {
        let place = short(&name, n);
        let workspace = host.workspace(&place);
        for file in 0..SHORT_FILES {
            let write = json!({
                "file_path": format!("/d/{file}.txt"), "content": place.mark().repeat(1000),
            });
            if let Err((code, text)) = host.call(&workspace, "write_file", &write).await {
                say(&format!("failed short {n} write_file {code} {text}"));
            }
        }
        say(&format!("made short {n}"));
        tokio::time::sleep(Duration::from_millis(2)).await;
        if let Err(error) = host.files.gc(Some(SHORT), over, false).await {
            say(&format!("failed short {n} gc {error}"));
        }
    }
}

/// What a process said before it was killed.
#[derive(Default)]
struct Heard {
    /// How many steps of each area it had begun, and how many it had finished.
    steps: BTreeMap<u64, (u64, u64)>,
    /// The short threads that it had made.
    made: Vec<u64>,
    said: u64,
}

impl Heard {
    fn take(&mut self, said: &str) {
        self.said += 1;
        let words: Vec<&str> = said.split(' ').collect();
        match words[..] {
            ["begun", n, step] => {
                self.steps.entry(n.parse().unwrap()).or_default().0 =
                    1 + step.parse::<u64>().unwrap()
            }
            ["done", n, step] => {
                self.steps.entry(n.parse().unwrap()).or_default().1 =
                    1 + step.parse::<u64>().unwrap()
            }
            ["made", "short", n] => self.made.push(n.parse().unwrap()),
            _ => panic!("{said}"),
        }
    }
}

#[test]
fn what_was_done_stays_and_what_had_begun_is_whole_or_not_there() {
    let directory = Directory::new();
    let root = directory.root();
    let host = Host::new(&root);
    let kills = scale().kills;
    let (mut cut_off, mut steps) = (0, 0);
    for round in 0..kills {
        let name = format!("r{round}");
        let mut heard = Heard::default();
        let mut process = Process::start(Role::Change, &root, &name);
        // Many rounds end early, with the first writes.
        let enough = 1 + (round * 7919) % [20, MOST][usize::try_from(round % 2).unwrap()];
        while heard.said < enough {
            heard.take(&process.hear().expect("it goes on until it is killed"));
        }
        std::thread::sleep(Duration::from_micros(round * 37 % 23 * 91));
        process.kill();
        while let Some(said) = process.hear() {
            heard.take(&said);
        }
        for n in 0..AREAS {
            let (begun, done) = heard.steps.get(&n).copied().unwrap_or_default();
            cut_off += begun - done;
            steps += done;
        }
        runtime().block_on(check(&host, &root, &name, &heard));
    }
    println!("{kills} kills, {steps} steps finished, {cut_off} cut off");
    assert!(cut_off > 0, "no process was killed in the middle of a change");
}

async fn check(host: &Host, root: &Path, name: &str, heard: &Heard) {
    for n in (0..AREAS).step_by(2) {
        let (place, ..) = area(name, n);
        let found = tree(&place.dir(root));
        // Each area is as it was before or after the step that was cut off.
        let mut left = found.0.clone();
        for n in [n, n + 1] {
            let (_, mark, top) = area(name, n);
            let (begun, done) = heard.steps.get(&n).copied().unwrap_or_default();
            assert!(begun == done || begun == done + 1, "{name} {n}: {begun} {done}");
            let own: BTreeMap<String, String> = {
                let (own, others) =
                    left.into_iter().partition(|(path, _)| path.starts_with(&format!("{top}/")));
                left = others;
                own
            };
            let may_be = [done, begun].map(|steps| Area::after(&mark, &top, steps).files);
            assert!(
                may_be.contains(&own),
                "{name} {n}: after {done} steps, {begun} begun, there is {:?}, not {:?}",
                sizes(&own),
                may_be.each_ref().map(sizes)
            );
        }
        assert!(left.is_empty(), "{name} {n}: nobody made {:?}", sizes(&left));
        check_workspace(host, &place, found).await;
        end(host, root, &place).await;
    }
    let (threads, at) = (root.join(".tenants").join(SHORT), |n| short(name, n));
    let made = std::fs::read_dir(&threads).into_iter().flatten();
    for thread in made.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        let n: u64 = thread.strip_prefix(&format!("{name}-")).unwrap().parse().unwrap();
        let place = at(n);
        let found = tree(&place.dir(root));
        let content = place.mark().repeat(1000);
        let whole = found
            .0
            .iter()
            .enumerate()
            .all(|(file, (path, now))| *path == format!("/d/{file}.txt") && *now == content);
        assert!(whole, "{thread}: {:?}", sizes(&found.0));
        if heard.made.contains(&n) {
            assert_eq!(found.0.len(), SHORT_FILES, "{thread} is removed in part");
        }
        check_workspace(host, &place, found).await;
        end(host, root, &place).await;
    }
}

/// The tools see what is there, what it takes is known, and the next change works.
async fn check_workspace(host: &Host, place: &Place, found: (BTreeMap<String, String>, Usage)) {
    let (files, usage) = found;
    let workspace = host.workspace(place);
    assert_eq!(workspace.access(), Access::ReadWrite);
    let glob = json!({ "pattern": "**", "include_ignored": true, "limit": 1000 });
    let (_, seen) = host.call(&workspace, "glob", &glob).await.unwrap();
    let mut seen: Vec<&str> =
        seen["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, files.keys().map(String::as_str).collect::<Vec<_>>(), "{place:?}");
    let quota = host.quota(place);
    assert_eq!(quota.usage().await, Ok(usage), "{place:?}");
    assert_eq!(quota.recount().await, Ok(usage), "{place:?}");
    let next = json!({ "file_path": "/next.txt", "content": "next" });
    host.call(&workspace, "write_file", &next).await.unwrap();
    let usage = Usage { bytes: usage.bytes + 4, files: usage.files + 1 };
    assert_eq!(quota.usage().await, Ok(usage), "{place:?}");
}

/// The thread can be deleted, and is gone.
async fn end(host: &Host, root: &Path, place: &Place) {
    let deleted = host.files.delete(place.tenant.as_deref(), &place.thread).await;
    assert!(matches!(deleted, Ok(()) | Err(DeleteError::NotFound)), "{place:?}: {deleted:?}");
    assert!(!place.dir(root).exists(), "{place:?}");
}

fn sizes(files: &BTreeMap<String, String>) -> Vec<(&str, usize)> {
    files.iter().map(|(path, content)| (path.as_str(), content.len())).collect()
}
