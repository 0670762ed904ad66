//! How threads are told of.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use handhold::backends::ThreadInfo;
use handhold::show_path;
use serde_json::{Value, json};

/// The last time that can be written with a year of four digits, in milliseconds.
const LAST_TIME_MS: u64 = 253_402_300_799_999;

/// An id on one line, as one word.
pub(super) fn shown(id: &str) -> String {
    let shown = show_path(id);
    let is_one_word = !id.chars().any(char::is_whitespace);
    if is_one_word || shown != id { shown.into_owned() } else { Value::from(id).to_string() }
}

/// A moment in milliseconds since the Unix epoch.
pub(super) fn time(ms: u64) -> String {
    let time: SystemTime = UNIX_EPOCH + Duration::from_millis(ms.min(LAST_TIME_MS));
    humantime::format_rfc3339_millis(time).to_string()
}

/// A number and its noun.
pub(super) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub(super) fn as_json(info: &ThreadInfo) -> Value {
    let mut value = json!({
        "thread": info.thread,
        "bytes": info.bytes,
        "files": info.files,
        "snapshot_bytes": info.snapshot_bytes,
        "created": time(info.created),
        "last_used": time(info.last_used),
    });
    if let (Some(tenant), Some(object)) = (&info.tenant, value.as_object_mut()) {
        object.insert("tenant".to_owned(), Value::from(tenant.as_str()));
    }
    value
}

/// One line: size, number of files, size of the snapshots, last use, tenant and thread.
pub(super) fn as_text(info: &ThreadInfo) -> String {
    let files = if info.files == 1 { "file" } else { "files" };
    let of = info.tenant.as_ref().map_or(String::new(), |tenant| format!(" of {}", shown(tenant)));
    format!(
        "{:>12} B  {:>7} {files}  {:>12} B in snapshots  used {}  {}{of}",
        info.bytes,
        info.files,
        info.snapshot_bytes,
        time(info.last_used),
        shown(&info.thread)
    )
}
