//! `edit_file`: literal replacements in a file, written only if it is still what was edited.

use serde_json::json;

use super::wording::FILE;
use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, GivenEdit, Kind, NEW_STRING, OLD_STRING, Param, REPLACE_ALL};
use crate::diff;
use crate::edit::{self, Edit, EditError, EditFault, Edited};
use crate::failure::{Code, Failure};
use crate::language::{Words, words};
use crate::limits::{DIFF_CHARS, MAX_EDIT_BYTES, READ_CHUNK_BYTES};
use crate::path::WorkspacePath;
use crate::text::{self, JsonObject, counted};
use crate::types::{Condition, ErrorCode, Language, Version, WriteRequest};

/// How often an edit starts over because the file changed meanwhile.
const ATTEMPTS: usize = 8;

/// The tool.
pub(super) struct EditFile;

impl Tool for EditFile {
    fn name(&self) -> &'static str {
        "edit_file"
    }

    fn title(&self) -> Words {
        words("Edit a file", "编辑文件")
    }

    fn description(&self, language: Language) -> String {
        match language {
            Language::En => format!(
                "Replaces text in a file: old_string by new_string, both taken literally. old_string must \
                 occur exactly once, or at least once with replace_all. If it does not occur as it is, \
                 it is compared with line endings ignored; a line feed in new_string becomes the line \
                 ending of its place. Or give several replacements as edits: they are applied in order, \
                 all or none. The answer has a diff, cut at {DIFF_CHARS} characters."
            ),
            Language::Zh => format!(
                "替换文件中的文本：将 old_string 替换为 new_string，两者均按字面处理。old_string \
                 必须恰好出现一次；设置 replace_all 时至少出现一次。没有完全一致的文本时，忽略换行符差异再匹配；\
                 new_string 中的换行采用所在位置的换行符。也可用 edits 给出多处替换：按顺序应用，要么全部生效，\
                 要么全不生效。结果附有 diff，超过 {DIFF_CHARS} 个字符的部分会被截断。"
            ),
        }
    }

    fn hint(&self) -> Words {
        words("replace exact pieces of text in a file", "精确替换文件中的部分文本")
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::file_path(FILE),
            Param::text("old_string", OLD_STRING).optional(),
            Param::text("new_string", NEW_STRING).optional(),
            Param::flag("replace_all", false, REPLACE_ALL),
            Param {
                kind: Kind::Edits,
                ..Param::text(
                    "edits",
                    words(
                        "Several replacements, instead of old_string and new_string.",
                        "多处替换，代替 old_string 和 new_string。",
                    ),
                )
                .optional()
            },
            Param::text(
                "if_version",
                words(
                    "The version that an earlier structured result gave; fails if the file has changed since.",
                    "此前结构化结果给出的 version；若文件此后已更改，则失败。",
                ),
            )
            .optional(),
            Param::flag(
                "dry_run",
                false,
                words("Answer as usual, and write nothing.", "照常返回结果，但不写入。"),
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
        let path = context.path(arguments.text("file_path").unwrap_or_default())?;
        let edits = given_edits(arguments)?;
        for (index, edit) in edits.iter().enumerate() {
            let fault = match edit {
                edit if edit.old.is_empty() => EditFault::EmptyOld,
                edit if edit.old == edit.new => EditFault::Identical,
                _ => continue,
            };
            return Err(refuse(&path, EditError { index, reason: fault }, edits.len()));
        }
        let wanted = arguments.text("if_version");
        let dry_run = arguments.flag("dry_run");
        let mut attempt = 1;
        loop {
            let (content, version) = read_all(context, &path)?;
            if wanted.is_some_and(|wanted| wanted != version) {
                return Err(Failure::of_backend(ErrorCode::Conflict, path.as_str()));
            }
            let list: Vec<Edit<'_>> = edits
                .iter()
                .map(|edit| Edit { old: &edit.old, new: &edit.new, replace_all: edit.replace_all })
                .collect();
            let edited =
                edit::apply(&content, &list).map_err(|error| refuse(&path, error, edits.len()))?;
            let diff = diff::unified(path.as_str(), &content, &edited.bytes, edited.touched_lines);
            drop(content);
            let request = WriteRequest {
                path: path.as_str().to_owned(),
                content: edited.bytes,
                condition: Condition::Matches(version),
                dry_run,
            };
            match context.writer()?.write(&request) {
                Ok(written) => {
                    let edited = Edited { bytes: Vec::new(), ..edited };
                    return Ok(answer(&path, &edited, &written.version, &diff));
                }
                // The file changed meanwhile: edit what it is now.
                Err(ErrorCode::Conflict) if wanted.is_none() && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(Failure::of_backend(error, path.as_str())),
            }
        }
    }
}

