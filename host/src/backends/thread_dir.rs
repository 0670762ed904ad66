//! Workspaces as directories of the machine: one for each thread, beneath one root.
//!
//! ```text
//! {root}/{thread}/…                  a workspace, and nothing else
//! {root}/.tenants/{tenant}/{thread}/…
//! {root}/.handhold/tmp/              half-made files, never visible to a tool
//! {root}/.handhold/locks/            what serialises changes between threads and processes
//! ```
//!
//! Everything is done relative to held descriptors, one name at a time, without following a link
//! by accident: `resolve` expands links itself and refuses those that lead out. What is exchanged
//! between two steps makes a step fail; it cannot redirect it.

mod change;
mod draft;
mod errors;
mod names;
mod read;
mod remove;
mod rename;
mod resolve;
mod root;
mod stat;
mod tree;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest, Removed, WriteRequest, Written,
};

use self::draft::ThreadDraft;
pub use self::names::IdError;
pub use self::root::AgentFiles;
use self::root::Root;
use super::blocking;
use crate::backend::{Backend, Draft};

/// The workspace of one thread in a directory; made by [`AgentFiles::thread`].
///
/// Making it does no I/O. A thread that never wrote has an empty root and no directory; the first
/// write makes it.
#[derive(Clone, Debug)]
pub struct ThreadDir {
    root: Arc<Root>,
    /// The names of directories from the root to the workspace.
    names: Arc<[String]>,
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

    async fn glob_info(&self, request: GlobRequest) -> Result<GlobPage, ErrorCode> {
        let this = self.clone();
        blocking::run(move |cancelled| this.glob(&request, cancelled)).await
    }

    async fn grep_raw(&self, request: GrepRequest) -> Result<GrepPage, ErrorCode> {
        let this = self.clone();
        blocking::run(move |cancelled| this.grep(&request, cancelled)).await
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
