//! Results that nobody waits for any more: they leave nothing.

use std::fs;
use std::time::{Duration, Instant};

use handhold::backend::Backend;
use handhold::backends::Memory;
use handhold::{Block, HandedResult, Media, Toolbox, Workspace};
use handhold_conformance::{runtime, shared_toolbox};

use super::{PATIENCE, configured, result, saved};
use crate::site::Site;

/// How many bytes are pushed at once.
const PIECE: usize = 1 << 20;

/// Fails unless nothing is in the workspace, and soon nothing beside it.
fn check_that_nothing_is_left(site: &Site) {
    let end = Instant::now() + PATIENCE;
    let tmp = site.directory.root().join(".handhold/tmp");
    // A step that nobody waits for may go on to its end.
    while fs::read_dir(&tmp).is_ok_and(|mut left| left.next().is_some()) && Instant::now() < end {
        std::thread::yield_now();
    }
    assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 0);
    site.directory.check_outside();
}

/// Takes a result up to a point, and drops it there.
async fn drop_after(toolbox: &Toolbox, workspace: &Workspace, pieces: usize) {
    let mut output = toolbox.output(workspace, "web", Some("x")).await.unwrap();
    for _ in 0..pieces {
        output.push(&vec![b'x'; PIECE]).await.unwrap();
        output.next_block().await.unwrap();
    }
    drop(output);
}

#[test]
fn a_result_that_is_dropped_half_way_leaves_nothing() {
    let site = Site::new();
    for pieces in [0, 1, 2, 10] {
        runtime().block_on(drop_after(shared_toolbox(), site.workspace(), pieces));
        // It is gone at once, since no step is running.
        let tmp = site.directory.root().join(".handhold/tmp");
        let left = fs::read_dir(tmp).map_or(0, Iterator::count);
        assert_eq!(left, 0, "after {pieces} pieces");
        check_that_nothing_is_left(&site);
    }
    assert_eq!(saved(&site, Some("x"), &result("next")), "/large_tool_result/x");
}

#[test]
fn a_result_that_is_dropped_half_way_leaves_nothing_in_memory() {
    let memory = Memory::new();
    let workspace = Workspace::new(memory.clone());
    for pieces in [0, 1, 10] {
        runtime().block_on(drop_after(shared_toolbox(), &workspace, pieces));
        let listed = runtime().block_on(memory.ls_info("/", 0, 10)).unwrap();
        assert_eq!(listed.total, 0, "{:?}", listed.entries);
    }
}

#[test]
fn a_result_that_is_dropped_within_a_step_leaves_nothing_or_all() {
    let site = Site::new();
    let piece = vec![b'x'; 8 * PIECE];
    let image = Media { media_type: "image/png".to_owned(), data: piece.clone() };
    let mut dropped = 0;
    for n in 0..60 {
        let result = async {
            let mut output =
                shared_toolbox().output(site.workspace(), "web", Some("x")).await.unwrap();
            if n % 3 == 0 {
                output.media(&image).await.unwrap();
            } else {
                output.push(&piece).await.unwrap();
                output.finish(false).await.unwrap();
            }
        };
        let time = Duration::from_micros(300 * n);
        let ended = runtime().block_on(async { tokio::time::timeout(time, result).await });
        dropped += u32::from(ended.is_err());
        let place = site.inside(super::RESULTS);
        // What has got its name before it was dropped is whole.
        for entry in fs::read_dir(&place).into_iter().flatten() {
            assert_eq!(fs::read(entry.unwrap().path()).unwrap().len(), piece.len());
        }
        let end = Instant::now() + PATIENCE;
        let tmp = site.directory.root().join(".handhold/tmp");
        while fs::read_dir(&tmp).is_ok_and(|mut left| left.next().is_some()) {
            assert!(Instant::now() < end, "a draft stays");
            std::thread::yield_now();
        }
        drop(fs::remove_dir_all(&place));
    }
    assert!(dropped > 0, "nothing was dropped, so that this is no test");
    drop(fs::remove_dir_all(site.inside(super::RESULTS)));
    check_that_nothing_is_left(&site);
    assert_eq!(saved(&site, Some("x"), &result("next")), "/large_tool_result/x");
}

#[test]
fn a_result_that_breaks_down_leaves_nothing_and_is_never_shown() {
    // All of it would have to be held.
    let toolbox = configured("[limits]\nmemory = \"16 MiB\"\n[offload]\ntokens = 2_000_000");
    let site = Site::new();
    for _ in 0..3 {
        let handed = HandedResult {
            tool: "web".to_owned(),
            call_id: Some("x".to_owned()),
            is_error: false,
            content: vec![Block::Text("x".repeat(64 * PIECE))],
        };
        let answer = runtime().block_on(toolbox.offload(site.workspace(), handed));
        let [Block::Text(text)] = answer.content.as_slice() else { panic!("{answer:?}") };
        assert!(text.len() < PIECE, "{} bytes are shown", text.len());
        if answer.is_error {
            assert!(text.starts_with("Error: ") && text.contains("16 MiB"), "{text}");
            check_that_nothing_is_left(&site);
        } else {
            // It need not be held whole.
            assert_eq!(site.read("large_tool_result/x").len(), 64 * PIECE);
            site.directory.check_outside();
        }
    }
}
