//! The results of tools that come slowly, are many at once, or never end.

use std::sync::Arc;
use std::time::Duration;

use handhold::{Output, Toolbox, Workspace};
use handhold_conformance::runtime;
use handhold_conformance::world::{Directory, THREAD};

use crate::{check_that_calls_work, configured, narrow, workspace};

/// How long somebody waits who is to see that he waits in vain.
const SHORT: Duration = Duration::from_millis(300);

/// How long anything may take that has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A piece of a result that is over the built-in limit.
static PIECE: [u8; 100_000] = [b'x'; 100_000];

/// How many bytes of a result were saved under a name.
async fn end(output: Output, id: &str) -> u64 {
    let offloaded = output.finish(false).await.unwrap().offloaded.expect("it is over the limit");
    assert_eq!(offloaded.path, Some(format!("/large_tool_result/{id}")), "{}", offloaded.text);
    offloaded.saved
}

async fn begin(toolbox: &Toolbox, workspace: &Workspace, id: &str) -> Output {
    toolbox.output(workspace, "web", Some(id)).await.unwrap()
}

#[test]
fn a_result_may_take_longer_to_come_than_a_call_may_run() {
    // A call of this toolbox may run for 15.1 s. Only running code counts.
    const LONGER: Duration = Duration::from_secs(16);
    let toolbox = configured("[limits]\ntime = \"100 ms\"");
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    runtime().block_on(async {
        let untouched = begin(&toolbox, &workspace, "untouched").await;
        let mut held = begin(&toolbox, &workspace, "held").await;
        assert_eq!(held.push(b"a small piece").await.unwrap(), b"a small piece");
        let mut large = begin(&toolbox, &workspace, "large").await;
        large.push(&PIECE).await.unwrap();
        let mut block = begin(&toolbox, &workspace, "block").await;
        block.push(&PIECE).await.unwrap();
        let mut media = begin(&toolbox, &workspace, "media").await;
        media.push(&PIECE).await.unwrap();
        let whole = begin(&toolbox, &workspace, "whole").await;
        let mut whole = whole;
        whole.push(&PIECE).await.unwrap();
        tokio::time::sleep(LONGER).await;
        let mut untouched = untouched;
        for output in [&mut untouched, &mut held, &mut large] {
            output.push(&PIECE).await.unwrap();
        }
        block.next_block().await.unwrap();
        block.push(&PIECE).await.unwrap();
        let image =
            handhold::Media { media_type: "image/png".to_owned(), data: b"no image".to_vec() };
        assert!(
            media.media(&image).await.unwrap().unwrap().contains("/large_tool_result/media.png")
        );
        assert_eq!(end(untouched, "untouched").await, 100_000);
        assert_eq!(end(held, "held").await, 100_013);
        assert_eq!(end(large, "large").await, 200_000);
        assert_eq!(end(block, "block").await, 200_001);
        assert_eq!(end(media, "media").await, 100_000);
        assert_eq!(end(whole, "whole").await, 100_000);
    });
    check_that_calls_work(&toolbox, &workspace);
    directory.check_outside();
}

#[test]
fn results_wait_for_their_turn_when_there_are_more_than_places() {
    const RESULTS: u64 = 60;
    for places in [0, 1, 2, 4] {
        let toolbox = Arc::new(narrow(places));
        let directory = Directory::new();
        let workspace = workspace(&directory, THREAD);
        runtime().block_on(async {
            let running: Vec<_> = (0..RESULTS)
                .map(|n| {
                    let (toolbox, workspace) = (Arc::clone(&toolbox), workspace.clone());
                    tokio::spawn(async move {
                        let id = n.to_string();
                        let mut output = begin(&toolbox, &workspace, &id).await;
                        for _ in 0..1 + n % 3 {
                            output.push(&PIECE).await.unwrap();
                            tokio::task::yield_now().await;
                        }
                        end(output, &id).await
                    })
                })
                .collect();
            for (n, task) in (0_u64..).zip(running) {
                let saved = tokio::time::timeout(PATIENCE, task).await.unwrap().unwrap();
                assert_eq!(saved, 100_000 * (1 + n % 3), "{places} places: {n}");
            }
        });
        check_that_calls_work(&toolbox, &workspace);
        directory.check_outside();
    }
}

