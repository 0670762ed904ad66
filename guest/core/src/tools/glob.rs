//! `glob`: the files whose path matches a pattern.

use serde_json::Value;

use super::pages::{Room, footer, past_the_end};
use super::wording::{CUT, INCLUDE_IGNORED, LEFT_OUT};
use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::globs;
use crate::language::{Words, words};
use crate::limits::{DEFAULT_ENTRIES, HIDDEN_TIME_MS};
use crate::path::show;
use crate::text::{JsonObject, counted, hidden_notice, pattern, walk_notices, with_notices};
use crate::types::{FileOrder, GlobPage, GlobRequest, Language, WalkReport};

/// The tool.
pub(super) struct Glob;

impl Tool for Glob {
    fn name(&self) -> &'static str {
        "glob"
    }

    fn title(&self) -> Words {
        words("Find files", "查找文件")
    }

    fn description(&self, language: Language) -> String {
        match language {
            Language::En => format!(
                "Finds files by a glob pattern with * ? [ab] [!a] {{a,b}} and ** for any directories; \\ \
                 escapes. Letter case counts. A pattern without / matches names at any depth, one with \
                 / paths below path, one that starts with / paths from the root. {} Shows up to \
                 {DEFAULT_ENTRIES} paths unless limit says otherwise. {}",
                LEFT_OUT.en, CUT.en
            ),
            Language::Zh => format!(
                "用 glob 模式查找文件，支持 * ? [ab] [!a] {{a,b}}，** 表示任意层目录，\\ 用于转义，区分大小写。\
                 不含 / 的模式匹配任意深度的文件名，含 / 的匹配 path 之下的路径，以 / 开头的匹配从根目录起的\
                 路径。{}默认最多显示 {DEFAULT_ENTRIES} 个路径，可用 limit 更改。{}",
                LEFT_OUT.zh, CUT.zh
            ),
        }
    }

    fn hint(&self) -> Words {
        words("find files by name or path", "按名称或路径查找文件")
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::text("pattern", words("The pattern, as in **/*.rs.", "模式，如 **/*.rs。")),
            Param::path(words(
                "The directory to look in; the root if not given.",
                "要查找的目录；省略时为根目录。",
            ))
            .optional(),
            Param::choice(
                "sort",
                &["path", "modified"],
                words("By path, or the last modified first.", "按路径排序，或最近修改的在前。"),
            ),
            Param::flag("include_ignored", false, INCLUDE_IGNORED),
            Param::integer(
                "offset",
                0,
                Some(0),
                words("How many paths to skip.", "跳过的路径数。"),
            ),
            Param::integer(
                "limit",
                1,
                Some(DEFAULT_ENTRIES as i64),
                words("How many paths to show at most.", "最多显示的路径数。"),
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
        let given = arguments.text("pattern").unwrap_or_default();
        globs::parse(given).map_err(Failure::invalid)?;
        let path = context.path(arguments.text("path").unwrap_or_default())?;
        let order = match arguments.text("sort") {
            Some("modified") => FileOrder::Modified,
            _ => FileOrder::Path,
        };
        let config = context.config();
        let (offset, limit) = (arguments.count("offset"), arguments.count("limit"));
        let request = GlobRequest {
            path: path.as_str().to_owned(),
            pattern: given.to_owned(),
            include_ignored: arguments.flag("include_ignored"),
            offload_path: config.offload.path.clone(),
            order,
            offset,
            limit,
            max_bytes: config.result_bytes,
            time_ms: config.time_ms,
        };
        let find = |request: &GlobRequest| -> Result<GlobPage, Failure> {
            context
                .reader
                .glob_info(request)
                .map_err(|error| Failure::of_backend(error, path.as_str()))
        };
        let mut room = Room::new(context);
        let (mut lines, mut files) = (Vec::new(), Vec::new());
        let mut cut = false;
        let (total, report) = loop {
            let done = lines.len() as u64;
            let rest = GlobRequest {
                offset: offset.saturating_add(done),
                limit: limit - done,
                ..request.clone()
            };
            let page = find(&rest)?;
            for file in &page.files {
                let (line, json) =
                    (show(file).into_owned(), Value::from(file.as_str()).to_string());
                if !room.take(&line, &json) {
                    cut = true;
                    break;
                }
                lines.push(line);
                files.push(json);
            }
            let done = lines.len() as u64;
            let at_end = page.files.is_empty() || offset.saturating_add(done) >= page.total;
            if cut || at_end || done >= limit {
                break (page.total, page.report);
            }
        };
        let done = lines.len() as u64;
        if done == 0 && total > 0 && report.stopped {
            return Err(Failure::new(
                Code::TimedOut,
                format!(
                    "the time ran out before offset {offset} was reached; narrow the search with path"
                ),
            ));
        }
        if done == 0 && total > 0 {
            let total = counted(total, "file", "files");
            return Err(past_the_end(offset, "the result", &total));
        }
        let next = Some(offset + done).filter(|next| *next < total);
        let mut notices = Vec::new();
        let body = if done == 0 {
            if report.ignored && !request.include_ignored && !report.stopped {
                notices.extend(hidden(&request, &find)?);
            }
            format!("No files match {} under {path}.", pattern(given))
        } else {
            lines.join("\n")
        };
        notices.extend(next.map(|next| footer(done, total, next)));
        notices.extend(walk_notices(&WalkReport { binary: 0, ..report.clone() }, config.time_ms));
        let mut structured = JsonObject::default()
            .with("path", path.as_str())
            .with_list("files", &files)
            .with("total", total)
            .with("total_is_exact", !report.stopped && report.unreadable_count == 0);
        if report.unreadable_count > 0 {
            structured = structured.with("unreadable", report.unreadable.clone());
        }
        let structured = structured.with_some("next_offset", next).finish();
        Ok(Answer::new(with_notices(body, &notices), structured))
    }
}

/// The notice for matches that ignore rules hide, if they hide any.
fn hidden(
    request: &GlobRequest,
    find: &dyn Fn(&GlobRequest) -> Result<GlobPage, Failure>,
) -> Result<Option<String>, Failure> {
    let all = GlobRequest {
        include_ignored: true,
        offset: 0,
        limit: 1,
        time_ms: request.time_ms.min(HIDDEN_TIME_MS),
        ..request.clone()
    };
    let page = find(&all)?;
    Ok((page.total > 0).then(|| hidden_notice(page.total, page.report.stopped)))
}

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "path": { "type": "string" },
        "files": { "type": "array", "items": { "type": "string" } },
        "total": { "type": "integer" },
        "total_is_exact": { "type": "boolean" },
        "unreadable": { "type": "array", "items": { "type": "string" } },
        "next_offset": { "type": "integer" }
    },
    "required": ["path", "files", "total", "total_is_exact"]
}"#;
