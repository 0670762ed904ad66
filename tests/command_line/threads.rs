//! The threads of a root, as their operator sees them.

mod snapshots;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::process::*;

/// Writes a file of a thread with the tools.
fn write(dir: &Path, whose: &[&str], path: &str, content: &str) {
    let write = json!({ "file_path": path, "content": content }).to_string();
    let ran = run(dir, &[&["call"], whose, &["write_file", &write]].concat());
    assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{ran:?}");
}

fn threads(dir: &Path, args: &[&str]) -> Ran {
    run(dir, &[&["threads"], args].concat())
}

/// The threads and tenants of a list.
fn names(list: &Value) -> Vec<(&str, Option<&str>)> {
    let list = list.as_array().unwrap().iter();
    list.map(|info| (info["thread"].as_str().unwrap(), info["tenant"].as_str())).collect()
}

/// Says that a thread was used last so long ago.
fn age(dir: &Path, key: &str, age: Duration) {
    let record = fs::File::open(dir.join("agent_files/.handhold/threads").join(key)).unwrap();
    record.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn of_a_root_without_threads_nothing_is_made() {
    let dir = temp();
    fs::write(dir.path().join("c.toml"), "[lifetime]\nidle = \"1 d\"\n").unwrap();
    threads(dir.path(), &["list"]).printed(0, "There are no threads with files.\n");
    threads(dir.path(), &["list", "--json"]).printed(0, "[]\n");
    threads(dir.path(), &["gc", "--config", "c.toml"]).printed(0, "[0 threads deleted]\n");
    let none = "Error: t: there is no such thread, or it never wrote\n";
    for command in ["usage", "delete", "snapshots"] {
        threads(dir.path(), &[command, "--thread", "t"]).printed(1, none);
    }
    for command in ["snapshot", "restore", "diff", "forget"] {
        threads(dir.path(), &[command, "--thread", "t", "s"]).printed(1, none);
    }
    assert_eq!(entries(dir.path()), ["c.toml"]);
}

#[test]
fn threads_are_listed_and_measured() {
    let dir = temp();
    write(dir.path(), &["--thread", "alice"], "a/b.txt", "12345");
    write(dir.path(), &["--thread", "Bob B"], "b.txt", "1");
    write(dir.path(), &["--tenant", "acme", "--thread", "alice"], "c.txt", "123");
    threads(dir.path(), &["snapshot", "--thread", "alice", "s"]);

    let all = threads(dir.path(), &["list", "--json"]).json();
    let wanted = [("Bob B", None), ("alice", None), ("alice", Some("acme"))];
    assert_eq!(names(&all), wanted);
    let keys: Vec<&str> = all[2].as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = ["thread", "bytes", "files", "snapshot_bytes", "created", "last_used", "tenant"];
    assert_eq!(keys, wanted);
    assert_eq!((&all[1]["bytes"], &all[1]["files"]), (&json!(5), &json!(2)));
    assert!(all[1]["snapshot_bytes"].as_u64().unwrap() > 5);
    assert_eq!(all[2]["snapshot_bytes"], 0);
    for time in ["created", "last_used"] {
        let time = all[0][time].as_str().unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    }

    let text = threads(dir.path(), &["list"]);
    assert_eq!((text.code, &*text.err), (Some(0), ""));
    let lines: Vec<&str> = text.out.lines().collect();
    assert!(lines[0].starts_with("           1 B        1 file "), "{text:?}");
    assert!(lines[0].ends_with("  \"Bob B\""), "{text:?}");
    assert!(lines[1].starts_with("           5 B        2 files "), "{text:?}");
    assert!(lines[2].contains("  0 B in snapshots  used 20"), "{text:?}");
    assert!(lines[2].ends_with("  alice of acme") && lines.len() == 3, "{text:?}");

    let acme = threads(dir.path(), &["list", "--tenant", "acme", "--json"]).json();
    assert_eq!(names(&acme), [("alice", Some("acme"))]);
    threads(dir.path(), &["list", "--tenant", "no", "--json"]).printed(0, "[]\n");
    let one = threads(dir.path(), &["usage", "--tenant", "acme", "--thread", "alice", "--json"]);
    assert_eq!(one.json(), acme[0]);
    let one = threads(dir.path(), &["usage", "--thread", "alice"]);
    assert_eq!(one.out.trim_end(), lines[1]);
    let none = threads(dir.path(), &["usage", "--thread", "no", "--json"]);
    let why = "there is no such thread, or it never wrote";
    assert_eq!((none.code, none.json()), (Some(1), json!({ "error": why, "thread": "no" })));
}

#[test]
fn a_deleted_thread_is_gone_with_all_that_is_kept_of_it() {
    let dir = temp();
    for whose in [&["--thread", "t"][..], &["--tenant", "acme", "--thread", "t"]] {
        write(dir.path(), whose, "a.txt", "12345");
        threads(dir.path(), &[&["snapshot", "s"], whose].concat());
    }
    threads(dir.path(), &["delete", "--thread", "t"]).printed(0, "Deleted the thread t.\n");
    let left = threads(dir.path(), &["list", "--json"]).json();
    assert_eq!(names(&left), [("t", Some("acme"))]);
    assert_eq!(entries(&dir.path().join("agent_files")), [".handhold", ".tenants"]);
    assert_eq!(entries(&dir.path().join("agent_files/.handhold/snapshots")), ["acme@t"]);
    // There is nothing to delete any more.
    let again = threads(dir.path(), &["delete", "--thread", "t"]);
    again.printed(1, "Error: t: there is no such thread, or it never wrote\n");
    let whose = ["delete", "--tenant", "acme", "--thread", "t", "--json"];
    threads(dir.path(), &whose).printed(0, "{\"deleted\":\"t\"}\n");
    assert_eq!(threads(dir.path(), &whose).code, Some(1));
    threads(dir.path(), &["list"]).printed(0, "There are no threads with files.\n");
}

#[test]
fn only_threads_whose_time_is_over_are_collected() {
    let dir = temp();
    fs::write(dir.path().join("c.toml"), "[lifetime]\nidle = \"30 d\"\n").unwrap();
    for whose in
        [&["--thread", "new"][..], &["--thread", "old"], &["--tenant", "acme", "--thread", "old"]]
    {
        write(dir.path(), whose, "a.txt", "12345");
    }
    let day = Duration::from_secs(24 * 60 * 60);
    age(dir.path(), "new", 29 * day);
    age(dir.path(), "old", 31 * day);
    age(dir.path(), "acme@old", 31 * day);
    let gc = |args: &[&str]| threads(dir.path(), &[&["gc", "--config", "c.toml"], args].concat());

    let dry = gc(&["--dry-run"]);
    assert!(dry.out.ends_with("\n[2 threads would be deleted; nothing was]\n"), "{dry:?}");
    let dry = gc(&["--dry-run", "--json"]).json();
    assert_eq!(names(&dry), [("old", None), ("old", Some("acme"))]);
    assert_eq!(threads(dir.path(), &["list", "--json"]).json().as_array().unwrap().len(), 3);

    let acme = gc(&["--tenant", "acme"]);
    assert!(acme.out.ends_with("  old of acme\n[1 thread deleted]\n"), "{acme:?}");
    assert_eq!(names(&gc(&["--json"]).json()), [("old", None)]);
    gc(&[]).printed(0, "[0 threads deleted]\n");
    gc(&["--json"]).printed(0, "[]\n");
    assert_eq!(names(&threads(dir.path(), &["list", "--json"]).json()), [("new", None)]);
}

#[test]
fn what_cannot_be_is_no_answer() {
    let dir = temp();
    write(dir.path(), &["--thread", "t"], "a.txt", "12345");
    fs::write(dir.path().join("wrong.toml"), "[quota]\nsize = 1\n").unwrap();
    fs::write(dir.path().join("empty.toml"), "").unwrap();
    let long = "x".repeat(513);
    for id in ["", long.as_str()] {
        for command in ["usage", "delete", "snapshots"] {
            threads(dir.path(), &[command, "--thread", id]).could_not(&["--thread", "the id is"]);
            let tenant = [command, "--thread", "t", "--tenant", id];
            threads(dir.path(), &tenant).could_not(&["--tenant", "the id is"]);
        }
        threads(dir.path(), &["list", "--tenant", id]).could_not(&["--tenant", "the id is"]);
        for command in ["snapshot", "diff", "restore", "forget"] {
            let named = [command, "--thread", "t", id];
            threads(dir.path(), &named).could_not(&["NAME", "the id is"]);
        }
        threads(dir.path(), &["diff", "--thread", "t", "s", id]).could_not(&["OTHER"]);
    }
    for (file, why) in [("wrong.toml", "`quota.size`"), ("missing.toml", "missing.toml")] {
        for command in ["list", "gc"] {
            threads(dir.path(), &[command, "--config", file]).could_not(&[why]);
        }
        for args in [&["usage"][..], &["delete"], &["snapshots"], &["snapshot", "s"]] {
            let all = [args, &["--thread", "t", "--config", file]].concat();
            threads(dir.path(), &all).could_not(&[why]);
        }
    }
    for config in [&[][..], &["--config", "empty.toml"]] {
        threads(dir.path(), &[&["gc"], config].concat()).could_not(&["[lifetime]"]);
    }
    // What is missing is never guessed.
    for args in [
        &[][..],
        &["usage"],
        &["delete"],
        &["delete", "t"],
        &["snapshots"],
        &["snapshot", "s"],
        &["restore", "--thread", "t"],
        &["forget", "--thread", "t"],
        &["diff", "--thread", "t"],
        &["diff", "--thread", "t", "a", "b", "c"],
        &["list", "--dry-run"],
        &["list", "--thread", "t"],
    ] {
        threads(dir.path(), args).could_not(&["Usage: handhold threads"]);
    }
    assert_eq!(entries(&dir.path().join("agent_files/t")), ["a.txt"]);
    assert_eq!(threads(dir.path(), &["list", "--json"]).json()[0]["snapshot_bytes"], 0);
}
