//! Making what a case starts from, past the tools.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use handhold::backend::{Backend, Condition, WriteRequest};
use handhold::backends::Memory;
use rustix::fs::{CWD, FileType, Mode};

use crate::case::{Case, Content};
use crate::runtime;
use crate::world::Directory;

/// Makes the files and directories of a case in memory.
pub(crate) fn memory(memory: &Memory, case: &Case) {
    runtime().block_on(async {
        for (path, content) in &case.files {
            put(memory, path, content.bytes()).await;
        }
        for path in &case.dirs {
            // A directory is what is left of a file in it.
            let file = format!("{path}/x");
            put(memory, &file, Vec::new()).await;
            memory.remove(&format!("/{file}"), false).await.expect("the file was just made");
        }
    });
}

async fn put(memory: &Memory, path: &str, content: Vec<u8>) {
    let path = format!("/{path}");
    let request = WriteRequest { path, content, condition: Condition::Always, dry_run: false };
    memory.write(request).await.expect("memory can be written");
}

/// Makes all that a case has in its workspace.
pub(crate) fn directory(directory: &Directory, case: &Case) {
    let workspace = directory.workspace();
    let something = !(case.files.is_empty()
        && case.dirs.is_empty()
        && case.links.is_empty()
        && case.fifos.is_empty());
    // A thread that never wrote has no directory.
    if something {
        fs::create_dir_all(&workspace).unwrap();
    }
    for path in &case.dirs {
        fs::create_dir_all(workspace.join(path)).unwrap();
    }
    tree(directory, &workspace, &case.files, &case.links);
    for path in &case.fifos {
        let mode = Mode::RUSR | Mode::WUSR;
        let place = place(&workspace, path);
        rustix::fs::mknodat(CWD, place, FileType::Fifo, mode, 0).unwrap();
    }
    for (path, mode) in &case.modes {
        fs::set_permissions(workspace.join(path), fs::Permissions::from_mode(*mode)).unwrap();
    }
}

/// Makes files and links in a directory of the machine.
pub(crate) fn tree(
    directory: &Directory,
    at: &Path,
    files: &BTreeMap<String, Content>,
    links: &BTreeMap<String, String>,
) {
    for (path, content) in files {
        fs::write(place(at, path), content.bytes()).unwrap();
    }
    let outside = directory.outside();
    for (path, target) in links {
        let target = target.replace("{outside}", &outside.to_string_lossy());
        symlink(target, place(at, path)).unwrap();
    }
}

/// A path whose directory is made.
fn place(at: &Path, path: &str) -> PathBuf {
    let place = at.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    place
}
