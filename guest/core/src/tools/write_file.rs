//! `write_file`: the whole content of a file, or more at its end.

use super::wording::FILE;
use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::language::{Words, words};
use crate::text::{self, JsonObject};
use crate::types::{Condition, ErrorCode, Language, WriteRequest};

/// The tool.
pub(super) struct WriteFile;

impl Tool for WriteFile {
    fn name(&self) -> &'static str {
        "write_file"
    }

    fn title(&self) -> Words {
        words("Write a file", "写入文件")
    }

    fn description(&self, language: Language) -> String {
        words(
            "Writes text to a file, exactly as given; missing directories are made. mode overwrite (the \
             default) makes the file or replaces it, create makes it and fails if something is there, \
             append puts the content at its end and makes it if there is none.", 
            "将文本按原样写入文件，缺少的目录会自动创建。mode 为 overwrite（默认）时新建或替换文件；create \
             只新建，已存在则失败；append 追加到末尾，文件不存在则新建。",
        ).get(language).to_owned()
    }

    fn hint(&self) -> Words {
        words(
            "make a file, replace its whole content, or append to it",
            "新建文件、替换其全部内容，或追加到末尾",
        )
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::file_path(FILE),
            Param::text(
                "content",
                words("The content, exactly as it is to be stored.", "内容，按原样保存。"),
            ),
            Param::choice(
                "mode",
                &["overwrite", "create", "append"],
                words("What to do with a file that exists.", "文件已存在时的处理方式。"),
            ),
            Param::text(
                "if_version",
                words(
                    "The version that an earlier structured result gave; fails if the file has changed since. Not with mode create.",
                    "此前结构化结果给出的 version；若文件此后已更改，则失败。不能与 mode create 同用。",
                ),
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
