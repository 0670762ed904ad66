//! Every bound of a call: hitting one is an answer that says so, and the next call works.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../attacks/cli.rs"]
#[allow(dead_code, reason = "not all tests need all of it")]
mod cli;
mod outputs;
mod retention;
mod streams;
mod threads;

use std::fs;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cli::{Batch, code};
use handhold::backends::{AgentFiles, Memory};
use handhold::{Settings, ToolCall, Toolbox, Workspace};
use handhold_artifact::FILE_TOOLS;
use handhold_conformance::front_ends::toolbox;
use handhold_conformance::world::{Directory, THREAD};
use handhold_conformance::{runtime, scratch_dir, shared_toolbox};
use serde_json::{Value, json};

fn configured(text: &str) -> Toolbox {
    toolbox(&Settings::from_toml(text).unwrap()).unwrap()
}

/// A toolbox for so many calls at once.
fn narrow(calls: u32) -> Toolbox {
    let builder = Toolbox::builder().file_tools(FILE_TOOLS.component).concurrent_calls(calls);
    builder.code_cache(scratch_dir().join("code")).build().unwrap()
}

fn workspace(directory: &Directory, thread: &str) -> Workspace {
    Workspace::new(AgentFiles::at_ambient_path(directory.root()).thread(None, thread).unwrap())
}

/// Makes a call; the answer has the form of a line of `handhold batch`.
async fn ask(toolbox: &Toolbox, workspace: &Workspace, tool: &str, arguments: &Value) -> Value {
    let call = ToolCall { tool: tool.to_owned(), arguments: arguments.to_string(), call_id: None };
    let result = toolbox.call(workspace, call).await;
    let structured: Value = serde_json::from_str(&result.structured).unwrap();
    json!({
        "is_error": result.is_error,
        "text": result.text,
        "structured": structured,
        "bytes": result.text.len() + result.structured.len(),
    })
}

fn call(toolbox: &Toolbox, workspace: &Workspace, tool: &str, arguments: &Value) -> Value {
    runtime().block_on(ask(toolbox, workspace, tool, arguments))
}

fn check_that_calls_work(toolbox: &Toolbox, workspace: &Workspace) {
    let write = json!({ "file_path": "/works.txt", "content": "works\n" });
    assert_eq!(code(&call(toolbox, workspace, "write_file", &write)), "");
    let read = call(toolbox, workspace, "read_file", &json!({ "file_path": "/works.txt" }));
    assert_eq!(read["text"], "     1\tworks");
}

