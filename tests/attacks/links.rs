//! Links that the data cases cannot express: hard links, long chains, and odd targets.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use handhold_conformance::world::CANARY;
use serde_json::{Value, json};

use crate::site::{Facts, Site, facts};

/// What a canary must keep, even though it loses a name.
fn kept(site: &Site) -> Vec<(u32, Vec<u8>)> {
    let all = facts(&site.canary());
    all.into_values().map(|Facts { mode, content, .. }| (mode, content)).collect()
}

/// Plants a second name of a canary and makes one call.
fn with_a_hard_link(tool: &str, arguments: Value) -> Site {
    let site = Site::new();
    // The canary's own content is what the agent may see: it was given to him by this name.
    fs::write(site.canary().join("file.txt"), "first\nsecond\n").unwrap();
    fs::hard_link(site.canary().join("file.txt"), site.inside("hard.txt")).unwrap();
    let before = kept(&site);
    site.call(tool, arguments).good();
    assert_eq!(kept(&site), before, "{tool} changed the other name");
    site
}

#[test]
fn a_hard_link_that_is_written_loses_its_other_name() {
    for mode in ["overwrite", "append"] {
        let arguments = json!({ "file_path": "/hard.txt", "content": "third\n", "mode": mode });
        let site = with_a_hard_link("write_file", arguments);
        let kept = if mode == "append" { "first\nsecond\n" } else { "" };
        assert_eq!(site.read("hard.txt"), format!("{kept}third\n"));
    }
}

#[test]
fn a_hard_link_that_is_edited_loses_its_other_name() {
    let site = with_a_hard_link(
        "edit_file",
        json!({ "file_path": "/hard.txt", "old_string": "first", "new_string": "1st" }),
    );
    assert_eq!(site.read("hard.txt"), "1st\nsecond\n");
}

#[test]
fn a_hard_link_that_is_moved_and_then_written_loses_its_other_name() {
    let site = with_a_hard_link(
        "move_file",
        json!({ "source": "/hard.txt", "destination": "/moved.txt" }),
    );
    let before = kept(&site);
    site.call("write_file", json!({ "file_path": "/moved.txt", "content": "x" })).good();
    assert_eq!(kept(&site), before);
    assert_eq!(site.read("moved.txt"), "x");
}

#[test]
fn a_hard_link_that_is_moved_onto_or_deleted_leaves_the_other_name() {
    let site = Site::new();
    site.write("plain.txt", "plain\n");
    for name in ["hard.txt", "tree/hard.txt"] {
        fs::create_dir_all(site.inside("tree")).unwrap();
        fs::hard_link(site.canary().join("file.txt"), site.inside(name)).unwrap();
    }
    let before = kept(&site);
    site.call(
        "move_file",
        json!({ "source": "/plain.txt", "destination": "/hard.txt", "overwrite": true }),
    )
    .good();
    site.call("delete_file", json!({ "path": "/tree", "recursive": true })).good();
    assert_eq!(kept(&site), before);
    assert_eq!(site.read("hard.txt"), "plain\n");
}

#[test]
fn two_names_of_one_file_in_the_workspace_become_one_when_moved_onto_each_other() {
    let site = Site::new();
    site.write("one.txt", "text");
    fs::hard_link(site.inside("one.txt"), site.inside("two.txt")).unwrap();
    site.call(
        "move_file",
        json!({ "source": "/one.txt", "destination": "/two.txt", "overwrite": true }),
    )
    .good();
    assert!(!site.inside("one.txt").exists());
    assert_eq!(site.read("two.txt"), "text");
}

/// Makes `n` links of which the last leads to `target`, and names the first.
fn chain(site: &Site, target: &str, n: usize) -> String {
    for link in 1..=n {
        let to = if link == n { target.to_owned() } else { format!("{target}.{n}.{}", link + 1) };
        symlink(to, site.inside(&format!("{target}.{n}.{link}"))).unwrap();
    }
    format!("{target}.{n}.1")
}

