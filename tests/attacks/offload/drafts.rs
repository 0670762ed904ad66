//! Drafts as a backend gives them, used in ways in which no tool uses them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;
use std::time::{Duration, Instant};

use handhold::backend::{Backend, Condition, Draft, ErrorCode, FileKind, WriteRequest};
use handhold::backends::{AgentFiles, Memory};
use handhold_conformance::runtime;
use handhold_conformance::world::THREAD;

use super::PATIENCE;
use crate::site::{Site, facts};
use crate::special::fifo;

/// A backend to attack.
struct Target {
    name: &'static str,
    backend: Arc<dyn Backend>,
    /// Where its files are, if they are in a directory.
    site: Option<Site>,
}

fn directory() -> Target {
    let site = Site::new();
    let files = AgentFiles::at_ambient_path(site.directory.root());
    let backend = Arc::new(files.thread(None, THREAD).unwrap());
    Target { name: "directory", backend, site: Some(site) }
}

fn memory() -> Target {
    Target { name: "memory", backend: Arc::new(Memory::new()), site: None }
}

fn targets() -> [Target; 2] {
    [memory(), directory()]
}

impl Target {
    fn try_draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        runtime().block_on(self.backend.draft(directory))
    }

    /// A draft with content.
    fn draft(&self, directory: &str, content: &str) -> Box<dyn Draft> {
        let mut draft = self.try_draft(directory).unwrap();
        push(&mut *draft, content).unwrap();
        draft
    }

    fn write(&self, path: &str, content: &str) {
        let (path, content) = (path.to_owned(), content.as_bytes().to_vec());
        let request = WriteRequest { path, content, condition: Condition::Always, dry_run: false };
        runtime().block_on(self.backend.write(request)).unwrap();
    }

    fn remove(&self, path: &str) {
        runtime().block_on(self.backend.remove(path, true)).unwrap();
    }

    fn read(&self, path: &str) -> String {
        let page = runtime().block_on(self.backend.read_bytes(path, 0, 1 << 20)).unwrap();
        String::from_utf8(page.data).unwrap()
    }

    /// All that is in the workspace: the content of files, and nothing of directories.
    fn tree(&self) -> BTreeMap<String, Option<String>> {
        let mut all = BTreeMap::new();
        let mut todo = vec!["/".to_owned()];
        while let Some(path) = todo.pop() {
            let page = runtime().block_on(self.backend.ls_info(&path, 0, 1000)).unwrap();
            for entry in page.entries {
                let content = match entry.kind {
                    FileKind::File => Some(self.read(&entry.path)),
                    FileKind::Directory => {
                        todo.push(entry.path.clone());
                        None
                    }
                    FileKind::Link | FileKind::Other => None,
                };
                all.insert(entry.path, content);
            }
        }
        all
    }

    /// Fails if anything outside was changed, or a draft is left.
    fn check_outside(&self) {
        if let Some(site) = &self.site {
            site.directory.check_outside();
            let other: Vec<_> = fs::read_dir(site.directory.base())
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .filter(|name| {
                    !["root", "outside", "canary", "stage"].contains(&&*name.to_string_lossy())
                })
                .collect();
            assert!(other.is_empty(), "something was made outside: {other:?}");
        }
    }
}

fn push(draft: &mut dyn Draft, content: &str) -> Result<(), ErrorCode> {
    runtime().block_on(draft.push(content.as_bytes().to_vec()))
}

fn publish(draft: &mut dyn Draft, name: &str, condition: Condition) -> Result<u64, ErrorCode> {
    runtime().block_on(draft.publish(name, condition)).map(|written| written.size)
}

