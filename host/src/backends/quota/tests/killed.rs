//! Processes that are killed half-way.

use std::time::Duration;

use super::child::{BOTH, Process, Role};
use super::site::Site;
use super::*;
use crate::backends::Turn;

/// How often a process is killed.
const ROUNDS: u64 = 50;

#[tokio::test]
async fn after_a_kill_the_ledger_is_right() {
    let site = Site::new();
    let (mut unknown, mut reserved) = (0, 0);
    for round in 0..ROUNDS {
        let process = Process::start(Role::Mix, &site.root());
        // At a moment that differs, in steps that have nothing to do with the changes.
        tokio::time::sleep(Duration::from_micros(2000 + round * 37 % 20 * 1571)).await;
        process.kill();
        let left = std::fs::read_dir(site.root().join(".handhold/usage/thread@"));
        reserved += u64::from(left.is_ok_and(|mut left| left.next().is_some()));
        let quota = site.quota(BOTH);
        let entry = quota.ledger.begin(Turn::Look).await.expect("a turn");
        unknown += u64::from(entry.usage().is_none());
        assert_eq!(entry.reserved(), 0, "round {round}: nobody has a draft");
        drop(entry);
        let usage = site.checked(&quota).await;
        assert_eq!(quota.recount().await, Ok(usage), "round {round}");
        // And the next one works, up to the limit.
        let more = usize::try_from(BOTH.bytes.expect("a limit") - usage.bytes).expect("a size");
        let file = "/next";
        let large =
            Quota { limits: QuotaLimits { files: None, file_bytes: None, ..BOTH }, ..quota };
        assert_eq!(write(&large, file, more + 1).await, Err(ErrorCode::QuotaExceeded));
        assert_eq!(write(&large, file, more).await, Ok(()));
        large.remove(file, false).await.expect("removed");
        assert_eq!(site.checked(&large).await, usage, "round {round}");
    }
    assert!(unknown > 0, "no process was killed in the middle of a change");
    assert!(reserved > 0, "no process was killed with a draft");
}

#[tokio::test]
async fn drafts_of_another_process_count_as_long_as_it_lives() {
    let site = Site::new();
    let quota = site.quota(bytes(100));
    write(&quota, "/a", 1).await.expect("room");
    let process = Process::start(Role::Draft, &site.root());
    while quota.ledger.begin(Turn::Look).await.expect("a turn").reserved() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(append(&quota, "/a", 40).await, Err(ErrorCode::QuotaExceeded));
    assert_eq!(append(&quota, "/a", 39).await, Ok(()));
    process.kill();
    assert_eq!(append(&quota, "/a", 60).await, Ok(()));
    assert_eq!(site.checked(&quota).await, taken(100, 1));
}
