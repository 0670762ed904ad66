use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tempfile::TempDir;
use tokio::time::timeout;

use super::super::AgentFiles;
use super::*;

/// Long enough for whatever does not wait.
const SOON: Duration = Duration::from_secs(10);

struct Site(TempDir);

impl Site {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    /// A ledger as another process would have it.
    fn ledger(&self) -> FileLedger {
        let files = AgentFiles::at_ambient_path(self.root());
        files.thread(None, "thread").expect("an id").ledger()
    }
}

async fn usage(ledger: &FileLedger) -> Option<Usage> {
    ledger.begin(Turn::Look).await.expect("a turn").usage()
}

#[tokio::test]
async fn looking_makes_nothing() {
    let site = Site::new();
    for turn in [Turn::Look, Turn::Change] {
        assert!(site.ledger().begin_if_kept(turn).await.expect("an answer").is_none());
    }
    assert!(!site.root().exists());
    drop(site.ledger().begin(Turn::Look).await.expect("a turn"));
    assert!(site.ledger().begin_if_kept(Turn::Look).await.expect("an answer").is_some());
}

#[tokio::test]
async fn only_a_commit_says_something() {
    let site = Site::new();
    let ledger = site.ledger();
    let some = Usage { bytes: 5, files: 2 };
    assert_eq!(usage(&ledger).await, None);
    ledger.begin(Turn::Change).await.expect("a turn").commit(Some(some)).await.expect("written");
    assert_eq!(usage(&site.ledger()).await, Some(some));
    for turn in [Turn::Look, Turn::Change] {
        // Nothing has begun.
        drop(ledger.begin(turn).await.expect("a turn"));
        assert_eq!(usage(&ledger).await, Some(some));
        // It has begun, and is cut off.
        let mut entry = ledger.begin(turn).await.expect("a turn");
        assert_eq!(entry.usage(), Some(some));
        entry.mark_busy().await.expect("marked");
        drop(entry);
        assert_eq!(usage(&ledger).await, None);
        let more = Usage { bytes: 6, files: 3 };
        ledger.begin(turn).await.expect("a turn").commit(Some(more)).await.expect("written");
        assert_eq!(usage(&ledger).await, Some(more));
        ledger.begin(turn).await.expect("a turn").commit(None).await.expect("written");
        assert_eq!(usage(&ledger).await, None);
        ledger.begin(turn).await.expect("a turn").commit(Some(some)).await.expect("written");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_comes_after_the_other() {
    const TURNS: u64 = 40;
    let site = Site::new();
    let inside = Arc::new(AtomicU64::new(0));
    let files = AgentFiles::at_ambient_path(site.root());
    let tasks: Vec<_> = (0..16)
        .map(|task| {
            // Half of them are of one host.
            let ledger = match task % 2 {
                0 => files.thread(None, "thread").expect("an id").ledger(),
                _ => site.ledger(),
            };
            let inside = Arc::clone(&inside);
            tokio::spawn(async move {
                for _ in 0..TURNS {
                    let entry = ledger.begin(Turn::Change).await.expect("a turn");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at the same time");
                    let bytes = entry.usage().map_or(0, |usage| usage.bytes) + 1;
                    tokio::task::yield_now().await;
                    assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1, "two at the same time");
                    entry.commit(Some(Usage { bytes, files: 0 })).await.expect("written");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic");
    }
    assert_eq!(usage(&site.ledger()).await, Some(Usage { bytes: 16 * TURNS, files: 0 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_always_wants_it_does_not_keep_it_from_others() {
    let site = Site::new();
    let greedy = AgentFiles::at_ambient_path(site.root()).thread(None, "thread").expect("an id");
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let ledger = greedy.ledger();
            tokio::spawn(async move {
                loop {
                    let entry = ledger.begin(Turn::Change).await.expect("a turn");
                    std::thread::sleep(Duration::from_micros(200));
                    entry.commit(Some(Usage::default())).await.expect("written");
                }
            })
        })
        .collect();
    let mut waited = Vec::new();
    for _ in 0..50 {
        let asked = Instant::now();
        drop(site.ledger().begin(Turn::Look).await.expect("a turn"));
        waited.push(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    waited.sort();
    assert!(waited[25] < Duration::from_millis(100), "{waited:?}");
}

#[tokio::test]
async fn what_is_reserved_is_seen_until_it_is_dropped() {
    let site = Site::new();
    let ledger = site.ledger();
    let reserved = async || site.ledger().begin(Turn::Look).await.expect("a turn").reserved();
    let mut entry = ledger.begin(Turn::Look).await.expect("a turn");
    let one = entry.reserve(5).await.expect("reserved");
    let mut other = entry.reserve(7).await.expect("reserved");
    drop(entry);
    assert_eq!(reserved().await, 12);
    let entry = ledger.begin(Turn::Look).await.expect("a turn");
    other.set(100).await.expect("reserved");
    drop(entry);
    assert_eq!(reserved().await, 105);
    drop(one);
    assert_eq!(reserved().await, 100);
    // One that nobody has any more, and one of a process that ended at once.
    let drafts = site.root().join(".handhold/usage/thread@");
    std::fs::write(drafts.join("left"), 1000_u64.to_le_bytes()).expect("written");
    std::fs::write(drafts.join("empty"), "").expect("written");
    assert_eq!(reserved().await, 100);
    assert_eq!(std::fs::read_dir(&drafts).expect("a directory").count(), 1);
    drop(other);
    assert_eq!(reserved().await, 0);
    assert!(!drafts.exists());
}

#[tokio::test]
async fn whoever_deletes_a_thread_has_its_ledger_to_the_end() {
    let site = Site::new();
    let ledger = site.ledger();
    let some = Usage { bytes: 5, files: 2 };
    ledger.begin(Turn::Change).await.expect("a turn").commit(Some(some)).await.expect("written");
    let held = ledger.begin(Turn::Look).await.expect("a turn");
    assert!(end(&ledger.root, &ledger.id).expect("an answer").is_none(), "it is in use");
    drop(held);
    let ending = end(&ledger.root, &ledger.id).expect("an answer").expect("the ledger");
    let waiting = tokio::spawn({
        let ledger = site.ledger();
        async move { usage(&ledger).await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!waiting.is_finished());
    ending.forget().expect("removed");
    let found = timeout(SOON, waiting).await.expect("it goes on").expect("no panic");
    assert_eq!(found, None, "it is another thread's now");
    // A deletion that is cut off leaves the ledger in doubt.
    ledger.begin(Turn::Change).await.expect("a turn").commit(Some(some)).await.expect("written");
    drop(end(&ledger.root, &ledger.id).expect("an answer").expect("the ledger"));
    assert_eq!(usage(&ledger).await, None);
}
