//! `glob`: the files whose path matches a pattern.

use serde_json::Value;

use super::pages::{Room, footer, past_the_end};
use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::globs;
use crate::limits::{DEFAULT_ENTRIES, HIDDEN_TIME_MS};
use crate::path::show;
use crate::text::{JsonObject, counted, hidden_notice, pattern, walk_notices, with_notices};
use crate::types::{FileOrder, GlobPage, GlobRequest, WalkReport};

/// The tool.
pub(super) struct Glob;

impl Tool for Glob {
    fn name(&self) -> &'static str {
        "glob"
    }

    fn title(&self) -> &'static str {
        "Find files"
    }

    fn description(&self) -> String {
        format!(
            "Finds files by a glob pattern with * ? [ab] [!a] {{a,b}} and ** for any directories; \\ \
             escapes. A pattern without / matches names at any depth, one with / paths below path, \
             one that starts with / paths from the root. Files that ignore files exclude are left out \
             unless include_ignored is set. Shows {DEFAULT_ENTRIES} paths at once unless limit says \
             otherwise."
        )
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::text("pattern", "The pattern, as in **/*.rs."),
            Param::path("The directory to look in; the root if not given.").optional(),
            Param::choice("sort", &["path", "modified"], "By path, or the last modified first."),
            Param::flag("include_ignored", false, "Show ignored files too."),
            Param::integer("offset", 0, Some(0), "How many paths to skip."),
            Param::integer("limit", 1, Some(DEFAULT_ENTRIES as i64), "How many paths to show."),
        ]
    }

    fn output(&self) -> &'static str {
        OUTPUT
    }

    fn effect(&self) -> Effect {
        Effect::READS
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
        let mut room = Room::new(config.result_bytes);
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
