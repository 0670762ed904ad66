//! Links, in directories of the machine.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::backends::{AgentFiles, ThreadDir};

/// A workspace in a directory in which every file holds its own path.
pub(super) struct Site {
    _root: TempDir,
    pub(super) path: PathBuf,
    pub(super) thread: ThreadDir,
}

impl Site {
    pub(super) fn new(files: &[&str], links: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let thread = AgentFiles::at_ambient_path(root.path()).thread(None, "t").unwrap();
        let path = root.path().join("t");
        fs::create_dir(&path).unwrap();
        for file in files {
            let place = path.join(&file[1..]);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, file).unwrap();
        }
        for (link, target) in links {
            let place = path.join(&link[1..]);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            symlink(target, place).unwrap();
        }
        Self { _root: root, path, thread }
    }

    fn rules(&self, rules: Vec<Rule>) -> Rules {
        ruled(&self.thread, rules)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(&path[1..])).unwrap()
    }
}

async fn is_not_found(rules: &Rules, path: &str) {
    assert_eq!(get(rules, path).await, Err(NOT_FOUND), "{path}");
    assert_eq!(ls(rules, path).await, Err(NOT_FOUND), "{path}");
    assert_eq!(glob(rules, path, "*").await, Err(NOT_FOUND), "{path}");
    assert_eq!(grep(rules, path, ".").await, Err(NOT_FOUND), "{path}");
    assert_eq!(rules.resolve(path, true).await, Err(NOT_FOUND), "{path}");
}

async fn is_not_written(rules: &Rules, path: &str) {
    assert_eq!(put(rules, path, "x").await, Err(NOT_PERMITTED), "{path}");
    assert_eq!(rules.append(request(path, "x")).await, Err(NOT_PERMITTED), "{path}");
    let absent = WriteRequest { condition: Condition::Absent, ..request(path, "x") };
    assert_eq!(rules.write(absent).await, Err(NOT_PERMITTED), "{path}");
    let dry = WriteRequest { dry_run: true, ..request(path, "x") };
    assert_eq!(rules.write(dry).await, Err(NOT_PERMITTED), "{path}");
}

#[tokio::test]
async fn a_link_to_what_is_denied_leads_nowhere() {
    let site = Site::new(
        &["/secrets/a", "/secrets/d/b", "/pub/x"],
        &[
            ("/pub/file", "../secrets/a"),
            ("/pub/dir", "../secrets"),
            ("/pub/gone", "../secrets/none"),
            ("/pub/nowhere", "none"),
            ("/pub/chain", "dir/a"),
        ],
    );
    let rules = site.rules(vec![deny(BOTH, "/secrets/**")]);
    for path in [
        "/pub/file",
        "/pub/dir",
        "/pub/dir/a",
        "/pub/dir/none",
        "/pub/dir/d/b",
        "/pub/gone",
        "/pub/chain",
        "/pub/file/x",
    ] {
        is_not_found(&rules, path).await;
        is_not_written(&rules, path).await;
    }
    is_not_found(&rules, "/pub/nowhere").await;
    // Elsewhere a link that leads nowhere is what it is without rules.
    assert_eq!(put(&rules, "/pub/nowhere", "x").await, Err(NOT_FOUND));
    // The links themselves are there, as links that lead nowhere are.
    let shown = ls(&rules, "/pub").await.unwrap();
    assert_eq!(
        shown,
        ["/pub/chain", "/pub/dir", "/pub/file", "/pub/gone", "/pub/nowhere", "/pub/x"]
    );
    assert_eq!(site.read("/secrets/a"), "/secrets/a");
    assert!(!site.path.join("secrets/none").exists());
}

