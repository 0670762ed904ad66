//! Sessions that would overwrite what they have not seen.

use std::fs;
use std::time::{Duration, SystemTime};

use handhold::backends::AgentFiles;
use handhold::{BackendFactory, CallContext, Policy, Threads, Workspace};
use handhold_conformance::world::THREAD;
use serde_json::{Value, json};

use crate::site::{Answer, Site};

/// A place with sessions that refuse to overwrite what has changed.
struct Sessions {
    site: Site,
    threads: Threads,
}

impl Sessions {
    fn new() -> Self {
        let site = Site::new();
        let files = AgentFiles::at_ambient_path(site.directory.root());
        let policy = Policy { refuse_stale: true, ..Policy::default() };
        Self { site, threads: Threads::in_directory(files, policy).unwrap() }
    }

    fn open(&self, session: &str) -> Workspace {
        let context = CallContext {
            thread: THREAD.to_owned(),
            session: Some(session.to_owned()),
            ..CallContext::default()
        };
        Workspace::shared(self.threads.backend(&context).unwrap())
    }

    /// Makes a call of a session; each call has a backend of its own, as in a host.
    fn call(&self, session: &str, tool: &str, arguments: Value) -> Answer {
        self.site.call_in(&self.open(session), tool, arguments)
    }

    fn read(&self, session: &str) -> Answer {
        self.call(session, "read_file", json!({ "file_path": "/x" }))
    }

    fn write(&self, session: &str, content: &str) -> Answer {
        self.call(session, "write_file", json!({ "file_path": "/x", "content": content }))
    }
}

/// All ways of one session to replace `/x` or a part of it.
fn replacing() -> Vec<(&'static str, Value)> {
    let edit =
        json!({ "file_path": "/x", "old_string": "e", "new_string": "E", "replace_all": true });
    let mut dry = edit.clone();
    dry["dry_run"] = json!(true);
    vec![
        ("write_file", json!({ "file_path": "/x", "content": "mine" })),
        ("edit_file", dry),
        ("edit_file", edit),
        ("move_file", json!({ "source": "/own", "destination": "/x", "overwrite": true })),
    ]
}

#[test]
fn what_another_session_has_changed_is_read_before_it_is_replaced() {
    for (tool, arguments) in replacing() {
        let sessions = Sessions::new();
        sessions.site.write("x", "one\n");
        sessions.site.write("own", "own\n");
        sessions.read("a").good();
        let edit = json!({ "file_path": "/x", "old_string": "one", "new_string": "one edit" });
        sessions.call("b", "edit_file", edit).good();
        for _ in 0..2 {
            sessions.call("a", tool, arguments.clone()).failed("conflict");
            assert_eq!(sessions.site.read("x"), "one edit\n");
        }
        // Who has not read it may replace it, and who has read it again may.
        sessions.read("a").good();
        sessions.call("a", tool, arguments).good();
    }
}

#[test]
fn a_touch_and_the_same_content_again_block_until_the_next_read() {
    let sessions = Sessions::new();
    sessions.site.write("x", "one\n");
    let path = sessions.site.inside("x");
    let touch = || {
        let time = SystemTime::now() + Duration::from_secs(5);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    let same = || drop(sessions.write("b", "one\n").good());
    let foreign = || fs::write(&path, "one\n").unwrap();
    let changes: [&dyn Fn(); 3] = [&touch, &same, &foreign];
    for change in changes {
        sessions.read("b").good();
        let version = sessions.read("a").good().structured["version"].clone();
        change();
        let again = sessions.site.call("read_file", json!({ "file_path": "/x" })).good();
        if again.structured["version"] != version {
            sessions.write("a", "two\n").failed("conflict");
        }
        // An unrelated file is none of its business.
        let other = json!({ "file_path": "/y", "content": "y" });
        sessions.call("a", "write_file", other).good();
        let known = json!({ "file_path": "/x", "if_version": again.structured["version"] });
        sessions.call("a", "read_file", known).good();
        sessions.write("a", "one\n").good();
        sessions.write("a", "one\n").good();
    }
}

#[test]
fn no_count_of_a_session_is_lost() {
    const SESSIONS: usize = 4;
    const ROUNDS: usize = 25;
    let sessions = Sessions::new();
    sessions.site.write("x", "0\n");
    std::thread::scope(|scope| {
        for n in 0..SESSIONS {
            let sessions = &sessions;
            scope.spawn(move || {
                let name = n.to_string();
                let mut done = 0;
                while done < ROUNDS {
                    let text = sessions.read(&name).good().text;
                    // After the number of the line.
                    let count: usize = text.split_once('\t').unwrap().1.parse().unwrap();
                    let answer = sessions.write(&name, &format!("{}\n", count + 1));
                    match answer.code.as_deref() {
                        None => done += 1,
                        code => assert_eq!(code, Some("conflict")),
                    }
                }
            });
        }
    });
    assert_eq!(sessions.site.read("x"), format!("{}\n", SESSIONS * ROUNDS));
}
