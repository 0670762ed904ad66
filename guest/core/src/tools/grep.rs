//! `grep`: which lines of which files match a pattern.

mod render;

use super::wording::{CUT, INCLUDE_IGNORED, LEFT_OUT};
use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::globs;
use crate::grep_pages::{join, weight};
use crate::language::{Words, words};
use crate::limits::{DEFAULT_MATCHES, GREP_LINE_CHARS, HIDDEN_TIME_MS, MAX_CONTEXT_LINES};
use crate::text::hidden_notice;
use crate::types::{GrepMode, GrepPage, GrepRequest, Language};

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

    fn title(&self) -> Words {
        words("Search in files", "搜索文件内容")
    }

    fn description(&self, language: Language) -> String {
        match language {
            Language::En => format!(
                "Searches files line by line for a regular expression (Rust syntax, no look-around or \
                 back-references), or for plain text with literal. output_mode files_with_matches (the \
                 default) shows paths, content shows path:line:text, count shows how many lines match \
                 in each file. glob and type narrow the files; a glob without / matches names, one with \
                 / paths below path, one that starts with / paths from the root. Binary files are \
                 skipped. {} Shows up to {DEFAULT_MATCHES} matches or files unless head_limit says \
                 otherwise; a line over {GREP_LINE_CHARS} characters is shortened. {}",
                LEFT_OUT.en, CUT.en
            ),
            Language::Zh => format!(
                "逐行在文件中搜索正则表达式（Rust 语法，不支持环视和反向引用），设置 literal 时搜索纯文本。\
                 output_mode 为 files_with_matches（默认）时显示路径，content 显示“路径:行号:文本”，count \
                 显示各文件的匹配行数。glob 和 type 缩小文件范围：不含 / 的 glob 匹配文件名，含 / 的匹配 path \
                 之下的路径，以 / 开头的匹配从根目录起的路径。跳过二进制文件。{}默认最多显示 {DEFAULT_MATCHES} \
                 个匹配或文件，可用 head_limit 更改；超过 {GREP_LINE_CHARS} 个字符的行会缩短显示。{}",
                LEFT_OUT.zh, CUT.zh
            ),
        }
    }

    fn hint(&self) -> Words {
        words(
            "find out where a text or a pattern occurs in files",
            "查找文本或模式在哪些文件中出现",
        )
    }

    fn params(&self) -> Vec<Param> {
        let context = i64::try_from(MAX_CONTEXT_LINES).unwrap_or(i64::MAX);
        let lines = |name, description| Param::integer(name, 0, None, description).at_most(context);
        vec![
            Param::text("pattern", words("What to search for.", "要搜索的内容。")),
            Param::path(words(
                "A file, or the directory to search; the root if not given.",
                "要搜索的文件或目录；省略时为根目录。",
            ))
            .optional(),
            Param::text(
                "glob",
                words(
                    "Only files that this pattern matches, as in *.rs.",
                    "只搜索匹配此模式的文件，如 *.rs。",
                ),
            )
            .optional(),
            Param::text(
                "type",
                words(
                    "Only files of this type, as in rust, py, ts.",
                    "只搜索此类型的文件，如 rust、py、ts。",
                ),
            )
            .optional(),
            Param::choice(
                "output_mode",
                &["files_with_matches", "content", "count"],
                words("What to show.", "显示的内容。"),
            ),
            Param::flag("-i", false, words("Ignore letter case.", "忽略大小写。")),
            Param::flag(
                "-n",
                true,
                words("Show line numbers; content mode only.", "显示行号；仅用于 content 模式。"),
            ),
            lines(
                "-A",
                words(
                    "Lines to show after each match; content mode only.",
                    "每个匹配之后显示的行数；仅用于 content 模式。",
                ),
            ),
            lines(
                "-B",
                words(
                    "Lines to show before each match; content mode only.",
                    "每个匹配之前显示的行数；仅用于 content 模式。",
                ),
            ),
            lines(
                "-C",
                words(
                    "Lines to show on either side of each match, unless -B or -A says otherwise; content mode only.",
                    "每个匹配前后显示的行数，-B 或 -A 另有指定时除外；仅用于 content 模式。",
                ),
            ),
            Param::flag(
                "multiline",
                false,
                words(
                    "Let matches span lines; . matches a newline too.",
                    "允许匹配跨行；. 也匹配换行。",
                ),
            ),
            Param::flag(
                "literal",
                false,
                words("Take the pattern as plain text.", "将 pattern 视为纯文本。"),
            ),
            Param::flag("include_ignored", false, INCLUDE_IGNORED),
            Param::integer(
                "head_limit",
                0,
                Some(DEFAULT_MATCHES as i64),
                words(
                    "How many matches (content) or files to show at most; 0 for all that fit.",
                    "最多显示的匹配数（content）或文件数；0 表示能容纳的全部。",
                ),
            ),
            Param::integer(
                "offset",
                0,
                Some(0),
                words(
                    "How many matches (content) or files to skip.",
                    "跳过的匹配数（content）或文件数。",
                ),
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
        offload_path: context.config().offload.path.clone(),
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
