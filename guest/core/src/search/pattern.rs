//! Compiles what `grep` is to find, with errors that say what to do.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::hir::Hir;

use super::Budget;
use super::matcher::PatternMatcher;

use crate::limits::{MAX_PATTERN_BYTES, MAX_PROGRAM_BYTES};
use crate::types::GrepRequest;

/// How many near names an unknown type is answered with.
const NEAR_TYPES: usize = 5;

/// Compiles the pattern of a request.
///
/// # Errors
/// Fails with a sentence that quotes the pattern and, for a malformed one, has the position.
pub(super) fn compile<'b>(
    request: &GrepRequest,
    budget: &'b Budget<'b>,
) -> Result<PatternMatcher<'b>, String> {
    let pattern = &request.pattern;
    let quoted = {
        let start: String = pattern.chars().take(80).collect();
        let cut = if start.len() < pattern.len() { "…" } else { "" };
        format!("`{}{cut}`", start.replace('\n', "\\n"))
    };
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!("the pattern is over {MAX_PATTERN_BYTES} bytes"));
    }
    let parsed = if request.literal { None } else { Some(check_syntax(pattern, &quoted)?) };
    let regex = match build(request, true) {
        // A carriage return that is named is a character of the line like any other.
        Err(error) if is_line_ending(&error) => build(request, false),
        result => result,
    }
    .map_err(|error| {
        if is_line_ending(&error) {
            return format!(
                "the pattern {quoted} has a newline, and lines are searched one by one; use multiline=true"
            );
        }
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!(
            "the pattern {quoted} cannot be used: {reason}; use literal=true to search for this text"
        )
    })?;
    Ok(match parsed {
        // Of other letter case, a text is no text that must be there.
        Some(parsed) if !request.multiline && !request.ignore_case => {
            PatternMatcher::line_by_line(regex, &parsed, budget)
        }
        _ => PatternMatcher::new(regex, budget),
    })
}

/// Whether a pattern was refused because it can match the end of a line.
fn is_line_ending(error: &grep_regex::Error) -> bool {
    matches!(error.kind(), grep_regex::ErrorKind::NotAllowed(_) | grep_regex::ErrorKind::Banned(_))
}

/// Builds the matcher; with `crlf`, `$` matches before `\r\n` too, and `.` does not match `\r`.
fn build(request: &GrepRequest, crlf: bool) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(request.ignore_case)
        .multi_line(true)
        .unicode(true)
        .fixed_strings(request.literal)
        .size_limit(MAX_PROGRAM_BYTES)
        .line_terminator(Some(b'\n'));
    if crlf {
        builder.crlf(true);
    }
    if request.multiline {
        builder.dot_matches_new_line(true).line_terminator(None);
    }
    builder.build(&request.pattern)
}

fn check_syntax(pattern: &str, quoted: &str) -> Result<Hir, String> {
    let (at, reason) = match regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern) {
        Ok(parsed) => return Ok(parsed),
        Err(regex_syntax::Error::Parse(error)) => (error.span().start, error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => {
            (error.span().start, error.kind().to_string())
        }
        Err(error) => {
            return Err(format!("the regular expression {quoted} cannot be used: {error}"));
        }
    };
    let position = pattern.get(..at.offset).map_or(0, |before| before.chars().count()) + 1;
    Err(format!(
        "the regular expression {quoted} is invalid at character {position}: {reason}; \
         use literal=true to search for this text"
    ))
}

/// Compiles ripgrep's file type `name`.
///
/// # Errors
/// Fails for an unknown name, with near ones.
pub(super) fn file_type(name: &str) -> Result<ignore::types::Types, String> {
    let mut builder = ignore::types::TypesBuilder::new();
    builder.add_defaults();
    let names: Vec<String> =
        builder.definitions().iter().map(|def| def.name().to_owned()).collect();
    if !names.iter().any(|known| known == name) {
        let lower = name.to_lowercase();
        let mut near: Vec<(usize, &String)> = names
            .iter()
            .map(|known| {
                let related = known.starts_with(&lower) || lower.starts_with(known.as_str());
                let distance = strsim::damerau_levenshtein(known, &lower);
                (if related { distance.min(2) } else { distance }, known)
            })
            .filter(|(distance, _)| *distance <= 3)
            .collect();
        near.sort();
        let near: Vec<&str> =
            near.iter().take(NEAR_TYPES).map(|(_, known)| known.as_str()).collect();
        let list = if near.is_empty() {
            "as in rust, py, ts, md".to_owned()
        } else {
            format!("near ones: {}", near.join(", "))
        };
        return Err(format!("unknown file type `{}` ({list})", name.escape_debug()));
    }
    builder.select(name);
    builder.build().map_err(|error| format!("the file type `{name}` cannot be used: {error}"))
}
