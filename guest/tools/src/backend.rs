//! The imports of the component as the backend of the tools.

use handhold_core::backend::Reader;
#[cfg(feature = "write")]
use handhold_core::backend::{Draft, Writer};
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest,
};
#[cfg(feature = "write")]
use handhold_core::types::{Condition, Removed, WriteRequest, Written};

use crate::bindings::handhold::fs::reader;
#[cfg(feature = "write")]
use crate::bindings::handhold::fs::writer;

/// What the host provides.
pub(crate) struct Imports;

impl Reader for Imports {
    fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        reader::ls_info(path, offset, limit)
    }

    fn read(&self, request: &ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        reader::read(request)
    }

    fn read_bytes(&self, path: &str, offset: u64, length: u64) -> Result<BytesPage, ErrorCode> {
        reader::read_bytes(path, offset, length)
    }

    fn glob_info(&self, request: &GlobRequest) -> Result<GlobPage, ErrorCode> {
        reader::glob_info(request)
    }

    fn grep_raw(&self, request: &GrepRequest) -> Result<GrepPage, ErrorCode> {
        reader::grep_raw(request)
    }
}

#[cfg(feature = "write")]
impl Writer for Imports {
    fn write(&self, request: &WriteRequest) -> Result<Written, ErrorCode> {
        writer::write(request)
    }

    fn append(&self, request: &WriteRequest) -> Result<Written, ErrorCode> {
        writer::append(request)
    }

    fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        writer::Draft::open(directory).map(|draft| Box::new(draft) as Box<dyn Draft>)
    }

    fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        writer::remove(path, recursive)
    }

    fn rename(&self, source: &str, destination: &str, overwrite: bool) -> Result<(), ErrorCode> {
        writer::rename(source, destination, overwrite)
    }
}

#[cfg(feature = "write")]
impl Draft for writer::Draft {
    fn push(&mut self, content: &[u8]) -> Result<(), ErrorCode> {
        writer::Draft::push(self, content)
    }

    fn publish(&mut self, name: &str, condition: &Condition) -> Result<Written, ErrorCode> {
        writer::Draft::publish(self, name, condition)
    }
}
