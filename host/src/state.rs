//! What an instance has while it answers one call: the backend, and its bounds.

use std::sync::Arc;
use std::time::Instant;

use handhold_core::types::{
    BytesPage, Condition, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage,
    ReadOutcome, ReadRequest, Removed, WriteRequest, Written,
};
use wasmtime::ResourceLimiter;
use wasmtime::component::{Resource, ResourceTable};

use crate::backend::{Backend, Draft, View};
use crate::bindings::handhold::fs::{reader, writer};
use crate::retention::{KeptResults, Retention};

/// How many entries of tables one call may have in all.
const MAX_TABLE_ENTRIES: usize = 100_000;

/// The data of a store.
pub(crate) struct CallState {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) deadline: Instant,
    pub(crate) memory: MemoryBound,
    pub(crate) drafts: ResourceTable,
    pub(crate) results: ResultsBound,
}

/// A draft in the table of an instance.
#[expect(unreachable_pub, reason = "generated code exports it")]
pub struct OpenDraft(Box<dyn Draft>);

/// The bound on what off-loaded results take in a workspace.
#[derive(Clone)]
pub(crate) struct ResultsBound {
    pub(crate) directory: Arc<str>,
    pub(crate) retention: Retention,
}

/// The bound on the memory of an instance.
pub(crate) struct MemoryBound {
    pub(crate) bytes: usize,
    /// Whether the instance wanted more.
    pub(crate) was_hit: bool,
}

impl ResourceLimiter for MemoryBound {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let grows = desired <= self.bytes;
        self.was_hit |= !grows;
        Ok(grows)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ENTRIES)
    }
}

impl reader::Host for CallState {
    async fn ls_info(
        &mut self,
        path: String,
        offset: u64,
        limit: u64,
    ) -> Result<LsPage, ErrorCode> {
        self.backend.ls_info(&path, offset, limit).await
    }

    async fn read(&mut self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        self.backend.read(request).await
    }

    async fn read_bytes(
        &mut self,
        path: String,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        self.backend.read_bytes(&path, offset, length).await
    }

    async fn glob_info(&mut self, request: GlobRequest) -> Result<GlobPage, ErrorCode> {
        self.backend.glob_info(request, &View::default()).await
    }

    async fn grep_raw(&mut self, request: GrepRequest) -> Result<GrepPage, ErrorCode> {
        self.backend.grep_raw(request, &View::default()).await
    }
}

impl writer::Host for CallState {
    async fn write(&mut self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.backend.write(request).await
    }

    async fn append(&mut self, request: WriteRequest) -> Result<Written, ErrorCode> {
        self.backend.append(request).await
    }

    async fn remove(&mut self, path: String, recursive: bool) -> Result<Removed, ErrorCode> {
        self.backend.remove(&path, recursive).await
    }

    async fn rename(
        &mut self,
        source: String,
        destination: String,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        self.backend.rename(&source, &destination, overwrite).await
    }
}

impl writer::HostDraft for CallState {
    async fn open(&mut self, directory: String) -> Result<Resource<OpenDraft>, ErrorCode> {
        let draft = if *directory == *self.results.directory {
            let backend = Arc::clone(&self.backend);
            KeptResults::draft(backend, &directory, self.results.retention).await?
        } else {
            self.backend.draft(&directory).await?
        };
        self.drafts
            .push(OpenDraft(draft))
            .map_err(|_| ErrorCode::TooLarge("too many drafts are open".to_owned()))
    }

    async fn push(
        &mut self,
        draft: Resource<OpenDraft>,
        content: Vec<u8>,
    ) -> Result<(), ErrorCode> {
        self.draft(&draft)?.push(content).await
    }

    async fn publish(
        &mut self,
        draft: Resource<OpenDraft>,
        name: String,
        condition: Condition,
    ) -> Result<Written, ErrorCode> {
        self.draft(&draft)?.publish(&name, condition).await
    }

    async fn drop(&mut self, draft: Resource<OpenDraft>) -> wasmtime::Result<()> {
        self.drafts.delete(draft)?;
        Ok(())
    }
}

impl CallState {
    fn draft(&mut self, draft: &Resource<OpenDraft>) -> Result<&mut dyn Draft, ErrorCode> {
        match self.drafts.get_mut(draft) {
            Ok(open) => Ok(&mut *open.0),
            Err(_) => Err(ErrorCode::Other(Some("there is no such draft".to_owned()))),
        }
    }
}
