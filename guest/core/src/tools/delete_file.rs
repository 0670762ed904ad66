//! `delete_file`: removes a file, a link or a directory.

use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::language::{Words, words};
use crate::text::{JsonObject, counted};
use crate::types::Language;

/// The tool.
pub(super) struct DeleteFile;

impl Tool for DeleteFile {
    fn name(&self) -> &'static str {
        "delete_file"
    }

    fn title(&self) -> Words {
        words("Delete a file or directory", "删除文件或目录")
    }

    fn description(&self, language: Language) -> String {
        words(
            "Deletes a file, a symbolic link (not what it points to), or a directory. A directory with \
             entries needs recursive.", 
            "删除文件、符号链接（不影响其指向的内容）或目录。非空目录需要设置 recursive。",
        ).get(language).to_owned()
    }

    fn hint(&self) -> Words {
        words("remove a file or a directory", "删除文件或目录")
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::path(words("What to delete.", "要删除的内容。")),
            Param::flag(
                "recursive",
                false,
                words("Delete a directory with all that is in it.", "连同其中全部内容删除目录。"),
            ),
        ]
    }

    fn output(&self) -> &'static str {
        OUTPUT
    }

    fn effect(&self) -> Effect {
        Effect { read_only: false, destructive: true, idempotent: true }
    }

    fn run(&self, context: &Context<'_>, arguments: &mut Arguments) -> Result<Answer, Failure> {
        let path = context.path(arguments.text("path").unwrap_or_default())?;
        if path.is_root() {
            return Err(Failure::new(
                Code::NotPermitted,
                "the root of the workspace cannot be deleted",
            )
            .at("/"));
        }
        let removed = context
            .writer()?
            .remove(path.as_str(), arguments.flag("recursive"))
            .map_err(|error| Failure::of_backend(error, path.as_str()))?;
        let mut parts = Vec::new();
        if removed.files > 0 {
            parts.push(counted(removed.files, "file", "files"));
        }
        if removed.directories > 0 {
            parts.push(counted(removed.directories, "directory", "directories"));
        }
        let structured = JsonObject::default()
            .with("path", path.as_str())
            .with("files", removed.files)
            .with("directories", removed.directories);
        Ok(Answer::new(format!("Deleted {path} ({}).", parts.join(", ")), structured.finish()))
    }
}

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "path": { "type": "string" },
        "files": { "type": "integer" },
        "directories": { "type": "integer" }
    },
    "required": ["path", "files", "directories"]
}"#;
