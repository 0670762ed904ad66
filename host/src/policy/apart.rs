//! That shared directories and workspaces do not lie in one another.
//!
//! Beside each of them are records: locks, half-made files. In a directory that holds another one,
//! these would be seen and could be changed, and one file would have two locks.

use std::path::{Component, Path, PathBuf};

use super::{PolicyError, SharedDirectory};

/// Checks that no shared directory lies in another one. One may be shared twice.
pub(super) fn check_shared(mounts: &[SharedDirectory]) -> Result<(), PolicyError> {
    for mount in mounts {
        let dir = plain(&mount.dir);
        let around = |other: &&SharedDirectory| {
            let other = plain(&other.dir);
            dir != other && dir.starts_with(other)
        };
        if let Some(other) = mounts.iter().find(around) {
            let (path, other) = (mount.path.clone(), format!("that of `{}`", other.path));
            return Err(PolicyError::Overlap { path, other });
        }
    }
    Ok(())
}

/// Checks that no shared directory holds the directory of all workspaces, or lies in one of them.
/// It may be one: that of a thread.
pub(crate) fn check_workspaces(mounts: &[SharedDirectory], root: &Path) -> Result<(), PolicyError> {
    let root = plain(root);
    for mount in mounts {
        let dir = plain(&mount.dir);
        let is_inside = dir.starts_with(&root) && dir.parent() != Some(&root);
        if root.starts_with(&dir) || is_inside {
            let other = "that of the workspaces".to_owned();
            return Err(PolicyError::Overlap { path: mount.path.clone(), other });
        }
    }
    Ok(())
}

/// A path by its names alone: links in it are not looked at, nor is the current directory.
fn plain(path: &Path) -> PathBuf {
    let mut names = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(names.components().next_back(), Some(Component::Normal(_))) =>
            {
                names.pop();
            }
            part => names.push(part),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(dirs: &[&str]) -> Vec<SharedDirectory> {
        let mount = |dir: &&str| SharedDirectory {
            path: format!("/{}", dir.len()),
            dir: PathBuf::from(dir),
            read_only: true,
        };
        dirs.iter().map(mount).collect()
    }

    fn is_overlap(result: Result<(), PolicyError>) -> bool {
        matches!(result, Err(PolicyError::Overlap { .. }))
    }

    #[test]
    fn one_shared_directory_does_not_lie_in_another() {
        for dirs in [["/s/a", "/s/a/b"], ["a/b/c", "a"], ["a/../b/c", "b"], [".", "x"], ["/", "/x"]]
        {
            assert!(is_overlap(check_shared(&shared(&dirs))), "{dirs:?}");
        }
        for dirs in
            [["/s/a", "/s/b"], ["/s/a", "/s/ab"], ["a", "a"], ["a/../b", "a/c"], ["../a", "a"]]
        {
            assert!(!is_overlap(check_shared(&shared(&dirs))), "{dirs:?}");
        }
        let error = check_shared(&shared(&["/s/a", "/s/a/b"])).expect_err("they overlap");
        let text = "`mounts`: the directory of `/6` and that of `/4` lie in one another";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_shared_directory_does_not_hold_workspaces_or_lie_in_one() {
        let root = Path::new("agent_files");
        for dir in
            [".", "agent_files", "x/../agent_files", "agent_files/t/x", "agent_files/.tenants/a"]
        {
            assert!(is_overlap(check_workspaces(&shared(&[dir]), root)), "{dir}");
        }
        for dir in ["skills", "agent_files2", "agent_files/t", "agent_files/../skills"] {
            assert!(!is_overlap(check_workspaces(&shared(&[dir]), root)), "{dir}");
        }
    }
}
