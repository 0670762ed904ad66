//! What is written down about one change.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use handhold_core::failure::Failure;
use handhold_core::types::{ErrorCode, Removed};
use serde::{Serialize, Serializer};

/// The last time that can be written with a year of four digits, after the Unix epoch.
const LAST_TIME: Duration = Duration::from_secs(253_402_300_799);

/// For whom changes are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditContext {
    /// The tenant; none if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The thread.
    pub thread: String,
    /// The caller's own name for the call that makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool that makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A file got new content.
    Write,
    /// Something was put behind what was in a file.
    Append,
    /// A draft got its name.
    Publish,
    /// A file, a link or a directory was removed.
    Remove,
    /// A file, a link or a directory was moved.
    Rename,
}

/// One change that was tried. It never holds any content.
///
/// As JSON it is an object in which what is none is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// When it ended.
    #[serde(serialize_with = "rfc3339")]
    pub time: SystemTime,
    /// For whom it was made.
    #[serde(flatten)]
    pub who: AuditContext,
    /// What it was.
    pub operation: ChangeKind,
    /// The path it was about, as it was named: links in it are not resolved.
    pub path: String,
    /// Where something was to be moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// How many bytes were to be written or appended; none for what writes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The SHA-256 of these bytes, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// What a removal took away.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "counts")]
    pub removed: Option<Removed>,
    /// How it ended: `ok`, or the code of the error as a tool names it.
    ///
    /// `cancelled` is also the outcome of a change that nobody waited for to the end. Such a
    /// change may have been made, as a whole.
    pub outcome: &'static str,
}

/// The outcome of a change.
pub(super) fn outcome<T>(result: &Result<T, ErrorCode>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(error) => Failure::of_backend(error.clone(), "").code.as_str(),
    }
}

/// Writes a time in UTC, as in `2026-01-31T12:00:00.000Z`.
fn rfc3339<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let time = (*time).clamp(UNIX_EPOCH, UNIX_EPOCH + LAST_TIME);
    serializer.collect_str(&humantime::format_rfc3339_millis(time))
}

fn counts<S: Serializer>(removed: &Option<Removed>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Counts {
        files: u64,
        directories: u64,
        bytes: u64,
    }
    let counts = removed.as_ref().map(|removed| Counts {
        files: removed.files,
        directories: removed.directories,
        bytes: removed.bytes,
    });
    counts.serialize(serializer)
}
