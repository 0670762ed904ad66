//! Calls that are given up.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use handhold_core::types::Condition;
use tokio::time::timeout;

use super::site::Site;
use super::*;
use crate::backends::Turn;

/// How many calls are given up.
const CALLS: u64 = 400;

/// At how many different moments: so often no call waits for something.
const MOMENTS: u64 = 20;

/// Goes on with a call until it waits for something the `n`-th time, and gives it up then.
async fn give_up<T>(n: u64, call: impl Future<Output = T>) -> Option<T> {
    let (mut call, mut waits) = (pin!(call), 0);
    poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if waits == n => Poll::Ready(None),
        Poll::Pending => {
            waits += 1;
            Poll::Pending
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_is_right_whenever_a_call_is_given_up() {
    let site = Site::new();
    let quota = site.quota(QuotaLimits { bytes: Some(1 << 20), files: Some(1000), ..NONE });
    write(&quota, "/start", 1000).await.expect("room");
    let mut ended = 0;
    for n in 0..CALLS {
        let moment = n / 5 % MOMENTS;
        let path = format!("/d{}/{}", n % 7, n % 3);
        let done = match n % 5 {
            0 => give_up(moment, write(&quota, &path, 100)).await.is_some(),
            1 => give_up(moment, append(&quota, &path, 10)).await.is_some(),
            2 => give_up(moment, quota.remove(&path, true)).await.is_some(),
            3 => give_up(moment, quota.rename("/start", &path, true)).await.is_some(),
            _ => {
                let whole = async {
                    let mut draft = quota.draft("/e").await?;
                    draft.push(vec![0; 50]).await?;
                    draft.publish(&n.to_string(), Condition::Always).await
                };
                give_up(moment, whole).await.is_some()
            }
        };
        ended += u64::from(done);
        site.checked(&quota).await;
    }
    assert!(ended > 0 && ended < CALLS, "{ended} of {CALLS} came to their end");
    let entry = quota.ledger.begin(Turn::Look).await.expect("a turn");
    assert_eq!(entry.reserved(), 0);
}

#[tokio::test]
async fn who_gives_up_waiting_leaves_no_trace() {
    let site = Site::new();
    let quota = site.quota(bytes(10));
    write(&quota, "/a", 1).await.expect("room");
    let held = site.quota(NONE).ledger.begin(Turn::Look).await.expect("a turn");
    let wait = Duration::from_millis(20);
    assert!(timeout(wait, write(&quota, "/a", 5)).await.is_err(), "it must wait");
    assert!(timeout(wait, quota.remove("/a", true)).await.is_err(), "it must wait");
    assert!(timeout(wait, quota.usage()).await.is_err(), "it must wait");
    drop(held);
    assert_eq!(site.checked(&quota).await, taken(1, 1));
}