#[test]
fn a_call_that_needs_more_memory_than_it_may_have_is_too_large() {
    let toolbox = configured("[limits]\nmemory = \"16 MiB\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    let content = "x".repeat(12 << 20);
    fs::create_dir_all(directory.workspace()).unwrap();
    fs::write(directory.workspace().join("large.txt"), &content).unwrap();
    for _ in 0..10 {
        for (tool, arguments) in [
            ("write_file", json!({ "file_path": "/new.txt", "content": content })),
            (
                "edit_file",
                json!({ "file_path": "/large.txt", "old_string": "x", "new_string": "yy", "replace_all": true }),
            ),
        ] {
            let answer = call(&toolbox, &workspace, tool, &arguments);
            assert_eq!(code(&answer), "too-large", "{}", answer["text"]);
            assert!(answer["text"].as_str().unwrap().contains("16 MiB"), "{}", answer["text"]);
        }
        check_that_calls_work(&toolbox, &workspace);
    }
    assert!(!directory.workspace().join("new.txt").exists());
    assert_eq!(fs::read_to_string(directory.workspace().join("large.txt")).unwrap(), content);
    directory.check_outside();
}

#[test]
fn arguments_over_the_bound_are_too_large() {
    let memory = Workspace::new(Memory::new());
    for (toolbox, most) in
        [(configured("[limits]\narguments = \"1 KiB\""), 1 << 10), (configured(""), 32 << 20)]
    {
        // The name and the rest of the arguments count too.
        let write = |len: usize| json!({ "file_path": "/new.txt", "content": "x".repeat(len) });
        let rest = write(0).to_string().len();
        let refused = call(&toolbox, &memory, "write_file", &write(most - rest + 1));
        assert_eq!(code(&refused), "too-large", "{}", refused["text"]);
        let empty = call(&toolbox, &memory, "ls", &json!({}));
        assert_eq!(empty["text"], "The directory / is empty.");
        let fits = call(&toolbox, &memory, "write_file", &write(most - rest));
        assert_eq!(code(&fits), "", "{}", fits["text"]);
        let delete = call(&toolbox, &memory, "delete_file", &json!({ "path": "/new.txt" }));
        assert_eq!(code(&delete), "");
    }
}

/// How many names a large directory has.
const NAMES: usize = 30_000;

/// Makes a workspace with very many names of one file, which has one line.
fn plant_names(directory: &Directory) -> Vec<String> {
    let root = directory.workspace();
    fs::create_dir_all(root.join("many")).unwrap();
    fs::write(directory.base().join("file"), "found\n").unwrap();
    let name = |n: usize| format!("{n:05}-{}.txt", "name".repeat(18));
    for n in 0..NAMES {
        fs::hard_link(directory.base().join("file"), root.join("many").join(name(n))).unwrap();
    }
    (0..NAMES).map(|n| format!("/many/{}", name(n))).collect()
}

#[test]
fn a_result_stays_under_its_bound_and_its_pages_are_the_whole() {
    const BOUND: u64 = 1 << 20;
    let toolbox = configured("[limits]\nresult = \"1 MiB\"");
    let directory = Directory::new();
    let names = plant_names(&directory);
    let workspace = workspace(&directory, THREAD);
    let grep = |mode: &str, limit: u64| json!({ "pattern": "found", "output_mode": mode, "head_limit": limit });
    for (tool, key, arguments) in [
        ("ls", "entries", json!({ "path": "/many", "limit": 100_000 })),
        ("glob", "files", json!({ "pattern": "*.txt", "limit": 100_000 })),
        ("glob", "files", json!({ "pattern": "*", "limit": 100_000, "sort": "modified" })),
        ("grep", "files", grep("files_with_matches", 100_000)),
        ("grep", "matches", grep("content", 0)),
        ("grep", "counts", grep("count", 100_000)),
    ] {
        let mut found: Vec<String> = Vec::new();
        let mut arguments = arguments.clone();
        let mut pages = 0;
        loop {
            let page = call(&toolbox, &workspace, tool, &arguments);
            assert_eq!(code(&page), "", "{tool}: {}", page["text"]);
            assert!(page["bytes"].as_u64().unwrap() <= BOUND, "{tool}: {} bytes", page["bytes"]);
            for item in page["structured"][key].as_array().unwrap() {
                let path = item.get("path").unwrap_or(item).as_str().unwrap();
                assert!(page["text"].as_str().unwrap().contains(path), "{path} has no line");
                found.push(path.to_owned());
            }
            pages += 1;
            let next = page["structured"].get("next_offset").cloned();
            let footer = page["text"].as_str().unwrap().contains("continue with offset=");
            assert_eq!(next.is_some(), footer, "{tool}: the two forms differ");
            let Some(next) = next else { break };
            assert_eq!(next, found.len(), "{tool}: the footer leads elsewhere");
            let text = page["text"].as_str().unwrap();
            assert!(text.contains(&format!("continue with offset={next}]")), "{tool}");
            arguments["offset"] = next;
        }
        assert!(pages > 2, "{tool}: {pages} pages are no test");
        assert_eq!(found.len(), NAMES, "{tool} {arguments}");
        assert!(found == names, "{tool}: the pages are not the whole");
    }
}

#[test]
fn a_search_that_runs_out_of_time_is_cut_and_says_so() {
    let toolbox = configured("[limits]\ntime = \"1 ms\"");
    let directory = Directory::new();
    plant_names(&directory);
    let workspace = workspace(&directory, THREAD);
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "found", "head_limit": 0 })),
        ("grep", json!({ "pattern": "found", "output_mode": "count", "head_limit": 0 })),
        ("grep", json!({ "pattern": "nothing" })),
        ("glob", json!({ "pattern": "*.txt", "limit": 100_000 })),
        ("glob", json!({ "pattern": "*.nothing" })),
    ] {
        let answer = call(&toolbox, &workspace, tool, &arguments);
        assert_eq!(code(&answer), "", "{}", answer["text"]);
        let text = answer["text"].as_str().unwrap();
        assert!(text.contains("[stopped after "), "{tool} {arguments}: {text}");
        assert_eq!(answer["structured"]["total_is_exact"], false, "{tool} {arguments}");
        let listed = call(&toolbox, &workspace, "ls", &json!({ "path": "/many", "limit": 1 }));
        assert_eq!(listed["structured"]["total"], NAMES);
    }
}

