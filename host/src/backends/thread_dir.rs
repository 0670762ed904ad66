//! Workspaces as directories of the machine: one for each thread, beneath one root.
//!
//! ```text
//! {root}/{thread}/…                  a workspace, and nothing else
//! {root}/.tenants/{tenant}/{thread}/…
//! {root}/.handhold/tmp/              half-made files, never visible to a tool
//! {root}/.handhold/locks/            what serialises changes between threads and processes
//! {root}/.handhold/threads/          one record for each thread: whose it is, when it was used
//! {root}/.handhold/usage/            what each thread takes, and whose turn it is to change it
//! {root}/.handhold/snapshots/        what threads were at earlier moments
//! ```
//!
//! Everything is done relative to held descriptors, one name at a time, without following a link
//! by accident: `resolve` expands links itself and refuses those that lead out. What is exchanged
//! between two steps makes a step fail; it cannot redirect it.

mod change;
mod draft;
mod errors;
mod id;
mod ledger;
mod life;
mod locks;
mod measure;
mod names;
mod read;
mod remove;
mod rename;
mod resolve;
mod root;
mod shared;
mod snapshots;
mod stat;
mod threads;
mod tree;
mod write;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest, Removed, WriteRequest, Written,
};

use self::draft::ThreadDraft;
use self::id::ThreadId;
pub use self::ledger::FileLedger;
use self::life::Hold;
pub use self::names::IdError;
use self::resolve::{How, Links, Place, resolve};
pub use self::root::AgentFiles;
use self::root::Root;
pub use self::shared::SharedDirError;
pub use self::snapshots::{
    DiffKind, Difference, MAX_SNAPSHOTS, Restored, SnapshotError, SnapshotInfo,
};
pub use self::threads::{DeleteError, Lifetime, ThreadInfo};
use super::blocking;
use crate::backend::{Backend, Draft, View};

/// The workspace of one thread in a directory; made by [`AgentFiles::thread`].
///
/// Making it does no I/O. A thread that never wrote has an empty root and no directory; the first
/// write makes it.
#[derive(Clone, Debug)]
pub struct ThreadDir {
    root: Arc<Root>,
    id: Arc<ThreadId>,
    links: Links,
}

impl ThreadDir {
    /// Says that the workspace is in use until the answer is dropped. It must have no directory:
    /// one that was there is of a thread that has ended.
    fn hold_new(&self) -> Result<Hold, ErrorCode> {
        let hold = self.root.records()?.hold(&self.id)?;
        hold.begin_record(&self.id)?;
        Ok(hold)
    }

    /// The same for a workspace that has a directory; none for others.
    fn hold_if_made(&self) -> Result<Option<Hold>, ErrorCode> {
        if self.root.open_beneath(&self.id.names)?.is_none() {
            return Ok(None);
        }
        let hold = self.root.records()?.hold(&self.id)?;
        // It may have been deleted meanwhile.
        let Some(dir) = self.root.open_beneath(&self.id.names)? else { return Ok(None) };
        hold.keep_record(&self.id, &dir, None)?;
        Ok(Some(hold))
    }

    /// Resolves a path beneath the open workspace.
    fn find_place(
        &self,
        root: OwnedFd,
        path: &WorkspacePath,
        how: How,
    ) -> Result<Place, ErrorCode> {
        resolve(root, path, how, self.links)
    }

    /// The path without links of what is at `path`, or would be if it were made.
    fn real_path(&self, path: &WorkspacePath, follow_last: bool) -> Result<String, ErrorCode> {
        let Some(root) = self.open()? else { return Ok(path.as_str().to_owned()) };
        let how = How { follow_last, make_parents: false };
        let real = match self.find_place(root, path, how)? {
            Place::Root(_) => return Ok("/".to_owned()),
            Place::Entry(entry) => entry.real,
            Place::NoParent(real) => real,
        };
        let real = real.into_string().map_err(|_| ErrorCode::Unsupported)?;
        Ok(format!("/{real}"))
    }
}

fn parse(path: &str) -> Result<WorkspacePath, ErrorCode> {
    WorkspacePath::parse(path).map_err(|error| ErrorCode::InvalidPath(error.to_string()))
}

#[async_trait]
impl Backend for ThreadDir {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        let (this, path) = (self.clone(), parse(path)?);
        blocking::run(move |_| this.ls(&path, offset, limit)).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        let this = self.clone();
        blocking::run(move |cancelled| this.read_lines(&request, cancelled)).await
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        let (this, path) = (self.clone(), parse(path)?);
        blocking::run(move |cancelled| this.read_part(&path, offset, length, cancelled)).await
    }

    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        let (this, view) = (self.clone(), view.clone());
        blocking::run(move |cancelled| this.glob(&request, &view, cancelled)).await
    }

    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        let (this, view) = (self.clone(), view.clone());
        blocking::run(move |cancelled| this.grep(&request, &view, cancelled)).await
    }

    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        let (this, path) = (self.clone(), parse(path)?);
        blocking::run(move |_| this.real_path(&path, follow_last)).await
    }

    fn without_links(&self) -> Option<Arc<dyn Backend>> {
        Some(Arc::new(Self { links: Links::Refuse, ..self.clone() }))
    }

    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        let this = self.clone();
        blocking::run(move |cancelled| this.put(&request, false, cancelled)).await
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        let this = self.clone();
        blocking::run(move |cancelled| this.put(&request, true, cancelled)).await
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        Ok(Box::new(ThreadDraft::open(self.clone(), parse(directory)?).await?))
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        let (this, path) = (self.clone(), parse(path)?);
        blocking::run(move |cancelled| this.take_away(&path, recursive, cancelled)).await
    }

    async fn remove_version(&self, path: &str, version: &str) -> Result<Removed, ErrorCode> {
        let (this, path, version) = (self.clone(), parse(path)?, version.to_owned());
        blocking::run(move |cancelled| this.take_version_away(&path, &version, cancelled)).await
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        let (this, source, destination) = (self.clone(), parse(source)?, parse(destination)?);
        blocking::run(move |cancelled| this.give_name(&source, &destination, overwrite, cancelled))
            .await
    }
}
