//! FIFOs and sockets: they are listed, and never opened.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, inotify};
use rustix::io::Errno;
use serde_json::json;

use crate::site::{Site, facts};

pub(crate) fn fifo(place: &Path) {
    rustix::fs::mknodat(CWD, place, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Makes a socket that accepts, at a path of any length.
pub(crate) fn socket(place: &Path) -> UnixListener {
    // The name of a socket is short, and a renamed one stays what it is.
    let short = Path::new("/proc/self/fd");
    let dir = fs::File::open(place.parent().unwrap()).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&dir);
    let name = place.file_name().unwrap();
    let listener = UnixListener::bind(short.join(fd.to_string()).join(name)).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

/// Sees whether any of some files is opened.
pub(crate) struct Watch(OwnedFd);

impl Watch {
    pub(crate) fn new(paths: &[&Path]) -> Self {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        for path in paths {
            inotify::add_watch(&watch, *path, inotify::WatchFlags::OPEN).unwrap();
        }
        Self(watch)
    }

    pub(crate) fn has_seen_an_opening(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.0, &mut buffer);
        let mut seen = false;
        loop {
            // That what is watched has been removed is told too.
            match events.next() {
                Ok(event) => seen |= event.events().contains(inotify::ReadFlags::OPEN),
                Err(Errno::WOULDBLOCK) => return seen,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_watch_sees_what_is_opened() {
    let site = Site::new();
    fifo(&site.inside("fifo"));
    let watch = Watch::new(&[&site.inside("fifo")]);
    assert!(!watch.has_seen_an_opening());
    // A FIFO that is opened for both does not wait.
    drop(fs::File::options().read(true).write(true).open(site.inside("fifo")).unwrap());
    assert!(watch.has_seen_an_opening());
}

#[test]
fn fifos_and_sockets_are_listed_and_never_opened() {
    let site = Site::new();
    site.write("plain.txt", "found\n");
    site.write("dir/plain.txt", "found\n");
    fifo(&site.inside("fifo"));
    fifo(&site.inside("dir/fifo"));
    let listener = socket(&site.inside("socket"));
    let (fifo, inner, socket) =
        (site.inside("fifo"), site.inside("dir/fifo"), site.inside("socket"));
    let watch = Watch::new(&[&fifo, &inner, &socket]);
    let before = facts(&site.directory.workspace());

    let listed = site.call("ls", json!({})).good();
    assert!(listed.text.contains("    other  /fifo\n"), "{}", listed.text);
    assert!(listed.text.contains("    other  /socket"), "{}", listed.text);
    for path in ["/fifo", "/socket", "/dir/fifo"] {
        site.call("ls", json!({ "path": path })).good();
        site.call("read_file", json!({ "file_path": path })).failed("not-a-file");
        site.call("read_file", json!({ "file_path": path, "offset": -5 })).failed("not-a-file");
        for mode in ["overwrite", "append"] {
            let write = json!({ "file_path": path, "content": "x", "mode": mode });
            site.call("write_file", write).failed("not-a-file");
        }
        for dry_run in [false, true] {
            let edit = json!({ "file_path": path, "old_string": "a", "new_string": "b", "dry_run": dry_run });
            site.call("edit_file", edit).failed("not-a-file");
        }
        site.call("grep", json!({ "pattern": "found", "path": path })).failed("not-a-file");
        let glob = site.call("glob", json!({ "pattern": "*", "path": path }));
        assert!(matches!(glob.code.as_deref(), Some("not-a-file" | "not-a-directory")));
        let onto = json!({ "source": "/plain.txt", "destination": path, "overwrite": true });
        site.call("move_file", onto).failed("not-a-file");
        let write = json!({ "file_path": format!("{path}/x"), "content": "x" });
        site.call("write_file", write).failed("not-a-directory");
        site.call("ls", json!({ "path": format!("{path}/x") })).failed("not-a-directory");
    }
    let glob = site.call("glob", json!({ "pattern": "**", "sort": "modified" })).good();
    assert_eq!(glob.list("files").len(), 2, "{}", glob.text);
    for named in ["/fifo", "/dir/fifo", "/socket"] {
        let glob = site.call("glob", json!({ "pattern": named })).good();
        assert!(glob.list("files").is_empty(), "{}", glob.text);
        let grep = site.call("grep", json!({ "pattern": "found", "glob": named })).good();
        assert!(grep.list("files").is_empty(), "{}", grep.text);
    }
    let grep = site.call("grep", json!({ "pattern": "found" })).good();
    assert_eq!(grep.list("files"), ["/dir/plain.txt", "/plain.txt"]);
    assert_eq!(facts(&site.directory.workspace()), before, "something was changed");

    let rename = json!({ "source": "/fifo", "destination": "/dir/moved" });
    site.call("move_file", rename).good();
    site.call("delete_file", json!({ "path": "/socket" })).good();
    site.call("delete_file", json!({ "path": "/dir", "recursive": true })).good();
    assert!(!watch.has_seen_an_opening(), "something was opened");
    assert!(listener.accept().is_err(), "somebody has connected");
}

#[test]
fn an_ignore_file_that_is_a_fifo_is_never_opened() {
    let site = Site::new();
    site.write("dir/plain.txt", "found\n");
    let fifos = [".gitignore", ".ignore", "dir/.gitignore"].map(|name| site.inside(name));
    for place in &fifos {
        fifo(place);
    }
    let watch = Watch::new(&[&fifos[0], &fifos[1], &fifos[2]]);
    for path in ["/", "/dir", "/dir/plain.txt"] {
        let grep = site.call("grep", json!({ "pattern": "found", "path": path })).good();
        assert_eq!(grep.list("files"), ["/dir/plain.txt"]);
    }
    let glob = site.call("glob", json!({ "pattern": "*.txt" })).good();
    assert_eq!(glob.list("files"), ["/dir/plain.txt"]);
    assert!(!watch.has_seen_an_opening(), "something was opened");
}

#[test]
fn a_fifo_that_takes_the_place_of_a_file_holds_no_call_up() {
    let site = Site::new();
    let place = site.inside("dir/file.txt");
    site.write("dir/file.txt", "found\n");
    // Every call must come back; `call` waits 10 s.
    site.race_and_check(
        || {
            drop(fs::create_dir_all(site.inside("dir")));
            site.swap(&place, &[&fifo, &|new| fs::write(new, "found\n").unwrap()]);
        },
        &[
            ("read_file", json!({ "file_path": "/dir/file.txt" })),
            ("grep", json!({ "pattern": "found" })),
            ("write_file", json!({ "file_path": "/dir/file.txt", "content": "found\n" })),
            ("ls", json!({ "path": "/dir" })),
            ("grep", json!({ "pattern": "found", "path": "/dir/file.txt" })),
            (
                "write_file",
                json!({ "file_path": "/dir/file.txt", "content": "+", "mode": "append" }),
            ),
            ("glob", json!({ "pattern": "*", "sort": "modified" })),
            (
                "edit_file",
                json!({ "file_path": "/dir/file.txt", "old_string": "found", "new_string": "f" }),
            ),
            (
                "move_file",
                json!({ "source": "/dir/file.txt", "destination": "/file.txt", "overwrite": true }),
            ),
            ("delete_file", json!({ "path": "/dir", "recursive": true })),
        ],
        |tool, answer| {
            let code = answer.code.as_deref();
            let known =
                ["not-a-file", "not-found", "no-match", "conflict", "unavailable", "not-permitted"];
            assert!(code.is_none_or(|code| known.contains(&code)), "{tool}: {}", answer.text);
        },
    );
}
