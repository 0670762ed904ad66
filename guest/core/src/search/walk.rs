//! A walk through a tree on several threads, nearly in path order.
//!
//! Pending work is a stack with the first path on top, so that a visitor that needs only the
//! first results can end the walk early. A directory is opened when its turn comes and closed
//! before the next, so that the number of open descriptors does not depend on the tree.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Budget;
use super::ignores::{Ignores, is_left_out};
use super::report::named;
use super::tree::{Base, Tree, TreeEntry, join};
use crate::types::{FileKind, WalkReport};

/// How many files of one directory are one piece of work.
const BATCH_FILES: usize = 128;

/// How many pieces of work must be pending before further threads are started: fewer are done
/// sooner than threads are made.
const PENDING_BEFORE_THREADS: usize = 8;

/// What a walk is for.
pub(super) trait Visitor<T: Tree>: Sync {
    /// What one thread keeps from file to file.
    type Scratch;

    /// Makes the scratch of a thread.
    fn scratch(&self) -> Self::Scratch;

    /// Whether a file of this path is wanted at all. Called before it is opened.
    fn wants(&self, path: &OsStr) -> bool;

    /// Whether results at or after this path cannot matter any more.
    fn is_past(&self, _path: &OsStr) -> bool {
        false
    }

    /// Whether ignore rules are lifted for files (not for directories).
    fn lifts_ignores_of_files(&self) -> bool {
        false
    }

    /// Looks at one file.
    fn visit(&self, scratch: &mut Self::Scratch, file: &Candidate<'_, T>) -> Seen;

    /// Takes over what a thread has gathered.
    fn finish(&self, scratch: Self::Scratch);
}

/// A file that a visitor may open.
pub(super) struct Candidate<'a, T: Tree> {
    pub(super) tree: &'a T,
    pub(super) dir: &'a T::Dir,
    pub(super) name: &'a OsStr,
    /// The path to show, relative to the root.
    pub(super) path: &'a OsStr,
}

/// What became of a file.
pub(super) enum Seen {
    /// It was looked at.
    Done,
    /// It is gone, or no regular file any more.
    Gone,
    /// It is binary.
    Binary,
    /// It could not be read.
    Unreadable,
    /// The time ran out in the middle of it.
    Stopped,
}

/// Which files a walk sees.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    include_ignored: bool,
    /// The directory of off-loaded results, relative to the root.
    offloaded: &'a OsStr,
}

impl<'a> Scope<'a> {
    /// The files that a request is for.
    pub(super) fn new(include_ignored: bool, offload_path: &'a str) -> Self {
        Self { include_ignored, offloaded: OsStr::new(offload_path.trim_start_matches('/')) }
    }
}

/// Walks what lies at `base`.
///
/// # Errors
/// Fails if `base` itself cannot be read.
pub(super) fn walk<T: Tree, V: Visitor<T>>(
    tree: &T,
    base: Base<'_>,
    scope: Scope<'_>,
    budget: &Budget<'_>,
    visitor: &V,
) -> io::Result<WalkReport> {
    let walk = Walk {
        tree,
        visitor,
        budget,
        scope,
        real: OsStr::new(base.real),
        shown: OsStr::new(base.shown),
        root: OsStr::new(base.root),
        queue: Mutex::new(Queue { pending: Vec::new(), working: 0, over: false }),
        changed: Condvar::new(),
        report: Mutex::new(Unordered::default()),
    };
    walk.run(base)
}

/// A piece of work.
enum Work {
    Dir { path: OsString, ignores: Option<Arc<Ignores>> },
    Files { dir: OsString, names: Vec<OsString> },
}

struct Queue {
    /// The next piece is the last one.
    pending: Vec<Work>,
    /// How many threads are on a piece and may add others.
    working: usize,
    /// Whether nothing further is to be done.
    over: bool,
}

/// A report in the making; unreadable paths in no order yet.
#[derive(Default)]
struct Unordered {
    report: WalkReport,
    unreadable: Vec<OsString>,
}

struct Walk<'a, T: Tree, V: Visitor<T>> {
    tree: &'a T,
    visitor: &'a V,
    budget: &'a Budget<'a>,
    scope: Scope<'a>,
    real: &'a OsStr,
    shown: &'a OsStr,
    root: &'a OsStr,
    queue: Mutex<Queue>,
    changed: Condvar,
    report: Mutex<Unordered>,
}

