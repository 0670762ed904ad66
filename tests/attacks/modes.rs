//! Permission bits, owners, and files that are not whole yet.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::cli::{Batch, code};
use crate::site::Site;

fn mode(site: &Site, path: &str) -> u32 {
    fs::symlink_metadata(site.inside(path)).unwrap().mode() & 0o7777
}

fn set_mode(site: &Site, path: &str, mode: u32) {
    fs::set_permissions(site.inside(path), fs::Permissions::from_mode(mode)).unwrap();
}

/// All ways to change the content of `/file.txt`, which holds `old`.
fn changes() -> Vec<(&'static str, Value)> {
    let edit = json!({ "file_path": "/file.txt", "old_string": "old", "new_string": "new" });
    let write = |mode: &str| json!({ "file_path": "/file.txt", "content": "new", "mode": mode });
    vec![("write_file", write("overwrite")), ("write_file", write("append")), ("edit_file", edit)]
}

#[test]
fn permission_bits_stay_and_the_others_are_dropped() {
    let site = Site::new();
    for before in [0o4755, 0o2755, 0o1755, 0o7777, 0o640, 0o600, 0o4711] {
        for (tool, arguments) in changes() {
            site.write("file.txt", "old");
            set_mode(&site, "file.txt", before);
            site.call(tool, arguments).good();
            let after = mode(&site, "file.txt");
            assert_eq!(after, before & 0o777, "{tool}: {before:o} became {after:o}");
            fs::remove_file(site.inside("file.txt")).unwrap();
        }
    }
}

#[test]
fn an_edit_that_writes_nothing_leaves_the_mode() {
    let site = Site::new();
    site.write("file.txt", "old");
    set_mode(&site, "file.txt", 0o4755);
    let edit = json!({
        "file_path": "/file.txt", "old_string": "old", "new_string": "new", "dry_run": true,
    });
    site.call("edit_file", edit).good();
    let taken = json!({ "file_path": "/file.txt", "content": "", "mode": "create" });
    site.call("write_file", taken).failed("already-exists");
    assert_eq!(mode(&site, "file.txt"), 0o4755);
}

#[test]
fn a_file_that_its_owner_may_not_write_is_not_replaced_in_any_way() {
    let site = Site::new();
    site.write("file.txt", "old");
    site.write("other.txt", "other");
    for mode in [0o444, 0o000, 0o577, 0o4555] {
        set_mode(&site, "file.txt", mode);
        for (tool, arguments) in changes() {
            site.call(tool, arguments).failed("not-permitted");
        }
        let onto = json!({ "source": "/other.txt", "destination": "/file.txt", "overwrite": true });
        site.call("move_file", onto).failed("not-permitted");
    }
    set_mode(&site, "file.txt", 0o644);
    assert_eq!(site.read("file.txt"), "old");
}

#[test]
fn the_owner_stays_where_the_system_lets_us() {
    // Only some may give files away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let site = Site::new();
    for (tool, arguments) in changes() {
        site.write("file.txt", "old");
        chown(site.inside("file.txt"), Some(65534), Some(65534)).unwrap();
        set_mode(&site, "file.txt", 0o6750);
        site.call(tool, arguments).good();
        let found = fs::metadata(site.inside("file.txt")).unwrap();
        assert_eq!((found.uid(), found.gid()), (65534, 65534), "{tool}");
        assert_eq!(mode(&site, "file.txt"), 0o750, "{tool}");
        fs::remove_file(site.inside("file.txt")).unwrap();
    }
}