#[test]
fn names_that_are_none_are_refused_and_nothing_appears() {
    let (long, wide) = ("x".repeat(256), "é".repeat(128));
    let names = [
        "",
        ".",
        "..",
        "/",
        "//",
        "a/b",
        "/a",
        "a/",
        "./a",
        "a/.",
        "../a",
        "a/..",
        "a/../b",
        "a//b",
        "x\0",
        "\0",
        "\0/../x",
        "../../canary/x",
        &long,
        &wide,
    ];
    for target in targets() {
        for directory in ["/", "", "/dir", "dir/", "/a/b", "/a/../c"] {
            let before = target.tree();
            let mut draft = target.draft(directory, "content");
            for name in names {
                for condition in [Condition::Absent, Condition::Always] {
                    let refused = publish(&mut *draft, name, condition);
                    let is_right = matches!(refused, Err(ErrorCode::InvalidPath(_)));
                    assert!(is_right, "{}: {directory:?} {name:?}: {refused:?}", target.name);
                    assert_eq!(target.tree(), before, "{}: {directory:?} {name:?}", target.name);
                }
            }
            // It is as good as before.
            assert_eq!(publish(&mut *draft, "good", Condition::Absent), Ok(7));
            let path = format!("{directory}/good");
            assert_eq!(target.read(&path), "content");
            target.remove(&path);
        }
        target.check_outside();
    }
}

#[test]
fn names_that_only_look_odd_are_names() {
    let (long, wide) = ("x".repeat(255), "é".repeat(127));
    let names = [
        "...", "..x", "x..", " ", "a b", "\\", "..\\x", "x\ny", "\u{202e}", ".hidden", "~",
        "C:\\x", "C:", "*", "-rf", "%2e%2e", "CON", "名前", &long, &wide,
    ];
    for target in targets() {
        for directory in ["/", "/dir"] {
            for name in names {
                let mut draft = target.draft(directory, name);
                let size = publish(&mut *draft, name, Condition::Absent);
                assert_eq!(size, Ok(name.len() as u64), "{}: {name:?}", target.name);
            }
            let listed = runtime().block_on(target.backend.ls_info(directory, 0, 100)).unwrap();
            let files = listed.entries.iter().filter(|entry| entry.kind == FileKind::File);
            assert_eq!(files.count(), names.len(), "{}", target.name);
            for entry in listed.entries.iter().filter(|entry| entry.kind == FileKind::File) {
                let name = entry.path.strip_prefix(directory).unwrap().trim_start_matches('/');
                assert_eq!(target.read(&entry.path), name, "{}", target.name);
            }
        }
        target.check_outside();
    }
}

#[test]
fn directories_that_climb_out_or_are_none_are_refused() {
    let (long, deep) = ("x".repeat(256), "/x".repeat(2100));
    let directories = [
        "..",
        "/..",
        "../outside",
        "/../canary",
        "/a/../..",
        "a/../../root",
        "/a/b/../../../canary",
        "x\0",
        "/\0",
        "C:\\x",
        "C:/x",
        "~/x",
        "\\\\server\\x",
        &long,
        &deep,
    ];
    for target in targets() {
        let canary = target.site.as_ref().map(|site| facts(&site.canary()));
        for directory in directories {
            let refused = target.try_draft(directory).and_then(|mut draft| {
                push(&mut *draft, "content")?;
                publish(&mut *draft, "file.txt", Condition::Always)
            });
            let is_right = matches!(refused, Err(ErrorCode::InvalidPath(_)));
            assert!(is_right, "{}: {directory:?}: {refused:?}", target.name);
            assert_eq!(target.tree(), BTreeMap::new(), "{}: {directory:?}", target.name);
        }
        // Each of the two is good, but not both together.
        let nearly = "/x".repeat(2045);
        let mut draft = target.draft(&nearly, "content");
        let refused = publish(&mut *draft, &"x".repeat(10), Condition::Absent);
        assert!(matches!(refused, Err(ErrorCode::InvalidPath(_))), "{refused:?}");
        drop(draft);
        assert_eq!(target.tree(), BTreeMap::new());
        assert_eq!(target.site.as_ref().map(|site| facts(&site.canary())), canary);
        target.check_outside();
    }
}

