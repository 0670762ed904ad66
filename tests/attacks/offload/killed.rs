//! Processes that are killed while they save a result, and what they leave behind.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use super::RESULTS;
use crate::cli::{Batch, Offload, code};
use crate::site::Site;

/// How long anything may take that has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(30);

/// How old what is left behind must be before it is swept away, and a little more.
const SWEPT_AFTER: Duration = Duration::from_secs(62);

/// A piece of a result: as much as a process takes at once.
const PIECE: usize = 1 << 20;

/// How often a process is killed that is done, or nearly so.
const ROUNDS: usize = 20;

fn tmp(site: &Site) -> PathBuf {
    site.directory.root().join(".handhold/tmp")
}

/// The sizes of all drafts.
fn drafts(site: &Site) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(tmp(site)) else { return Vec::new() };
    // A draft may vanish meanwhile.
    entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).collect()
}

/// Removes what a killed process has left.
fn clear(site: &Site) {
    for entry in fs::read_dir(tmp(site)).into_iter().flatten() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
}

/// Waits until all drafts together have so many bytes, but not for ever.
fn wait_for(site: &Site, bytes: u64) {
    let end = Instant::now() + PATIENCE;
    while drafts(site).iter().sum::<u64>() < bytes {
        assert!(Instant::now() < end, "the drafts do not grow: {:?}", drafts(site));
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn start(site: &Site, id: &str) -> Offload {
    Offload::start(&site.directory.root(), "", &["--call-id", id])
}

#[test]
fn a_result_that_is_killed_half_way_is_not_there() {
    let site = Site::new();
    let mut batch = Batch::start(&site.directory.root(), "", &[]);
    for pieces in [0, 1, 2, 5] {
        let mut process = start(&site, "x");
        for n in 1..=pieces {
            process.push(&vec![b'x'; PIECE]);
            // It comes slowly, and is written as it comes.
            wait_for(&site, n * PIECE as u64);
        }
        // What is not whole is in no place where a tool looks, before and after.
        for killed in [false, true] {
            if killed {
                process.kill();
            }
            let listed = batch.call("ls", &json!({}));
            assert_eq!(listed["structured"]["total"], 0, "{listed}");
            let glob = json!({ "pattern": "**", "include_ignored": true });
            assert_eq!(batch.call("glob", &glob)["structured"]["total"], 0);
            assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 0);
        }
        assert_eq!(drafts(&site).len(), usize::from(pieces > 0));
        clear(&site);
    }
    // The next one has its name.
    let mut process = start(&site, "x");
    process.push(&vec![b'x'; PIECE]);
    process.end();
    assert_eq!(site.read("large_tool_result/x").len(), PIECE);
    drop(batch);
    site.directory.check_outside();
}

#[test]
fn a_result_is_there_as_a_whole_or_not_at_all_when_the_process_is_killed() {
    let site = Site::new();
    let text = "0123456789abcde\n".repeat(2 * PIECE / 16);
    let (mut cut_off, mut whole) = (0, 0);
    // From the moment at which all has been given to it to well behind the one at which it is done.
    let mut time = Duration::ZERO;
    while whole < ROUNDS {
        let mut process = start(&site, "x");
        process.push(text.as_bytes());
        process.close();
        std::thread::sleep(time);
        process.kill();
        if site.inside(RESULTS).join("x").exists() {
            whole += 1;
            assert!(site.read("large_tool_result/x") == text, "it is cut");
        } else {
            cut_off += 1;
            time += Duration::from_micros(300);
            assert!(time < PATIENCE, "no process comes to its end");
        }
        for entry in fs::read_dir(site.inside(RESULTS)).into_iter().flatten() {
            assert_eq!(entry.unwrap().file_name(), "x");
        }
        drop(fs::remove_dir_all(site.inside(RESULTS)));
        clear(&site);
    }
    assert!(cut_off > 0, "no process was killed in time");
    let mut process = start(&site, "x");
    process.push(text.as_bytes());
    process.end();
    assert!(site.read("large_tool_result/x") == text);
    site.directory.check_outside();
}

#[test]
fn what_a_killed_process_left_is_swept_later_and_what_another_still_writes_is_not() {
    let site = Site::new();
    let (mut killed, mut living) = (start(&site, "killed"), start(&site, "living"));
    killed.push(&vec![b'k'; PIECE]);
    living.push(&vec![b'l'; PIECE]);
    wait_for(&site, 2 * PIECE as u64);
    killed.kill();
    // What is so new may be of a process that is about to lock it.
    let write = json!({ "file_path": "/a.txt", "content": "x" });
    let mut early = Batch::start(&site.directory.root(), "", &[]);
    assert_eq!(code(&early.call("write_file", &write)), "");
    assert_eq!(drafts(&site).len(), 2);
    std::thread::sleep(SWEPT_AFTER);
    // The first result that another process saves sweeps.
    let mut next = start(&site, "next");
    next.push(&vec![b'n'; PIECE]);
    next.end();
    assert_eq!(drafts(&site), [PIECE as u64], "what is left is not swept, or too much is");
    // However long it has waited, it comes to a good end.
    living.push(&vec![b'l'; PIECE]);
    living.end();
    assert!(site.read("large_tool_result/living") == "l".repeat(2 * PIECE));
    assert!(!site.inside(RESULTS).join("killed").exists());
    drop(early);
    site.directory.check_outside();
}
