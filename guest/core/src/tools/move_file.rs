//! `move_file`: gives a file, a link or a directory another path.

use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::path::WorkspacePath;
use crate::text::JsonObject;
use crate::types::ErrorCode;

/// The tool.
pub(super) struct MoveFile;

impl Tool for MoveFile {
    fn name(&self) -> &'static str {
        "move_file"
    }

    fn title(&self) -> &'static str {
        "Move a file or directory"
    }

    fn description(&self) -> String {
        "Moves or renames a file, a symbolic link (not what it points to), or a directory. Missing \
         directories of the destination are made. A file at the destination is replaced only with \
         overwrite; a directory never is."
            .to_owned()
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::text("source", "What to move."),
            Param::text("destination", "Its new path, including the name."),
            Param::flag("overwrite", false, "Replace a file at the destination."),
        ]
    }

    fn output(&self) -> &'static str {
        OUTPUT
    }

    fn effect(&self) -> Effect {
        Effect { read_only: false, destructive: true, idempotent: false }
    }

    fn run(&self, context: &Context<'_>, arguments: &mut Arguments) -> Result<Answer, Failure> {
        let source = context.path(arguments.text("source").unwrap_or_default())?;
        let destination = context.path(arguments.text("destination").unwrap_or_default())?;
        if source.is_root() {
            return Err(Failure::new(
                Code::NotPermitted,
                "the root of the workspace cannot be moved",
            )
            .at("/"));
        }
        if source == destination {
            return Err(Failure::invalid(format!("source and destination are the same: {source}"))
                .at(source.as_str()));
        }
        if destination.is_within(&source) {
            return Err(Failure::new(
                Code::InvalidPath,
                format!("{source} cannot be moved into itself, to {destination}"),
            )
            .at(source.as_str()));
        }
        context
            .writer()?
            .rename(source.as_str(), destination.as_str(), arguments.flag("overwrite"))
            .map_err(|error| refuse(error, &source, &destination))?;
        let structured = JsonObject::default()
            .with("source", source.as_str())
            .with("destination", destination.as_str());
        Ok(Answer::new(format!("Moved {source} to {destination}."), structured.finish()))
    }
}

fn refuse(error: ErrorCode, source: &WorkspacePath, destination: &WorkspacePath) -> Failure {
    match error {
        ErrorCode::AlreadyExists => Failure::new(
            Code::AlreadyExists,
            format!("{destination} exists already; use overwrite=true to replace a file"),
        )
        .at(destination.as_str()),
        ErrorCode::IsDirectory => Failure::new(
            Code::IsDirectory,
            format!(
                "{destination} is a directory, which is not replaced; give the new path with its name"
            ),
        )
        .at(destination.as_str()),
        ErrorCode::NotPermitted => Failure::new(
            Code::NotPermitted,
            format!(
                "moving {source} to {destination} is not permitted; one of them is protected, or a link \
                 that leads out of the workspace"
            ),
        )
        .at(source.as_str()),
        ErrorCode::NotADirectory => Failure::new(
            Code::NotADirectory,
            format!(
                "{source} cannot be moved to {destination}: a file is where a directory would have to be"
            ),
        )
        .at(source.as_str()),
        ErrorCode::QuotaExceeded | ErrorCode::NotAFile => {
            Failure::of_backend(error, destination.as_str())
        }
        error => Failure::of_backend(error, source.as_str()),
    }
}

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "source": { "type": "string" },
        "destination": { "type": "string" }
    },
    "required": ["source", "destination"]
}"#;