#[test]
fn a_chain_of_links_is_followed_as_far_as_the_system_goes() {
    let site = Site::new();
    site.write("end", "found\n");
    site.write("dir/file", "found\n");
    for (n, works) in [(39, true), (40, true), (41, false), (100, false)] {
        let (file, dir) = (chain(&site, "end", n), chain(&site, "dir", n));
        // The system itself is of the same opinion.
        assert_eq!(fs::read(site.inside(&file)).is_ok(), works, "{n}");
        let calls = [
            ("read_file", json!({ "file_path": file })),
            ("write_file", json!({ "file_path": file, "content": "found\n" })),
            ("edit_file", json!({ "file_path": file, "old_string": "found", "new_string": "f" })),
            ("edit_file", json!({ "file_path": file, "old_string": "f", "new_string": "found" })),
            ("grep", json!({ "path": file, "pattern": "found" })),
            ("ls", json!({ "path": dir })),
            ("glob", json!({ "path": dir, "pattern": "*" })),
            ("write_file", json!({ "file_path": format!("{dir}/new"), "content": "" })),
            ("delete_file", json!({ "path": format!("{dir}/new") })),
        ];
        for (tool, arguments) in calls {
            let answer = site.call(tool, arguments);
            if works {
                answer.good();
            } else {
                answer.failed("invalid-path");
            }
        }
        assert!(site.inside(&file).is_symlink());
    }
    assert_eq!(site.read("end"), "found\n");
}

#[test]
fn links_in_a_circle_end_in_an_error() {
    let site = Site::new();
    for (link, target) in
        [("self", "self"), ("a", "b"), ("b", "a"), ("far", "far/x"), ("up", "./up/..")]
    {
        symlink(target, site.inside(link)).unwrap();
    }
    for link in ["self", "a", "far", "up", "a/x", "self/x/y"] {
        for (tool, key) in [("read_file", "file_path"), ("ls", "path")] {
            site.call(tool, json!({ key: link })).failed("invalid-path");
        }
        let write = json!({ "file_path": link, "content": "x" });
        site.call("write_file", write).failed("invalid-path");
    }
    assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 5);
}

#[test]
fn directories_in_a_circle_are_walked_once() {
    let site = Site::new();
    site.write("a/b/file.txt", "found\n");
    for (link, target) in
        [("a/b/again", "../../a"), ("here", "."), ("a/self", "../a"), ("a/up", "..")]
    {
        symlink(target, site.inside(link)).unwrap();
    }
    let glob = site.call("glob", json!({ "pattern": "**" })).good();
    assert_eq!(glob.list("files"), ["/a/b/file.txt"]);
    let grep = site.call("grep", json!({ "pattern": "found" })).good();
    assert_eq!(grep.list("files"), ["/a/b/file.txt"]);
    // A link is followed when it is named, also several times round.
    let path = "/a/b/again/b/again/self/up/here/a/b";
    let glob = site.call("glob", json!({ "pattern": "**", "path": path })).good();
    assert_eq!(glob.list("files"), [format!("{path}/file.txt")]);
    let removed = site.call("delete_file", json!({ "path": "/a", "recursive": true })).good();
    assert_eq!(removed.structured["directories"], 2);
    assert!(site.inside("here").is_symlink());
}

#[test]
fn odd_targets_lead_where_they_say_and_never_out() {
    let site = Site::new();
    site.write("sub/file", "inside\n");
    site.write("file", "inside\n");
    for (link, target, works) in [
        ("sub/1", "../file", true),
        ("2", "sub/../file", true),
        ("3", "./sub//.././sub/./file", true),
        ("4", "sub/", false),
        ("5", "sub/../../default/file", false),
        ("6", "../default/file", false),
        ("7", "../../canary/file.txt", false),
        ("8", "sub/../../../canary/file.txt", false),
        ("9", "./../../canary//file.txt", false),
        ("10", "sub/1/../../../canary/file.txt", false),
        ("11", "nothing/../file", false),
        ("12", "file/../file", false),
        ("13", "..", false),
        ("14", "../", false),
    ] {
        symlink(target, site.inside(link)).unwrap();
        let read = site.call("read_file", json!({ "file_path": link }));
        assert_eq!(read.code.is_none(), works, "{target}: {}", read.text);
        let edit = json!({ "file_path": link, "old_string": "NARY", "new_string": "" });
        let edit = site.call("edit_file", edit);
        assert_eq!(edit.code.as_deref() == Some("no-match"), works, "{target}: {}", edit.text);
    }
    for link in ["5", "6", "7", "8", "9", "13", "14"] {
        let write = json!({ "file_path": link, "content": "x" });
        site.call("write_file", write).failed("not-permitted");
    }
    // With a slash behind it, a target is a directory; a file is the same file, or an error.
    symlink("file/", site.inside("slash")).unwrap();
    let read = site.call("read_file", json!({ "file_path": "/slash" }));
    assert!(matches!(read.code.as_deref(), None | Some("not-a-directory")), "{}", read.text);
    let listed = site.call("ls", json!({ "path": "/4" })).good();
    assert!(listed.text.contains("/4/1 -> ../file"), "{}", listed.text);
    check_canaries(&site.canary());
}

