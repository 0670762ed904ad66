//! A directory that may be read alone, and another view of it that may be written.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use super::{SHARED, moved, site};
use crate::site::facts;

/// Calls that would change what a directory shows at `at`, all of which must be refused.
fn changes(at: &str) -> Vec<(&'static str, Value)> {
    let file = format!("{at}/file.txt");
    let mut calls = vec![
        ("delete_file", json!({ "path": file })),
        ("delete_file", json!({ "path": format!("{at}/sub"), "recursive": true })),
        ("edit_file", json!({ "file_path": file, "old_string": SHARED, "new_string": "" })),
        ("move_file", moved(&file, &format!("{at}/renamed"))),
        ("move_file", moved(&format!("{at}/sub"), &format!("{at}/renamed"))),
    ];
    for mode in ["overwrite", "append", "create"] {
        for name in ["file.txt", "sub", "new.txt", "new/deep.txt", "file.txt/in", ""] {
            let path = format!("{at}/{name}");
            let arguments = json!({ "file_path": path, "content": "", "mode": mode });
            calls.push(("write_file", arguments));
        }
    }
    // Over the border, also to where the same directory may be written.
    for there in ["/rw/got", "/rw/file.txt", "/rw/sub/got", "/notes/got", "/notes/file.txt", "/got"]
    {
        calls.push(("move_file", moved(&file, there)));
        calls.push(("move_file", moved(&format!("{at}/sub"), there)));
    }
    for here in ["/rw/file.txt", "/rw/sub", "/notes/file.txt", "/notes/sub", "/own.txt"] {
        for name in ["file.txt", "new.txt", "sub/new.txt", "new/deep.txt"] {
            calls.push(("move_file", moved(here, &format!("{at}/{name}"))));
        }
    }
    calls
}

#[test]
fn a_read_only_view_is_not_changed_by_way_of_a_writable_one() {
    let site = site();
    site.write("own.txt", "own");
    let before = [facts(&site.base("shared")), facts(&site.base("notes"))];
    for at in ["/ro", "/rw/../ro", "/ro/sub/..", "/notes/../ro/./"] {
        for (tool, arguments) in changes(at) {
            let answer = site.call(tool, arguments.clone());
            assert!(answer.code.is_some(), "{tool} {arguments} has succeeded");
            let code = answer.code.as_deref();
            // What is wrong with the path itself may be told.
            let is_told = matches!(code, Some("is-directory"));
            assert!(is_told || code == Some("not-permitted"), "{arguments}: {}", answer.text);
        }
    }
    // Nothing is truncated, touched, or made anew, and both ends of a move stay as they were.
    assert_eq!(facts(&site.base("shared")), before[0]);
    assert_eq!(facts(&site.base("notes")), before[1]);
    assert_eq!(site.read("own.txt"), "own");
    assert_eq!(fs::read_dir(site.inside("")).unwrap().count(), 1);
    assert!(!site.base(".handhold").exists(), "records were made for what was only refused");
}

/// What may be written leaves the other names of its files as they are, across mounts too.
#[test]
fn a_hard_link_to_a_read_only_file_does_not_change_it() {
    let site = site();
    let file = site.base("shared/file.txt");
    let (content, inode) = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().ino());
    let calls = [
        ("edit_file", json!({ "file_path": "/notes/l", "old_string": "one", "new_string": "1" })),
        ("write_file", json!({ "file_path": "/notes/l", "content": "x", "mode": "append" })),
        ("write_file", json!({ "file_path": "/notes/l", "content": "" })),
        ("move_file", json!({ "source": "/notes/l", "destination": "/got" })),
        (
            "move_file",
            json!({ "source": "/notes/file.txt", "destination": "/notes/l", "overwrite": true }),
        ),
        ("delete_file", json!({ "path": "/notes/l" })),
    ];
    for (tool, arguments) in calls {
        drop(fs::remove_file(site.base("notes/l")));
        fs::hard_link(&file, site.base("notes/l")).unwrap();
        site.call(tool, arguments).good();
        let name = site.base("notes/l");
        assert!(fs::metadata(name).map_or(true, |found| found.ino() != inode), "{tool}");
        assert_eq!(fs::read(&file).unwrap(), content, "{tool}");
        assert_eq!(fs::metadata(&file).unwrap().ino(), inode, "{tool}");
    }
    assert_ne!(fs::metadata(site.inside("got")).unwrap().ino(), inode);
}
