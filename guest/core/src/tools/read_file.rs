//! `read_file`: lines of a text file, or an image.

use std::fmt::Write;

use serde_json::json;

use super::wording::FILE;
use super::{Answer, Context, Effect, Tool};
use crate::arguments::{Arguments, Param};
use crate::failure::{Code, Failure};
use crate::language::{Words, words};
use crate::limits::{DEFAULT_READ_LINES, MAX_IMAGE_BYTES, READ_CHUNK_BYTES, READ_LINE_CHARS};
use crate::media::SHOWN_IMAGES;
use crate::path::WorkspacePath;
use crate::text::{self, JsonObject, counted, with_notices};
use crate::types::{BinaryInfo, Language, LinePage, Media, ReadOutcome, ReadRequest};

/// The tool.
pub(super) struct ReadFile;

impl Tool for ReadFile {
    fn name(&self) -> &'static str {
        "read_file"
    }

    fn title(&self) -> Words {
        words("Read a file", "读取文件")
    }

    fn description(&self, language: Language) -> String {
        let image = text::size(MAX_IMAGE_BYTES);
        match language {
            Language::En => format!(
                "Reads lines of a text file, each shown as its number, a tab and its text. Shows up to \
                 {DEFAULT_READ_LINES} lines unless limit says otherwise, fewer if they are long; if more \
                 follow, a note at the end says how to go on. A line over {READ_LINE_CHARS} characters is cut and says \
                 how to go on with column. PNG, JPEG, GIF and WebP files up to {image} are shown as \
                 images; other binary files cannot be read."
            ),
            Language::Zh => format!(
                "读取文本文件的行，每行依次为行号、制表符和文本。默认最多显示 {DEFAULT_READ_LINES} 行，可用 \
                 limit 更改，内容较长时会更少；未显示完时，末尾会说明如何继续。超过 {READ_LINE_CHARS} \
                 个字符的行会被截断，并说明如何用 column 继续。不超过 {image} 的 PNG、JPEG、GIF、WebP \
                 文件以图片显示；其他二进制文件无法读取。"
            ),
        }
    }

    fn hint(&self) -> Words {
        words("read a text file by lines, or look at an image", "按行读取文本文件，或查看图片")
    }

    fn params(&self) -> Vec<Param> {
        vec![
            Param::file_path(FILE),
            Param::integer(
                "offset",
                -(1 << 53),
                Some(1),
                words(
                    "The first line, from 1. A negative number counts from the end: -20 shows the last 20 lines.",
                    "起始行，从 1 开始。负数从末尾计数：-20 显示最后 20 行。",
                ),
            ),
            Param::integer(
                "limit",
                1,
                Some(DEFAULT_READ_LINES as i64),
                words("How many lines to show at most.", "最多显示的行数。"),
            ),
            Param::integer(
                "column",
                1,
                Some(1),
                words(
                    "The first character to show of each line, from 1.",
                    "每行从第几个字符开始显示，从 1 开始。",
                ),
            ),
            Param::text(
                "if_version",
                words(
                    "The version that an earlier structured result gave; if the file is still at it, no content is sent.",
                    "此前结构化结果给出的 version；若文件未更改，则不返回内容。",
                ),
            )
            .optional(),
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
        let path = context.path(arguments.text("file_path").unwrap_or_default())?;
        let request = ReadRequest {
            path: path.as_str().to_owned(),
            offset: arguments.integer("offset").unwrap_or(1),
            limit: arguments.count("limit"),
            column: arguments.count("column"),
            line_chars: READ_LINE_CHARS,
            max_bytes: context.page_bytes(),
            if_version: arguments.text("if_version").map(str::to_owned),
        };
        let outcome = context
            .reader
            .read(&request)
            .map_err(|error| Failure::of_backend(error, path.as_str()))?;
        match outcome {
            ReadOutcome::Lines(page) => {
                let pages = rest_of_page(context, &request, page)?;
                lines(context, &path, &request, &pages)
            }
            ReadOutcome::Binary(info) => binary(context, &path, &info),
            ReadOutcome::Unchanged(version) => Ok(Answer::new(
                format!("[{path} is unchanged since version {version}]"),
                JsonObject::default()
                    .with("path", path.as_str())
                    .with("version", version)
                    .with("unchanged", true)
                    .finish(),
            )),
        }
    }
}

