//! The files that the demonstration plays on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::project::Project;

/// The thread whose directory holds the copy.
pub(crate) const THREAD: &str = "demo";
/// What the file outside the workspace says; no answer may contain it.
pub(crate) const SECRET: &str = "canary-4f1d: nobody inside the workspace may read this";
/// Directories that are no sources.
const NOT_SOURCES: [&str; 2] = ["target", ".git"];

/// The directory of one demonstration.
pub(crate) struct Stage {
    directory: PathBuf,
    copied: usize,
    links: bool,
}

/// A path that names the file outside, and how reading it must be refused.
pub(crate) struct WayOut {
    pub(crate) path: &'static str,
    pub(crate) code: &'static str,
}

impl Stage {
    /// Makes an empty stage and copies the project's sources to the workspace.
    pub(crate) fn prepare(project: &Project) -> Result<Self> {
        let directory = project.target("demo");
        if directory.exists() {
            fs::remove_dir_all(&directory).with_context(|| at(&directory))?;
        }
        let mut stage = Self { directory, copied: 0, links: false };
        stage.copied = stage.copy_sources(project)?;
        write(&stage.canary(), SECRET.as_bytes())?;
        stage.links = plant_links(&stage.workspace())?;
        Ok(stage)
    }

    /// The directory with everything in it.
    pub(crate) fn directory(&self) -> PathBuf {
        self.directory.clone()
    }

    /// The directory of all threads.
    pub(crate) fn threads(&self) -> PathBuf {
        self.directory.join("agent_files")
    }

    /// The workspace of the thread.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.threads().join(THREAD)
    }

    /// How many files were copied.
    pub(crate) fn copied(&self) -> usize {
        self.copied
    }

    /// The paths that would lead to the file outside if anything followed them.
    pub(crate) fn ways_out(&self) -> Vec<WayOut> {
        let mut ways = vec![WayOut { path: "../../outside/canary.txt", code: "invalid-path" }];
        if self.links {
            ways.push(WayOut { path: "/way-out.txt", code: "not-permitted" });
            ways.push(WayOut { path: "/way-out/canary.txt", code: "not-permitted" });
        }
        ways
    }

    /// Fails when the file outside is not as it was.
    pub(crate) fn check_canary(&self) -> Result<()> {
        let canary = self.canary();
        let content = fs::read_to_string(&canary).with_context(|| at(&canary))?;
        ensure!(content == SECRET, "the file outside the workspace was changed");
        Ok(())
    }

    fn canary(&self) -> PathBuf {
        self.directory.join("outside").join("canary.txt")
    }

    /// Copies regular files only; returns how many.
    fn copy_sources(&self, project: &Project) -> Result<usize> {
        let mut copied = 0;
        for file in sources(project)? {
            let from = project.root().join(&file);
            // git also names what was deleted but not committed, and links.
            if !fs::symlink_metadata(&from).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let content = fs::read(&from).with_context(|| at(&from))?;
            write(&self.workspace().join(&file), &content)?;
            copied += 1;
        }
        Ok(copied)
    }
}

/// The project's files, relative to its top directory: what git tracks, or else all there is.
fn sources(project: &Project) -> Result<Vec<PathBuf>> {
    if project.root().join(".git").exists() {
        let listed = process::capture(project.command("git").args(["ls-files", "-z"]));
        if let Ok(output) = listed
            && output.status.success()
            && !output.stdout.is_empty()
        {
            let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
            return Ok(names.split_terminator('\0').map(PathBuf::from).collect());
        }
    }
    let mut files = Vec::new();
    collect(project.root(), Path::new(""), &mut files)?;
    Ok(files)
}

fn collect(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let directory = root.join(below);
    for entry in fs::read_dir(&directory).with_context(|| at(&directory))? {
        let entry = entry.with_context(|| at(&directory))?;
        let kind = entry.file_type().with_context(|| at(&entry.path()))?;
        let file = below.join(entry.file_name());
        if kind.is_dir() {
            if !NOT_SOURCES.iter().any(|name| entry.file_name() == *name) {
                collect(root, &file, files)?;
            }
        } else if kind.is_file() {
            files.push(file);
        }
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| at(parent))?;
    }
    fs::write(path, content).with_context(|| at(path))
}

/// Plants links that lead out of the workspace; says whether this system has them.
#[cfg(unix)]
fn plant_links(workspace: &Path) -> Result<bool> {
    for (link, leads_to) in
        [("way-out.txt", "../../outside/canary.txt"), ("way-out", "../../outside")]
    {
        let link = workspace.join(link);
        std::os::unix::fs::symlink(leads_to, &link).with_context(|| at(&link))?;
    }
    Ok(true)
}

#[cfg(not(unix))]
fn plant_links(_workspace: &Path) -> Result<bool> {
    Ok(false)
}

/// The context of an I/O error.
fn at(path: &Path) -> String {
    format!("at {}", path.display())
}
