//! Several processes with many writers each: all of them together keep to the limits.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::cli::{Batch, code};

const PROCESSES: usize = 3;

/// How many files each of them tries to write.
const WRITES: usize = 60;

/// Lets several processes write at once, and looks meanwhile. Says how many writes found room.
fn fill(place: &Limited, config: &str, path: impl Fn(usize, usize) -> String) -> u64 {
    let config = configuration(&place.site, config);
    let root = place.site.directory.root();
    let mut all: Vec<Batch> = (0..PROCESSES)
        .map(|_| Batch::start(&root, "", &["--jobs", "16", "--config", &config]))
        .collect();
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looker = scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                // Nothing is removed, so that a count is never too high.
                let (there, _) = count(&place.site.inside(""));
                assert!(place.limits.bytes.is_none_or(|most| there.bytes <= most), "{there:?}");
                assert!(place.limits.files.is_none_or(|most| there.files <= most), "{there:?}");
            }
        });
        for n in 0..WRITES {
            for (process, batch) in all.iter_mut().enumerate() {
                batch.send("write_file", &append(&path(process, n), 1000));
            }
        }
        let mut good = 0;
        for _ in 0..WRITES {
            for batch in &mut all {
                let answer = batch.receive();
                match code(&answer) {
                    "" => good += 1,
                    code => assert_eq!(code, "quota-exceeded", "{answer}"),
                }
            }
        }
        has_ended.store(true, Ordering::Relaxed);
        looker.join().unwrap();
        good
    })
}

#[test]
fn bytes_are_exact_between_processes() {
    let place = Limited::new(bytes(100_500));
    let good = fill(&place, "bytes = \"100500 B\"", |process, n| format!("/{process}/{n}"));
    assert_eq!(good, 100);
    assert_eq!(place.check().bytes, 100_000);
}

#[test]
fn files_are_exact_between_processes() {
    let place = Limited::new(files(101));
    // They share the directory, which one of them makes.
    let good = fill(&place, "files = 101", |process, n| format!("/d/{process}-{n}"));
    assert_eq!(good, 100);
    assert_eq!(place.check(), taken(100_000, 101));
}

#[test]
fn one_file_is_exact_between_processes() {
    let place = Limited::new(QuotaLimits { file_bytes: Some(50_500), ..NONE });
    let good = fill(&place, "file_bytes = \"50500 B\"", |_, _| "/log".to_owned());
    assert_eq!(good, 50);
    assert_eq!(place.check(), taken(50_000, 1));
}