/// Asks for what a backend that gives short pages has left out.
fn rest_of_page(
    context: &Context<'_>,
    request: &ReadRequest,
    first: LinePage,
) -> Result<Vec<LinePage>, Failure> {
    let mut pages = vec![first];
    loop {
        let Some(last) = pages.last() else { return Ok(pages) };
        let lines: u64 = pages.iter().map(|page| page.line_count).sum();
        let bytes: u64 = pages.iter().map(|page| page.text.len() as u64).sum();
        if !last.more || last.line_count == 0 || lines >= request.limit {
            return Ok(pages);
        }
        // Rendered lines are longer than those of a page, so that a full page is not exceeded.
        if bytes + lines * NUMBER_BYTES >= request.max_bytes {
            return Ok(pages);
        }
        let next = ReadRequest {
            offset: i64::try_from(last.start_line + last.line_count).unwrap_or(i64::MAX),
            limit: request.limit - lines,
            max_bytes: request.max_bytes - bytes,
            if_version: None,
            ..request.clone()
        };
        let outcome = context
            .reader
            .read(&next)
            .map_err(|error| Failure::of_backend(error, &request.path))?;
        match outcome {
            // The file changed in between: what was read so far is a true page of its time.
            ReadOutcome::Lines(page) if page.version != last.version || page.line_count == 0 => {
                return Ok(pages);
            }
            ReadOutcome::Lines(page) => pages.push(page),
            ReadOutcome::Binary(_) | ReadOutcome::Unchanged(_) => return Ok(pages),
        }
    }
}

/// How wide the number of a line is at least.
const NUMBER_WIDTH: usize = 6;

/// How many bytes the number of a line and its ending take, at least.
const NUMBER_BYTES: u64 = NUMBER_WIDTH as u64 + 2;

fn lines(
    context: &Context<'_>,
    path: &WorkspacePath,
    request: &ReadRequest,
    pages: &[LinePage],
) -> Result<Answer, Failure> {
    let (Some(first), Some(last)) = (pages.first(), pages.last()) else {
        return Err(Failure::new(Code::Internal, "the backend gave no page"));
    };
    let total = last.total_lines.or(first.total_lines);
    let base =
        || JsonObject::default().with("path", path.as_str()).with("start_line", first.start_line);
    if first.line_count == 0 {
        let total = total.unwrap_or(0);
        if total > 0 {
            return Err(Failure::invalid(format!(
                "offset {} is past the end: {path} has {}",
                request.offset,
                counted(total, "line", "lines")
            ))
            .at(path.as_str()));
        }
        let structured = JsonObject::default()
            .with("path", path.as_str())
            .with("start_line", 1)
            .with("end_line", 0)
            .with("total_lines", 0)
            .with("version", first.version.as_str())
            .with("size", first.size);
        let size = text::bytes(first.size);
        return Ok(Answer::new(
            format!("[The file {path} exists and is empty ({size}).]"),
            structured.finish(),
        ));
    }
    let mut body = String::new();
    let mut end = first.start_line;
    let mut full = false;
    'pages: for page in pages {
        let mut long = page.long_lines.iter().peekable();
        for (number, line) in (page.start_line..).zip(page.text.split_terminator('\n')) {
            let chars = long.next_if(|long| long.line == number).map(|long| long.chars);
            if request.column > 1 && number == first.start_line {
                check_column(path, request, number, chars)?;
            }
            let before = body.len();
            if before > 0 {
                body.push('\n');
            }
            push_line(&mut body, number, line, request, chars);
            if before > 0 && body.len() as u64 > context.page_bytes() {
                body.truncate(before);
                full = true;
                break 'pages;
            }
            end = number;
        }
    }
    let next = (full || last.more).then_some(end + 1);
    let mut notices = Vec::new();
    if let Some(next) = next {
        let shown = format!("[lines {}-{end}", first.start_line);
        notices.push(match total {
            Some(total) => {
                format!("{shown} of {total} shown; continue with offset={next}]")
            }
            None => format!("{shown} shown, more follow; continue with offset={next}]"),
        });
    }
    if pages.iter().any(|page| page.lossy) {
        notices.push(match context.name_of("edit_file") {
            Some(edit) => {
                format!("[this file has bytes that are not UTF-8; {edit} leaves them untouched]")
            }
            None => "[this file has bytes that are not UTF-8]".to_owned(),
        });
    }
    let structured = base()
        .with("end_line", end)
        .with_some("total_lines", total)
        .with_some("next_offset", next)
        .with("version", first.version.as_str())
        .with("size", first.size);
    Ok(Answer::new(with_notices(body, &notices), structured.finish()))
}