/// The replacements of a call, given in one of two forms.
fn given_edits(arguments: &mut Arguments) -> Result<Vec<GivenEdit>, Failure> {
    if let Some(edits) = arguments.edits("edits") {
        if arguments.has("old_string") || arguments.has("new_string") {
            return Err(Failure::invalid(
                "give either old_string and new_string, or edits, not both",
            ));
        }
        if arguments.flag("replace_all") {
            return Err(Failure::invalid(
                "replace_all goes with old_string; with edits, give it in each edit",
            ));
        }
        return Ok(edits.to_vec());
    }
    for name in ["old_string", "new_string"] {
        if !arguments.has(name) {
            return Err(Failure::invalid(format!(
                "missing argument `{name}`: wanted a string, got nothing (or give edits)"
            ))
            .with_detail(json!({ "argument": name })));
        }
    }
    let replace_all = arguments.flag("replace_all");
    let (old, new) = (arguments.take_text("old_string"), arguments.take_text("new_string"));
    Ok(vec![GivenEdit { old, new, replace_all }])
}

/// The whole content of a file, of one version.
fn read_all(context: &Context<'_>, path: &WorkspacePath) -> Result<(Vec<u8>, Version), Failure> {
    let mut attempt = 1;
    'again: loop {
        let mut content: Vec<u8> = Vec::new();
        let mut version: Option<Version> = None;
        loop {
            let page = context
                .reader
                .read_bytes(path.as_str(), content.len() as u64, READ_CHUNK_BYTES)
                .map_err(|error| Failure::of_backend(error, path.as_str()))?;
            if page.size > MAX_EDIT_BYTES {
                return Err(too_large(path, "is"));
            }
            let version = version.get_or_insert_with(|| page.version.clone());
            let at_end = content.len() as u64 + page.data.len() as u64 >= page.size;
            if *version != page.version || (page.data.is_empty() && !at_end) {
                if attempt == ATTEMPTS {
                    return Err(Failure::of_backend(ErrorCode::Conflict, path.as_str()));
                }
                attempt += 1;
                continue 'again;
            }
            content.extend_from_slice(&page.data);
            if at_end {
                return Ok((content, page.version));
            }
        }
    }
}

fn too_large(path: &WorkspacePath, verb: &str) -> Failure {
    Failure::new(
        Code::TooLarge,
        format!("{path} {verb} over {}, more than can be edited", text::size(MAX_EDIT_BYTES)),
    )
    .at(path.as_str())
}

fn answer(path: &WorkspacePath, edited: &Edited, version: &str, diff: &str) -> Answer {
    let n = edited.replacements as u64;
    let mut text = format!("Replaced {} in {path}.\n", counted(n, "occurrence", "occurrences"));
    if edited.left > 0 {
        let left = edited.left as u64;
        let verb = if left == 1 { "matches" } else { "match" };
        text.push_str(&format!(
            "[{} {verb} with other line endings and {} left as {}]\n",
            counted(left, "more place", "more places"),
            if left == 1 { "was" } else { "were" },
            if left == 1 { "it is" } else { "they are" },
        ));
    }
    text.push_str(diff.trim_end_matches('\n'));
    let structured = JsonObject::default()
        .with("path", path.as_str())
        .with("replacements", n)
        .with("version", version)
        .with("diff", diff);
    Answer::new(text, structured.finish())
}

/// The failure for an edit that cannot be applied.
fn refuse(path: &WorkspacePath, error: EditError, edits: usize) -> Failure {
    let which =
        if edits > 1 { format!("edit {} of {edits}: ", error.index + 1) } else { String::new() };
    let nothing = if edits > 1 { "; no edit was applied" } else { "" };
    let failure = match error.reason {
        EditFault::EmptyOld => Failure::invalid(format!(
            "{which}old_string is empty; give the text to replace, or use another tool to write the file"
        )),
        EditFault::Identical => {
            Failure::invalid(format!("{which}old_string and new_string are identical"))
        }
        EditFault::NothingChanges => Failure::invalid(format!(
            "{which}nothing would change: only line endings differ, and those of the file are kept"
        )),
        EditFault::NoMatch { hint } => {
            let hint = hint.unwrap_or_else(|| "read the file and copy the text exactly".to_owned());
            Failure::new(
                Code::NoMatch,
                format!("{which}old_string was not found in {path}; {hint}{nothing}"),
            )
        }
        EditFault::NotUnique { count, at_least, lines } => {
            let numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let more = if lines.len() < count { ", …" } else { "" };
            let at = if lines.len() == 1 && more.is_empty() { "line" } else { "lines" };
            let least = if at_least { "at least " } else { "" };
            Failure::new(
                Code::NotUnique,
                format!(
                    "{which}old_string occurs {least}{count} times in {path} ({at} {}{more}); add text around \
                     it to make it unique, or use replace_all=true{nothing}",
                    numbers.join(", ")
                ),
            )
            .with_detail(json!({ "count": count, "lines": lines }))
        }
        EditFault::TooLarge => too_large(path, "would become"),
        EditFault::NotRoundTrip => Failure::new(
            Code::Unsupported,
            format!("{path} is UTF-16 that is damaged; an edit could not keep it as it is"),
        ),
    };
    failure.at(path.as_str())
}

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "path": { "type": "string" },
        "replacements": { "type": "integer" },
        "version": { "type": "string" },
        "diff": { "type": "string" }
    },
    "required": ["path", "replacements", "version", "diff"]
}"#;
