//! What the tools need from a backend: the imports of the component, as traits.
//!
//! The component implements them over its imports; tests implement them over a backend of the
//! host. What each function does is said in `wit/reader.wit` and `wit/writer.wit`.

use crate::types::{
    BytesPage, Condition, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage,
    ReadOutcome, ReadRequest, Removed, WriteRequest, Written,
};

/// A tree of files that the tools may read.
pub trait Reader {
    /// Lists entries of a directory.
    ///
    /// # Errors
    /// As the WIT says.
    fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode>;

    /// Reads a window of lines.
    ///
    /// # Errors
    /// As the WIT says.
    fn read(&self, request: &ReadRequest) -> Result<ReadOutcome, ErrorCode>;

    /// Reads bytes.
    ///
    /// # Errors
    /// As the WIT says.
    fn read_bytes(&self, path: &str, offset: u64, length: u64) -> Result<BytesPage, ErrorCode>;

    /// Finds files.
    ///
    /// # Errors
    /// As the WIT says.
    fn glob_info(&self, request: &GlobRequest) -> Result<GlobPage, ErrorCode>;

    /// Searches the content of files.
    ///
    /// # Errors
    /// As the WIT says.
    fn grep_raw(&self, request: &GrepRequest) -> Result<GrepPage, ErrorCode>;
}

/// Changes to the tree of files that a [`Reader`] shows.
pub trait Writer {
    /// Replaces the content of a file.
    ///
    /// # Errors
    /// As the WIT says.
    fn write(&self, request: &WriteRequest) -> Result<Written, ErrorCode>;

    /// Puts content behind what is in a file.
    ///
    /// # Errors
    /// As the WIT says.
    fn append(&self, request: &WriteRequest) -> Result<Written, ErrorCode>;

    /// Begins a file in the making that is to have its place in a directory.
    ///
    /// # Errors
    /// As the WIT says.
    fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode>;

    /// Removes a file, link or directory.
    ///
    /// # Errors
    /// As the WIT says.
    fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode>;

    /// Moves a file, link or directory.
    ///
    /// # Errors
    /// As the WIT says.
    fn rename(&self, source: &str, destination: &str, overwrite: bool) -> Result<(), ErrorCode>;
}

/// A file in the making; dropping it throws away what has not been published.
pub trait Draft {
    /// Puts bytes behind those it has: all of them, or none if it fails.
    ///
    /// # Errors
    /// As the WIT says.
    fn push(&mut self, content: &[u8]) -> Result<(), ErrorCode>;

    /// Gives it its name.
    ///
    /// # Errors
    /// As the WIT says.
    fn publish(&mut self, name: &str, condition: &Condition) -> Result<Written, ErrorCode>;
}
