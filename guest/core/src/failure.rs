//! How a call fails: a code for programs, a sentence for the model.

use serde_json::{Map, Value, json};

use crate::path::show;
use crate::types::ErrorCode;

/// The code of a failed call, as in `structured.error.code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Code {
    NotFound,
    AlreadyExists,
    IsDirectory,
    NotADirectory,
    NotAFile,
    NotEmpty,
    InvalidPath,
    InvalidArguments,
    NotPermitted,
    Conflict,
    NoMatch,
    NotUnique,
    BinaryFile,
    TooLarge,
    QuotaExceeded,
    TimedOut,
    Cancelled,
    Unsupported,
    UnknownTool,
    Unavailable,
    Internal,
}

impl Code {
    /// The code as text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::AlreadyExists => "already-exists",
            Self::IsDirectory => "is-directory",
            Self::NotADirectory => "not-a-directory",
            Self::NotAFile => "not-a-file",
            Self::NotEmpty => "not-empty",
            Self::InvalidPath => "invalid-path",
            Self::InvalidArguments => "invalid-arguments",
            Self::NotPermitted => "not-permitted",
            Self::Conflict => "conflict",
            Self::NoMatch => "no-match",
            Self::NotUnique => "not-unique",
            Self::BinaryFile => "binary-file",
            Self::TooLarge => "too-large",
            Self::QuotaExceeded => "quota-exceeded",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Unsupported => "unsupported",
            Self::UnknownTool => "unknown-tool",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

/// A failed call.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of failure.
    pub code: Code,
    /// A lowercase sentence that says what to do next.
    pub message: String,
    /// The path it is about.
    pub path: Option<String>,
    /// More for programs.
    pub detail: Option<Box<Value>>,
}

impl Failure {
    /// A failure that is about no path.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: None, detail: None }
    }

    /// Arguments that cannot be used.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArguments, message)
    }

    /// The same failure, about `path`.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// The same failure, with more for programs.
    #[must_use]
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.detail = Some(Box::new(detail));
        self
    }

    /// What the model reads.
    #[must_use]
    pub fn text(&self) -> String {
        format!("Error: {}", self.message)
    }

    /// What programs read.
    #[must_use]
    pub fn structured(&self) -> String {
        let mut error = Map::new();
        error.insert("code".to_owned(), json!(self.code.as_str()));
        if let Some(path) = &self.path {
            error.insert("path".to_owned(), json!(path));
        }
        if let Some(detail) = &self.detail {
            error.insert("detail".to_owned(), Value::clone(detail));
        }
        json!({ "error": error }).to_string()
    }

    /// The failure that an error of the backend is for a tool that worked on `path`.
    #[must_use]
    pub fn of_backend(error: ErrorCode, path: &str) -> Self {
        let shown = show(path);
        let (code, message) = match error {
            ErrorCode::NotFound => (
                Code::NotFound,
                format!("{shown} does not exist; list its directory to see what is there"),
            ),
            ErrorCode::AlreadyExists => (Code::AlreadyExists, format!("{shown} exists already")),
            ErrorCode::IsDirectory => {
                (Code::IsDirectory, format!("{shown} is a directory; give the path of a file"))
            }
            ErrorCode::NotADirectory => (
                Code::NotADirectory,
                format!("{shown} cannot be reached: a part of the path is a file, not a directory"),
            ),
            ErrorCode::NotAFile => (
                Code::NotAFile,
                format!(
                    "{shown} is not a regular file; FIFOs, sockets and devices are never opened"
                ),
            ),
            ErrorCode::NotEmpty => (
                Code::NotEmpty,
                format!(
                    "the directory {shown} is not empty; use recursive=true to delete all in it"
                ),
            ),
            ErrorCode::InvalidPath(why) => (Code::InvalidPath, why),
            ErrorCode::InvalidArguments(why) => (Code::InvalidArguments, why),
            ErrorCode::NotPermitted => (
                Code::NotPermitted,
                format!(
                    "access to {shown} is not permitted; it is protected, or a link that leads out of the workspace"
                ),
            ),
            ErrorCode::Conflict => {
                (Code::Conflict, format!("{shown} has changed since it was read; read it again"))
            }
            ErrorCode::TooLarge(why) => (Code::TooLarge, why),
            ErrorCode::QuotaExceeded => (
                Code::QuotaExceeded,
                format!("no space is left to write {shown}; delete what is not needed any more"),
            ),
            ErrorCode::TimedOut => (
                Code::TimedOut,
                format!("the time budget ran out at {shown}; ask for less at once"),
            ),
            ErrorCode::Cancelled => (Code::Cancelled, "the call was cancelled".to_owned()),
            ErrorCode::Unsupported => {
                (Code::Unsupported, format!("this workspace does not support that for {shown}"))
            }
            ErrorCode::Unavailable(why) => {
                (Code::Unavailable, format!("{shown} cannot be reached: {why}"))
            }
            ErrorCode::Other(why) => {
                let why = why.unwrap_or_else(|| "unknown failure".to_owned());
                (Code::Internal, format!("{shown}: {why}"))
            }
        };
        Self::new(code, message).at(path)
    }
}
