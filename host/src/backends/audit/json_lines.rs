//! Entries as lines of JSON.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use handhold_core::path::is_control;

use super::{AuditEntry, AuditSink};

/// Writes each entry as a line of JSON, in one piece: to a file that is opened for appending,
/// several processes can write.
///
/// Every control character in a line is escaped, and so are the separators of lines and paragraphs
/// of Unicode: no name can end a line or change how it reads.
///
/// If writing fails, the entry is lost: the error is logged, and neither the call nor later entries
/// fail. A host that must hear of it can see the failure in `writer`; the command line does, and
/// says so on standard error.
#[derive(Debug)]
pub struct JsonLines<W> {
    output: Mutex<Output<W>>,
}

#[derive(Debug)]
struct Output<W> {
    writer: W,
    /// Whether the last line may have been written in part.
    is_torn: bool,
}

impl<W: Write + Send> JsonLines<W> {
    /// Writes to `writer`, and flushes it after every line.
    pub fn new(writer: W) -> Self {
        Self { output: Mutex::new(Output { writer, is_torn: false }) }
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.output.into_inner().unwrap_or_else(PoisonError::into_inner).writer
    }
}

impl<W: Write + Send> AuditSink for JsonLines<W> {
    fn record(&self, entry: &AuditEntry) {
        let written = line(entry)
            .and_then(|line| self.output.lock().unwrap_or_else(PoisonError::into_inner).put(&line));
        if let Err(error) = written {
            tracing::error!(kind = %error.kind(), "an entry of the audit could not be written");
        }
    }
}

impl<W: Write> Output<W> {
    fn put(&mut self, line: &str) -> io::Result<()> {
        // What was written of a line before must not spoil this one.
        let start = if self.is_torn { "\n" } else { "" };
        self.is_torn = true;
        self.writer.write_all(format!("{start}{line}\n").as_bytes())?;
        self.writer.flush()?;
        self.is_torn = false;
        Ok(())
    }
}

/// An entry as JSON, without an end of line.
fn line(entry: &AuditEntry) -> io::Result<String> {
    let json = serde_json::to_string(entry)?;
    if !json.chars().any(is_escaped) {
        return Ok(json);
    }
    let mut line = String::with_capacity(json.len() + 16);
    // All of them are within strings, and none is beyond U+FFFF.
    for c in json.chars() {
        if is_escaped(c) {
            line.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    Ok(line)
}

/// Whether a character could end a line or change how it reads, for whoever shows it.
fn is_escaped(c: char) -> bool {
    is_control(c) || matches!(c, '\u{2028}' | '\u{2029}')
}
