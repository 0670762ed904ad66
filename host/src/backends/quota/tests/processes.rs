//! Two processes with 64 writers: nothing is ever over a limit, and nothing is lost.

use std::time::{Duration, Instant};

use super::child::{BOTH, BYTES, FILES, Process, Role};
use super::site::{Site, count};
use super::*;
use crate::backends::Turn;

/// How long all may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs two processes to their end, and looks meanwhile.
async fn fill(site: &Site, role: Role, look: impl Fn(Usage)) {
    let mut all = [Process::start(role, &site.root()), Process::start(role, &site.root())];
    let start = Instant::now();
    while !all.iter_mut().all(Process::has_ended) {
        assert!(start.elapsed() < PATIENCE, "they do not end");
        look(count(&site.inside("")));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    look(count(&site.inside("")));
}

#[tokio::test]
async fn bytes_are_exact() {
    let site = Site::new();
    let most = BYTES.bytes.expect("a limit");
    // Nothing is removed meanwhile, so that a count is never too high.
    fill(&site, Role::FillBytes, |now| assert!(now.bytes <= most, "{now:?}")).await;
    let quota = site.quota(BYTES);
    let usage = site.checked(&quota).await;
    assert_eq!(usage.bytes, most / 1000 * 1000, "all the room was used");
    assert_eq!(quota.recount().await, Ok(usage));
}

#[tokio::test]
async fn files_are_exact() {
    let site = Site::new();
    let most = FILES.files.expect("a limit");
    fill(&site, Role::FillFiles, |now| assert!(now.files <= most, "{now:?}")).await;
    let quota = site.quota(FILES);
    let usage = site.checked(&quota).await;
    assert_eq!(usage.files, most, "all the room was used");
    assert_eq!(quota.recount().await, Ok(usage));
}

#[tokio::test]
async fn whoever_has_the_ledger_sees_what_is_there() {
    const LOOKS: usize = 200;
    let site = Site::new();
    let mut all =
        [Process::start(Role::Mix, &site.root()), Process::start(Role::Mix, &site.root())];
    let quota = site.quota(BOTH);
    let mut different = std::collections::HashSet::new();
    let mut waited = Vec::new();
    while different.len() < LOOKS {
        let asked = Instant::now();
        let entry = quota.ledger.begin(Turn::Look).await.expect("a turn");
        waited.push(asked.elapsed());
        let there = count(&site.inside(""));
        if let Some(usage) = entry.usage() {
            assert_eq!(usage, there);
        }
        assert!(there.bytes + entry.reserved() <= BOTH.bytes.expect("a limit"), "{there:?}");
        assert!(there.files <= BOTH.files.expect("a limit"), "{there:?}");
        drop(entry);
        different.insert((there.bytes, there.files));
        assert!(!all.iter_mut().any(Process::has_ended));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Two processes that always want it do not keep it from a third.
    waited.sort();
    let longest = waited.last().copied().unwrap_or_default();
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    all.into_iter().for_each(Process::kill);
    let usage = site.checked(&quota).await;
    assert_eq!(quota.recount().await, Ok(usage));
}
