//! What restored files were made of.
//!
//! A restored file has a new version. This remembers which object has its content, so that the next
//! snapshot need not copy what the last one was restored from. It is only ever true of the tree
//! that was restored last: all older versions are gone.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use handhold_core::types::ErrorCode;

use super::super::change::Draft;
use super::super::errors::io_code;
use super::super::root::Records;
use super::object::ObjectName;
use super::store::Store;

/// The name of the file, in which each line has a version and an object.
const NAME: &str = "origins";

/// How many lines are read at most: for more files than that, it only saves less.
const MAX_LINES: usize = 1_000_000;

/// The objects of restored files, by their versions.
#[derive(Default)]
pub(super) struct Origins(HashMap<ObjectName, ObjectName>);

impl Origins {
    /// Reads them. What cannot be read is not known, which does no harm.
    pub(super) fn read(store: &Store) -> Self {
        let Ok(Some(file)) = store.file(NAME) else { return Self::default() };
        let lines = BufReader::new(file).lines().map_while(Result::ok).take(MAX_LINES);
        let pairs = lines.map_while(|line| {
            let (version, object) = line.split_once(' ')?;
            Some((ObjectName::parse(version)?, ObjectName::parse(object)?))
        });
        Self(pairs.collect())
    }

    /// The object that a file of this version was restored from.
    pub(super) fn of(&self, version: ObjectName) -> Option<ObjectName> {
        self.0.get(&version).copied()
    }
}

/// Writes them down.
pub(super) struct OriginsWriter {
    draft: Draft,
    out: BufWriter<std::fs::File>,
}

impl OriginsWriter {
    pub(super) fn new(records: &Arc<Records>) -> Result<Self, ErrorCode> {
        let draft = Draft::new(records)?;
        let out = BufWriter::new(draft.file().try_clone().map_err(|error| io_code(&error))?);
        Ok(Self { draft, out })
    }

    pub(super) fn add(&mut self, version: ObjectName, object: ObjectName) -> Result<(), ErrorCode> {
        writeln!(self.out, "{version} {object}").map_err(|error| io_code(&error))
    }

    /// Puts them in the place of older ones.
    pub(super) fn place(mut self, store: &OwnedFd) -> Result<(), ErrorCode> {
        self.out.flush().map_err(|error| io_code(&error))?;
        self.draft.place(store, NAME.as_ref(), false).map(drop)
    }
}
