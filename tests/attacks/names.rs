//! Names that are no text, and very many names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::cli::{Batch, code};
use crate::site::Site;

const NOTICE: &str = "[1 name is not UTF-8 and cannot be opened with these tools]";

fn odd(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

#[test]
fn names_that_are_not_utf_8_are_listed_with_a_notice() {
    let site = Site::new();
    site.write("a.txt", "found\n");
    site.write("z/b.txt", "found\n");
    fs::write(site.directory.workspace().join(odd(b"m\xff.txt")), "found\n").unwrap();
    let listed = site.call("ls", json!({})).good();
    let lines: Vec<&str> = listed.text.lines().collect();
    assert_eq!(
        lines,
        ["      6 B  /a.txt", "      6 B  /m\u{fffd}.txt", "        -  /z/", "", NOTICE]
    );
    assert_eq!(listed.structured["total"], 3);
    let all = ["/a.txt", "/m\u{fffd}.txt", "/z/b.txt"];
    let glob = site.call("glob", json!({ "pattern": "*.txt" })).good();
    assert_eq!(glob.list("files"), all);
    assert!(glob.text.ends_with(&format!("\n\n{NOTICE}")), "{}", glob.text);
    let grep = site.call("grep", json!({ "pattern": "found" })).good();
    assert_eq!(grep.list("files"), all);
    assert!(grep.text.ends_with(&format!("\n\n{NOTICE}")), "{}", grep.text);
    // The name that is shown is not the name.
    site.call("read_file", json!({ "file_path": "/m\u{fffd}.txt" })).failed("not-found");
    let twin = json!({ "file_path": "/m\u{fffd}.txt", "content": "", "mode": "create" });
    site.call("write_file", twin).good();
    assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 4);
}

#[test]
fn a_directory_whose_name_is_not_utf_8_is_searched_with_a_notice() {
    let site = Site::new();
    let dir = site.directory.workspace().join(odd(b"d\xff"));
    fs::create_dir_all(dir.join("in")).unwrap();
    fs::write(dir.join("in/b.txt"), "found\n").unwrap();
    site.write("a.txt", "found\n");
    let all = ["/a.txt", "/d\u{fffd}/in/b.txt"];
    for (tool, arguments) in [
        ("glob", json!({ "pattern": "**/*.txt" })),
        ("grep", json!({ "pattern": "found", "output_mode": "files_with_matches" })),
    ] {
        let answer = site.call(tool, arguments).good();
        assert_eq!(answer.list("files"), all);
        // What is shown cannot be opened, and that is said.
        site.call("read_file", json!({ "file_path": all[1] })).failed("not-found");
        assert!(answer.text.contains("not UTF-8"), "{tool} says nothing: {}", answer.text);
    }
    let removed = site.call("delete_file", json!({ "path": "/d\u{fffd}", "recursive": true }));
    removed.failed("not-found");
}

#[test]
fn links_to_names_that_are_not_utf_8_are_followed_or_refused() {
    let site = Site::new();
    let root = site.directory.workspace();
    fs::create_dir(root.join(odd(b"d\xff"))).unwrap();
    fs::write(root.join(odd(b"d\xff/f\xfe.txt")), "found\n").unwrap();
    symlink(odd(b"d\xff/f\xfe.txt"), root.join("file")).unwrap();
    symlink(odd(b"d\xff"), root.join("dir")).unwrap();
    let read = site.call("read_file", json!({ "file_path": "/file" })).good();
    assert_eq!(read.text, "     1\tfound");
    site.call("write_file", json!({ "file_path": "/file", "content": "new\n" })).good();
    assert_eq!(fs::read(root.join(odd(b"d\xff/f\xfe.txt"))).unwrap(), b"new\n");
    let listed = site.call("ls", json!({ "path": "/dir" })).good();
    assert!(listed.text.contains("/dir/f\u{fffd}.txt"), "{}", listed.text);
    // A search of it says that it does not work; it does not find nothing.
    site.call("grep", json!({ "pattern": "new", "path": "/dir" })).failed("unsupported");
    site.call("glob", json!({ "pattern": "*", "path": "/dir" })).failed("unsupported");
}

#[test]
fn a_directory_with_ten_thousand_names_needs_few_descriptors() {
    let site = Site::new();
    for file in 0..10_000 {
        let content = if file % 100 == 7 { "found\n" } else { "\n" };
        site.write(&format!("many/f{file:05}.txt"), content);
        if file % 10 == 0 {
            site.write(&format!("wide/d{file:05}/g.txt"), "\n");
        }
    }
    let mut batch = Batch::start(&site.directory.root(), "ulimit -n 64", &["--jobs", "2"]);
    let listed = batch.call("ls", &json!({ "path": "/many", "limit": 20_000 }));
    assert_eq!(listed["structured"]["entries"].as_array().unwrap().len(), 10_000);
    let glob = batch.call("glob", &json!({ "pattern": "*.txt", "limit": 20_000 }));
    assert_eq!(glob["structured"]["total"], 11_000, "{}", glob["text"]);
    assert_eq!(glob["structured"]["total_is_exact"], true);
    let grep = batch.call("grep", &json!({ "pattern": "found" }));
    assert_eq!(grep["structured"]["files"].as_array().unwrap().len(), 100);
    assert_eq!(grep["structured"]["files_searched"], 11_000);
    assert_eq!(grep["structured"]["total_is_exact"], true, "{}", grep["text"]);
    for path in ["/many", "/wide"] {
        let removed = batch.call("delete_file", &json!({ "path": path, "recursive": true }));
        assert_eq!(code(&removed), "", "{removed}");
    }
    assert_eq!(fs::read_dir(site.directory.workspace()).unwrap().count(), 0);
    site.directory.check_outside();
}
