//! What a tree takes.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

use handhold_core::types::{ErrorCode, FileKind};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::errors::code;
use super::resolve::open_dir;
use super::stat;

/// How often counting starts over because directories were moved meanwhile.
const ATTEMPTS: usize = 8;

/// What a tree takes, the top itself not counted.
pub(super) struct Taken {
    /// The sizes of regular files together; one with two names counts twice.
    pub(super) bytes: u64,
    /// Files, links, special files and directories.
    pub(super) files: u64,
    /// The first and the last change of anything in it, in milliseconds since the Unix epoch.
    pub(super) oldest: u64,
    pub(super) newest: u64,
}

/// A directory on the way from the top to where the count is.
struct Level {
    /// What tells it from others.
    id: (u64, u64),
    name: OsString,
    /// The directories in it that are still to be counted.
    todo: Vec<OsString>,
}

/// Adds up a tree without following links. Two directories are open at a time, however deep the
/// tree is; what is held of it is the names of directories that are still to come.
pub(super) fn measure(top: &OwnedFd, cancelled: &AtomicBool) -> Result<Taken, ErrorCode> {
    for _ in 0..ATTEMPTS {
        if let Some(taken) = try_measure(top, cancelled)? {
            return Ok(taken);
        }
    }
    Err(ErrorCode::Unavailable("the workspace keeps changing".to_owned()))
}

/// Adds up a tree; none if directories were moved meanwhile.
fn try_measure(top: &OwnedFd, cancelled: &AtomicBool) -> Result<Option<Taken>, ErrorCode> {
    let first = changed(&rustix::fs::fstat(top).map_err(code)?);
    let mut taken = Taken { bytes: 0, files: 0, oldest: first, newest: first };
    let mut here = open_dir(top, OsStr::new(".")).map_err(code)?;
    let mut levels = vec![taken.add(&here, OsString::new())?];
    while let Some(level) = levels.last_mut() {
        if cancelled.load(Ordering::Relaxed) {
            return Err(ErrorCode::Cancelled);
        }
        if let Some(name) = level.todo.pop() {
            match open_dir(&here, &name) {
                Ok(dir) => here = dir,
                // It is gone, or was exchanged.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                Err(errno) => return Err(code(errno)),
            }
            levels.push(taken.add(&here, name)?);
            continue;
        }
        levels.pop();
        let Some(above) = levels.last() else { break };
        // It may have been moved meanwhile, and be in another one now.
        here = match open_dir(&here, OsStr::new("..")) {
            Ok(dir) if id(&dir)? == above.id => dir,
            _ => match open_again(top, &levels)? {
                Some(dir) => dir,
                None => return Ok(None),
            },
        };
    }
    Ok(Some(taken))
}

impl Taken {
    /// Adds what is in a directory.
    fn add(&mut self, dir: &OwnedFd, name: OsString) -> Result<Level, ErrorCode> {
        let mut todo = Vec::new();
        for entry in rustix::fs::Dir::read_from(dir).map_err(code)? {
            let entry = entry.map_err(code)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let found = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => found,
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(code(errno)),
            };
            self.files += 1;
            self.oldest = self.oldest.min(changed(&found));
            self.newest = self.newest.max(changed(&found));
            match stat::kind(&found) {
                FileKind::File => self.bytes = self.bytes.saturating_add(stat::size(&found)),
                FileKind::Directory => todo.push(OsStr::from_bytes(name.to_bytes()).to_owned()),
                FileKind::Link | FileKind::Other => {}
            }
        }
        Ok(Level { id: id(dir)?, name, todo })
    }
}

/// Opens the directory that the count has come back to by its names; none if it is another now.
fn open_again(top: &OwnedFd, levels: &[Level]) -> Result<Option<OwnedFd>, ErrorCode> {
    let mut dir = open_dir(top, OsStr::new(".")).map_err(code)?;
    for level in levels.iter().skip(1) {
        dir = match open_dir(&dir, &level.name) {
            Ok(dir) => dir,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => return Err(code(errno)),
        };
    }
    let is_same = levels.last().is_some_and(|level| id(&dir).is_ok_and(|id| id == level.id));
    Ok(is_same.then_some(dir))
}

