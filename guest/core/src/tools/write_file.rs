//! `write_file`: the whole content of a file, or more at its end.

use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::text::{self, JsonObject};
use crate::types::{Condition, ErrorCode, WriteRequest};

/// The tool.
pub(super) struct WriteFile;

impl Tool for WriteFile {
    fn name(&self) -> &'static str {
        "write_file"
    }

    fn title(&self) -> &'static str {
        "Write a file"
    }

    fn description(&self) -> String {
        "Writes a file; missing directories are made. The content is taken exactly as given. mode \
         overwrite (the default) replaces a file that exists, create fails if there is one, append \
         puts the content at its end."
            .to_owned()
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::file_path("The file."),
            Param::text("content", "The content, exactly as it is to be stored."),
            Param::choice(
                "mode",
                &["overwrite", "create", "append"],
                "What to do with a file that exists.",
            ),
            Param::text(
                "if_version",
                "A version from an earlier result. Fails if the file has changed since.",
            )
            .optional(),
        ]
    }

    fn output(&self) -> &'static str {
        OUTPUT
    }

    fn effect(&self) -> Effect {
        Effect { read_only: false, destructive: true, idempotent: false }
    }

    fn run(&self, context: &Context<'_>, arguments: &mut Arguments) -> Result<Answer, Failure> {
        let path = context.path(arguments.text("file_path").unwrap_or_default())?;
        let writer = context.writer()?;
        let mode = arguments.text("mode").unwrap_or_default().to_owned();
        let version = arguments.text("if_version").map(str::to_owned);
        let condition = match (mode.as_str(), version) {
            ("create", Some(_)) => {
                return Err(Failure::invalid(
                    "if_version names a file that exists, and mode create fails for one; give one of them",
                ));
            }
            ("create", None) => Condition::Absent,
            (_, Some(version)) => Condition::Matches(version),
            (_, None) => Condition::Always,
        };
        let content = arguments.take_text("content").into_bytes();
        let added = text::bytes(content.len() as u64);
        let request =
            WriteRequest { path: path.as_str().to_owned(), content, condition, dry_run: false };
        let append = mode == "append";
        let written = if append { writer.append(&request) } else { writer.write(&request) }
            .map_err(|error| match error {
                ErrorCode::AlreadyExists => Failure::new(
                    Code::AlreadyExists,
                    format!("{path} exists already; use mode=overwrite to replace it"),
                )
                .at(path.as_str()),
                error => Failure::of_backend(error, path.as_str()),
            })?;
        let text = match written.previous_size {
            None => format!("Created {path} ({added})."),
            Some(_) if append => {
                format!("Appended {added} to {path} ({} now).", text::bytes(written.size))
            }
            Some(before) => format!("Replaced {path} ({added}, was {before})."),
        };
        let structured = JsonObject::default()
            .with("path", path.as_str())
            .with("size", written.size)
            .with("version", written.version)
            .with("created", written.previous_size.is_none());
        Ok(Answer::new(text, structured.finish()))
    }
}

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "path": { "type": "string" },
        "size": { "type": "integer", "description": "In bytes." },
        "version": { "type": "string" },
        "created": { "type": "boolean" }
    },
    "required": ["path", "size", "version", "created"]
}"#;