/// Fails if a draft that has a name takes another one, or more content.
fn check_that_one_name_is_all(target: &Target) {
    let mut draft = target.draft("/dir", "content");
    assert_eq!(publish(&mut *draft, "one", Condition::Absent), Ok(7));
    let after = target.tree();
    for (name, condition) in [
        ("one", Condition::Absent),
        ("one", Condition::Always),
        ("two", Condition::Absent),
        ("two", Condition::Always),
    ] {
        let again = publish(&mut *draft, name, condition);
        assert!(again.is_err(), "{}: {name} is a second name", target.name);
        assert_eq!(target.tree(), after, "{}: {name}", target.name);
    }
    assert!(push(&mut *draft, "more").is_err(), "{}: it takes more", target.name);
    assert!(publish(&mut *draft, "three", Condition::Always).is_err(), "{}", target.name);
    drop(draft);
    assert_eq!(target.tree(), after, "{}", target.name);
    target.check_outside();
}

#[test]
fn a_draft_has_one_name_and_is_then_of_no_further_use() {
    check_that_one_name_is_all(&directory());
}

#[test]
fn a_draft_in_memory_has_one_name_and_is_then_of_no_further_use() {
    check_that_one_name_is_all(&memory());
}

#[test]
fn a_draft_that_is_refused_a_name_may_have_another() {
    for target in targets() {
        target.write("/dir/taken", "taken");
        target.write("/dir/sub/file", "file");
        if let Some(site) = &target.site {
            fifo(&site.inside("dir/fifo"));
            site.write("dir/locked", "locked");
            fs::set_permissions(site.inside("dir/locked"), fs::Permissions::from_mode(0o444))
                .unwrap();
            symlink("../../../canary/file.txt", site.inside("dir/out")).unwrap();
            symlink("nothing", site.inside("dir/dangling")).unwrap();
        }
        let before = target.tree();
        let mut draft = target.draft("/dir", "one");
        let stale = Condition::Matches("stale".to_owned());
        let mut refusals = vec![
            ("taken", Condition::Absent, ErrorCode::AlreadyExists),
            ("taken", stale.clone(), ErrorCode::Conflict),
            ("free", stale, ErrorCode::Conflict),
            ("sub", Condition::Absent, ErrorCode::IsDirectory),
            ("sub", Condition::Always, ErrorCode::IsDirectory),
        ];
        if target.site.is_some() {
            refusals.extend([
                ("fifo", Condition::Always, ErrorCode::NotAFile),
                ("locked", Condition::Always, ErrorCode::NotPermitted),
                ("out", Condition::Always, ErrorCode::NotPermitted),
                ("out", Condition::Absent, ErrorCode::NotPermitted),
                ("dangling", Condition::Absent, ErrorCode::NotFound),
            ]);
        }
        for (name, condition, code) in refusals {
            let refused = publish(&mut *draft, name, condition.clone());
            assert_eq!(refused, Err(code), "{}: {name} {condition:?}", target.name);
            assert_eq!(target.tree(), before, "{}: {name} {condition:?}", target.name);
            // What comes in between counts too.
            push(&mut *draft, ".").unwrap();
        }
        publish(&mut *draft, "free", Condition::Absent).unwrap();
        let content = target.read("/dir/free");
        assert!(content.starts_with("one....") && content.trim_matches('.') == "one", "{content}");
        target.remove("/dir/free");
        assert_eq!(target.tree(), before);
        target.check_outside();
    }
}