#[tokio::test]
async fn a_link_in_a_denied_place_is_denied() {
    let site = Site::new(
        &["/pub/x", "/secrets/a"],
        &[
            ("/secrets/link", "../pub/x"),
            ("/secrets/up", ".."),
            // By way of a link that may not be seen, and of a directory that may not.
            ("/pub/by-link", "../secrets/link"),
            ("/pub/by-directory", "../secrets/../pub/x"),
            ("/pub/by-nothing", "../none/../pub/x"),
        ],
    );
    let rules = site.rules(vec![deny(BOTH, "/secrets/**")]);
    for path in ["/secrets/link", "/secrets/up/pub/x", "/pub/by-link", "/pub/by-directory"] {
        is_not_found(&rules, path).await;
        is_not_written(&rules, path).await;
    }
    is_not_found(&rules, "/pub/by-nothing").await;
    assert_eq!(rules.remove("/secrets/link", false).await, Err(NOT_PERMITTED));
    assert_eq!(rules.remove("/secrets/up/pub/x", false).await, Err(NOT_PERMITTED));
    assert_eq!(rules.rename("/secrets/link", "/l", false).await, Err(NOT_PERMITTED));
    assert_eq!(site.read("/pub/x"), "/pub/x");
}

#[tokio::test]
async fn what_may_only_be_read_is_read_through_links_and_not_written() {
    let site = Site::new(
        &["/ro/a", "/pub/x"],
        &[("/pub/l", "../ro/a"), ("/pub/d", "../ro"), ("/pub/n", "../ro/none")],
    );
    let rules = site.rules(vec![deny(WRITE, "/ro/**")]);
    assert_eq!(get(&rules, "/pub/l").await.as_deref(), Ok("/ro/a"));
    assert_eq!(ls(&rules, "/pub/d").await.unwrap(), ["/pub/d/a"]);
    for path in ["/pub/l", "/pub/d/a", "/pub/d/none", "/pub/n", "/pub/d"] {
        is_not_written(&rules, path).await;
    }
    assert_eq!(rules.remove("/pub/d/a", false).await, Err(NOT_PERMITTED));
    assert_eq!(rules.rename("/pub/d/a", "/b", false).await, Err(NOT_PERMITTED));
    assert_eq!(rules.rename("/pub/x", "/pub/d/x", false).await, Err(NOT_PERMITTED));
    assert_eq!(rules.draft("/pub/d").await.err().unwrap(), NOT_PERMITTED);
    assert_eq!(rules.draft("/pub/d/e").await.err().unwrap(), NOT_PERMITTED);
}

#[tokio::test]
async fn removing_and_moving_act_on_the_link() {
    let site = Site::new(
        &["/secrets/a", "/pub/x"],
        &[("/pub/file", "../secrets/a"), ("/pub/dir", "../secrets"), ("/secrets/l", "../pub/x")],
    );
    let rules = site.rules(vec![deny(BOTH, "/secrets/**")]);
    rules.rename("/pub/dir", "/moved", false).await.unwrap();
    assert_eq!(fs::read_link(site.path.join("moved")).unwrap(), PathBuf::from("../secrets"));
    rules.remove("/pub/file", false).await.unwrap();
    rules.remove("/pub", true).await.unwrap();
    assert_eq!(site.read("/secrets/a"), "/secrets/a");
    assert!(site.path.join("secrets/l").is_symlink());
}

#[tokio::test]
async fn what_is_listed_and_found_by_way_of_a_link_is_so_by_both_names() {
    let site = Site::new(
        &["/d/a", "/d/b", "/d/real", "/d/e/c", "/d/e/f"],
        &[("/l", "d"), ("/to-file", "d/a")],
    );
    let rules = site.rules(vec![deny(READ, "/d/real"), deny(READ, "/l/b"), deny(READ, "/l/e/f")]);
    assert_eq!(ls(&rules, "/l").await.unwrap(), ["/l/a", "/l/e/"]);
    assert_eq!(ls(&rules, "/d").await.unwrap(), ["/d/a", "/d/b", "/d/e/"]);
    assert_eq!(ls(&rules, "/to-file").await.unwrap(), ["/to-file"]);
    assert_eq!(glob(&rules, "/l", "**").await.unwrap(), ["/l/a", "/l/e/c"]);
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), ["/d/a", "/d/b", "/d/e/c", "/d/e/f"]);
    assert_eq!(grep(&rules, "/l/e", ".").await, Ok((vec!["/l/e/c".to_owned()], 1)));
    assert_eq!(get(&rules, "/l/a").await.as_deref(), Ok("/d/a"));
    assert_eq!(get(&rules, "/d/b").await.as_deref(), Ok("/d/b"));
    for path in ["/l/b", "/l/real", "/l/e/f", "/l/real/x"] {
        assert_eq!(get(&rules, path).await, Err(NOT_FOUND), "{path}");
    }
    assert_eq!(rules.resolve("/l/e/c", true).await.as_deref(), Ok("/d/e/c"));
    assert_eq!(rules.resolve("/to-file", false).await.as_deref(), Ok("/to-file"));
}

