//! Two processes change the same 64 threads at once. Nothing is lost, and nothing crosses.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use handhold_conformance::runtime;
use handhold_conformance::world::Directory;
use serde_json::json;

use crate::area::Area;
use crate::child::{Process, Role, say};
use crate::host::{Host, Place, tree};
use crate::scale;

const THREADS: u64 = 64;

/// Threads of the same id, of no tenant and of several.
const TENANTS: [Option<&str>; 4] = [None, Some("a"), Some("A"), Some("a@b")];

const PROCESSES: [&str; 2] = ["first", "second"];

fn place(n: u64) -> Place {
    let tenants = TENANTS.len() as u64;
    let tenant = TENANTS[usize::try_from(n % tenants).unwrap()];
    Place { tenant: tenant.map(str::to_owned), thread: format!("t{}", n / tenants) }
}

fn mark(place: &Place, process: &str) -> String {
    format!("{}{process}", place.mark())
}

/// What one process did in one thread.
#[derive(Debug, Default, PartialEq, Eq)]
struct Done {
    /// Steps in its own area.
    steps: u64,
    /// Lines at the end of the file of all.
    lines: u64,
    /// How often it added one to the number of all.
    added: u64,
}

/// What a process does.
pub(crate) async fn play(root: &Path, name: &str) {
    let host = Arc::new(Host::new(root));
    let end = Instant::now() + scale().hammer;
    let tasks: Vec<_> = (0..THREADS)
        .map(|n| tokio::spawn(hammer(Arc::clone(&host), name.to_owned(), n, end)))
        .collect();
    for (n, task) in tasks.into_iter().enumerate() {
        let Done { steps, lines, added } = task.await.unwrap();
        say(&format!("{n} {steps} {lines} {added}"));
    }
}

async fn hammer(host: Arc<Host>, name: String, n: u64, end: Instant) -> Done {
    let place = place(n);
    let mark = mark(&place, &name);
    let mut area = Area::new(&mark, &format!("/{name}"));
    let mut done = Done::default();
    let mut round = 0;
    while Instant::now() < end {
        // Anew each time, as a host does for a run.
        let workspace = host.workspace(&place);
        let (tool, arguments) = area.advance();
        host.call(&workspace, tool, &arguments).await.unwrap();
        done.steps += 1;

        let line = json!({
            "file_path": "/log.txt", "content": format!("{mark} {}\n", done.lines), "mode": "append",
        });
        host.call(&workspace, "write_file", &line).await.unwrap();
        done.lines += 1;

        done.added += u64::from(add_one(&host, &workspace).await);
        if round % 8 == 0 {
            look(&host, &workspace, &place, &area).await;
        }
        round += 1;
    }
    done
}

/// Adds one to the number of all; whether that succeeded.
async fn add_one(host: &Host, workspace: &handhold::Workspace) -> bool {
    let path = "/number.txt";
    let first = json!({ "file_path": path, "content": "0\n", "mode": "create" });
    match host.call(workspace, "write_file", &first).await {
        Ok(_) => {}
        Err((code, text)) => assert_eq!(code, "already-exists", "{text}"),
    }
    let (text, read) =
        host.call(workspace, "read_file", &json!({ "file_path": path })).await.unwrap();
    let number = lines(&text)[0];
    let more = number.parse::<u64>().unwrap() + 1;
    let edit = json!({
        "file_path": path, "old_string": format!("{number}\n"), "new_string": format!("{more}\n"),
        "if_version": read["version"],
    });
    match host.call(workspace, "edit_file", &edit).await {
        Ok(_) => true,
        Err((code, text)) => {
            assert_eq!(code, "conflict", "{text}");
            false
        }
    }
}

/// Everything that is seen has the mark of this thread, and the process's own is as it left it.
async fn look(host: &Host, workspace: &handhold::Workspace, place: &Place, area: &Area) {
    let grep = json!({
        "pattern": "^== ", "output_mode": "content", "include_ignored": true, "head_limit": 1000,
    });
    let (_, found) = host.call(workspace, "grep", &grep).await.unwrap();
    for found in found["matches"].as_array().unwrap() {
        let text = found["text"].as_str().unwrap();
        assert!(text.starts_with(&format!("== {}", place.mark())), "{place:?}: {found}");
    }
    for (path, content) in &area.files {
        let read = json!({ "file_path": path, "limit": 100_000 });
        let (text, _) = host.call(workspace, "read_file", &read).await.unwrap();
        // What is too large for one answer ends with a footer.
        let seen = lines(&text);
        assert!(!seen.is_empty(), "{place:?} {path}: {text}");
        let wanted: Vec<&str> = content.lines().take(seen.len()).collect();
        assert_eq!(seen, wanted, "{place:?} {path}");
    }
}

/// The lines of a file as `read_file` shows them, without their numbers.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split_once('\t')).map(|(_, line)| line).collect()
}

#[test]
fn nothing_is_lost_and_nothing_crosses() {
    let directory = Directory::new();
    let root = directory.root();
    let mut processes: Vec<Process> =
        PROCESSES.iter().map(|name| Process::start(Role::Hammer, &root, name)).collect();
    let patience = Instant::now() + scale().hammer + Duration::from_secs(120);
    let mut done: Vec<BTreeMap<u64, Done>> = Vec::new();
    for process in &mut processes {
        let mut all = BTreeMap::new();
        while let Some(said) = process.hear() {
            let numbers: Vec<u64> = said.split(' ').map(|word| word.parse().unwrap()).collect();
            let [n, steps, lines, added] = numbers[..] else { panic!("{said}") };
            all.insert(n, Done { steps, lines, added });
        }
        assert!(Instant::now() < patience, "it does not end");
        assert_eq!(all.len() as u64, THREADS, "a process has failed");
        done.push(all);
    }
    processes.into_iter().for_each(Process::end);
    let host = Host::new(&root);
    let mut total = Done::default();
    for n in 0..THREADS {
        let place = place(n);
        let (mut files, usage) = tree(&place.dir(&root));
        let quota = host.quota(&place);
        assert_eq!(runtime().block_on(quota.usage()), Ok(usage), "{place:?}");
        let log = files.remove("/log.txt").unwrap();
        let number = files.remove("/number.txt").unwrap();
        let mut added = 0;
        let mut wanted = BTreeMap::new();
        for (name, done) in PROCESSES.iter().zip(&done) {
            let (mark, done) = (mark(&place, name), &done[&n]);
            wanted.extend(Area::after(&mark, &format!("/{name}"), done.steps).files);
            let lines = log.lines().filter(|line| line.starts_with(&format!("{mark} ")));
            let lines: Vec<String> = lines.map(str::to_owned).collect();
            let all: Vec<String> = (0..done.lines).map(|line| format!("{mark} {line}")).collect();
            assert_eq!(lines, all, "{place:?}");
            added += done.added;
            total.steps += done.steps;
            total.lines += done.lines;
            total.added += done.added;
        }
        assert_eq!(log.lines().count() as u64, done.iter().map(|done| done[&n].lines).sum::<u64>());
        assert_eq!(number, format!("{added}\n"), "{place:?}");
        assert!(files == wanted, "{place:?}: {:?} {:?}", files.keys(), wanted.keys());
    }
    println!("{THREADS} threads, {} processes: {total:?}", PROCESSES.len());
    assert!(total.added > 0 && total.steps > THREADS, "{total:?}");
    directory.check_outside();
}
