//! The only place that prints.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use handhold::ToolResult;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Prints text and a line feed.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints bytes as they are.
pub(crate) fn raw(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints a failure and its causes on one line of standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    // If standard error is closed, nobody wants to know.
    drop(writeln!(io::stderr().lock(), "handhold: {error:#}"));
}

/// Whether output ended because nobody reads it any more.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A whole result as one line of JSON.
pub(crate) fn result_json(result: &ToolResult) -> serde_json::Result<String> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        tool: &'a str,
        call_id: Option<&'a str>,
        is_error: bool,
        text: &'a str,
        structured: Box<RawValue>,
        content: Vec<Value>,
    }
    let content = result.content.iter().map(|image| {
        json!({ "type": "image", "data": STANDARD.encode(&image.data), "mimeType": image.media_type })
    });
    serde_json::to_string(&Line {
        tool: &result.tool,
        call_id: result.call_id.as_deref(),
        is_error: result.is_error,
        text: &result.text,
        structured: RawValue::from_string(result.structured.clone())?,
        content: content.collect(),
    })
}
