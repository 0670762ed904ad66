//! Files in the making.

use handhold_core::types::{Condition, ErrorCode};

use super::*;
use crate::backend::Draft;
use crate::backends::{Ledger, Turn};

const OVER: Result<(), ErrorCode> = Err(ErrorCode::QuotaExceeded);

async fn push(draft: &mut Box<dyn Draft>, size: usize) -> Result<(), ErrorCode> {
    draft.push(vec![b'd'; size]).await
}

async fn publish(draft: &mut Box<dyn Draft>, name: &str) -> Result<(), ErrorCode> {
    draft.publish(name, Condition::Always).await.map(drop)
}

#[tokio::test]
async fn a_draft_is_charged_as_it_grows() {
    let quota = in_memory(bytes(100));
    let mut draft = quota.draft("/d").await.expect("a draft");
    push(&mut draft, 60).await.expect("room");
    assert_eq!(checked(&quota).await, taken(0, 0), "it is not there yet");
    assert_eq!(write(&quota, "/a", 41).await, OVER);
    assert_eq!(write(&quota, "/a", 40).await, Ok(()));
    assert_eq!(push(&mut draft, 1).await, OVER);
    // What it has may still be published.
    assert_eq!(publish(&mut draft, "f").await, Ok(()));
    assert_eq!(checked(&quota).await, taken(100, 3));
    quota.remove("/a", false).await.expect("removed");
    assert_eq!(write(&quota, "/b", 41).await, OVER);
    assert_eq!(write(&quota, "/b", 40).await, Ok(()), "nothing is reserved any more");
}

#[tokio::test]
async fn a_dropped_draft_gives_back_what_it_had() {
    let quota = in_memory(bytes(100));
    let mut one = quota.draft("/").await.expect("a draft");
    let mut other = quota.draft("/").await.expect("a draft");
    push(&mut one, 50).await.expect("room");
    push(&mut other, 50).await.expect("room");
    assert_eq!(push(&mut one, 1).await, OVER);
    assert_eq!(write(&quota, "/a", 1).await, OVER);
    drop(other);
    assert_eq!(push(&mut one, 1).await, Ok(()));
    assert_eq!(write(&quota, "/a", 50).await, OVER);
    assert_eq!(write(&quota, "/a", 49).await, Ok(()));
    drop(one);
    assert_eq!(append(&quota, "/a", 51).await, Ok(()));
    assert_eq!(checked(&quota).await, taken(100, 1));
}

#[tokio::test]
async fn what_a_draft_replaces_is_released() {
    let quota = in_memory(bytes(100));
    write(&quota, "/d/f", 30).await.expect("room");
    let mut draft = quota.draft("/d").await.expect("a draft");
    push(&mut draft, 71).await.expect_err("no room: both are there at the same time");
    push(&mut draft, 70).await.expect("room");
    publish(&mut draft, "f").await.expect("published");
    assert_eq!(checked(&quota).await, taken(70, 2));
    assert_eq!(publish(&mut draft, "g").await, Err(ErrorCode::Cancelled));
    assert_eq!(push(&mut draft, 1).await, Err(ErrorCode::Cancelled));
    assert_eq!(checked(&quota).await, taken(70, 2));
}

#[tokio::test]
async fn a_draft_that_found_its_name_taken_may_have_another() {
    let quota = in_memory(bytes(10));
    write(&quota, "/d/f", 3).await.expect("room");
    let mut draft = quota.draft("/d").await.expect("a draft");
    push(&mut draft, 7).await.expect("room");
    let taken_name = draft.publish("f", Condition::Absent).await.map(drop);
    assert_eq!(taken_name, Err(ErrorCode::AlreadyExists));
    assert!(matches!(publish(&mut draft, "x/y").await, Err(ErrorCode::InvalidPath(_))));
    assert_eq!(write(&quota, "/e", 1).await, OVER, "it still has what it had");
    draft.publish("g", Condition::Absent).await.expect("published");
    assert_eq!(checked(&quota).await, taken(10, 3));
}

#[tokio::test]
async fn the_file_and_its_directories_are_charged_with_the_name() {
    let quota = in_memory(files(2));
    let mut draft = quota.draft("/a/b").await.expect("a draft");
    push(&mut draft, 5).await.expect("room");
    assert_eq!(publish(&mut draft, "f").await, OVER);
    assert_eq!(checked(&quota).await, taken(0, 0));
    let mut draft = quota.draft("/a").await.expect("a draft");
    assert_eq!(publish(&mut draft, "f").await, Ok(()), "also if it is empty");
    assert_eq!(checked(&quota).await, taken(0, 2));
}

#[tokio::test]
async fn one_draft_is_limited_as_one_file() {
    let quota = in_memory(QuotaLimits { file_bytes: Some(5), ..NONE });
    let mut draft = quota.draft("/").await.expect("a draft");
    push(&mut draft, 3).await.expect("room");
    assert_eq!(push(&mut draft, 3).await, OVER);
    assert_eq!(push(&mut draft, 2).await, Ok(()));
    assert_eq!(publish(&mut draft, "f").await, Ok(()));
    assert_eq!(checked(&quota).await, taken(5, 1));
}

#[tokio::test]
async fn while_there_is_room_a_draft_reserves_ahead() {
    let quota = in_memory(bytes(6500));
    let mut draft = quota.draft("/").await.expect("a draft");
    push(&mut draft, 100).await.expect("room");
    // A 64th of the 6400 that are left.
    assert_eq!(write(&quota, "/a", 6301).await, OVER);
    assert_eq!(write(&quota, "/a", 6300).await, Ok(()));
    push(&mut draft, 100).await.expect("it has that");
    assert_eq!(push(&mut draft, 1).await, OVER);
    publish(&mut draft, "f").await.expect("published");
    assert_eq!(checked(&quota).await, taken(6500, 2));
}

#[tokio::test]
async fn no_more_than_8_mib_are_reserved_ahead() {
    let ledger = MemoryLedger::new();
    let quota = Quota::new(Arc::new(Memory::new()), bytes(u64::MAX), Arc::new(ledger.clone()));
    let mut draft = quota.draft("/").await.expect("a draft");
    push(&mut draft, 7).await.expect("room");
    let reserved = ledger.begin(Turn::Look).await.expect("a turn").reserved();
    assert_eq!(reserved, 7 + (8 << 20));
    publish(&mut draft, "f").await.expect("published");
    assert_eq!(ledger.begin(Turn::Look).await.expect("a turn").reserved(), 0);
    let mut draft = Quota { limits: NONE, ..quota }.draft("/").await.expect("a draft");
    push(&mut draft, 7).await.expect("room");
    let reserved = ledger.begin(Turn::Look).await.expect("a turn").reserved();
    assert_eq!(reserved, 0, "where nothing is limited, nothing is reserved");
}
