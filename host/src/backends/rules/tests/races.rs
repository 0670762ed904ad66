//! Directories that are exchanged for links while calls run.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags};

use super::links::Site;
use super::*;

/// How long one race lasts.
const RACE_TIME: Duration = Duration::from_millis(1500);

/// Exchanges `/pub/d`, a directory, and `/pub/l`, a link to what is denied, until it is told to end.
/// Returns how often it did.
fn exchange(workspace: &Path, is_over: &AtomicBool) -> u64 {
    let (one, other) = (workspace.join("pub/d"), workspace.join("pub/l"));
    let mut times = 0;
    while !is_over.load(Ordering::Relaxed) {
        rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        times += 1;
        if times % 64 == 0 {
            // Both get their turn.
            std::thread::yield_now();
        }
    }
    times
}

/// Plays rounds while directories are exchanged, and checks that both sides had their turn: a round
/// returns how many of its calls succeeded.
fn race<F: Future<Output = u64>>(site: &Site, round: impl Fn() -> F) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let exchanging = scope.spawn(|| exchange(&site.path, &is_over));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let succeeded = runtime.block_on(async {
            let (start, mut succeeded) = (Instant::now(), 0);
            while start.elapsed() < RACE_TIME {
                succeeded += round().await;
            }
            succeeded
        });
        is_over.store(true, Ordering::Relaxed);
        let times = exchanging.join().unwrap();
        assert!(times > 100 && succeeded > 0, "{times} exchanges, {succeeded} calls");
    });
}

fn site() -> (Site, Rules) {
    let files = ["/pub/d/f", "/pub/d/sub/g", "/secrets/f", "/secrets/sub/g"];
    let site = Site::new(&files, &[("/pub/l", "../secrets")]);
    let rules = ruled(&site.thread, vec![deny(BOTH, "/secrets/**")]);
    (site, rules)
}

#[test]
fn nothing_denied_is_read() {
    let (site, rules) = site();
    let rules = &rules;
    race(&site, || async move {
        let mut succeeded = 0;
        for path in ["/pub/d/f", "/pub/l/f", "/pub/d/sub/g"] {
            if let Ok(page) = rules.read_bytes(path, 0, 99).await {
                let text = String::from_utf8(page.data).unwrap();
                assert!(text.starts_with("/pub/d/"), "{path}: {text}");
                succeeded += 1;
            }
            if let Ok(page) = rules.ls_info("/pub/d", 0, 9).await {
                let shown: Vec<_> = page.entries.iter().map(|entry| &*entry.path).collect();
                assert_eq!(shown, ["/pub/d/f", "/pub/d/sub"]);
                assert_eq!(page.entries[0].size, "/pub/d/f".len() as u64);
            }
        }
        if let Ok((files, _)) = grep(rules, "/pub/d", "secrets").await {
            assert!(files.is_empty(), "{files:?}");
        }
        succeeded
    });
}

#[test]
fn nothing_denied_is_changed() {
    let (site, rules) = site();
    let rules = &rules;
    race(&site, || async move {
        let mut succeeded = 0;
        for path in ["/pub/d/f", "/pub/l/f", "/pub/d/new/x"] {
            succeeded += u64::from(put(rules, path, "x").await.is_ok());
            succeeded += u64::from(rules.append(request(path, "y")).await.is_ok());
        }
        drop(rules.remove("/pub/d/new", true).await);
        drop(rules.remove("/pub/d/sub", true).await);
        drop(rules.rename("/pub/d/f", "/pub/l/new", true).await);
        drop(rules.rename("/pub/l/new", "/pub/d/f", true).await);
        if let Ok(mut draft) = rules.draft("/pub/d").await {
            drop(draft.publish("f", Condition::Always).await);
            drop(draft.publish("drafted", Condition::Always).await);
        }
        succeeded
    });
    let secrets = site.path.join("secrets");
    let mut names: Vec<_> =
        fs::read_dir(&secrets).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["f", "sub"]);
    assert_eq!(fs::read_to_string(secrets.join("f")).unwrap(), "/secrets/f");
    assert_eq!(fs::read_to_string(secrets.join("sub/g")).unwrap(), "/secrets/sub/g");
}
