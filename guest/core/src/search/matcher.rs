//! The matcher of a search: the regular expression, and a quick way to lines that may match.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use grep_matcher::{LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;
use memchr::memmem::Finder;
use regex_syntax::hir::{Hir, HirKind};

use super::Budget;

/// How often the matcher is asked between two looks at the time.
const ASKED_BETWEEN_LOOKS: u32 = 64;

/// How long a text must be to be looked for first, in bytes: shorter ones are in every other line.
const MIN_REQUIRED_BYTES: usize = 3;

/// A compiled pattern.
pub(super) struct PatternMatcher<'b> {
    regex: RegexMatcher,
    budget: &'b Budget<'b>,
    /// How often the matcher was asked: the time is looked at now and then.
    asked: AtomicU32,
    /// A text that every matching line has.
    required: Option<Finder<'static>>,
}

impl Clone for PatternMatcher<'_> {
    /// A matcher for another thread: each counts for itself.
    fn clone(&self) -> Self {
        Self {
            regex: self.regex.clone(),
            budget: self.budget,
            asked: AtomicU32::new(0),
            required: self.required.clone(),
        }
    }
}

impl<'b> PatternMatcher<'b> {
    /// A matcher that leaves everything to the regular expression.
    pub(super) fn new(regex: RegexMatcher, budget: &'b Budget<'b>) -> Self {
        Self { regex, budget, asked: AtomicU32::new(0), required: None }
    }

    /// A matcher that looks for a text first which every match of `pattern` has, if there is one.
    pub(super) fn line_by_line(regex: RegexMatcher, pattern: &Hir, budget: &'b Budget<'b>) -> Self {
        let required = required(pattern).map(|text| Finder::new(text).into_owned());
        Self { required, ..Self::new(regex, budget) }
    }

    /// Fails when the time is up: a search may ask very often within one file.
    fn look_at_the_time(&self) -> io::Result<()> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if asked.is_multiple_of(ASKED_BETWEEN_LOOKS) && self.budget.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    /// The line terminator that lines are to be split by. They are split at line feeds in any
    /// case.
    pub(super) fn terminator(&self) -> LineTerminator {
        self.regex.line_terminator().unwrap_or_else(LineTerminator::crlf)
    }
}

/// The longest text that every match of a pattern has, unless matches start with a text: those the
/// regular expression finds quickly itself.
fn required(pattern: &Hir) -> Option<&[u8]> {
    let HirKind::Concat(parts) = pattern.kind() else { return None };
    let literal = |part: &'_ Hir| match part.kind() {
        HirKind::Literal(text) => Some(text.0.len()).filter(|len| *len >= MIN_REQUIRED_BYTES),
        _ => None,
    };
    if parts.first().and_then(literal).is_some() {
        return None;
    }
    match parts
        .iter()
        .filter(|part| literal(part).is_some())
        .max_by_key(|part| literal(part))?
        .kind()
    {
        HirKind::Literal(text) => Some(&text.0),
        _ => None,
    }
}

impl Matcher for PatternMatcher<'_> {
    type Captures = NoCaptures;
    type Error = io::Error;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, io::Error> {
        self.look_at_the_time()?;
        Ok(self.regex.find_at(haystack, at)?)
    }

    fn new_captures(&self) -> Result<NoCaptures, io::Error> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, io::Error> {
        self.look_at_the_time()?;
        Ok(self.regex.shortest_match_at(haystack, at)?)
    }

    fn is_match_at(&self, haystack: &[u8], at: usize) -> Result<bool, io::Error> {
        self.look_at_the_time()?;
        Ok(self.regex.is_match_at(haystack, at)?)
    }

    fn non_matching_bytes(&self) -> Option<&grep_matcher::ByteSet> {
        self.regex.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.regex.line_terminator()
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, io::Error> {
        self.look_at_the_time()?;
        match &self.required {
            Some(text) => Ok(text.find(haystack).map(LineMatchKind::Candidate)),
            None => Ok(self.regex.find_candidate_line(haystack)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::required;

    #[test]
    fn the_longest_text_that_every_match_has() {
        let text = |pattern: &str| {
            let hir = regex_syntax::parse(pattern).expect("a pattern");
            required(&hir).map(|text| String::from_utf8_lossy(text).into_owned())
        };
        assert_eq!(text(r"[a-z]+ing \w+ified").as_deref(), Some("ified"));
        assert_eq!(text(r"\w+ middle \w+").as_deref(), Some(" middle "));
        assert_eq!(text(r"start\w+ified"), None);
        assert_eq!(text(r"\w+(ified|ing)"), None);
        assert_eq!(text(r"\w+(?:ified)?"), None);
        assert_eq!(text(r"\w+ab"), None);
        assert_eq!(text("literal"), None);
    }
}