/// Adds a line with its number and, if it is cut, how to go on.
fn push_line(out: &mut String, number: u64, line: &str, request: &ReadRequest, chars: Option<u64>) {
    push_number(out, number);
    out.push('\t');
    out.push_str(line);
    let next = request.column.saturating_add(request.line_chars);
    if let Some(chars) = chars.filter(|chars| *chars >= next) {
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "… [line {number} has {chars} characters; continue with offset={number}, limit=1, column={next}]"
        );
    }
}

/// Adds a number, right-aligned. It is in front of every line, and formatting takes its time.
fn push_number(out: &mut String, number: u64) {
    let mut digits = [b' '; 20];
    let mut rest = number;
    let mut width = 0;
    for digit in digits.iter_mut().rev() {
        if rest == 0 && width > 0 {
            break;
        }
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        width += 1;
    }
    let shown = digits.iter().skip(digits.len() - width.max(NUMBER_WIDTH));
    out.extend(shown.map(|digit| char::from(*digit)));
}

/// Refuses a column behind the end of the first line.
fn check_column(
    path: &WorkspacePath,
    request: &ReadRequest,
    number: u64,
    chars: Option<u64>,
) -> Result<(), Failure> {
    match chars {
        Some(chars) if chars < request.column => Err(Failure::invalid(format!(
            "column {} is past the end: line {number} of {path} has {}",
            request.column,
            counted(chars, "character", "characters")
        ))
        .at(path.as_str())),
        _ => Ok(()),
    }
}

fn binary(
    context: &Context<'_>,
    path: &WorkspacePath,
    info: &BinaryInfo,
) -> Result<Answer, Failure> {
    let what = format!("{}, {}", info.media_type, text::size(info.size));
    if !SHOWN_IMAGES.contains(&info.media_type.as_str()) || info.size > MAX_IMAGE_BYTES {
        return Err(Failure::new(
            Code::BinaryFile,
            format!("{path} is a binary file ({what}) and cannot be shown as text"),
        )
        .at(path.as_str())
        .with_detail(json!({ "media_type": info.media_type, "size": info.size })));
    }
    let mut data = Vec::new();
    while (data.len() as u64) < info.size {
        let page = context
            .reader
            .read_bytes(path.as_str(), data.len() as u64, READ_CHUNK_BYTES)
            .map_err(|error| Failure::of_backend(error, path.as_str()))?;
        if page.version != info.version || page.data.is_empty() {
            return Err(Failure::new(
                Code::Conflict,
                format!("{path} changed while it was read; read it again"),
            )
            .at(path.as_str()));
        }
        data.extend_from_slice(&page.data);
    }
    let structured = JsonObject::default()
        .with("path", path.as_str())
        .with("media_type", info.media_type.as_str())
        .with("version", info.version.as_str())
        .with("size", info.size)
        .finish();
    let image = Media { media_type: info.media_type.clone(), data };
    Ok(Answer { text: format!("[image {path}: {what}]"), structured, content: vec![image] })
}

/// The schema of the structured result.
const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "path": { "type": "string" },
        "start_line": { "type": "integer" },
        "end_line": { "type": "integer" },
        "total_lines": { "type": "integer" },
        "next_offset": { "type": "integer" },
        "version": { "type": "string" },
        "size": { "type": "integer", "description": "Of the file, in bytes." },
        "unchanged": { "type": "boolean" },
        "media_type": { "type": "string" }
    },
    "required": ["path", "version"]
}"#;

#[cfg(test)]
mod tests {
    use super::push_number;

    #[test]
    fn numbers_are_aligned_and_whole() {
        for number in [0, 1, 9, 10, 999_999, 1_000_000, u64::MAX] {
            let mut out = String::new();
            push_number(&mut out, number);
            assert_eq!(out, format!("{number:>6}"));
        }
    }
}
