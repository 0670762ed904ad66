//! A directory of the machine that is no thread's.

use std::path::Path;
use std::sync::Arc;

use super::ThreadDir;
use super::id::ThreadId;
use super::resolve::Links;
use super::root::{AgentFiles, RECORDS, TENANTS};

/// What is wrong with the path of a shared directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SharedDirError {
    /// The path does not end in a name.
    #[error("the path of the directory does not end in a name")]
    NoName,
    /// The name is not UTF-8.
    #[error("the name of the directory is not UTF-8")]
    NotUtf8,
    /// The name is one under which the library keeps records, or the threads of tenants.
    #[error("the directory has a name that is reserved for the library's own")]
    Reserved,
}

impl ThreadDir {
    /// A directory of the machine as a workspace, whatever its name is: one that several workspaces
    /// show, say.
    ///
    /// Does no I/O. A directory that does not exist is an empty one to readers; the first write
    /// makes it. It must not be a link itself, or every use is `not-a-directory`; on the way to it
    /// links are followed.
    ///
    /// What is written is kept first, for a moment, in `.handhold` **beside** the directory, with
    /// the locks that all its users share. So its parent must be writable for whoever writes; who
    /// only reads makes nothing, but for a record of the use if `.handhold` is there already. If the parent is the root of threads, the directory is the
    /// workspace of the thread with its name.
    ///
    /// # Errors
    /// Fails for a path that does not end in a name (`/`, `..`), or in one that is not UTF-8, or in
    /// `.handhold` or `.tenants`.
    pub fn at_ambient_path(dir: impl AsRef<Path>) -> Result<Self, SharedDirError> {
        let dir = dir.as_ref();
        let name = dir.file_name().ok_or(SharedDirError::NoName)?;
        let name = name.to_str().ok_or(SharedDirError::NotUtf8)?.to_owned();
        if name == RECORDS || name == TENANTS {
            return Err(SharedDirError::Reserved);
        }
        let parent = match dir.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let root = AgentFiles::at_ambient_path(parent).root;
        let id = ThreadId { tenant: None, thread: name.clone(), names: vec![name] };
        Ok(Self { root, id: Arc::new(id), links: Links::Follow })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::backend::{Backend, Condition, ErrorCode, WriteRequest};

    fn request(path: &str) -> WriteRequest {
        WriteRequest {
            path: path.to_owned(),
            content: b"new".to_vec(),
            condition: Condition::Always,
            dry_run: false,
        }
    }

    #[tokio::test]
    async fn any_name_is_taken_as_it_is_and_reading_makes_nothing() {
        let base = tempfile::tempdir().expect("a directory");
        let parent = base.path().join("parent");
        for name in ["My Skills @ 2", ".hidden", "UPPER", "con", "ü"] {
            let dir = ThreadDir::at_ambient_path(parent.join(name)).expect("a name");
            let page = dir.ls_info("/", 0, 10).await.expect("an empty root");
            assert_eq!((page.total, page.is_directory), (0, true));
            assert_eq!(dir.read_bytes("/x", 0, 1).await, Err(ErrorCode::NotFound));
            assert!(!parent.exists());
        }
        fs::create_dir_all(parent.join("My Skills @ 2")).expect("a directory");
        fs::write(parent.join("My Skills @ 2/a"), "old").expect("a file");
        let dir = ThreadDir::at_ambient_path(parent.join("My Skills @ 2/")).expect("a name");
        assert_eq!(dir.ls_info("/", 0, 10).await.expect("a page").entries[0].path, "/a");
        assert_eq!(fs::read_dir(&parent).expect("entries").count(), 1);
        dir.write(request("/sub/b")).await.expect("a write");
        assert_eq!(fs::read(parent.join("My Skills @ 2/sub/b")).expect("a file"), b"new");
        let mut names: Vec<_> = fs::read_dir(&parent)
            .expect("entries")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        assert_eq!(names, [".handhold", "My Skills @ 2"]);
        // It does not show what lies beside it.
        assert_eq!(dir.ls_info("/", 0, 10).await.expect("a page").total, 2);
    }

    #[tokio::test]
    async fn a_missing_directory_is_made_by_the_first_write() {
        let base = tempfile::tempdir().expect("a directory");
        let path = base.path().join("a/b/Shared");
        let dir = ThreadDir::at_ambient_path(&path).expect("a name");
        dir.write(request("/x")).await.expect("a write");
        assert_eq!(fs::read(path.join("x")).expect("a file"), b"new");
    }

    #[tokio::test]
    async fn a_link_is_not_taken_for_the_directory() {
        let base = tempfile::tempdir().expect("a directory");
        let canary = base.path().join("elsewhere");
        fs::create_dir(&canary).expect("a directory");
        fs::write(canary.join("x"), "canary").expect("a file");
        symlink(&canary, base.path().join("link")).expect("a link");
        let dir = ThreadDir::at_ambient_path(base.path().join("link")).expect("a name");
        assert_eq!(dir.read_bytes("/x", 0, 9).await, Err(ErrorCode::NotADirectory));
        assert_eq!(dir.ls_info("/", 0, 9).await, Err(ErrorCode::NotADirectory));
        assert_eq!(dir.write(request("/x")).await, Err(ErrorCode::NotADirectory));
        assert_eq!(fs::read(canary.join("x")).expect("a file"), b"canary");
    }

    #[test]
    fn paths_without_a_name_of_their_own_are_refused() {
        let refused = |path: &str| ThreadDir::at_ambient_path(path).err();
        assert_eq!(refused("/"), Some(SharedDirError::NoName));
        assert_eq!(refused(""), Some(SharedDirError::NoName));
        assert_eq!(refused("a/.."), Some(SharedDirError::NoName));
        assert_eq!(refused("/a/.handhold"), Some(SharedDirError::Reserved));
        assert_eq!(refused("/a/.tenants"), Some(SharedDirError::Reserved));
        assert_eq!(refused("a"), None);
    }
}
