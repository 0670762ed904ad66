//! A pattern, ready to be compared with paths.
//!
//! Patterns become regular expressions over characters. (The crate `globset` compares bytes, so
//! that its `?` and classes do not match `é`.)

use std::iter::Peekable;
use std::str::CharIndices;

use regex::{Regex, RegexBuilder};

use super::{GlobPattern, GlobScope, parse};
use crate::limits::MAX_PROGRAM_BYTES;
use crate::path::WorkspacePath;

/// A compiled pattern and the place it is relative to.
#[derive(Clone, Debug)]
pub struct GlobRule {
    pattern: GlobPattern,
    regex: Regex,
    /// How every match ends: a quick test before the regular expression.
    suffix: String,
    /// The start of the search, as in `src/`, or empty for the root.
    base: String,
}

impl GlobRule {
    /// Compiles `pattern` for a search that starts at `base`, a path without its leading slash.
    ///
    /// # Errors
    /// Fails with a sentence that quotes the pattern.
    pub fn new(pattern: &str, base: &str) -> Result<Self, String> {
        let parsed = parse(pattern)?;
        let regex = RegexBuilder::new(&translate(&parsed.text))
            .dot_matches_new_line(true)
            .size_limit(MAX_PROGRAM_BYTES)
            .build()
            .map_err(|_| {
                let start: String = pattern.chars().take(80).collect();
                format!("the glob pattern `{}…` is too large", start.escape_debug())
            })?;
        // A slash may belong to `**/`, which matches nothing at all too.
        let special = |c: char| "*?[]{},\\/".contains(c);
        let suffix = parsed.text.rsplit(special).next().unwrap_or_default().to_owned();
        let base = if base.is_empty() { String::new() } else { format!("{base}/") };
        Ok(Self { pattern: parsed, regex, suffix, base })
    }

    /// Whether the pattern names one thing and has no wildcard.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.pattern.is_literal
    }

    /// The path from the root that a pattern without wildcards names; none if it names no path.
    #[must_use]
    pub fn literal_path(&self) -> Option<String> {
        let path = match self.pattern.scope {
            _ if !self.pattern.is_literal => return None,
            GlobScope::Name => return None,
            GlobScope::Relative => format!("/{}{}", self.base, self.pattern.text),
            GlobScope::Absolute => format!("/{}", self.pattern.text),
        };
        WorkspacePath::parse(&path).ok().map(|path| path.relative().to_owned())
    }

    /// Whether the file at `path`, from the root and without a leading slash, matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        if !path.ends_with(&self.suffix) {
            return false;
        }
        match self.pattern.scope {
            GlobScope::Name => {
                self.regex.is_match(path.rsplit_once('/').map_or(path, |(_, name)| name))
            }
            GlobScope::Relative => {
                path.strip_prefix(&self.base).is_some_and(|rest| self.regex.is_match(rest))
            }
            GlobScope::Absolute => self.regex.is_match(path),
        }
    }
}

/// The regular expression of a pattern whose syntax has been checked.
fn translate(pattern: &str) -> String {
    let mut out = String::from(r"\A(?:");
    let mut depth = 0_usize;
    let mut chars = pattern.char_indices().peekable();
    // What stands before the next character.
    let mut before = None;
    while let Some((_, c)) = chars.next() {
        let mut last = c;
        match c {
            '*' => {
                let stars = 1 + skip_stars(&mut chars);
                let starts = matches!(before, None | Some('/' | '{' | ','));
                let next = chars.peek().map(|(_, next)| *next);
                let after = matches!(next, None | Some('/' | '}' | ','));
                if stars < 2 || !starts || !after {
                    out.push_str("[^/]*");
                } else if next == Some('/') {
                    // Any number of directories, none among them.
                    chars.next();
                    last = '/';
                    out.push_str("(?:.*/)?");
                } else {
                    // Everything beneath, at least one name.
                    out.push_str(".+");
                }
            }
            '?' => out.push_str("[^/]"),
            '[' => class(&mut chars, &mut out),
            '{' => {
                depth += 1;
                out.push_str("(?:");
            }
            '}' => {
                depth = depth.saturating_sub(1);
                out.push(')');
            }
            ',' if depth > 0 => out.push('|'),
            '\\' => {
                if let Some((_, escaped)) = chars.next() {
                    literal(escaped, &mut out);
                }
            }
            c => literal(c, &mut out),
        }
        before = Some(last);
    }
    out.push_str(r")\z");
    out
}

fn skip_stars(chars: &mut Peekable<CharIndices<'_>>) -> usize {
    let mut n = 0;
    while chars.next_if(|(_, c)| *c == '*').is_some() {
        n += 1;
    }
    n
}

fn literal(c: char, out: &mut String) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

/// Translates a class, whose `[` has been read. No class matches a slash.
fn class(chars: &mut Peekable<CharIndices<'_>>, out: &mut String) {
    out.push_str("[[");
    if chars.next_if(|(_, c)| matches!(c, '!' | '^')).is_some() {
        out.push('^');
    }
    let mut first = true;
    while let Some((_, c)) = chars.next() {
        if c == ']' && !first {
            break;
        }
        first = false;
        member(c, out);
        // A dash between two characters makes a range; at an end it is itself.
        let mut ahead = chars.clone();
        let dash = matches!(ahead.next(), Some((_, '-')));
        if let Some((_, high)) = ahead.next().filter(|(_, high)| dash && *high != ']') {
            *chars = ahead;
            out.push('-');
            member(high, out);
        }
    }
    out.push_str("]&&[^/]]");
}

/// A character in a class.
fn member(c: char, out: &mut String) {
    if c.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(c);
}
