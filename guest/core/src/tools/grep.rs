//! `grep`: which lines of which files match a pattern.

mod render;

use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::globs;
use crate::limits::{DEFAULT_MATCHES, GREP_LINE_CHARS, HIDDEN_TIME_MS, MAX_CONTEXT_LINES};
use crate::text::hidden_notice;
use crate::types::{GrepFile, GrepLineKind, GrepMode, GrepPage, GrepRequest};

/// What share of a result the bytes of a backend's page may have: text and structured form both
/// hold them, with escapes.
const PAGE_SHARE: u64 = 3;

/// How many bytes of results are looked at to count hidden matches: 1 MiB.
const HIDDEN_BYTES: u64 = 1 << 20;

/// The tool.
pub(super) struct Grep;

impl Tool for Grep {
    fn name(&self) -> &'static str {
        "grep"
    }

    fn title(&self) -> &'static str {
        "Search in files"
    }

    fn description(&self) -> String {
        format!(
            "Searches the content of files for a regular expression (Rust regex syntax, no \
             look-around), or for plain text with literal. output_mode files_with_matches (the \
             default) shows paths, content shows path:line:text, count shows how many lines match. \
             glob and type narrow the files; a glob without / matches names, one with / paths below \
             path. Files that ignore files exclude are left out unless include_ignored is set. Shows \
             {DEFAULT_MATCHES} results at once unless head_limit says otherwise."
        )
    }

    fn params(&self) -> Vec<Param> {
        let context = i64::try_from(MAX_CONTEXT_LINES).unwrap_or(i64::MAX);
        vec![
            Param::text("pattern", "What to search for."),
            Param::path("A file, or the directory to search; the root if not given.").optional(),
            Param::text("glob", "Only files that match this pattern, as in *.rs.").optional(),
            Param::text("type", "Only files of this type, as in rust, py, ts.").optional(),
            Param::choice(
                "output_mode",
                &["files_with_matches", "content", "count"],
                "What to show.",
            ),
            Param::flag("-i", false, "Ignore letter case."),
            Param::flag("-n", true, "Show line numbers in content mode."),
            Param::integer("-A", 0, None, "Lines to show after each match.").at_most(context),
            Param::integer("-B", 0, None, "Lines to show before each match.").at_most(context),
            Param::integer("-C", 0, None, "Lines to show around each match.").at_most(context),
            Param::flag("multiline", false, "Let matches span lines; . matches a newline too."),
            Param::flag("literal", false, "Take the pattern as plain text."),
            Param::flag("include_ignored", false, "Search ignored files too."),
            Param::integer(
                "head_limit",
                0,
                Some(DEFAULT_MATCHES as i64),
                "How many matches (content) or files to show; 0 for all that fit.",
            ),
            Param::integer("offset", 0, Some(0), "How many matches (content) or files to skip."),
        ]
    }

    fn output(&self) -> &'static str {
        OUTPUT
    }

    fn effect(&self) -> Effect {
        Effect::READS
    }

    fn run(&self, context: &Context<'_>, arguments: &mut Arguments) -> Result<Answer, Failure> {
        let path = context.path(arguments.text("path").unwrap_or_default())?;
        let request = request(context, arguments, path.as_str())?;
        let search = |request: &GrepRequest| -> Result<GrepPage, Failure> {
            context
                .reader
                .grep_raw(request)
                .map_err(|error| Failure::of_backend(error, path.as_str()))
        };
        let page = whole_page(&request, &search)?;
        let mut hidden = None;
        if page.files.is_empty() {
            if page.total > 0 && page.report.stopped {
                return Err(Failure::new(
                    Code::TimedOut,
                    format!(
                        "the time ran out before offset {} was reached; narrow the search with path or glob",
                        request.offset
                    ),
                ));
            }
            if page.total > 0 {
                return Err(Failure::invalid(format!(
                    "offset {} is past the end: the search has {}",
                    request.offset,
                    render::total(request.mode, page.total)
                )));
            }
            if page.report.ignored && !request.include_ignored && !page.report.stopped {
                hidden = count_hidden(&request, &search)?;
            }
        }
        render::answer(context, &path, &request, arguments.flag("-n"), page, hidden)
    }
}

