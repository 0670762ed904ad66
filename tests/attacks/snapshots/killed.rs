//! Processes that are killed while they take, restore or remove a snapshot.

use std::fs;
use std::process::{Command, Stdio};

use handhold::backends::Quota;
use handhold_conformance::binary;
use std::sync::Arc;

use super::*;

const FILES: usize = 40;

/// How often each kind of change is cut off.
const ROUNDS: usize = 12;

const LIMITS: QuotaLimits = QuotaLimits { bytes: Some(50 << 20), files: Some(1000), ..NONE };

/// Makes all files new, with one letter, through the quota.
fn fill(site: &Site, letter: &str) {
    for n in 0..FILES {
        let content = letter.repeat(50_000 + n);
        let write = json!({ "file_path": format!("/d{}/{n}", n % 4), "content": content });
        site.call("write_file", write).good();
    }
}

/// The letter of all files; fails if there is more than one, or if some are missing.
fn letter(site: &Site) -> char {
    let mut letters = String::new();
    for n in 0..FILES {
        let text = site.read(&format!("d{}/{n}", n % 4));
        assert_eq!(text.len(), 50_000 + n);
        letters.push(text.chars().next().unwrap());
        assert!(text.chars().all(|letter| letters.ends_with(letter)));
    }
    let first = letters.chars().next().unwrap();
    assert!(letters.chars().all(|letter| letter == first), "two trees are mixed: {letters}");
    first
}

/// Runs the command until it ends or something happens, and kills it then; whether it was killed.
fn kill_when(site: &Site, command: &str, name: &str, when: impl Fn() -> bool) -> bool {
    let mut process = Command::new(binary())
        .args(["threads", command, "--thread", THREAD, name, "--config"])
        .arg(site.base("c.toml"))
        .arg("--root")
        .arg(site.directory.root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !when() {
        if process.try_wait().unwrap().is_some() {
            return false;
        }
        std::hint::spin_loop();
    }
    process.kill().unwrap();
    process.wait().unwrap().code().is_none()
}

/// How much is being made: entries of what is in the directory for drafts.
fn in_the_making(site: &Site) -> usize {
    let tmp = site.directory.root().join(".handhold/tmp");
    entries(&tmp).iter().map(|path| 1 + entries(path).len()).sum()
}

struct Kill<'a> {
    site: &'a Site,
    snapshots: Snapshots<'a>,
    quota: Quota,
    cut_off: usize,
    unknown: usize,
}

impl<'a> Kill<'a> {
    fn new(site: &'a Site) -> Self {
        let config = "[quota]\nbytes = \"50 MiB\"\nfiles = 1000\n";
        fs::write(site.base("c.toml"), config).unwrap();
        let snapshots = Snapshots::of(site);
        let thread = snapshots.files.thread(None, THREAD).unwrap();
        let quota = Quota::new(Arc::new(thread.clone()), LIMITS, Arc::new(thread.ledger()));
        Self { site, snapshots, quota, cut_off: 0, unknown: 0 }
    }

    /// Kills a command at a moment that differs from round to round.
    fn run(&mut self, round: usize, command: &str, name: &str) {
        let site = self.site;
        let unsettled = self.snapshots.kept("unsettled");
        let killed = match round % 4 {
            0 => kill_when(site, command, name, || in_the_making(site) > 0),
            1 => kill_when(site, command, name, || in_the_making(site) > 1 + round),
            2 => kill_when(site, command, name, || unsettled.exists()),
            _ => {
                let start = fs::metadata(site.inside("")).unwrap().ino();
                let objects = self.snapshots.objects().len();
                kill_when(site, command, name, || {
                    fs::metadata(site.inside("")).is_ok_and(|now| now.ino() != start)
                        || self.snapshots.objects().len() != objects
                })
            }
        };
        self.cut_off += usize::from(killed);
        self.check();
    }

    /// Whatever was cut off, all is right.
    fn check(&mut self) {
        // What the ledger says is right, and what it does not know is counted.
        self.unknown += usize::from(self.snapshots.ledger().is_none());
        assert_eq!(runtime().block_on(self.quota.usage()), Ok(self.snapshots.count()));
        // What is in the list is whole.
        for name in self.snapshots.list() {
            let found = self.snapshots.diff(&name).unwrap();
            let all_or_none = found.is_empty() || found.len() == FILES;
            assert!(all_or_none, "{name} is cut off: {} differ", found.len());
        }
    }
}

#[test]
fn a_killed_snapshot_or_restoration_leaves_old_or_new_and_the_quota_right() {
    let site = Site::with(Policy { quota: LIMITS, ..Policy::default() });
    let mut kill = Kill::new(&site);
    fill(&site, "a");
    kill.snapshots.take("a").unwrap();
    fill(&site, "b");
    kill.snapshots.take("b").unwrap();
    for round in 0..ROUNDS {
        let (old, new) = if round % 2 == 0 { ("b", "a") } else { ("a", "b") };
        kill.run(round / 2, "restore", new);
        let now = letter(&site).to_string();
        assert!(now == old || now == new, "{now}");
        kill.snapshots.restore(new).unwrap();
        assert_eq!(letter(&site).to_string(), new);
        assert_eq!(kill.snapshots.ledger(), Some(kill.snapshots.count()));
    }
    let restorations = kill.cut_off;
    for round in 0..ROUNDS {
        fill(&site, if round % 2 == 0 { "c" } else { "d" });
        kill.run(round, "snapshot", "c");
        kill.run(round, "forget", "c");
        drop(kill.snapshots.remove("c"));
        // The next one sweeps what was left, and the quota is right without counting.
        kill.snapshots.take("d").unwrap();
        kill.snapshots.remove("d").unwrap();
        assert_eq!(kill.snapshots.ledger(), Some(kill.snapshots.count()));
        assert_eq!(kill.snapshots.objects().len(), 2 * FILES);
        assert!(!kill.snapshots.kept("unsettled").exists());
    }
    let (cut_off, unknown) = (kill.cut_off, kill.unknown);
    assert!(restorations > 0 && cut_off > restorations, "{restorations} of {cut_off}");
    assert!(unknown > 0, "none of {cut_off} was killed in the middle of a change");
    for name in ["a", "b"] {
        kill.snapshots.restore(name).unwrap();
        assert_eq!(letter(&site).to_string(), name);
        kill.snapshots.remove(name).unwrap();
    }
    assert_eq!(kill.snapshots.objects(), [""; 0].map(PathBuf::from));
    assert_eq!(runtime().block_on(kill.quota.recount()), Ok(kill.snapshots.count()));
}