#[test]
fn a_directory_that_cannot_be_one_is_found_out_and_may_become_one() {
    for target in targets() {
        target.write("/dir", "a file");
        let mut draft = target.draft("/dir", "content");
        let mut deep = target.draft("/dir/deep/er", "content");
        for draft in [&mut draft, &mut deep] {
            let refused = publish(&mut **draft, "x", Condition::Absent);
            assert_eq!(refused, Err(ErrorCode::NotADirectory), "{}", target.name);
        }
        assert_eq!(target.read("/dir"), "a file");
        target.remove("/dir");
        for draft in [&mut draft, &mut deep] {
            assert_eq!(publish(&mut **draft, "x", Condition::Absent), Ok(7), "{}", target.name);
        }
        assert_eq!(target.read("/dir/deep/er/x"), target.read("/dir/x"));
        target.check_outside();
    }
}

#[test]
fn a_directory_that_is_a_link_out_has_no_draft_put_in() {
    let target = directory();
    let site = target.site.as_ref().unwrap();
    let before = facts(&site.canary());
    for to in [site.canary(), "../../canary".into(), site.inside("real")] {
        for directory in ["/link", "/link/sub", "/link/new"] {
            symlink(&to, site.inside("link")).unwrap();
            let tried = target.try_draft(directory);
            let mut draft = match tried {
                Ok(draft) => draft,
                Err(error) => {
                    assert_eq!(error, ErrorCode::NotPermitted, "{directory}");
                    fs::remove_file(site.inside("link")).unwrap();
                    continue;
                }
            };
            push(&mut *draft, "content").unwrap();
            for name in ["new.txt", "file.txt"] {
                for condition in [Condition::Always, Condition::Absent] {
                    let refused = publish(&mut *draft, name, condition);
                    assert_eq!(refused, Err(ErrorCode::NotPermitted), "{directory} {name}");
                }
            }
            // It is a good one as soon as the link is gone.
            fs::remove_file(site.inside("link")).unwrap();
            assert_eq!(publish(&mut *draft, "new.txt", Condition::Absent), Ok(7));
            target.remove("/link");
        }
    }
    assert_eq!(facts(&site.canary()), before);
    target.check_outside();
}

#[test]
fn a_draft_replaces_a_file_as_a_write_does() {
    for target in targets() {
        target.write("/dir/file", "before");
        let request = |condition| WriteRequest {
            path: "/dir/file".to_owned(),
            content: b"by a write".to_vec(),
            condition,
            dry_run: false,
        };
        let written = runtime().block_on(target.backend.write(request(Condition::Always))).unwrap();
        let mut draft = target.draft("/dir", "by a draft");
        let condition = Condition::Matches(written.version.clone());
        let drafted = runtime().block_on(draft.publish("file", condition.clone())).unwrap();
        assert_eq!((drafted.size, drafted.previous_size), (10, Some(10)), "{}", target.name);
        assert_ne!(drafted.version, written.version, "{}", target.name);
        let page = runtime().block_on(target.backend.read_bytes("/dir/file", 0, 100)).unwrap();
        assert_eq!((page.data, page.version), (b"by a draft".to_vec(), drafted.version));
        // What was written against the version before is told so.
        let late = runtime().block_on(target.backend.write(request(condition)));
        assert_eq!(late.err(), Some(ErrorCode::Conflict), "{}", target.name);
        target.check_outside();
    }
}

