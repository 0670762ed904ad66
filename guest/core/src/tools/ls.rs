//! `ls`: the entries of a directory.

use std::time::{Duration, UNIX_EPOCH};

use super::pages::{Room, footer, past_the_end};
use super::wording::CUT;
use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::Failure;
use crate::language::{Words, words};
use crate::limits::DEFAULT_ENTRIES;
use crate::path::show;
use crate::text::{JsonObject, counted, size, undecodable_notice, with_notices};
use crate::types::{FileInfo, FileKind, Language};

/// The tool.
pub(super) struct Ls;

impl Tool for Ls {
    fn name(&self) -> &'static str {
        "ls"
    }

    fn title(&self) -> Words {
        words("List a directory", "列出目录")
    }

    fn description(&self, language: Language) -> String {
        match language {
            Language::En => format!(
                "Lists the entries of a directory, sorted by name, one a line: size and path. A \
                 directory has - as its size and / at the end of its path; link is a symbolic link, \
                 other a special file. Shows up to {DEFAULT_ENTRIES} entries unless limit says \
                 otherwise. {}",
                CUT.en
            ),
            Language::Zh => format!(
                "列出目录中的条目，按名称排序，每行一个：大小和路径。目录的大小显示为 -，路径以 / 结尾；\
                 link 表示符号链接，other 表示特殊文件。默认最多显示 {DEFAULT_ENTRIES} 个条目，可用 limit \
                 更改。{}",
                CUT.zh
            ),
        }
    }

    fn hint(&self) -> Words {
        words("see what is in a directory", "查看目录中有哪些内容")
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::path(words(
                "The directory, or a single file; the root if not given.",
                "目录或单个文件；省略时为根目录。",
            ))
            .optional(),
            Param::integer(
                "offset",
                0,
                Some(0),
                words("How many entries to skip.", "跳过的条目数。"),
            ),
            Param::integer(
                "limit",
                1,
                Some(DEFAULT_ENTRIES as i64),
                words("How many entries to show at most.", "最多显示的条目数。"),
            ),
        ]
    }

    fn output(&self) -> &'static str {
        OUTPUT
    }

    fn effect(&self) -> Effect {
        Effect::READS
    }

    fn shows_pages(&self) -> bool {
        true
    }

    fn run(&self, context: &Context<'_>, arguments: &mut Arguments) -> Result<Answer, Failure> {
        let path = context.path(arguments.text("path").unwrap_or_default())?;
        let (offset, limit) = (arguments.count("offset"), arguments.count("limit"));
        let mut room = Room::new(context);
        let (mut lines, mut entries) = (Vec::new(), Vec::new());
        let mut cut = false;
        let (total, undecodable, is_directory) = loop {
            let done = lines.len() as u64;
            let page = context
                .reader
                .ls_info(path.as_str(), offset.saturating_add(done), limit - done)
                .map_err(|error| Failure::of_backend(error, path.as_str()))?;
            for entry in &page.entries {
                let (line, json) = (line(entry), entry_json(entry));
                if !room.take(&line, &json) {
                    cut = true;
                    break;
                }
                lines.push(line);
                entries.push(json);
            }
            let done = lines.len() as u64;
            let at_end = page.entries.is_empty() || offset.saturating_add(done) >= page.total;
            if cut || at_end || done >= limit {
                break (page.total, page.undecodable, page.is_directory);
            }
        };
        let done = lines.len() as u64;
        if done == 0 && offset > 0 {
            let total = counted(total, "entry", "entries");
            return Err(past_the_end(offset, &path.to_string(), &total).at(path.as_str()));
        }
        let next = Some(offset + done).filter(|next| *next < total);
        let body = if done == 0 && is_directory {
            format!("The directory {path} is empty.")
        } else {
            lines.join("\n")
        };
        let mut notices = Vec::new();
        notices.extend(next.map(|next| footer(done, total, next)));
        notices.extend(undecodable_notice(undecodable));
        let structured = JsonObject::default()
            .with("path", path.as_str())
            .with_list("entries", &entries)
            .with("total", total)
            .with_some("next_offset", next);
        Ok(Answer::new(with_notices(body, &notices), structured.finish()))
    }
}

fn line(entry: &FileInfo) -> String {
    let path = show(&entry.path);
    match entry.kind {
        FileKind::File => format!("{:>9}  {path}", size(entry.size)),
        FileKind::Directory => format!("{:>9}  {}", "-", show(&format!("{}/", entry.path))),
        FileKind::Link => {
            let target = entry.link_target.as_deref().unwrap_or("?");
            format!("{:>9}  {path} -> {}", "link", show(target))
        }
        FileKind::Other => format!("{:>9}  {path}", "other"),
    }
}

fn entry_json(entry: &FileInfo) -> String {
    let kind = match entry.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Link => "link",
        FileKind::Other => "other",
    };
    let modified = UNIX_EPOCH + Duration::from_millis(entry.modified.min(LAST_TIME_MS));
    JsonObject::default()
        .with("path", entry.path.as_str())
        .with("kind", kind)
        .with("size", entry.size)
        .with("modified", humantime::format_rfc3339_millis(modified).to_string())
        .with_some("link_target", entry.link_target.as_deref())
        .finish()
}

/// The last time that can be written with a year of four digits.
const LAST_TIME_MS: u64 = 253_402_300_799_999;

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "path": { "type": "string" },
        "entries": { "type": "array", "items": {
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "kind": { "enum": ["file", "directory", "link", "other"] },
                "size": { "type": "integer", "description": "In bytes." },
                "modified": { "type": "string", "format": "date-time" },
                "link_target": { "type": "string" }
            },
            "required": ["path", "kind", "size", "modified"]
        } },
        "total": { "type": "integer" },
        "next_offset": { "type": "integer" }
    },
    "required": ["path", "entries", "total"]
}"#;
