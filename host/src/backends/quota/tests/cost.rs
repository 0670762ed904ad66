//! What a quota costs. Run by hand: `cargo test -p handhold --lib quota::tests::cost -- --ignored
//! --nocapture`.

use std::time::{Duration, Instant};

use super::site::Site;
use super::*;

/// How many changes of each kind are measured.
const CHANGES: usize = 2000;

/// Makes the same change in turn without and with a quota, so that the load of the machine is the
/// same for both. Gives the middle of the times of each.
async fn compare(quota: &Quota, change: impl AsyncFn(&dyn Backend, usize)) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..2 * CHANGES {
        let backend: &dyn Backend = if n % 2 == 0 { &*quota.inner } else { quota };
        let start = Instant::now();
        change(backend, n).await;
        times[n % 2].push(start.elapsed());
    }
    times.map(|mut times| {
        times.sort();
        times[CHANGES / 2]
    })
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "it is there to be read")]
async fn a_change_with_and_without() {
    let site = Site::new();
    let quota = site.quota(QuotaLimits {
        bytes: Some(1 << 30),
        files: Some(1 << 20),
        file_bytes: Some(1 << 20),
    });
    write(&quota, "/d/a", 1).await.expect("written");
    for _ in 0..3 {
        let overwritten = compare(&quota, async |backend, _| {
            backend.write(request("/d/a", 1000)).await.expect("written");
        });
        let overwritten = overwritten.await;
        let made = compare(&quota, async |backend, n| {
            backend.write(request(&format!("/d/{n}"), 1000)).await.expect("written");
        });
        let made = made.await;
        let removed = compare(&quota, async |backend, n| {
            backend.remove(&format!("/d/{n}"), false).await.expect("removed");
        });
        let removed = removed.await;
        for (what, [without, with]) in
            [("overwritten", overwritten), ("made", made), ("removed", removed)]
        {
            let ratio = with.as_secs_f64() / without.as_secs_f64();
            println!("{what:11}: {without:?} without, {with:?} with a quota: {ratio:.2} times");
        }
        quota.recount().await.expect("counted");
    }
}
