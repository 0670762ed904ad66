//! Relations of paths.

use handhold_core::path::WorkspacePath;

/// The directories above a path, without the root, from the top.
pub(super) fn above(path: &WorkspacePath) -> Vec<WorkspacePath> {
    let mut dirs = Vec::new();
    let mut dir = path.parent();
    while let Some(here) = dir.filter(|here| !here.is_root()) {
        dir = here.parent();
        dirs.push(here);
    }
    dirs.reverse();
    dirs
}

/// The path at `rest`, which may be empty, beneath a directory.
pub(super) fn join(dir: &WorkspacePath, rest: &str) -> WorkspacePath {
    if rest.is_empty() { dir.clone() } else { dir.child(rest) }
}

/// What of a relative path comes after `dir`, empty for `dir` itself; none if it is not within.
pub(super) fn beneath<'p>(path: &'p str, dir: &str) -> Option<&'p str> {
    if dir.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(dir)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_count() {
        assert_eq!(beneath("a/b/c", "a/b"), Some("c"));
        assert_eq!(beneath("a/b", "a/b"), Some(""));
        assert_eq!(beneath("a/b", ""), Some("a/b"));
        assert_eq!(beneath("a/bc", "a/b"), None);
        assert_eq!(beneath("a", "a/b"), None);
        let path = |path| WorkspacePath::parse(path).expect("a path");
        assert_eq!(above(&path("/a/b/c")), [path("/a"), path("/a/b")]);
        assert_eq!(above(&path("/a")), []);
        assert_eq!(join(&path("/a"), "b/c"), path("/a/b/c"));
        assert_eq!(join(&path("/"), ""), path("/"));
    }
}
