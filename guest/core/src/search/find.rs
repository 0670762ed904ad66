//! `glob`: which files match a pattern.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, PoisonError};

use super::tree::{Base, Tree, TreeEntry};
use super::walk::{Candidate, Scope, Seen, Visitor, is_gone, walk};
use super::{Budget, storage_error};
use crate::globs::GlobRule;
use crate::types::{ErrorCode, FileKind, FileOrder, GlobPage, GlobRequest, WalkReport};

/// A found file, ordered as the request wants it.
type Key = (Option<Reverse<u64>>, OsString);

/// Finds the files that a request is for.
///
/// # Errors
/// Fails for a malformed pattern, and if the base cannot be read or is a file.
pub fn glob<T: Tree>(
    tree: &T,
    base: Base<'_>,
    request: &GlobRequest,
    budget: &Budget<'_>,
) -> Result<GlobPage, ErrorCode> {
    let rule = GlobRule::new(&request.pattern, base.asked).map_err(ErrorCode::InvalidArguments)?;
    if base.is_file {
        return Err(ErrorCode::NotADirectory);
    }
    let keep = usize::try_from(first_files(request)).unwrap_or(usize::MAX);
    let finder = Finder { rule: &rule, request, keep, found: Mutex::new(Found::default()) };
    let scope = Scope::new(request.include_ignored, &request.offload_path);
    let report = match rule.literal_path() {
        Some(path) => named_file(tree, base, &path, &finder)?,
        None => walk(tree, base, scope, budget, &finder).map_err(|error| storage_error(&error))?,
    };
    let mut found = finder.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.trim(keep);
    let paths = found.keys.into_iter().map(|(_, path)| format!("/{}", path.to_string_lossy()));
    Ok(GlobPage { files: glob_page(paths, request), total: found.total, report })
}

/// How many of the first files that are found can matter to a page.
#[must_use]
pub fn first_files(request: &GlobRequest) -> u64 {
    // A path takes at least two bytes, so that no more than this many can be asked for.
    let wanted = request.limit.min(request.max_bytes / 2 + 1);
    request.offset.saturating_add(wanted)
}

/// The page of the paths that were found, which come in the order of the request.
pub fn glob_page(found: impl IntoIterator<Item = String>, request: &GlobRequest) -> Vec<String> {
    let mut room = usize::try_from(request.max_bytes).unwrap_or(usize::MAX);
    let skip = usize::try_from(request.offset).unwrap_or(usize::MAX);
    found
        .into_iter()
        .skip(skip)
        .take(usize::try_from(request.limit).unwrap_or(usize::MAX))
        .enumerate()
        .take_while(|(n, path)| {
            let fits = path.len() <= room || *n == 0;
            room = room.saturating_sub(path.len());
            fits
        })
        .map(|(_, path)| path)
        .collect()
}

/// Looks at the one file that a pattern without wildcards names.
fn named_file<T: Tree>(
    tree: &T,
    base: Base<'_>,
    path: &str,
    finder: &Finder<'_>,
) -> Result<WalkReport, ErrorCode> {
    let mut scratch = Visitor::<T>::scratch(finder);
    let real = match named_entry(tree, base, path)? {
        Named::File(real) => real,
        Named::Nothing => return Ok(WalkReport::default()),
        Named::Unreadable => return Ok(unreadable(path)),
    };
    let (dir, name) = real.rsplit_once('/').unwrap_or(("", &real));
    let dir = tree.open_dir(OsStr::new(dir)).map_err(|error| storage_error(&error))?;
    let candidate = Candidate { tree, dir: &dir, name: OsStr::new(name), path: OsStr::new(path) };
    let seen = finder.visit(&mut scratch, &candidate);
    Visitor::<T>::finish(finder, scratch);
    Ok(match seen {
        Seen::Unreadable => unreadable(path),
        _ => WalkReport { files: 1, ..WalkReport::default() },
    })
}

/// The report of a search that could not read the one thing it was for.
pub(super) fn unreadable(path: &str) -> WalkReport {
    let unreadable = vec![format!("/{path}")];
    WalkReport { unreadable, unreadable_count: 1, ..WalkReport::default() }
}

/// What a path without wildcards names.
pub(super) enum Named {
    /// A regular file, and where it really is.
    File(String),
    /// Nothing beneath the base, or no regular file.
    Nothing,
    /// Something that cannot be looked at.
    Unreadable,
}

/// Finds what the shown `path` names.
pub(super) fn named_entry<T: Tree>(
    tree: &T,
    base: Base<'_>,
    path: &str,
) -> Result<Named, ErrorCode> {
    tree.open_dir(OsStr::new(base.real)).map_err(|error| storage_error(&error))?;
    let rest = if base.shown.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(base.shown).and_then(|rest| rest.strip_prefix('/'))
    };
    let Some(rest) = rest else { return Ok(Named::Nothing) };
    let real = if base.real.is_empty() { rest.to_owned() } else { format!("{}/{rest}", base.real) };
    let (dir, name) = real.rsplit_once('/').unwrap_or(("", &real));
    match tree.open_dir(OsStr::new(dir)).and_then(|dir| tree.entries(&dir)) {
        Ok(entries) => {
            let is_it = |entry: &TreeEntry| entry.name == name && entry.kind == FileKind::File;
            let found = entries.iter().any(is_it);
            Ok(if found { Named::File(real) } else { Named::Nothing })
        }
        Err(error) if is_gone(&error) => Ok(Named::Nothing),
        Err(_) => Ok(Named::Unreadable),
    }
}

#[derive(Default)]
struct Found {
    keys: Vec<Key>,
    total: u64,
}

impl Found {
    /// Keeps the first `keep` files.
    fn trim(&mut self, keep: usize) {
        self.keys.sort_unstable();
        self.keys.truncate(keep);
    }
}

struct Finder<'a> {
    rule: &'a GlobRule,
    request: &'a GlobRequest,
    keep: usize,
    found: Mutex<Found>,
}

impl<T: Tree> Visitor<T> for Finder<'_> {
    type Scratch = Found;

    fn scratch(&self) -> Found {
        Found::default()
    }

    fn wants(&self, path: &OsStr) -> bool {
        self.rule.matches(&path.to_string_lossy())
    }

    fn lifts_ignores_of_files(&self) -> bool {
        self.rule.is_literal()
    }

    fn visit(&self, found: &mut Found, file: &Candidate<'_, T>) -> Seen {
        let modified = match self.request.order {
            FileOrder::Path => None,
            FileOrder::Modified => match file.tree.modified(file.dir, file.name) {
                Ok(time) => Some(Reverse(time)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Seen::Gone,
                Err(_) => return Seen::Unreadable,
            },
        };
        found.total += 1;
        found.keys.push((modified, file.path.to_owned()));
        if found.keys.len() / 2 > self.keep {
            found.trim(self.keep);
        }
        Seen::Done
    }

    fn finish(&self, mut found: Found) {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        all.total += found.total;
        all.keys.append(&mut found.keys);
    }
}