impl<T: Tree, V: Visitor<T>> Walk<'_, T, V> {
    fn run(&self, base: Base<'_>) -> io::Result<WalkReport> {
        let mut scratch = self.visitor.scratch();
        let mut notes = Unordered::default();
        if base.is_file {
            let (dir, name) = split(self.real);
            let open = self.tree.open_dir(dir)?;
            self.file(&open, name, self.shown, &mut scratch, &mut notes);
        } else {
            let dir = self.tree.open_dir(self.real)?;
            let entries = self.tree.entries(&dir)?;
            let above = self.rules_above(&mut notes);
            self.enter(&dir, self.real, entries, above, &mut scratch, &mut notes);
            self.work_on_several(&mut scratch, &mut notes);
        }
        self.visitor.finish(scratch);
        self.merge(notes);
        let notes = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let mut report = notes.report.clone();
        let mut unreadable: Vec<String> =
            notes.unreadable.iter().map(|path| format!("/{}", path.to_string_lossy())).collect();
        unreadable.sort();
        unreadable.dedup();
        report.unreadable_count = unreadable.len() as u64;
        report.unreadable = named(unreadable);
        Ok(report)
    }

    /// Does pending work here, and on further threads once there is enough of it.
    fn work_on_several(&self, scratch: &mut V::Scratch, notes: &mut Unordered) {
        while self.lock().pending.len() < PENDING_BEFORE_THREADS || self.budget.threads == 1 {
            let Some(work) = self.take() else { return };
            self.piece(work, scratch, notes);
            self.done();
        }
        std::thread::scope(|scope| {
            for _ in 1..self.budget.threads {
                let thread = std::thread::Builder::new().spawn_scoped(scope, || {
                    let mut scratch = self.visitor.scratch();
                    let mut notes = Unordered::default();
                    self.work(&mut scratch, &mut notes);
                    self.visitor.finish(scratch);
                    self.merge(notes);
                });
                // Where no thread is to be had, fewer do the work.
                if thread.is_err() {
                    break;
                }
            }
            self.work(scratch, notes);
        });
    }

    fn work(&self, scratch: &mut V::Scratch, notes: &mut Unordered) {
        while let Some(work) = self.take() {
            // A thread that panics must not leave the others waiting.
            let guard = Done(self);
            self.piece(work, scratch, notes);
            drop(guard);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece of work; none when all is done.
    fn take(&self) -> Option<Work> {
        let mut queue = self.lock();
        loop {
            if queue.over {
                return None;
            }
            if let Some(work) = queue.pending.pop() {
                queue.working += 1;
                return Some(work);
            }
            if queue.working == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self) {
        let mut queue = self.lock();
        queue.working -= 1;
        if queue.working == 0 {
            self.changed.notify_all();
        }
    }

    fn add(&self, work: Vec<Work>) {
        if work.is_empty() {
            return;
        }
        let mut queue = self.lock();
        queue.pending.extend(work);
        self.changed.notify_all();
    }

    fn stop(&self, notes: &mut Unordered) {
        notes.report.stopped = true;
        let mut queue = self.lock();
        queue.over = true;
        queue.pending.clear();
        self.changed.notify_all();
    }

    fn piece(&self, work: Work, scratch: &mut V::Scratch, notes: &mut Unordered) {
        match work {
            Work::Dir { path, ignores } => {
                if self.visitor.is_past(&self.show(&path)) {
                    return;
                }
                if self.budget.is_over() {
                    return self.stop(notes);
                }
                let opened = self
                    .tree
                    .open_dir(&path)
                    .and_then(|dir| self.tree.entries(&dir).map(|entries| (dir, entries)));
                match opened {
                    Ok((dir, entries)) => {
                        self.enter(&dir, &path, entries, ignores, scratch, notes);
                    }
                    // It is gone, or was exchanged for something that is no directory.
                    Err(error) if is_gone(&error) => {}
                    Err(_) => notes.unreadable.push(join(&self.show(&path), OsStr::new(""))),
                }
            }
            Work::Files { dir, names } => match self.tree.open_dir(&dir) {
                Ok(open) => self.files(&open, &dir, &names, scratch, notes),
                Err(error) if is_gone(&error) => {}
                Err(_) => notes.unreadable.push(join(&self.show(&dir), OsStr::new(""))),
            },
        }
    }

    /// Looks at the files of a directory and leaves its directories for later.
    fn enter(
        &self,
        dir: &T::Dir,
        path: &OsStr,
        mut entries: Vec<TreeEntry>,
        above: Option<Arc<Ignores>>,
        scratch: &mut V::Scratch,
        notes: &mut Unordered,
    ) {
        let ignores = if self.scope.include_ignored {
            None
        } else {
            let mut unreadable = Vec::new();
            let rules = Ignores::enter(above, self.tree, dir, path, &entries, &mut unreadable);
            notes.unreadable.extend(unreadable.iter().map(|path| self.show(path)));
            rules
        };
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut names = Vec::new();
        let mut dirs = Vec::new();
        for entry in entries {
            let is_dir = entry.kind == FileKind::Directory;
            if !is_dir && entry.kind != FileKind::File {
                continue;
            }
            let ruled = is_dir || (ignores.is_some() && !self.visitor.lifts_ignores_of_files());
            if ruled && !self.scope.include_ignored {
                let full = join(path, &entry.name);
                if is_left_out(ignores.as_deref(), self.scope.offloaded, &full, &entry.name, is_dir)
                {
                    notes.report.ignored = true;
                    continue;
                }
            }
            if is_dir {
                dirs.push(Work::Dir { path: join(path, &entry.name), ignores: ignores.clone() });
            } else {
                names.push(entry.name);
            }
        }
        // The first path goes on top: directories last to first, then later batches of files.
        let mut work: Vec<Work> = dirs.into_iter().rev().collect();
        let rest = names.split_off(names.len().min(BATCH_FILES));
        let batches: Vec<Work> = rest
            .chunks(BATCH_FILES)
            .map(|chunk| Work::Files { dir: path.to_owned(), names: chunk.to_vec() })
            .collect();
        work.extend(batches.into_iter().rev());
        self.add(work);
        self.files(dir, path, &names, scratch, notes);
    }

    fn files(
        &self,
        dir: &T::Dir,
        path: &OsStr,
        names: &[OsString],
        scratch: &mut V::Scratch,
        notes: &mut Unordered,
    ) {
        let shown = self.show(path);
        // A name that is not UTF-8 cannot be asked for, nor can what lies beneath it.
        let path_opens = path.to_str().is_some();
        for name in names {
            if self.budget.is_over() {
                return self.stop(notes);
            }
            let path = join(&shown, name);
            if self.visitor.is_past(&path) {
                continue;
            }
            let opens = path_opens && name.to_str().is_some();
            notes.report.undecodable += u64::from(!opens && self.visitor.wants(&path));
            self.file(dir, name, &path, scratch, notes);
        }
    }

    fn file(
        &self,
        dir: &T::Dir,
        name: &OsStr,
        path: &OsStr,
        scratch: &mut V::Scratch,
        notes: &mut Unordered,
    ) {
        if !self.visitor.wants(path) {
            return;
        }
        let candidate = Candidate { tree: self.tree, dir, name, path };
        match self.visitor.visit(scratch, &candidate) {
            Seen::Done => notes.report.files += 1,
            Seen::Gone => {}
            Seen::Binary => notes.report.binary += 1,
            Seen::Unreadable => notes.unreadable.push(path.to_owned()),
            Seen::Stopped => self.stop(notes),
        }
    }

    /// The path to show for a real one.
    fn show(&self, real: &OsStr) -> OsString {
        if self.real == self.shown {
            return real.to_owned();
        }
        let bytes = real.as_encoded_bytes();
        let rest = bytes.get(self.real.len()..).unwrap_or_default();
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        // Both ends of the cut are at a slash or at an end, so that the rest is well formed.
        let rest = String::from_utf8_lossy(rest);
        if rest.is_empty() { self.shown.to_owned() } else { join(self.shown, OsStr::new(&*rest)) }
    }

    /// The rules above the base. Who names a thing means it: if they exclude the base, none.
    fn rules_above(&self, notes: &mut Unordered) -> Option<Arc<Ignores>> {
        if self.scope.include_ignored {
            return None;
        }
        let mut rules: Option<Arc<Ignores>> = None;
        let mut here = OsString::new();
        let real = self.real.to_string_lossy();
        for name in real.split('/').filter(|name| !name.is_empty()) {
            // What cannot be read up here has no rules for what lies beneath.
            if let Ok(dir) = self.tree.open_dir(&here)
                && let Ok(entries) = self.tree.entries(&dir)
            {
                let mut unreadable = Vec::new();
                rules = Ignores::enter(rules, self.tree, &dir, &here, &entries, &mut unreadable);
                notes.unreadable.extend(unreadable.iter().map(|path| join(self.root, path)));
            }
            let name = OsStr::new(name);
            here = join(&here, name);
            if is_left_out(rules.as_deref(), self.scope.offloaded, &here, name, true) {
                return None;
            }
        }
        rules
    }

    fn merge(&self, notes: Unordered) {
        let mut all = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        all.report.files += notes.report.files;
        all.report.binary += notes.report.binary;
        all.report.undecodable += notes.report.undecodable;
        all.report.ignored |= notes.report.ignored;
        all.report.stopped |= notes.report.stopped;
        all.unreadable.extend(notes.unreadable);
    }
}

/// Ends a piece of work, whatever happened in it.
struct Done<'a, 'w, T: Tree, V: Visitor<T>>(&'a Walk<'w, T, V>);

impl<T: Tree, V: Visitor<T>> Drop for Done<'_, '_, T, V> {
    fn drop(&mut self) {
        self.0.done();
    }
}

/// Whether something was removed or exchanged while the walk went on.
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Parts a path into its directory and its name.
fn split(path: &OsStr) -> (&OsStr, &OsStr) {
    let path = std::path::Path::new(path);
    (
        path.parent().unwrap_or(std::path::Path::new("")).as_os_str(),
        path.file_name().unwrap_or_default(),
    )
}
