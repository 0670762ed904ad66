//! Where a case takes place: files are planted before, and looked at afterwards, past the tools.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use handhold::backend::{Backend, FileOrder, GlobRequest, View};
use handhold::backends::Memory;

use crate::case::Case;
use crate::{plant, runtime};

/// The text of the files that must never be seen or changed.
pub const CANARY: &str = "CANARY";

/// The thread that cases use.
pub const THREAD: &str = "default";

/// What is in a workspace, by path without a leading slash.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(pub BTreeMap<String, Item>);

/// A thing in a workspace.
#[derive(Debug, PartialEq, Eq)]
pub enum Item {
    /// A file and its permission bits.
    File(Vec<u8>, u32),
    /// A link and what it holds.
    Link(String),
    /// A FIFO.
    Fifo,
}

/// A workspace to test.
pub enum World {
    /// In memory. Shared directories are directories all the same.
    Memory(Memory, Directory),
    /// In a directory.
    Directory(Directory),
}

/// A directory with a root for workspaces, and one outside of it.
pub struct Directory {
    base: tempfile::TempDir,
}

impl Directory {
    /// Makes an empty one.
    ///
    /// # Panics
    /// Panics if that fails.
    #[must_use]
    pub fn new() -> Self {
        let base = tempfile::tempdir_in(crate::scratch_dir()).expect("a directory for a case");
        let directory = Self { base };
        fs::create_dir(directory.outside()).unwrap();
        for name in ["secret.txt", "environ"] {
            fs::write(directory.outside().join(name), CANARY).unwrap();
        }
        directory
    }

    /// The directory that holds all.
    #[must_use]
    pub fn base(&self) -> &Path {
        self.base.path()
    }

    /// The root of all workspaces.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.base.path().join("root")
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.root().join(THREAD)
    }

    /// A directory that no tool may reach.
    #[must_use]
    pub fn outside(&self) -> PathBuf {
        self.base.path().join("outside")
    }

    /// What is in shared directories now: beside the workspaces and the outside.
    ///
    /// # Panics
    /// Panics if it cannot be read.
    #[must_use]
    pub fn shared(&self) -> Snapshot {
        let mut items = BTreeMap::new();
        read_tree(self.base(), "", &mut items);
        items.retain(|path, _| {
            let top = path.split('/').next().unwrap_or_default();
            !["root", "outside", "config.toml", ".handhold"].contains(&top)
        });
        Snapshot(items)
    }

    /// Fails if anything outside was changed.
    ///
    /// # Panics
    /// Panics if so.
    pub fn check_outside(&self) {
        let mut names: Vec<_> =
            fs::read_dir(self.outside()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["environ", "secret.txt"], "the outside has other files");
        for name in names {
            assert_eq!(fs::read_to_string(self.outside().join(name)).unwrap(), CANARY);
        }
        // A half-made file must not stay.
        for records in [self.root(), self.base().to_owned()] {
            if let Ok(tmp) = fs::read_dir(records.join(".handhold/tmp")) {
                let left: Vec<_> = tmp.map(|entry| entry.unwrap().file_name()).collect();
                assert!(left.is_empty(), "half-made files were left: {left:?}");
            }
        }
    }
}

impl Default for Directory {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// The directory that a case takes place in, or beside.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        match self {
            Self::Memory(_, directory) | Self::Directory(directory) => directory,
        }
    }

    /// Makes what a case starts from.
    ///
    /// # Panics
    /// Panics if that fails.
    pub fn plant(&self, case: &Case) {
        plant::tree(self.directory(), self.directory().base(), &case.shared, &case.shared_links);
        match self {
            Self::Memory(memory, _) => plant::memory(memory, case),
            Self::Directory(directory) => plant::directory(directory, case),
        }
    }

    /// Puts the path of the outside in the place of `{outside}`.
    #[must_use]
    pub fn expand(&self, text: &str) -> String {
        text.replace("{outside}", &self.directory().outside().to_string_lossy())
    }

    /// What is in the workspace now.
    ///
    /// # Panics
    /// Panics if it cannot be read.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        match self {
            Self::Memory(memory, _) => snapshot_memory(memory),
            Self::Directory(directory) => {
                let mut items = BTreeMap::new();
                read_tree(&directory.workspace(), "", &mut items);
                Snapshot(items)
            }
        }
    }
}

fn snapshot_memory(memory: &Memory) -> Snapshot {
    let request = GlobRequest {
        path: "/".to_owned(),
        pattern: "**".to_owned(),
        include_ignored: true,
        offload_path: "/large_tool_result".to_owned(),
        order: FileOrder::Path,
        offset: 0,
        limit: u64::MAX,
        max_bytes: u64::MAX,
        time_ms: 60_000,
    };
    let page = runtime()
        .block_on(memory.glob_info(request, &View::default()))
        .expect("memory can be walked");
    let items = page.files.iter().map(|path| {
        let mut content = Vec::new();
        loop {
            let page = runtime()
                .block_on(memory.read_bytes(path, content.len() as u64, 1 << 20))
                .expect("memory can be read");
            if page.data.is_empty() {
                break;
            }
            content.extend(page.data);
        }
        (path.trim_start_matches('/').to_owned(), Item::File(content, 0))
    });
    Snapshot(items.collect())
}

fn read_tree(dir: &Path, prefix: &str, items: &mut BTreeMap<String, Item>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let name = String::from_utf8_lossy(entry.file_name().as_bytes()).into_owned();
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            read_tree(&entry.path(), &path, items);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            items.insert(path, Item::Link(target.to_string_lossy().into_owned()));
        } else if kind.is_file() {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
            let content = fs::read(entry.path()).unwrap_or_default();
            items.insert(path, Item::File(content, mode));
        } else {
            items.insert(path, Item::Fifo);
        }
    }
}
