//! The list of a snapshot: a line about it as a whole, and one for each entry.
//!
//! Entries come in the order of a walk that goes into a directory as soon as it meets it, and
//! through its entries by name. So two lists can be compared line by line. A list is read and
//! written piece by piece: it can be larger than memory.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use handhold_core::types::ErrorCode;
use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use super::super::change::Draft;
use super::super::errors::{code, io_code};
use super::super::root::Records;
use super::SnapshotError;
use super::entry::{Entry, Meta, What};
use super::text::shown;

/// How long the first line is, in bytes, with what fills it up: it is written last, when the
/// numbers are known.
pub(super) const HEADER_BYTES: usize = 4096;

/// The longest line, in bytes: a name and a target, each byte of them escaped.
const MAX_LINE_BYTES: u64 = 32 << 10;

/// The form of lists that is described here.
const FORM: u32 = 1;

/// What the first line says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    handhold_snapshot: u32,
    pub(super) name: String,
    /// In milliseconds since the Unix epoch.
    pub(super) created: u64,
    /// How many bytes the files have together.
    pub(super) bytes: u64,
    /// How many entries there are.
    pub(super) files: u64,
    pub(super) skipped: u64,
    /// What the top directory is.
    pub(super) top: Meta,
}

/// A list in the making.
pub(super) struct Writer {
    draft: Draft,
    out: BufWriter<File>,
    header: Header,
}

impl Writer {
    pub(super) fn new(
        records: &Arc<Records>,
        name: &str,
        created: u64,
        top: Meta,
    ) -> Result<Self, ErrorCode> {
        let draft = Draft::new(records)?;
        let mut out = BufWriter::new(draft.file().try_clone().map_err(|error| io_code(&error))?);
        out.write_all(&[b' '; HEADER_BYTES]).map_err(|error| io_code(&error))?;
        let (handhold_snapshot, name) = (FORM, name.to_owned());
        let header =
            Header { handhold_snapshot, name, created, bytes: 0, files: 0, skipped: 0, top };
        Ok(Self { draft, out, header })
    }

    /// Adds the line for an entry.
    pub(super) fn add(&mut self, entry: &Entry, line: &[u8]) -> Result<(), ErrorCode> {
        self.out.write_all(line).map_err(|error| io_code(&error))?;
        self.header.files += 1;
        if let What::File { size, .. } = entry.what {
            self.header.bytes = self.header.bytes.saturating_add(size);
        }
        Ok(())
    }

    /// Says what the list is. It has no name yet.
    pub(super) fn finish(mut self, skipped: u64) -> Result<Whole, ErrorCode> {
        self.header.skipped = skipped;
        self.out.flush().map_err(|error| io_code(&error))?;
        let mut line = serde_json::to_vec(&self.header).map_err(|_| ErrorCode::Other(None))?;
        if line.len() >= HEADER_BYTES {
            return Err(ErrorCode::Other(None));
        }
        line.resize(HEADER_BYTES - 1, b' ');
        line.push(b'\n');
        let file = self.draft.file();
        file.write_all_at(&line, 0).map_err(|error| io_code(&error))?;
        rustix::fs::fchmod(file, Mode::RUSR).map_err(code)?;
        Ok(Whole { draft: self.draft, header: self.header })
    }
}

/// A list that only needs its name.
pub(super) struct Whole {
    draft: Draft,
    header: Header,
}

impl Whole {
    /// Gives it its name: from then on there is the snapshot.
    pub(super) fn place(
        mut self,
        manifests: &OwnedFd,
        file_name: &str,
    ) -> Result<Header, ErrorCode> {
        self.draft.place(manifests, file_name.as_ref(), true)?;
        Ok(self.header)
    }
}

/// A list that is read.
pub(super) struct Manifest {
    pub(super) header: Header,
    lines: BufReader<File>,
    line: Vec<u8>,
    /// How many entries there still must be, and how many bytes they have.
    left: u64,
    left_bytes: u64,
    /// The names that lead to the last entry, its own the last.
    path: Vec<OsString>,
    last_is_directory: bool,
    /// What the snapshot is called in errors.
    called: String,
}

impl Manifest {
    /// Reads the first line.
    pub(super) fn new(file: File, called: &str) -> Result<Self, SnapshotError> {
        let mut lines = BufReader::new(file);
        let damaged = || SnapshotError::Damaged(called.to_owned());
        let mut line = Vec::new();
        let length = (&mut lines)
            .take(HEADER_BYTES as u64)
            .read_to_end(&mut line)
            .map_err(|error| io_code(&error))?;
        if length < HEADER_BYTES || line.last() != Some(&b'\n') {
            return Err(damaged());
        }
        let header: Header = serde_json::from_slice(&line).map_err(|_| damaged())?;
        if header.handhold_snapshot != FORM || !header.top.is_valid() {
            return Err(damaged());
        }
        Ok(Self {
            left: header.files,
            left_bytes: header.bytes,
            header,
            lines,
            line: Vec::new(),
            path: Vec::new(),
            last_is_directory: false,
            called: called.to_owned(),
        })
    }

    /// The next entry; none after the last one.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, SnapshotError> {
        self.line.clear();
        (&mut self.lines)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| io_code(&error))?;
        if self.line.is_empty() && self.left == 0 && self.left_bytes == 0 {
            return Ok(None);
        }
        let whole = self.line.strip_suffix(b"\n").filter(|_| self.left > 0);
        let entry = whole.and_then(Entry::of_line).filter(|entry| self.follows(entry));
        let Some(entry) = entry else { return Err(self.damaged()) };
        self.left -= 1;
        let left_bytes = match entry.what {
            What::File { size, .. } => self.left_bytes.checked_sub(size),
            _ => Some(self.left_bytes),
        };
        self.left_bytes = left_bytes.ok_or_else(|| self.damaged())?;
        self.path.truncate(entry.depth);
        self.path.push(entry.name.clone());
        self.last_is_directory = entry.what == What::Directory;
        Ok(Some(entry))
    }

    /// Whether an entry can come after the last one: in it, or behind it in a directory above.
    fn follows(&self, entry: &Entry) -> bool {
        match self.path.get(entry.depth) {
            Some(before) => *before < entry.name,
            None => {
                let in_last = self.last_is_directory || self.path.is_empty();
                in_last && entry.depth == self.path.len()
            }
        }
    }

    /// How many bytes the list itself takes.
    pub(super) fn bytes(&self) -> Result<u64, ErrorCode> {
        self.lines.get_ref().metadata().map(|found| found.len()).map_err(|error| io_code(&error))
    }

    /// The path of the last entry, as tools show it.
    pub(super) fn shown(&self) -> String {
        shown(self.path.iter().map(OsString::as_os_str))
    }

    pub(super) fn damaged(&self) -> SnapshotError {
        SnapshotError::Damaged(self.called.clone())
    }
}