#[test]
fn a_result_keeps_its_place_until_it_ends_or_is_dropped() {
    for places in [1, 2, 3] {
        let toolbox = narrow(places);
        let directory = Directory::new();
        let workspace = workspace(&directory, THREAD);
        let others = || async {
            let next = toolbox.output(&workspace, "web", None);
            tokio::time::timeout(SHORT, next).await.is_ok()
        };
        runtime().block_on(async {
            for n in 0..4 {
                let mut all = Vec::new();
                for place in 0..places {
                    let mut output = begin(&toolbox, &workspace, &format!("{n}-{place}")).await;
                    output.push(&PIECE).await.unwrap();
                    all.push(output);
                }
                assert!(!others().await, "there are more than {places} places");
                let last = all.pop().unwrap();
                if n % 2 == 0 {
                    drop(last);
                } else {
                    end(last, &format!("{n}-{}", places - 1)).await;
                }
                assert!(others().await, "a place of {places} is lost");
                // Those that have waited long go on.
                for (place, output) in all.into_iter().enumerate() {
                    end(output, &format!("{n}-{place}")).await;
                }
            }
        });
        check_that_calls_work(&toolbox, &workspace);
        directory.check_outside();
    }
}

#[test]
fn a_result_that_is_dropped_at_any_time_leaves_its_place_to_the_next() {
    const PLACES: u32 = 2;
    let toolbox = narrow(PLACES);
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    let large = PIECE.repeat(100);
    let mut dropped = 0;
    runtime().block_on(async {
        for n in 0..100 {
            // From one that has not begun to one that comes to its end.
            let time = Duration::from_micros(200 * n);
            let whole = async {
                let mut output = begin(&toolbox, &workspace, "dropped").await;
                output.push(&large).await.unwrap();
                output.finish(false).await.unwrap()
            };
            dropped += u32::from(tokio::time::timeout(time, whole).await.is_err());
        }
        assert!(dropped > 0, "nothing was dropped, so that this is no test");
        let mut all = Vec::new();
        for place in 0..PLACES {
            let id = place.to_string();
            let next = tokio::time::timeout(PATIENCE, begin(&toolbox, &workspace, &id));
            all.push(next.await.expect("a place is lost"));
        }
        for (place, mut output) in all.into_iter().enumerate() {
            output.push(&PIECE).await.unwrap();
            assert_eq!(end(output, &place.to_string()).await, 100_000);
        }
    });
    check_that_calls_work(&toolbox, &workspace);
    crate::wait_for_drafts(&directory);
    directory.check_outside();
}

#[test]
fn a_result_that_breaks_down_gives_its_place_back() {
    // It breaks down because it would have to be held whole.
    let toolbox = configured(
        "[limits]\nmemory = \"16 MiB\"\nresult = \"64 MiB\"\n[offload]\ntokens = 2_000_000",
    );
    let directory = Directory::new();
    let workspace = workspace(&directory, THREAD);
    let large = vec![b'x'; 32 << 20];
    runtime().block_on(async {
        // The toolbox has 64 places.
        for n in 0..80 {
            let next = tokio::time::timeout(PATIENCE, begin(&toolbox, &workspace, "x"));
            let mut output = next.await.expect("a place is lost");
            if let Err(error) = output.push(&large).await {
                let text = error.to_string();
                assert!(text.contains("16 MiB"), "{n}: {text}");
                // And it stays broken.
                assert!(output.push(b"more").await.is_err());
                assert!(output.finish(false).await.is_err());
            }
        }
    });
    check_that_calls_work(&toolbox, &workspace);
}
