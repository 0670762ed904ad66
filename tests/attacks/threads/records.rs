//! The host's own records, lost or wrong.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use handhold::backends::Lifetime;
use serde_json::{Value, json};

use super::{HOUR, Root};
use crate::cli::code;

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

impl Root {
    /// The root as a process has it that starts now.
    fn restarted(self) -> Self {
        Self { files: self.other(), ..self }
    }

    fn record(&self, key: &str) -> Option<Value> {
        let text = fs::read_to_string(self.path(".handhold/threads").join(key)).ok()?;
        serde_json::from_str(&text).ok()
    }
}

#[test]
fn records_that_are_lost_are_made_again_from_the_tree() {
    let root = Root::new();
    let long = "X".repeat(300);
    for (tenant, thread) in [(None, "t"), (Some("acme"), "t"), (None, &*long)] {
        root.write(tenant, thread, "/a/b.txt", "12345");
    }
    let before = root.list();
    let made = now_ms();
    std::thread::sleep(Duration::from_millis(20));
    fs::remove_dir_all(root.path(".handhold")).unwrap();
    let root = root.restarted();
    // Without them all threads are there, with what they take.
    let (old, now) = (before.iter(), root.list());
    for (old, now) in old.zip(&now) {
        assert_eq!((&old.tenant, old.bytes, old.files), (&now.tenant, now.bytes, now.files));
        assert!(now.created <= made && now.last_used <= made, "{now:?}");
    }
    assert_eq!(now.len(), before.len());
    assert!(!root.path(".handhold").exists(), "looking has made something");
    // A change makes the record of its thread, which is as old as it was; so does reading then.
    root.write(None, "t", "/c.txt", "new");
    assert_eq!(root.read(Some("acme"), "t", "/a/b.txt"), "     1\t12345");
    for key in ["t", "acme@t"] {
        let record = root.record(key).unwrap_or_else(|| panic!("no record of {key}"));
        assert!(record["created"].as_u64().unwrap() <= made, "{record}");
        assert_eq!(record["thread"], "t");
    }
    // Who only reads keeps the thread alive.
    root.age("acme@t");
    root.read(Some("acme"), "t", "/a/b.txt");
    assert_eq!(root.gc(), [""; 0]);
    // With the record of its long id, a thread has its name again.
    assert_eq!(root.read(None, &long, "/a/b.txt"), "     1\t12345");
    assert!(root.list().iter().any(|info| info.thread == long));
}

#[test]
fn a_record_that_makes_no_sense_is_made_again() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    for wrong in ["", "\0\0\0\0", "{\"thread\":", "{}", &"x".repeat(5000)] {
        fs::write(root.path(".handhold/threads/t"), wrong).unwrap();
        assert_eq!(root.list()[0].thread, "t");
        root.write(None, "t", "/a.txt", "text");
        assert_eq!(root.record("t").unwrap()["thread"], "t", "after {wrong:?}");
    }
}

#[test]
fn a_record_of_a_thread_that_has_ended_is_not_that_of_the_next() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    let record = root.path(".handhold/threads/t");
    // As a process leaves it that is killed between two steps, or somebody who removes the
    // directory by hand.
    fs::remove_dir_all(root.path("t")).unwrap();
    fs::write(&record, json!({ "thread": "t", "created": 1 }).to_string()).unwrap();
    assert!(root.list().is_empty());
    root.write(None, "t", "/b.txt", "new");
    let age = Lifetime { idle: None, age: Some(HOUR) };
    assert_eq!(root.collect(age, false), [""; 0], "a new thread was taken for an old one");
    assert_eq!(root.read(None, "t", "/b.txt"), "     1\tnew");
}

#[test]
fn the_record_of_a_thread_does_not_name_another() {
    let root = Root::new();
    let long = "X".repeat(300);
    root.write(None, &long, "/a.txt", "text");
    root.write(None, "victim", "/a.txt", "text");
    let dir = root.path(".handhold/threads");
    let mut names = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let record = names.find(|path| !path.ends_with("victim")).unwrap();
    fs::write(record, json!({ "thread": "victim", "created": now_ms() }).to_string()).unwrap();
    let named: Vec<_> = root.list().into_iter().filter(|info| info.thread == "victim").collect();
    assert_eq!(named.len(), 1);
}

#[test]
fn records_that_vanish_while_a_process_uses_them_are_the_hosts_failure() {
    let root = Root::new();
    root.write(None, "t", "/a.txt", "text");
    fs::remove_dir_all(root.path(".handhold")).unwrap();
    let write = json!({ "file_path": "/b.txt", "content": "x" });
    let answer = root.call(None, "t", "write_file", write);
    assert_eq!(code(&answer), "unavailable", "{answer}");
    assert_eq!(root.read(None, "t", "/a.txt"), "     1\ttext");
    let root = root.restarted();
    root.write(None, "t", "/b.txt", "x");
}
