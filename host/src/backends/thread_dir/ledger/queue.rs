//! The order in which the threads of this process come to a ledger, and the time that it leaves to
//! other processes.
//!
//! Within a process who comes first is served first, and only one tries for the lock of the file.
//! Between processes the lock is tried now and then, so that a process with many changes could
//! keep others waiting for ever: after some time in which others have asked, it makes a pause that
//! is longer than they wait between two tries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedMutexGuard;

/// How long a process has a ledger when others wait.
const SLICE: Duration = Duration::from_millis(10);

/// How long it leaves the ledger alone then: longer than any wait between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// With how many queues the first look is made for those that nobody stands in.
const FIRST_SWEEP: usize = 64;

/// The queues of a process for the ledgers of one root.
#[derive(Debug, Default)]
pub(in super::super) struct Queues {
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    by_key: HashMap<Arc<str>, Arc<tokio::sync::Mutex<Streak>>>,
    /// With how many queues the next look is made.
    next_sweep: usize,
}

impl Queues {
    fn of(&self, key: &Arc<str>) -> Arc<tokio::sync::Mutex<Streak>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = all.by_key.get(key) {
            return Arc::clone(queue);
        }
        if all.by_key.len() >= all.next_sweep.max(FIRST_SWEEP) {
            all.by_key.retain(|_, queue| Arc::strong_count(queue) > 1);
            all.next_sweep = 2 * all.by_key.len();
        }
        Arc::clone(all.by_key.entry(Arc::clone(key)).or_default())
    }
}

/// The time in which a process has a ledger again and again.
#[derive(Debug, Default)]
struct Streak {
    since: Option<Instant>,
    /// When the ledger was last given back.
    ended: Option<Instant>,
    others_wait: bool,
}

/// The first place in a queue; dropping it lets the next one go on.
pub(super) struct Place {
    streak: OwnedMutexGuard<Streak>,
}

impl Place {
    /// Waits for the first place.
    pub(super) async fn take(queues: &Queues, key: &Arc<str>) -> Self {
        let mut streak = queues.of(key).lock_owned().await;
        if streak.ended.is_some_and(|ended| ended.elapsed() >= PAUSE) {
            *streak = Streak::default();
        }
        if streak.others_wait && streak.since.is_some_and(|since| since.elapsed() > SLICE) {
            tokio::time::sleep(PAUSE).await;
            *streak = Streak::default();
        }
        Self { streak }
    }

    /// Says that the ledger was taken, and whether other processes wait for it.
    pub(super) fn begin(&mut self, others_wait: bool) {
        self.streak.since.get_or_insert_with(Instant::now);
        self.streak.others_wait |= others_wait;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.streak.ended = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn queues_that_nobody_stands_in_go_away() {
        let queues = Queues::default();
        let first = Place::take(&queues, &"first".into()).await;
        for n in 0..10 * FIRST_SWEEP {
            drop(Place::take(&queues, &format!("{n}").into()).await);
        }
        let all = queues.all.lock().expect("the queues");
        assert!(all.by_key.len() <= FIRST_SWEEP, "{}", all.by_key.len());
        assert!(all.by_key.contains_key("first"));
        drop(first);
    }

    #[tokio::test]
    async fn a_pause_is_made_only_if_others_wait() {
        let (queues, key) = (Queues::default(), Arc::from("key"));
        for others_wait in [false, true] {
            let mut longest = Duration::ZERO;
            let start = Instant::now();
            while start.elapsed() < 3 * SLICE {
                let asked = Instant::now();
                let mut place = Place::take(&queues, &key).await;
                longest = longest.max(asked.elapsed());
                place.begin(others_wait);
                std::thread::sleep(SLICE / 10);
            }
            assert_eq!(longest >= PAUSE, others_wait, "{longest:?}");
        }
    }
}
