//! `move_file`: gives a file, a link or a directory another path.

use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::language::{Words, words};
use crate::path::WorkspacePath;
use crate::text::JsonObject;
use crate::types::{ErrorCode, Language};

/// The tool.
pub(super) struct MoveFile;

impl Tool for MoveFile {
    fn name(&self) -> &'static str {
        "move_file"
    }

    fn title(&self) -> Words {
        words("Move a file or directory", "移动文件或目录")
    }

    fn description(&self, language: Language) -> String {
        words(
            "Moves or renames a file, a symbolic link (not what it points to), or a directory. Missing \
             directories of the destination are made. A file at the destination is replaced only with \
             overwrite; a directory never is.", 
            "移动或重命名文件、符号链接（不影响其指向的内容）或目录。目标路径中缺少的目录会自动创建。目标处已有\
             文件时，仅在设置 overwrite 时替换；目录从不替换。",
        ).get(language).to_owned()
    }

    fn hint(&self) -> Words {
        words("move or rename a file or a directory", "移动或重命名文件或目录")
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::text("source", words("What to move.", "要移动的内容。")),
            Param::text(
                "destination",
                words("Its new path, including the name.", "新路径，包含名称。"),
            ),
            Param::flag(
                "overwrite",
                false,
                words("Replace a file at the destination.", "替换目标处的文件。"),
            ),
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
        ErrorCode::Conflict => Failure::new(
            Code::Conflict,
            format!(
                "{source} was not moved to {destination}: one of them has changed meanwhile; read them \
                 again"
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