#[test]
fn many_calls_on_several_workspaces_do_not_meet() {
    const OWNERS: usize = 8;
    let directory = Directory::new();
    let workspaces: Vec<Workspace> =
        (0..OWNERS).map(|owner| workspace(&directory, &format!("thread-{owner}"))).collect();
    let mark = |owner: usize| format!("owner-{owner}");
    let arguments = |n: usize| {
        let mark = mark(n % OWNERS);
        match n / OWNERS % 5 {
            0 => {
                ("write_file", json!({ "file_path": format!("/{mark}-{n}.txt"), "content": mark }))
            }
            1 => ("ls", json!({})),
            2 => ("glob", json!({ "pattern": "*.txt" })),
            3 => ("grep", json!({ "pattern": "owner", "output_mode": "content" })),
            _ => ("read_file", json!({ "file_path": format!("/{mark}.txt") })),
        }
    };
    runtime().block_on(async {
        for (owner, workspace) in workspaces.iter().enumerate() {
            let mark = mark(owner);
            let first = json!({ "file_path": format!("/{mark}.txt"), "content": mark });
            let answer = ask(shared_toolbox(), workspace, "write_file", &first).await;
            assert_eq!(code(&answer), "", "{answer}");
        }
        let running: Vec<_> = (0..200)
            .map(|n| {
                let workspace = workspaces[n % OWNERS].clone();
                let (tool, arguments) = arguments(n);
                tokio::spawn(async move {
                    (n, ask(shared_toolbox(), &workspace, tool, &arguments).await)
                })
            })
            .collect();
        for call in running {
            let (n, answer) = call.await.unwrap();
            assert_eq!(code(&answer), "", "{:?}: {answer}", arguments(n));
            for owner in 0..OWNERS {
                let shown = answer.to_string().contains(&mark(owner));
                assert_eq!(shown, owner == n % OWNERS, "{:?}: {answer}", arguments(n));
            }
        }
    });
    for owner in 0..OWNERS {
        for entry in fs::read_dir(directory.root().join(format!("thread-{owner}"))).unwrap() {
            let entry = entry.unwrap();
            assert!(entry.file_name().to_string_lossy().starts_with(&mark(owner)));
            assert_eq!(fs::read_to_string(entry.path()).unwrap(), mark(owner));
        }
    }
}

#[test]
fn calls_wait_for_their_turn_when_there_are_more_than_places() {
    for places in [0, 1, 2, 4] {
        let toolbox = Arc::new(narrow(places));
        let workspace = Workspace::new(Memory::new());
        runtime().block_on(async {
            let running: Vec<_> = (0..300)
                .map(|n| {
                    let (toolbox, workspace) = (Arc::clone(&toolbox), workspace.clone());
                    tokio::spawn(async move {
                        let write = json!({ "file_path": format!("/{n}.txt"), "content": "x" });
                        ask(&toolbox, &workspace, "write_file", &write).await
                    })
                })
                .collect();
            for call in running {
                let answer = call.await.unwrap();
                // Whoever has got a turn finds a place, also right behind another call.
                assert_eq!(code(&answer), "", "{places} places: {answer}");
            }
        });
    }
}

