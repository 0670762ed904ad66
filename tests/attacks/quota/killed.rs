//! Processes with limits that are killed half-way: the next one knows what is there.

use std::io::Write;
use std::process::ChildStdin;

use super::*;
use crate::cli::Batch;

/// How often a process is killed.
const ROUNDS: usize = 60;

const LIMITS: QuotaLimits =
    QuotaLimits { bytes: Some(60_000), files: Some(40), file_bytes: Some(60_000) };

/// The byte of the record that says whether a change is going on; none without a record.
fn state(place: &Limited) -> Option<u8> {
    let record = place.site.directory.root().join(".handhold/usage").join(THREAD);
    fs::read(record).ok()?.get(4).copied()
}

/// Changes of all kinds, as a process reads them.
fn lines() -> Vec<Vec<u8>> {
    let mut seed = 5_usize;
    let line = |n: usize| {
        seed = seed * 7621 % 100_003;
        let path = format!("/{}/{}/{}", seed % 3, seed % 4, seed % 5);
        let other = format!("/{}/{}", seed % 5 % 3, seed % 7 % 4);
        let (tool, arguments) = match n % 8 {
            0..3 => ("write_file", write(&path, seed % 9000)),
            3 | 4 => ("write_file", append(&path, seed % 3000)),
            5 => ("move_file", json!({ "source": path, "destination": other, "overwrite": true })),
            6 => ("delete_file", json!({ "path": other, "recursive": true })),
            _ => ("delete_file", json!({ "path": path, "recursive": true })),
        };
        format!("{}\n", json!({ "tool": tool, "arguments": arguments })).into_bytes()
    };
    (0..400).map(line).collect()
}

/// Writes lines until nobody reads any more.
fn feed(mut stdin: ChildStdin, lines: &[Vec<u8>], start: usize) {
    for line in lines.iter().cycle().skip(start) {
        if stdin.write_all(line).is_err() {
            return;
        }
    }
}

#[test]
fn after_a_kill_the_ledger_is_right_and_the_next_process_goes_on() {
    let place = Limited::new(LIMITS);
    let config =
        configuration(&place.site, "bytes = \"60000 B\"\nfiles = 40\nfile_bytes = \"60000 B\"");
    let root = place.site.directory.root();
    let lines = lines();
    let (mut unknown, mut known) = (0, 0);
    for round in 0..ROUNDS {
        let jobs = ["1", "8"][round % 2];
        let mut processes: Vec<Batch> = (0..1 + round % 3)
            .map(|_| Batch::start(&root, "", &["--jobs", jobs, "--config", &config]))
            .collect();
        std::thread::scope(|scope| {
            let feeders: Vec<_> = processes
                .iter_mut()
                .enumerate()
                .map(|(n, process)| {
                    // Nobody reads the answers: a pipe takes those of some hundred changes.
                    let (stdin, lines) = (process.take_stdin(), &lines);
                    scope.spawn(move || feed(stdin, lines, 37 * round + 11 * n))
                })
                .collect();
            // The moment: when some changes have begun, in one of them or between two.
            let wanted = u8::from(round % 4 > 0);
            for _ in 0..1 + round % 7 {
                for state_wanted in [1 - wanted, wanted] {
                    while state(&place) != Some(state_wanted) {
                        assert!(!feeders.iter().any(|it| it.is_finished()), "it has ended");
                        std::hint::spin_loop();
                    }
                }
            }
            processes.iter_mut().for_each(Batch::kill);
        });
        match state(&place) {
            Some(0) => known += 1,
            _ => unknown += 1,
        }
        let usage = place.check();
        // And the next one has all the room that is left.
        let rest = usize::try_from(60_000 - usage.bytes).unwrap();
        if usage.files < 40 {
            place.write("/next", rest + 1).failed("quota-exceeded");
            place.write("/next", rest).good();
            assert_eq!(place.check().bytes, 60_000, "round {round}");
            place.delete("/next").good();
        }
        assert_eq!(place.check(), usage, "round {round}");
    }
    assert!(unknown > 0, "no process was killed in the middle of a change");
    assert!(known > 0, "no process was killed between two changes");
}