#[tokio::test]
async fn what_is_allowed_is_written_through_links() {
    let site = Site::new(
        &["/d/a", "/s/x"],
        &[("/l", "d"), ("/f", "l/a"), ("/out", "../../x"), ("/circle", "circle")],
    );
    let rules = site.rules(vec![deny(BOTH, "/s/**")]);
    assert_eq!(put(&rules, "/f", "1").await.unwrap().previous_size, Some(4));
    put(&rules, "/l/new/b", "2").await.unwrap();
    assert!(site.path.join("f").is_symlink());
    assert_eq!((site.read("/d/a"), site.read("/d/new/b")), ("1".to_owned(), "2".to_owned()));
    rules.rename("/l/new", "/l/moved", false).await.unwrap();
    rules.remove("/l/moved", true).await.unwrap();
    assert_eq!(ls(&rules, "/d").await.unwrap(), ["/d/a"]);
    assert_eq!(put(&rules, "/out", "1").await, Err(NOT_PERMITTED));
    assert_eq!(get(&rules, "/out").await, Err(NOT_PERMITTED));
    assert!(matches!(get(&rules, "/circle").await, Err(ErrorCode::InvalidPath(_))));
    assert!(matches!(put(&rules, "/circle", "1").await, Err(ErrorCode::InvalidPath(_))));
}

#[tokio::test]
async fn a_draft_is_not_published_through_a_link() {
    let site = Site::new(&["/d/a", "/s/x"], &[("/l", "d"), ("/d/in", "a"), ("/d/deny", "../s/x")]);
    let rules = site.rules(vec![deny(BOTH, "/s/**")]);
    let mut draft = rules.draft("/l").await.unwrap();
    draft.push(b"1".to_vec()).await.unwrap();
    for name in ["in", "deny"] {
        assert_eq!(draft.publish(name, Condition::Always).await, Err(NOT_PERMITTED), "{name}");
    }
    draft.publish("new", Condition::Absent).await.unwrap();
    assert_eq!(site.read("/d/new"), "1");
    assert_eq!((site.read("/d/a"), site.read("/s/x")), ("/d/a".to_owned(), "/s/x".to_owned()));
    // The directory is now another one.
    let mut draft = rules.draft("/l").await.unwrap();
    fs::remove_file(site.path.join("l")).unwrap();
    symlink("s", site.path.join("l")).unwrap();
    assert_eq!(draft.publish("y", Condition::Absent).await, Err(NOT_PERMITTED));
    assert!(!site.path.join("s/y").exists() && !site.path.join("d/y").exists());
}

#[tokio::test]
async fn names_that_are_no_text_are_counted_only_if_they_are_seen() {
    let site = Site::new(&["/d/a", "/d/b"], &[]);
    let odd = OsStr::from_bytes(b"odd\xff");
    fs::write(site.path.join("d").join(odd), "x").unwrap();
    let rules = site.rules(vec![deny(READ, "/d/b")]);
    let page = rules.ls_info("/d", 0, 9).await.unwrap();
    assert_eq!((page.total, page.undecodable), (2, 1));
    let rules = site.rules(vec![deny(READ, "/d/odd*")]);
    let page = rules.ls_info("/d", 0, 9).await.unwrap();
    assert_eq!((page.total, page.undecodable), (2, 0));
    // What is beneath a name that cannot be asked for may be denied.
    fs::create_dir(site.path.join("d/e")).unwrap();
    fs::create_dir(site.path.join("d/e").join(odd)).unwrap();
    let rules = site.rules(vec![deny(READ, "/**/secret")]);
    assert_eq!(rules.remove("/d/e", true).await, Err(NOT_PERMITTED));
    let rules = site.rules(vec![deny(READ, "/secret")]);
    rules.remove("/d/e", true).await.unwrap();
}