#[test]
fn new_files_and_directories_follow_the_umask() {
    for (umask, file, dir) in [("022", 0o644, 0o755), ("077", 0o600, 0o700), ("002", 0o664, 0o775)]
    {
        let site = Site::new();
        let mut batch = Batch::start(&site.directory.root(), &format!("umask {umask}"), &[]);
        let write = |path: &str| json!({ "file_path": path, "content": "x" });
        for path in ["/new.txt", "/a/b/new.txt"] {
            assert_eq!(code(&batch.call("write_file", &write(path))), "");
        }
        let append = json!({ "file_path": "/log.txt", "content": "x", "mode": "append" });
        assert_eq!(code(&batch.call("write_file", &append)), "");
        let rename = json!({ "source": "/new.txt", "destination": "/c/d/new.txt" });
        assert_eq!(code(&batch.call("move_file", &rename)), "");
        for path in ["c/d/new.txt", "a/b/new.txt", "log.txt"] {
            assert_eq!(mode(&site, path), file, "{path} with the umask {umask}");
        }
        for path in ["a", "a/b", "c", "c/d"] {
            assert_eq!(mode(&site, path), dir, "{path} with the umask {umask}");
        }
        // The umask is for what is new.
        set_mode(&site, "log.txt", 0o646);
        assert_eq!(code(&batch.call("write_file", &append)), "");
        assert_eq!(mode(&site, "log.txt"), 0o646);
        // Nobody else gets at the host's own files.
        let records = fs::metadata(site.directory.root().join(".handhold")).unwrap();
        assert_eq!(records.mode() & 0o077, 0);
    }
}

/// How many times each of two files is written while somebody looks.
const WRITES: usize = 300;

#[test]
fn a_file_in_the_making_is_never_seen() {
    let site = Site::new();
    let contents = ["a", "b"].map(|letter| format!("{}\n", letter.repeat(99)).repeat(1000));
    for name in ["one.txt", "two.txt"] {
        site.write(name, &contents[0]);
    }
    let over = AtomicBool::new(false);
    let known = ["/new.txt", "/one.txt", "/two.txt"];
    std::thread::scope(|scope| {
        for tool in ["ls", "glob", "host"] {
            let (site, over) = (&site, &over);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let mut paths: Vec<String> = match tool {
                        "ls" => {
                            let listed = site.call("ls", json!({})).good();
                            let entries = listed.structured["entries"].as_array().unwrap().clone();
                            entries.iter().map(|e| e["path"].as_str().unwrap().to_owned()).collect()
                        }
                        "glob" => {
                            let all = json!({ "pattern": "**", "include_ignored": true });
                            site.call("glob", all).good().list("files")
                        }
                        _ => fs::read_dir(site.directory.workspace())
                            .unwrap()
                            .map(|e| format!("/{}", e.unwrap().file_name().to_string_lossy()))
                            .collect(),
                    };
                    paths.retain(|path| !known.contains(&path.as_str()));
                    assert!(paths.is_empty(), "{tool} shows {paths:?}");
                    // What is there is whole.
                    let content = site.read("one.txt");
                    assert!(contents_of(&content), "one.txt is neither old nor new");
                }
            });
        }
        let write = |path: &str, n: usize| {
            let content = &contents[n % 2];
            site.call("write_file", json!({ "file_path": path, "content": content })).good();
        };
        // If this breaks down, the others must still end.
        let ending = EndOnDrop(&over);
        for n in 0..WRITES {
            write("/one.txt", n);
            write("/two.txt", n);
            write("/new.txt", n);
            site.call("delete_file", json!({ "path": "/new.txt" })).good();
        }
        drop(ending);
    });
    site.directory.check_outside();
    let tmp = site.directory.root().join(".handhold/tmp");
    assert_eq!(fs::read_dir(tmp).unwrap().count(), 0);
}

/// Whether it is one of the two contents as a whole.
fn contents_of(content: &str) -> bool {
    content.len() == 100_000 && (content.contains('a') != content.contains('b'))
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn the_records_of_the_host_are_in_no_workspace() {
    let site = Site::new();
    site.call("write_file", json!({ "file_path": "/a.txt", "content": "x" })).good();
    let tmp = site.directory.root().join(".handhold/tmp");
    assert!(tmp.is_dir(), "this test looks at the wrong place");
    for path in ["/.handhold", "/.handhold/tmp", "/.tenants"] {
        site.call("ls", json!({ "path": path })).failed("not-found");
    }
    for path in ["/../.handhold", "../.handhold/locks", "/a/../../.handhold"] {
        site.call("ls", json!({ "path": path })).failed("invalid-path");
    }
    let mut batch = Batch::start(&site.directory.root(), "", &["--thread", ".handhold"]);
    let listed = batch.call("ls", &json!({}));
    assert_eq!(listed["structured"]["total"], 0, "{listed}");
}
