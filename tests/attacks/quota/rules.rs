//! Rules over a workspace with limits: they hold as they do without.

use std::os::unix::fs::symlink;
use std::path::Path;

use handhold::backends::{Mode, Operation, Rule};
use handhold_conformance::world::CANARY;

use super::*;
use crate::site::plant;

#[test]
fn a_directory_that_becomes_a_link_does_not_lead_to_what_is_denied() {
    let denied = Rule {
        operations: vec![Operation::Read, Operation::Write],
        paths: vec!["/denied/**".to_owned()],
        mode: Mode::Deny,
    };
    let quota = bytes(1 << 20);
    let site = Site::with(Policy { quota, rules: vec![denied], ..Policy::default() });
    let place = site.inside("work/d");
    plant(&site.inside("denied"), CANARY);
    fs::create_dir(site.inside("work")).unwrap();
    let directory = |new: &Path| plant(new, "inside");
    let link = |new: &Path| symlink("../denied", new).unwrap();
    // What is denied is a canary, and no answer may show one.
    site.race(
        || site.swap(&place, &[&directory, &link]),
        &[
            ("read_file", json!({ "file_path": "/work/d/file.txt" })),
            ("write_file", json!({ "file_path": "/work/d/file.txt", "content": "inside" })),
            ("grep", json!({ "pattern": ".", "path": "/work/d", "output_mode": "content" })),
            ("write_file", append("/work/d/file.txt", 1)),
            ("delete_file", json!({ "path": "/work/d/sub/inner.txt" })),
            ("write_file", write("/work/d/new.txt", 1)),
        ],
    );
    let text = |name: &str| fs::read_to_string(site.inside("denied").join(name)).unwrap();
    assert_eq!(text("file.txt"), format!("{CANARY} one\n"));
    assert_eq!(text("sub/inner.txt"), format!("{CANARY} two\n"));
    assert!(!site.inside("denied/new.txt").exists());
    site.directory.check_outside();
}
