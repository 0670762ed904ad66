//! Ignore rules: `.gitignore` and `.ignore` files as git reads them, and what walks leave out.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::tree::{Tree, TreeEntry, join};
use crate::limits::{MAX_IGNORE_FILE_BYTES, VCS_DIRECTORIES};
use crate::types::FileKind;

const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The rules of one directory and of those above it.
#[derive(Debug)]
pub(super) struct Ignores {
    above: Option<Arc<Ignores>>,
    /// By the order of [`IGNORE_FILES`]: a rule of the first wins over all of the second.
    files: [Option<Gitignore>; 2],
}

impl Ignores {
    /// The rules in a directory: those above, and those of its own ignore files.
    ///
    /// Ignore files that cannot be read are pushed onto `unreadable`.
    pub(super) fn enter<T: Tree>(
        above: Option<Arc<Self>>,
        tree: &T,
        dir: &T::Dir,
        path: &OsStr,
        entries: &[TreeEntry],
        unreadable: &mut Vec<OsString>,
    ) -> Option<Arc<Self>> {
        let mut files = [None, None];
        for (name, slot) in IGNORE_FILES.iter().zip(&mut files) {
            let name = OsStr::new(name);
            if entries.iter().any(|entry| entry.kind == FileKind::File && entry.name == name) {
                match load(tree, dir, path, name) {
                    Some(rules) => *slot = Some(rules),
                    None => unreadable.push(join(path, name)),
                }
            }
        }
        if files.iter().all(Option::is_none) {
            return above;
        }
        Some(Arc::new(Self { above, files }))
    }

    /// Whether rules exclude the entry at `path`.
    fn excludes(&self, path: &Path, is_dir: bool) -> bool {
        for which in 0..IGNORE_FILES.len() {
            let mut level = Some(self);
            while let Some(here) = level {
                if let Some(Some(rules)) = here.files.get(which) {
                    match rules.matched(path, is_dir) {
                        Match::Ignore(_) => return true,
                        Match::Whitelist(_) => return false,
                        Match::None => {}
                    }
                }
                level = here.above.as_deref();
            }
        }
        false
    }
}

/// Whether a walk leaves out the entry at `path`; `offloaded` is the directory of results.
pub(super) fn is_left_out(
    rules: Option<&Ignores>,
    offloaded: &OsStr,
    path: &OsStr,
    name: &OsStr,
    is_dir: bool,
) -> bool {
    if is_dir && (path == offloaded || VCS_DIRECTORIES.iter().any(|vcs| name == *vcs)) {
        return true;
    }
    rules.is_some_and(|rules| rules.excludes(&from_root(path), is_dir))
}

/// Reads an ignore file; none if that fails.
fn load<T: Tree>(tree: &T, dir: &T::Dir, path: &OsStr, name: &OsStr) -> Option<Gitignore> {
    let file = tree.open_file(dir, name).ok()??;
    if file.size > MAX_IGNORE_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.reader.take(MAX_IGNORE_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(from_root(path));
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // A line that is no pattern is passed over, as git does.
        drop(builder.add_line(None, &without_braces(line)));
    }
    builder.build().ok()
}

/// A line of an ignore file with its braces escaped: to git they are ordinary characters, and to
/// the builder they are not.
fn without_braces(line: &str) -> Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 4);
    let (mut escaped, mut in_class) = (false, false);
    for c in line.chars() {
        if matches!(c, '{' | '}') && !escaped && !in_class {
            out.push('\\');
        }
        match c {
            '[' if !escaped => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    Cow::Owned(out)
}

/// The path with the leading slash that the rules compare with.
fn from_root(path: &OsStr) -> PathBuf {
    let mut full = OsString::with_capacity(path.len() + 1);
    full.push("/");
    full.push(path);
    PathBuf::from(full)
}
