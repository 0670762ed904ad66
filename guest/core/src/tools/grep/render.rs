//! How the results of a search read.

use serde_json::Value;

use super::super::pages::Room;
use super::super::{Answer, Context};
use crate::failure::{Code, Failure};
use crate::path::{WorkspacePath, show};
use crate::text::{JsonObject, counted, pattern, walk_notices, with_notices};
use crate::types::{GrepFile, GrepLine, GrepLineKind, GrepMode, GrepPage, GrepRequest};

/// A number of results with its noun.
pub(super) fn total(mode: GrepMode, n: u64) -> String {
    match mode {
        GrepMode::Content => counted(n, "match", "matches"),
        GrepMode::Files | GrepMode::Count => counted(n, "file", "files"),
    }
}

/// What is shown, in both forms.
#[derive(Default)]
struct Shown {
    lines: Vec<String>,
    items: Vec<String>,
    /// How many results, counted as the limit counts them.
    results: u64,
    /// How many lines match, in count mode.
    matching_lines: u64,
    /// Whether the size of the result cut it.
    cut: bool,
}

/// Makes the answer of a page.
pub(super) fn answer(
    context: &Context<'_>,
    path: &WorkspacePath,
    request: &GrepRequest,
    numbers: bool,
    page: GrepPage,
    hidden: Option<String>,
) -> Result<Answer, Failure> {
    let config = context.config();
    let mut room = Room::new(context);
    let shown = match request.mode {
        GrepMode::Content => content(&page.files, request, numbers, &mut room),
        GrepMode::Files | GrepMode::Count => per_file(&page.files, request.mode, &mut room),
    };
    if shown.results == 0 && !page.files.is_empty() {
        return Err(Failure::new(
            Code::TooLarge,
            "one match with its context is larger than a result may be; ask for less context",
        ));
    }
    let complete = page.complete && !shown.cut;
    let end = request.offset + shown.results;
    let next = (!complete).then_some(end);
    let exact = complete && !page.report.stopped && page.report.unreadable_count == 0;
    let mut body = shown.lines.join("\n");
    let mut notices = Vec::new();
    if page.files.is_empty() {
        body = format!(
            "No matches for {} under {path} ({} searched).",
            pattern(&request.pattern),
            counted(page.report.files, "file", "files")
        );
        notices.extend(hidden);
    } else if request.mode == GrepMode::Count {
        notices.push(format!(
            "{} in {}",
            counted(shown.matching_lines, "match", "matches"),
            counted(shown.results, "file", "files")
        ));
    }
    if let Some(next) = next {
        let noun = total(request.mode, end);
        let which = if request.offset == 0 {
            format!("first {end}")
        } else {
            let noun = if request.mode == GrepMode::Content { "matches" } else { "files" };
            format!("{noun} {}-{end}", request.offset + 1)
        };
        notices.push(format!("[{which} of at least {noun} shown; continue with offset={next}]"));
    }
    notices.extend(walk_notices(&page.report, config.time_ms));
    let (mode, key) = match request.mode {
        GrepMode::Content => ("content", "matches"),
        GrepMode::Files => ("files_with_matches", "files"),
        GrepMode::Count => ("count", "counts"),
    };
    let total = match request.mode {
        GrepMode::Count => shown.matching_lines,
        _ if complete => page.total,
        _ => end,
    };
    let structured = JsonObject::default()
        .with("mode", mode)
        .with_list(key, &shown.items)
        .with("total", total)
        .with("total_is_exact", exact && (request.mode != GrepMode::Count || request.offset == 0))
        .with("files_searched", page.report.files)
        .with("skipped_binary", page.report.binary)
        .with("unreadable", page.report.unreadable.clone())
        .with_some("next_offset", next);
    Ok(Answer::new(with_notices(body, &notices), structured.finish()))
}

/// One line for each file.
fn per_file(files: &[GrepFile], mode: GrepMode, room: &mut Room) -> Shown {
    let mut shown = Shown::default();
    for file in files {
        let path = show(&file.path);
        let (line, json) = if mode == GrepMode::Count {
            let json = JsonObject::default()
                .with("path", file.path.as_str())
                .with("count", file.count)
                .finish();
            (format!("{path}:{}", file.count), json)
        } else {
            (path.into_owned(), Value::from(file.path.as_str()).to_string())
        };
        if !room.take(&line, &json) {
            shown.cut = true;
            break;
        }
        shown.lines.push(line);
        shown.items.push(json);
        shown.results += 1;
        shown.matching_lines += file.count;
    }
    shown
}

/// Matching lines with their context.
fn content(files: &[GrepFile], request: &GrepRequest, numbers: bool, room: &mut Room) -> Shown {
    let mut shown = Shown::default();
    let with_context = request.before > 0 || request.after > 0;
    for file in files {
        let path = show(&file.path);
        let mut previous: Option<u64> = None;
        for lines in units(&file.lines) {
            let mut unit = Shown::default();
            for line in lines {
                // A line in which a match ends and another starts is shown once.
                unit.results += u64::from(line.kind == GrepLineKind::Match);
                if previous == Some(line.number) {
                    continue;
                }
                let follows = previous.is_some_and(|previous| previous + 1 == line.number);
                let first = shown.lines.is_empty() && unit.lines.is_empty();
                if with_context && !follows && !first {
                    unit.lines.push("--".to_owned());
                }
                unit.lines.push(text_line(&path, line, numbers));
                previous = Some(line.number);
            }
            unit.items = items(&file.path, lines);
            if !room.take(&unit.lines.join("\n"), &unit.items.join(",")) {
                shown.cut = true;
                return shown;
            }
            shown.lines.append(&mut unit.lines);
            shown.items.append(&mut unit.items);
            shown.results += unit.results;
        }
    }
    shown
}

/// Parts lines so that each part but the last has one match at its end, after its context.
fn units(lines: &[GrepLine]) -> Vec<&[GrepLine]> {
    let mut units = Vec::new();
    let mut rest = lines;
    while let Some(at) = rest.iter().position(|line| line.kind == GrepLineKind::Match) {
        let more = rest
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .take_while(|line| line.kind == GrepLineKind::Continuation)
            .count();
        let (unit, after) = rest.split_at(at + 1 + more);
        units.push(unit);
        rest = after;
    }
    if !rest.is_empty() {
        units.push(rest);
    }
    units
}

fn text_line(path: &str, line: &GrepLine, numbers: bool) -> String {
    let mark = if line.kind == GrepLineKind::Context { '-' } else { ':' };
    if numbers {
        format!("{path}{mark}{}{mark}{}", line.number, line.text)
    } else {
        format!("{path}{mark}{}", line.text)
    }
}

/// The structured form of lines: a match that spans lines is one item.
fn items(path: &str, lines: &[GrepLine]) -> Vec<String> {
    let mut items: Vec<(u64, String, bool)> = Vec::new();
    for line in lines {
        match (line.kind, items.last_mut()) {
            (GrepLineKind::Continuation, Some((_, text, false))) => {
                text.push('\n');
                text.push_str(&line.text);
            }
            (kind, _) => {
                items.push((line.number, line.text.clone(), kind == GrepLineKind::Context));
            }
        }
    }
    items
        .into_iter()
        .map(|(number, text, context)| {
            JsonObject::default()
                .with("path", path)
                .with("line", number)
                .with("text", text)
                .with("context", context)
                .finish()
        })
        .collect()
}