fn request(
    context: &Context<'_>,
    arguments: &Arguments,
    path: &str,
) -> Result<GrepRequest, Failure> {
    let pattern = arguments.text("pattern").unwrap_or_default();
    let multiline = arguments.flag("multiline");
    if pattern.is_empty() {
        return Err(Failure::invalid("the pattern is empty; give what to search for"));
    }
    if pattern.contains('\n') && !multiline {
        return Err(Failure::invalid(
            "the pattern has a newline, and lines are searched one by one; use multiline=true",
        ));
    }
    if let Some(glob) = arguments.text("glob") {
        globs::parse(glob).map_err(Failure::invalid)?;
    }
    let mode = match arguments.text("output_mode") {
        Some("content") => GrepMode::Content,
        Some("count") => GrepMode::Count,
        _ => GrepMode::Files,
    };
    let around = arguments.count("-C");
    let lines = |name: &str| {
        let n = if arguments.has(name) { arguments.count(name) } else { around };
        u32::try_from(n).unwrap_or(u32::MAX)
    };
    Ok(GrepRequest {
        path: path.to_owned(),
        pattern: pattern.to_owned(),
        literal: arguments.flag("literal"),
        ignore_case: arguments.flag("-i"),
        multiline,
        glob: arguments.text("glob").map(str::to_owned),
        file_type: arguments.text("type").map(str::to_owned),
        include_ignored: arguments.flag("include_ignored"),
        mode,
        before: lines("-B"),
        after: lines("-A"),
        offset: arguments.count("offset"),
        limit: arguments.count("head_limit"),
        max_bytes: context.config().result_bytes / PAGE_SHARE,
        line_chars: GREP_LINE_CHARS,
        time_ms: context.config().time_ms,
    })
}

/// How much of a limit a file uses up.
fn weight(mode: GrepMode, file: &GrepFile) -> u64 {
    if mode == GrepMode::Content { file.count } else { 1 }
}

/// One page, also from a backend that gives shorter ones.
fn whole_page(
    request: &GrepRequest,
    search: &dyn Fn(&GrepRequest) -> Result<GrepPage, Failure>,
) -> Result<GrepPage, Failure> {
    let mut page = search(request)?;
    loop {
        let done: u64 = page.files.iter().map(|file| weight(request.mode, file)).sum();
        let bytes: usize = page
            .files
            .iter()
            .map(|file| {
                file.path.len()
                    + 8
                    + file.lines.iter().map(|line| line.text.len() + 64).sum::<usize>()
            })
            .sum();
        let full = request.limit > 0 && done >= request.limit;
        // A page that is nearly as large as it may be is not continued.
        let large = bytes as u64 >= request.max_bytes / 2;
        if page.complete || page.files.is_empty() || full || large || page.report.stopped {
            return Ok(page);
        }
        let next = GrepRequest {
            offset: request.offset + done,
            limit: request.limit.saturating_sub(done),
            ..request.clone()
        };
        let more = search(&next)?;
        let progress = !more.files.is_empty();
        join(&mut page, more);
        if !progress {
            return Ok(page);
        }
    }
}

/// Puts a following page behind a page.
fn join(page: &mut GrepPage, more: GrepPage) {
    page.complete = more.complete;
    page.total = page.total.max(more.total);
    page.report.stopped |= more.report.stopped;
    for file in more.files {
        let Some(last) = page.files.last_mut().filter(|last| last.path == file.path) else {
            page.files.push(file);
            continue;
        };
        last.count += file.count;
        for line in file.lines {
            // The context of both pages may overlap.
            match last.lines.binary_search_by_key(&line.number, |known| known.number) {
                Ok(at) => match last.lines.get_mut(at) {
                    Some(known) if known.kind == GrepLineKind::Context => *known = line,
                    // A match that starts in the last line of another.
                    Some(known)
                        if known.kind == GrepLineKind::Continuation
                            && line.kind == GrepLineKind::Match =>
                    {
                        last.lines.insert(at + 1, line);
                    }
                    _ => {}
                },
                Err(at) => last.lines.insert(at, line),
            }
        }
    }
}

/// The notice for matches that ignore rules hide, if they hide any.
fn count_hidden(
    request: &GrepRequest,
    search: &dyn Fn(&GrepRequest) -> Result<GrepPage, Failure>,
) -> Result<Option<String>, Failure> {
    let all = GrepRequest {
        include_ignored: true,
        mode: GrepMode::Count,
        offset: 0,
        limit: 0,
        before: 0,
        after: 0,
        max_bytes: HIDDEN_BYTES,
        time_ms: request.time_ms.min(HIDDEN_TIME_MS),
        ..request.clone()
    };
    let page = search(&all)?;
    let n: u64 = page.files.iter().map(|file| file.count).sum();
    Ok((n > 0).then(|| hidden_notice(n, !page.complete || page.report.stopped)))
}

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "mode": { "enum": ["files_with_matches", "content", "count"] },
        "matches": { "type": "array", "items": {
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "line": { "type": "integer" },
                "text": { "type": "string" },
                "context": { "type": "boolean" }
            },
            "required": ["path", "line", "text", "context"]
        } },
        "files": { "type": "array", "items": { "type": "string" } },
        "counts": { "type": "array", "items": {
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "count": { "type": "integer" }
            },
            "required": ["path", "count"]
        } },
        "total": { "type": "integer" },
        "total_is_exact": { "type": "boolean" },
        "files_searched": { "type": "integer" },
        "skipped_binary": { "type": "integer" },
        "unreadable": { "type": "array", "items": { "type": "string" } },
        "next_offset": { "type": "integer" }
    },
    "required": [
        "mode", "total", "total_is_exact", "files_searched", "skipped_binary", "unreadable"
    ]
}"#;