fn changed(found: &rustix::fs::Stat) -> u64 {
    stat::modified(found) / 1_000_000
}

/// What tells a directory from others.
#[expect(clippy::useless_conversion, reason = "the types of the fields differ between systems")]
fn id(dir: &OwnedFd) -> Result<(u64, u64), ErrorCode> {
    let found = rustix::fs::fstat(dir).map_err(code)?;
    Ok((u64::from(found.st_dev), u64::from(found.st_ino)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rustix::fs::{CWD, Mode};

    use super::*;
    use crate::backends::thread_dir::root::OPEN_DIR;

    fn count(top: &std::path::Path) -> (u64, u64) {
        let top = rustix::fs::openat(CWD, top, OPEN_DIR, Mode::empty()).expect("a directory");
        let taken = measure(&top, &AtomicBool::new(false)).expect("a count");
        (taken.bytes, taken.files)
    }

    /// Makes directories in each other, and gives the deepest one.
    fn nest(top: &std::path::Path, depth: usize) -> OwnedFd {
        let mut dir = rustix::fs::openat(CWD, top, OPEN_DIR, Mode::empty()).expect("a directory");
        for _ in 0..depth {
            rustix::fs::mkdirat(&dir, "d", Mode::RWXU).expect("made");
            dir = open_dir(&dir, OsStr::new("d")).expect("a directory");
        }
        dir
    }

    #[test]
    fn deep_trees_take_linear_time() {
        const DEPTH: usize = 20_000;
        let base = tempfile::tempdir().expect("a directory");
        let start = Instant::now();
        drop(nest(base.path(), DEPTH));
        let made = start.elapsed();
        let start = Instant::now();
        assert_eq!(count(base.path()), (0, DEPTH as u64));
        let counted = start.elapsed();
        assert!(counted < 10 * made + Duration::from_secs(1), "{counted:?}, made in {made:?}");
        // Too deep for the standard library: the middle is moved up, over and over.
        let removed = std::process::Command::new("rm").arg("-rf").arg(base.path()).status();
        assert!(removed.is_ok_and(|status| status.success()));
    }

    #[test]
    fn siblings_on_all_levels_are_counted() {
        let base = tempfile::tempdir().expect("a directory");
        for path in ["a/b/c", "a/d/e", "f/g", "f/h/i/j"] {
            std::fs::create_dir_all(base.path().join(path)).expect("made");
            std::fs::write(base.path().join(path).join("file"), "12").expect("written");
        }
        assert_eq!(count(base.path()), (8, 14));
    }

    #[test]
    fn directories_that_move_about_do_not_lead_out() {
        let base = tempfile::tempdir().expect("a directory");
        let (top, away) = (base.path().join("top"), base.path().join("away"));
        std::fs::create_dir_all(top.join("a/b/c/d")).expect("made");
        std::fs::create_dir_all(away.join("x/y")).expect("made");
        for n in 0..50 {
            std::fs::write(away.join(format!("{n}")), "outside").expect("written");
        }
        let end = Instant::now() + Duration::from_millis(500);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while Instant::now() < end {
                    std::fs::rename(top.join("a/b"), away.join("x/y/b")).expect("moved");
                    std::fs::rename(away.join("x/y/b"), top.join("a/b")).expect("moved");
                }
            });
            while Instant::now() < end {
                let open = rustix::fs::openat(CWD, &top, OPEN_DIR, Mode::empty()).expect("open");
                if let Ok(taken) = measure(&open, &AtomicBool::new(false)) {
                    assert_eq!(taken.bytes, 0, "it has counted what is outside");
                }
            }
        });
    }
}