#[test]
fn a_call_that_is_dropped_leaves_its_place_to_the_next() {
    let toolbox = narrow(4);
    let directory = Directory::new();
    plant_names(&directory);
    let workspace = workspace(&directory, THREAD);
    let grep = json!({ "pattern": "found|nothing", "output_mode": "count", "head_limit": 0 });
    let mut dropped = 0;
    runtime().block_on(async {
        for n in 0..100 {
            // From a call that has not begun to one that is in the middle.
            let time = Duration::from_micros(100 * n);
            let search = ask(&toolbox, &workspace, "grep", &grep);
            dropped += u32::from(tokio::time::timeout(time, search).await.is_err());
        }
    });
    assert!(dropped > 0, "no call was dropped, so that this is no test");
    for _ in 0..8 {
        check_that_calls_work(&toolbox, &workspace);
    }
    let whole = call(&toolbox, &workspace, "grep", &json!({ "pattern": "found", "path": "/many" }));
    assert_eq!(code(&whole), "", "{}", whole["text"]);
}

/// Waits until no file is in the making, but not for ever.
fn wait_for_drafts(directory: &Directory) {
    let end = Instant::now() + Duration::from_secs(10);
    let tmp = directory.root().join(".handhold/tmp");
    while fs::read_dir(&tmp).unwrap().next().is_some() && Instant::now() < end {
        std::thread::yield_now();
    }
}

#[test]
fn a_write_that_is_dropped_is_made_or_not_made() {
    let toolbox = narrow(4);
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    let contents = ["a", "b"].map(|letter| letter.repeat(2 << 20));
    let file = directory.workspace().join("file.txt");
    fs::create_dir_all(directory.workspace()).unwrap();
    fs::write(&file, &contents[0]).unwrap();
    runtime().block_on(async {
        for n in 0..60 {
            let content = &contents[usize::try_from(n % 2).unwrap()];
            let write = json!({ "file_path": "/file.txt", "content": content });
            let write = ask(&toolbox, &workspace, "write_file", &write);
            drop(tokio::time::timeout(Duration::from_millis(n), write).await);
            let now = fs::read_to_string(&file).unwrap();
            assert!(contents.contains(&now), "the file is neither old nor new");
        }
    });
    // What was dropped in the middle may go on to its end.
    wait_for_drafts(&directory);
    directory.check_outside();
    check_that_calls_work(&toolbox, &workspace);
}

#[test]
fn an_append_to_a_huge_file_that_is_dropped_comes_to_an_end() {
    let toolbox = narrow(1);
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    check_that_calls_work(&toolbox, &workspace);
    let file = directory.workspace().join("huge.txt");
    // It takes no room on the disk, but a copy of it would.
    fs::File::create(&file).unwrap().set_len(8 << 30).unwrap();
    runtime().block_on(async {
        let append = json!({ "file_path": "/huge.txt", "content": "x", "mode": "append" });
        let append = ask(&toolbox, &workspace, "write_file", &append);
        drop(tokio::time::timeout(Duration::from_millis(500), append).await);
    });
    wait_for_drafts(&directory);
    // A copy that nobody waits for ends, and holes are not filled.
    directory.check_outside();
    let size = fs::metadata(&file).unwrap().len();
    assert!([8 << 30, (8 << 30) + 1].contains(&size), "{size}");
}

#[test]
fn a_read_that_is_dropped_comes_to_an_end() {
    const PATIENCE: Duration = Duration::from_secs(10);
    let toolbox = narrow(1);
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    fs::create_dir_all(directory.workspace()).unwrap();
    let mut file = fs::File::create(directory.workspace().join("endless.txt")).unwrap();
    file.write_all("text\n".repeat(10_000).as_bytes()).unwrap();
    // It takes no room on the disk, and an hour to read.
    file.set_len(1 << 40).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let read = json!({ "file_path": "/endless.txt", "offset": -1 });
        let read = ask(&toolbox, &workspace, "read_file", &read);
        let answer = tokio::time::timeout(Duration::from_secs(1), read).await;
        assert!(answer.is_err(), "it was read to its end: {answer:?}");
    });
    let start = Instant::now();
    runtime.shutdown_timeout(PATIENCE);
    assert!(start.elapsed() < PATIENCE, "a thread goes on reading");
}

