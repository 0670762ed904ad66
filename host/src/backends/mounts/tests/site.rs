//! A base and a mount that are real directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::backends::{AgentFiles, ThreadDir};

/// A base and a mount in a directory.
pub(super) struct Site {
    _dir: TempDir,
    pub(super) base: PathBuf,
    pub(super) mount: PathBuf,
    pub(super) all: Mounts,
}

fn tree(root: &Path, files: &[(&str, &str)], links: &[(&str, &str)]) {
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }
    for (path, target) in links {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        symlink(target, path).expect("a link");
    }
}

/// A base that has something at `/m` and `/d/m`, where a mount is shown, and links to it.
pub(super) fn site() -> Site {
    let dir = tempfile::tempdir().expect("a directory");
    let (base, mount) = (dir.path().join("threads/t"), dir.path().join("Shared Files"));
    let files = [
        ("a", "base a"),
        ("d/f", "base d f"),
        ("m/hidden", "hidden"),
        ("m/sub/hidden", "hidden"),
        ("d/m/hidden", "hidden"),
        ("real/x", "base x"),
    ];
    let links = [
        ("to-m", "m"),
        ("to-hidden", "m/hidden"),
        ("to-dangling", "m/nothing"),
        ("to-root", "."),
        ("to-d", "d"),
        ("d/up", ".."),
        ("out", "../../Shared Files"),
        ("way", "real"),
        ("real/to-a", "../a"),
    ];
    tree(&base, &files, &links);
    tree(
        &mount,
        &[("x", "mount x"), ("s/y", "mount y")],
        &[("up", "../threads"), ("to-x", "s/../x")],
    );
    let backend = AgentFiles::at_ambient_path(dir.path().join("threads"));
    let backend = Arc::new(backend.thread(None, "t").expect("an id"));
    let shared: Arc<dyn Backend> =
        Arc::new(ThreadDir::at_ambient_path(&mount).expect("a directory"));
    let all = mounts(
        &backend,
        &[("/m", Arc::clone(&shared)), ("/d/m", Arc::clone(&shared)), ("/way/m", shared)],
    );
    Site { _dir: dir, base, mount, all }
}

/// All that the base has, links and all, to see that nothing has changed.
pub(super) fn snapshot(root: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            let found = fs::symlink_metadata(&path).expect("an entry");
            let content = if found.is_dir() {
                todo.push(path.clone());
                String::new()
            } else if found.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("a link").display())
            } else {
                fs::read_to_string(&path).unwrap_or_default()
            };
            all.push((path, content));
        }
    }
    all.sort();
    all
}