#[tokio::test]
async fn links_in_a_tree_that_is_moved_are_entries_of_it() {
    let site = Site::new(&["/d/a", "/s/x"], &[("/d/l", "../s"), ("/d/key", "a")]);
    let rules = site.rules(vec![deny(BOTH, "/s/**"), deny(BOTH, "/*/key")]);
    assert_eq!(rules.rename("/d", "/e", false).await, Err(NOT_PERMITTED));
    let rules = site.rules(vec![deny(BOTH, "/s/**")]);
    rules.rename("/d", "/e", false).await.unwrap();
    assert_eq!(get(&rules, "/e/l/x").await, Err(NOT_FOUND));
}

#[tokio::test]
async fn a_thread_that_never_wrote_is_empty_and_is_not_made() {
    let root = tempfile::tempdir().unwrap();
    let thread = AgentFiles::at_ambient_path(root.path()).thread(None, "t").unwrap();
    let rules = ruled(&thread, vec![deny(BOTH, "/s/**")]);
    assert_eq!(ls(&rules, "/").await.unwrap(), Vec::<String>::new());
    assert_eq!(glob(&rules, "/", "**").await.unwrap(), Vec::<String>::new());
    is_not_found(&rules, "/s").await;
    assert_eq!(put(&rules, "/s/a", "1").await, Err(NOT_PERMITTED));
    assert_eq!(rules.remove("/s", true).await, Err(NOT_PERMITTED));
    assert!(!root.path().join("t").exists());
    put(&rules, "/a/b", "1").await.unwrap();
    assert_eq!(get(&rules, "/a/b").await.as_deref(), Ok("1"));
}

#[tokio::test]
async fn without_links_what_a_link_leads_to_is_not_there() {
    let site = Site::new(&["/d/a"], &[("/dir", "d"), ("/file", "d/a"), ("/d/up", "..")]);
    let strict = site.thread.without_links().unwrap();
    assert_eq!(get(&*strict, "/d/a").await.as_deref(), Ok("/d/a"));
    for path in ["/file", "/dir", "/dir/a", "/dir/new/x", "/d/up/d/a", "/d/up"] {
        assert_eq!(get(&*strict, path).await, Err(NOT_FOUND), "{path}");
        assert_eq!(ls(&*strict, path).await, Err(NOT_FOUND), "{path}");
        assert_eq!(put(&*strict, path, "x").await, Err(NOT_FOUND), "{path}");
        assert_eq!(strict.append(request(path, "x")).await, Err(NOT_FOUND), "{path}");
        assert_eq!(strict.resolve(path, true).await, Err(NOT_FOUND), "{path}");
    }
    for path in ["/dir/a", "/d/up/d"] {
        assert_eq!(strict.remove(path, true).await, Err(NOT_FOUND), "{path}");
        assert_eq!(strict.rename(path, "/x", false).await, Err(NOT_FOUND), "{path}");
        assert_eq!(strict.rename("/file", path, true).await, Err(NOT_FOUND), "{path}");
    }
    let mut draft = strict.draft("/dir").await.unwrap();
    assert_eq!(draft.publish("x", Condition::Always).await, Err(NOT_FOUND));
    let mut draft = strict.draft("/").await.unwrap();
    assert_eq!(draft.publish("file", Condition::Always).await, Err(NOT_FOUND));
    // A link that is not followed is an entry like others.
    assert_eq!(strict.resolve("/file", false).await.as_deref(), Ok("/file"));
    strict.rename("/file", "/moved", false).await.unwrap();
    strict.remove("/moved", false).await.unwrap();
    assert_eq!(ls(&*strict, "/").await.unwrap(), ["/d/", "/dir"]);
    assert_eq!(site.read("/d/a"), "/d/a");
}