/// The most memory that a process has had so far, in KiB; none if it has ended.
fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse().unwrap())
}

#[test]
fn a_page_of_a_large_file_and_a_search_of_it_take_little_memory() {
    const LINE: u64 = 100;
    const LINES: u64 = (256 << 20) / LINE;
    const MOST_KIB: u64 = 64 << 10;
    let directory = Directory::new();
    fs::create_dir_all(directory.workspace()).unwrap();
    let mut file =
        BufWriter::new(fs::File::create(directory.workspace().join("large.txt")).unwrap());
    for n in 1..=LINES {
        writeln!(file, "line {n:07} {:.<86}", "").unwrap();
    }
    file.into_inner().unwrap();
    let mut batch = Batch::start(&directory.root(), "", &[]);
    assert_eq!(code(&batch.call("ls", &json!({}))), "");
    let idle = peak(batch.id()).unwrap();
    let line = |n: u64| format!("line {n:07} ");
    let page = |offset: i64| json!({ "file_path": "/large.txt", "offset": offset, "limit": 50 });
    let middle = LINES / 2;
    let all = json!({ "pattern": "^line", "output_mode": "count" });
    for (tool, arguments, part) in [
        ("read_file", page(1), line(50)),
        ("read_file", page(i64::try_from(middle).unwrap()), line(middle + 49)),
        ("read_file", page(-20), line(LINES)),
        ("grep", json!({ "pattern": line(LINES), "output_mode": "content" }), line(LINES)),
        ("grep", json!({ "pattern": "nothing", "multiline": false }), "No matches".to_owned()),
        ("grep", all, format!("/large.txt:{LINES}")),
        ("grep", json!({ "pattern": "line", "output_mode": "content", "-C": 3 }), line(1000)),
    ] {
        let answer = batch.call(tool, &arguments);
        assert_eq!(code(&answer), "", "{tool} {arguments}: {}", answer["text"]);
        let text = answer["text"].as_str().unwrap();
        assert!(text.contains(&part), "{tool} {arguments}: {part} is missing");
        let more = peak(batch.id()).unwrap().saturating_sub(idle);
        assert!(more <= MOST_KIB, "{tool} {arguments}: {more} KiB more than when idle");
    }
}

#[test]
fn a_line_that_is_too_long_to_search_is_unreadable_and_not_without_a_match() {
    let directory = Directory::new();
    let root = directory.workspace();
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("long.txt"), format!("{}needle\n", "x".repeat(40 << 20))).unwrap();
    fs::write(root.join("short.txt"), "needle\n").unwrap();
    let workspace = workspace(&directory, THREAD);
    for (mode, multiline) in [("files_with_matches", false), ("content", false), ("count", true)] {
        let grep = json!({ "pattern": "needle", "output_mode": mode, "multiline": multiline });
        let answer = call(shared_toolbox(), &workspace, "grep", &grep);
        assert_eq!(answer["structured"]["unreadable"], json!(["/long.txt"]), "{}", answer["text"]);
        assert_eq!(answer["structured"]["total_is_exact"], false);
        let text = answer["text"].as_str().unwrap();
        assert!(text.starts_with("/short.txt"), "{text}");
        assert!(text.ends_with("[1 file could not be read: /long.txt]"), "{text}");
    }
    let alone = json!({ "pattern": "needle", "path": "/long.txt" });
    let answer = call(shared_toolbox(), &workspace, "grep", &alone);
    assert_eq!(answer["structured"]["unreadable"], json!(["/long.txt"]), "{}", answer["text"]);
    // It can be read all the same.
    let read = json!({ "file_path": "/long.txt", "column": (40 << 20) + 1 });
    let answer = call(shared_toolbox(), &workspace, "read_file", &read);
    assert_eq!(answer["text"], "     1\tneedle");
}
