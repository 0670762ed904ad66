//! How numbers and notices read.

use std::fmt::Write;

use crate::path::show;
use crate::types::WalkReport;

/// A number with its noun: `1 file`, `2 files`.
#[must_use]
pub fn counted(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// A number of bytes: `1 byte`, `12 bytes`.
#[must_use]
pub fn bytes(n: u64) -> String {
    counted(n, "byte", "bytes")
}

/// A size for people, in powers of 1024: `512 B`, `1.0 KB`, `1.5 MB`.
#[must_use]
pub fn size(n: u64) -> String {
    if n < 1024 {
        return format!("{n} B");
    }
    let mut tenths = u128::from(n) * 10;
    for unit in ["KB", "MB", "GB", "TB", "PB"] {
        tenths = (tenths + 512) / 1024;
        if tenths < 10 * 1024 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{}.{} EB", (tenths + 512) / 1024 / 10, (tenths + 512) / 1024 % 10)
}

/// A pattern as a sentence quotes it: on one line.
#[must_use]
pub fn pattern(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    let start: String = text.chars().take(SHOWN_CHARS).collect();
    let cut = if start.len() < text.len() { "…" } else { "" };
    format!("{}{cut}", show(&start))
}

/// A body, and notices below it after an empty line.
#[must_use]
pub fn with_notices(mut body: String, notices: &[String]) -> String {
    if !notices.is_empty() {
        body.push_str(if body.is_empty() { "" } else { "\n\n" });
        body.push_str(&notices.join("\n"));
    }
    body
}

/// The notice for names that are not UTF-8; none if there are none.
#[must_use]
pub fn undecodable_notice(n: u64) -> Option<String> {
    match n {
        0 => None,
        1 => Some("[1 name is not UTF-8 and cannot be opened with these tools]".to_owned()),
        n => Some(format!("[{n} names are not UTF-8 and cannot be opened with these tools]")),
    }
}

/// The notices for what a walk skipped or could not read, and for a walk that was ended.
#[must_use]
pub fn walk_notices(report: &WalkReport, time_ms: u64) -> Vec<String> {
    let mut notices = Vec::new();
    if report.binary > 0 {
        notices
            .push(format!("[{} skipped]", counted(report.binary, "binary file", "binary files")));
    }
    if report.unreadable_count > 0 {
        let directories = report.unreadable.iter().filter(|path| path.ends_with('/')).count();
        let (one, many) = match directories {
            0 => ("file", "files"),
            n if n == report.unreadable.len() => ("directory", "directories"),
            _ => ("file or directory", "files and directories"),
        };
        let mut notice =
            format!("[{} could not be read: ", counted(report.unreadable_count, one, many));
        let names: Vec<_> = report.unreadable.iter().map(|path| show(path)).collect();
        notice.push_str(&names.join(", "));
        if report.unreadable_count > names.len() as u64 {
            // Writing to a string cannot fail.
            let _ = write!(notice, " and {} more", report.unreadable_count - names.len() as u64);
        }
        notice.push(']');
        notices.push(notice);
    }
    notices.extend(undecodable_notice(report.undecodable));
    if report.stopped {
        notices.push(format!(
            "[stopped after {}; {} of ? files searched]",
            seconds(time_ms),
            report.files
        ));
    }
    notices
}

/// A time: `30 s`, `1.5 s`.
fn seconds(ms: u64) -> String {
    if ms < 1000 {
        format!("{ms} ms")
    } else if ms.is_multiple_of(1000) {
        format!("{} s", ms / 1000)
    } else {
        format!("{}.{} s", ms / 1000, ms % 1000 / 100)
    }
}

/// The notice for matches that ignore rules hide.
#[must_use]
pub fn hidden_notice(n: u64, at_least: bool) -> String {
    let at_least = if at_least { "at least " } else { "" };
    let verb = if n == 1 { "is" } else { "are" };
    format!(
        "[{at_least}{} {verb} hidden by ignore files; use include_ignored=true]",
        counted(n, "match", "matches")
    )
}

/// A JSON object that is put together piece by piece.
#[derive(Debug)]
pub struct JsonObject(String);

impl Default for JsonObject {
    fn default() -> Self {
        Self("{".to_owned())
    }
}

impl JsonObject {
    /// Adds a value.
    #[must_use]
    pub fn with(self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        let value: serde_json::Value = value.into();
        self.with_raw(key, &value.to_string())
    }

    /// Adds a value, if there is one.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Into<serde_json::Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds an array of values that are JSON already.
    #[must_use]
    pub fn with_list(self, key: &str, values: &[String]) -> Self {
        self.with_raw(key, &format!("[{}]", values.join(",")))
    }

    fn with_raw(mut self, key: &str, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&serde_json::Value::from(key).to_string());
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// The object as text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A JSON object as text, with one more field at its end.
#[must_use]
pub fn with_field(mut object: String, key: &str, value: &str) -> String {
    if object.pop() == Some('}') {
        let comma = if object.len() > 1 { "," } else { "" };
        let (key, value) = (serde_json::Value::from(key), serde_json::Value::from(value));
        object.push_str(&format!("{comma}{key}:{value}}}"));
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal_and_a_unit() {
        for (n, want) in [
            (0, "0 B"),
            (512, "512 B"),
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (1536, "1.5 KB"),
            (1_048_575, "1.0 MB"),
            (1_572_864, "1.5 MB"),
            (1 << 30, "1.0 GB"),
        ] {
            assert_eq!(size(n), want);
        }
        assert!(size(u64::MAX).ends_with(" EB"));
    }

    #[test]
    fn objects_are_json() {
        let text = JsonObject::default()
            .with("a\"b", "x\ny")
            .with_some("none", None::<u64>)
            .with_list("l", &["1".to_owned(), "{}".to_owned()])
            .finish();
        assert_eq!(text, r#"{"a\"b":"x\ny","l":[1,{}]}"#);
    }

    #[test]
    fn notices_agree_in_number() {
        assert_eq!(
            hidden_notice(1, false),
            "[1 match is hidden by ignore files; use include_ignored=true]"
        );
        let report = WalkReport {
            binary: 3,
            unreadable: vec!["/y".to_owned()],
            unreadable_count: 1,
            ..WalkReport::default()
        };
        assert_eq!(
            walk_notices(&report, 30_000),
            ["[3 binary files skipped]", "[1 file could not be read: /y]"]
        );
    }
}