fn check_canaries(canaries: &Path) {
    for (path, facts) in facts(canaries) {
        let text = String::from_utf8_lossy(&facts.content).into_owned();
        assert!(path.is_dir() || text.contains(CANARY), "{} was changed", path.display());
    }
}

#[test]
fn dangling_links_are_not_written_through() {
    let site = Site::new();
    site.write("plain", "plain\n");
    let links = [
        ("dead", "nothing"),
        ("deep", "no/such/file"),
        ("dir", "no/dir/"),
        ("back", "nothing/../plain"),
        ("twice", "dead"),
    ];
    for (link, target) in links {
        symlink(target, site.inside(link)).unwrap();
    }
    let before = facts(&site.directory.workspace());
    for (link, _) in links {
        for path in [link.to_owned(), format!("{link}/new"), format!("{link}/a/b")] {
            for mode in ["overwrite", "create", "append"] {
                let write = json!({ "file_path": path, "content": "x", "mode": mode });
                site.call("write_file", write).failed("not-found");
            }
            let edit = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
            site.call("edit_file", edit).failed("not-found");
        }
        let into = json!({ "source": "/plain", "destination": format!("{link}/new") });
        site.call("move_file", into).failed("not-found");
    }
    assert_eq!(facts(&site.directory.workspace()), before, "something was made");
    // The link itself is what is moved onto.
    let onto =
        |overwrite| json!({ "source": "/plain", "destination": "/dead", "overwrite": overwrite });
    site.call("move_file", onto(false)).failed("already-exists");
    site.call("move_file", onto(true)).good();
    assert_eq!(site.read("dead"), "plain\n");
    assert!(!site.inside("nothing").exists());
}

#[test]
fn a_workspace_that_is_a_link_is_not_entered() {
    let site = Site::new();
    let before = facts(&site.canary());
    for target in ["../canary".into(), site.canary()] {
        fs::remove_dir(site.directory.workspace()).unwrap();
        symlink(target, site.directory.workspace()).unwrap();
        for (tool, arguments) in [
            ("ls", json!({})),
            ("read_file", json!({ "file_path": "/file.txt" })),
            ("grep", json!({ "pattern": "NARY" })),
            ("glob", json!({ "pattern": "*" })),
            ("write_file", json!({ "file_path": "/new.txt", "content": "x" })),
            (
                "edit_file",
                json!({ "file_path": "/file.txt", "old_string": "NARY", "new_string": "" }),
            ),
            ("move_file", json!({ "source": "/file.txt", "destination": "/new.txt" })),
            ("delete_file", json!({ "path": "/sub", "recursive": true })),
        ] {
            let answer = site.call(tool, arguments);
            assert!(answer.code.is_some(), "{tool}: {}", answer.text);
        }
        fs::remove_file(site.directory.workspace()).unwrap();
        fs::create_dir(site.directory.workspace()).unwrap();
    }
    assert_eq!(facts(&site.canary()), before);
}

#[test]
fn a_directory_is_not_moved_into_itself_through_a_link() {
    let site = Site::new();
    site.write("a/sub/file", "x");
    symlink("a/sub", site.inside("into")).unwrap();
    symlink("a", site.inside("same")).unwrap();
    for destination in ["/into/a", "/same/a", "/same/sub/b/c", "/into/../b"] {
        let into = json!({ "source": "/a", "destination": destination });
        let moved = site.call("move_file", into);
        // The last one is lexical: it is /b.
        if destination.contains("..") {
            moved.good();
        } else {
            moved.failed("invalid-path");
        }
    }
    assert_eq!(site.read("b/sub/file"), "x");
}
