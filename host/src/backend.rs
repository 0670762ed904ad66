//! What a workspace is to the tools: a [`Backend`].

use async_trait::async_trait;
pub use handhold_core::types::{
    BytesPage, Condition, ErrorCode, FileInfo, FileKind, FileOrder, GlobPage, GlobRequest,
    GrepFile, GrepLine, GrepLineKind, GrepMode, GrepPage, GrepRequest, LinePage, LsPage,
    ReadOutcome, ReadRequest, Removed, WalkReport, WriteRequest, Written,
};

/// A tree of files that the tools work on.
///
/// The functions mirror the interfaces `reader` and `writer` of the WIT, whose documentation says
/// what each does, in which order results come and which errors are meant for which case. Paths
/// arrive normalised (`/src/a.rs`) and have kept the rules of `path-resolution.md`; an
/// implementation that hands them to a file system still has to make sure that links do not lead
/// out.
///
/// What all backends have in common is not to be written again: line windows, glob and grep are
/// functions of `handhold_core` over a reader or a tree.
///
/// A call may be dropped at any point; what it was writing must then be old or new.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Lists the entries of a directory from number `offset` on, at most `limit` of them.
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode>;

    /// Reads a window of lines.
    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode>;

    /// Reads at most `length` bytes from `offset` on.
    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode>;

    /// Finds regular files whose path matches a pattern.
    async fn glob_info(&self, request: GlobRequest) -> Result<GlobPage, ErrorCode>;

    /// Searches the content of regular files.
    async fn grep_raw(&self, request: GrepRequest) -> Result<GrepPage, ErrorCode>;

    /// Makes `content` the content of a file.
    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode>;

    /// Puts `content` behind what is in a file.
    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode>;

    /// Begins a file in the making that is to have its place in `directory`, which need not exist.
    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode>;

    /// Removes a file, a link, or a directory.
    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode>;

    /// Moves a file, a link, or a directory.
    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode>;
}

/// A file in the making, of any size; dropping it throws away what has not been published.
///
/// Mirrors the resource `draft` of the WIT's `writer`.
#[async_trait]
pub trait Draft: Send {
    /// Puts bytes behind those it has: all of them, or none if it fails.
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode>;

    /// Gives it the name `name` in its directory. If that fails, it may be tried again.
    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode>;
}