#[test]
fn a_draft_leaves_modes_links_and_other_names_as_a_write_does() {
    let target = directory();
    let site = target.site.as_ref().unwrap();
    site.write("dir/file", "before");
    fs::set_permissions(site.inside("dir/file"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::hard_link(site.inside("dir/file"), site.inside("other-name")).unwrap();
    symlink("file", site.inside("dir/link")).unwrap();
    let mut draft = target.draft("/dir", "after");
    assert_eq!(publish(&mut *draft, "link", Condition::Always), Ok(5));
    assert!(site.inside("dir/link").is_symlink());
    assert_eq!(
        (site.read("dir/file").as_str(), site.read("other-name").as_str()),
        ("after", "before")
    );
    assert_eq!(fs::metadata(site.inside("dir/file")).unwrap().mode() & 0o7777, 0o640);
    target.check_outside();
}

#[test]
fn drafts_that_are_dropped_or_empty_are_what_they_are() {
    for target in targets() {
        for content in ["", "content"] {
            drop(target.draft("/dir", content));
            assert_eq!(target.tree(), BTreeMap::new(), "{}", target.name);
            target.check_outside();
        }
        let mut draft = target.try_draft("/dir").unwrap();
        assert_eq!(publish(&mut *draft, "empty", Condition::Absent), Ok(0));
        assert_eq!(target.read("/dir/empty"), "");
        target.check_outside();
    }
}

#[test]
fn drafts_that_are_written_at_the_same_time_do_not_mix() {
    const DRAFTS: usize = 50;
    for target in targets() {
        let mut drafts: Vec<_> = (0..DRAFTS).map(|_| target.draft("/dir", "")).collect();
        for round in 0..10 {
            for (n, draft) in drafts.iter_mut().enumerate() {
                push(&mut **draft, &format!("{n}.{round} ")).unwrap();
            }
        }
        for (n, draft) in drafts.iter_mut().enumerate().rev() {
            publish(&mut **draft, &n.to_string(), Condition::Absent).unwrap();
        }
        for n in 0..DRAFTS {
            let wanted: String = (0..10).map(|round| format!("{n}.{round} ")).collect();
            assert_eq!(target.read(&format!("/dir/{n}")), wanted, "{}", target.name);
        }
        target.check_outside();
    }
}

#[test]
fn of_drafts_for_one_name_at_the_same_time_exactly_one_gets_it() {
    const DRAFTS: usize = 16;
    for target in targets() {
        for round in 0..20 {
            let directory = format!("/dir/{round}");
            let (winners, losers): (Vec<_>, Vec<_>) = runtime().block_on(async {
                let running: Vec<_> = (0..DRAFTS)
                    .map(|n| {
                        let (backend, directory) = (Arc::clone(&target.backend), directory.clone());
                        tokio::spawn(async move {
                            let mut draft = backend.draft(&directory).await.unwrap();
                            draft.push(n.to_string().into_bytes()).await.unwrap();
                            (n, draft.publish("name", Condition::Absent).await)
                        })
                    })
                    .collect();
                let mut ended = Vec::new();
                for task in running {
                    ended.push(task.await.unwrap());
                }
                ended.into_iter().partition(|(_, published)| published.is_ok())
            });
            assert_eq!(winners.len(), 1, "{}: {winners:?}", target.name);
            for (_, lost) in losers {
                assert_eq!(lost.err(), Some(ErrorCode::AlreadyExists), "{}", target.name);
            }
            assert_eq!(target.read(&format!("{directory}/name")), winners[0].0.to_string());
        }
        target.check_outside();
    }
}

#[test]
fn a_draft_whose_step_was_given_up_on_is_never_published_in_part() {
    let target = directory();
    let tmp = target.site.as_ref().unwrap().directory.root().join(".handhold/tmp");
    let mut given_up = 0;
    for n in 0..20 {
        let mut draft = target.draft("/dir", "front ");
        let push = draft.push(vec![b'x'; 32 << 20]);
        let time = Duration::from_micros(n * 500);
        let ended = runtime().block_on(async { tokio::time::timeout(time, push).await });
        let published = publish(&mut *draft, "file", Condition::Always);
        if ended.is_err() {
            given_up += 1;
            assert!(published.is_err(), "a part of it has a name: {published:?}");
            assert_eq!(target.tree(), BTreeMap::new());
        } else {
            assert_eq!(published, Ok((32 << 20) + 6));
            target.remove("/dir");
        }
        drop(draft);
        let end = Instant::now() + PATIENCE;
        while fs::read_dir(&tmp).unwrap().next().is_some() {
            assert!(Instant::now() < end, "a draft stays");
            std::thread::yield_now();
        }
    }
    assert!(given_up > 0, "no step was given up on, so that this is no test");
    target.check_outside();
}
