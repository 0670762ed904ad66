//! Glob patterns: their form, checked before anything is searched, and what they match.

#[cfg(feature = "backend")]
mod rule;

use crate::limits::MAX_GLOB_BYTES;
#[cfg(feature = "backend")]
pub use rule::GlobRule;

/// A pattern that has the right form, and what it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobPattern {
    /// The pattern without a leading `./` or `/`.
    pub text: String,
    /// What the pattern is compared with.
    pub scope: GlobScope,
    /// Whether it has no wildcard, so that it names one thing.
    pub is_literal: bool,
}

/// What a glob pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobScope {
    /// The name of a file, at any depth.
    Name,
    /// The path relative to where the search starts.
    Relative,
    /// The path from the root of the workspace.
    Absolute,
}

/// Checks a pattern.
///
/// # Errors
/// Fails with a sentence that quotes the pattern, and the position where there is one.
pub fn parse(pattern: &str) -> Result<GlobPattern, String> {
    let quoted = || {
        let start: String = pattern.chars().take(80).collect();
        let cut = if start.len() < pattern.len() { "…" } else { "" };
        format!("`{}{cut}`", start.escape_debug())
    };
    if pattern.is_empty() {
        return Err("the glob pattern is empty; use ** for every file".to_owned());
    }
    if pattern.len() > MAX_GLOB_BYTES {
        return Err(format!("the glob pattern is over {MAX_GLOB_BYTES} bytes"));
    }
    if pattern.contains('\0') {
        return Err(format!("the glob pattern {} has a NUL character", quoted()));
    }
    if pattern.starts_with("~/") {
        return Err(format!(
            "the glob pattern {}: ~ is not expanded; patterns start at the workspace",
            quoted()
        ));
    }
    let mut text = pattern;
    while let Some(rest) = text.strip_prefix("./") {
        text = rest.trim_start_matches('/');
    }
    let absolute = text.starts_with('/') && !pattern.starts_with("./");
    let text = text.trim_start_matches('/');
    if text.is_empty() || text == "." || text.ends_with('/') {
        return Err(format!(
            "the glob pattern {} names a directory; add * for its files or **/* for all beneath",
            quoted()
        ));
    }
    let offset = pattern.len() - text.len();
    let is_literal = check_syntax(text).map_err(|(at, what)| {
        let position = pattern.get(..offset + at).map_or(0, |before| before.chars().count()) + 1;
        format!("the glob pattern {} is malformed at character {position}: {what}", quoted())
    })?;
    if text.split(['/', '{', ',', '}']).any(|part| part == "..") {
        return Err(format!("the glob pattern {} has a .. part, which is not allowed", quoted()));
    }
    let scope = if absolute {
        GlobScope::Absolute
    } else if text.contains('/') {
        GlobScope::Relative
    } else {
        GlobScope::Name
    };
    Ok(GlobPattern { text: text.to_owned(), scope, is_literal })
}

/// Checks the syntax and says whether there is no wildcard; else where and what is wrong.
fn check_syntax(text: &str) -> Result<bool, (usize, &'static str)> {
    let mut literal = true;
    let mut braces: Vec<usize> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if chars.next().is_none() => return Err((at, "nothing follows the backslash")),
            '\\' => literal = false,
            '*' | '?' => literal = false,
            '[' => {
                literal = false;
                check_class(at, &mut chars)?;
            }
            '{' => {
                literal = false;
                braces.push(at);
            }
            '}' if braces.pop().is_none() => {
                return Err((at, "no { opens this }; write \\} for the character itself"));
            }
            _ => {}
        }
    }
    match braces.last() {
        Some(at) => Err((*at, "no } closes this {; write \\{ for the character itself")),
        None => Ok(literal),
    }
}

/// Checks a class, whose `[` stood at `open`.
fn check_class(
    open: usize,
    chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
) -> Result<(), (usize, &'static str)> {
    let unclosed = (open, "no ] closes this [; write \\[ for the character itself");
    if matches!(chars.peek(), Some((_, '!' | '^'))) {
        chars.next();
    }
    let mut first = true;
    let mut low: Option<char> = None;
    loop {
        let (at, c) = chars.next().ok_or(unclosed)?;
        match c {
            ']' if !first => return Ok(()),
            '-' if low.is_some() && !matches!(chars.peek(), Some((_, ']')) | None) => {
                let (_, high) = chars.next().ok_or(unclosed)?;
                if low.is_some_and(|low| low > high) {
                    return Err((at, "the range ends before it starts"));
                }
                low = None;
            }
            c => low = Some(c),
        }
        first = false;
    }
}

#[cfg(test)]
mod tests;
