//! Errors of a mounted backend: paths that their texts name are shown where they are.

use std::borrow::Cow;

use handhold_core::path::show;
use handhold_core::types::ErrorCode;

use super::spot::Spot;

/// The same error, in whose text these places are named as they are shown.
pub(super) fn shown(error: ErrorCode, spots: &[&Spot<'_>]) -> ErrorCode {
    let mut names: Vec<(Cow<'_, str>, String)> = Vec::new();
    for spot in spots {
        // A slash alone can mean anything.
        if spot.path() != spot.shown() && !spot.path().is_root() {
            names.push((show(spot.as_str()), spot.shown().to_string()));
        }
    }
    let replace = |text: String| replace(&text, &names);
    match error {
        error if names.is_empty() => error,
        ErrorCode::InvalidPath(text) => ErrorCode::InvalidPath(replace(text)),
        ErrorCode::InvalidArguments(text) => ErrorCode::InvalidArguments(replace(text)),
        ErrorCode::TooLarge(text) => ErrorCode::TooLarge(replace(text)),
        ErrorCode::Unavailable(text) => ErrorCode::Unavailable(replace(text)),
        ErrorCode::Other(Some(text)) => ErrorCode::Other(Some(replace(text))),
        error => error,
    }
}

/// Puts other names in the place of names that stand alone in a text.
fn replace(text: &str, names: &[(Cow<'_, str>, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let starts = out.chars().next_back().is_none_or(|before| !is_of_a_path(before));
        let found = names
            .iter()
            .filter(|_| starts)
            .filter_map(|(name, other)| Some((rest.strip_prefix(&**name)?, other)))
            .filter(|(after, _)| ends_a_path(after))
            // The longest name leaves the least.
            .min_by_key(|(after, _)| after.len());
        if let Some((after, other)) = found {
            out.push_str(other);
            rest = after;
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// Whether a path that a text names is over where this comes.
fn ends_a_path(after: &str) -> bool {
    // A full stop may end a sentence.
    let after = after.strip_prefix('.').unwrap_or(after);
    after.chars().next().is_none_or(|c| !is_of_a_path(c))
}

/// Whether a character beside a path would be a part of it.
fn is_of_a_path(c: char) -> bool {
    !(c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '"' | '\'' | '`' | '…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_stand_alone_are_replaced_once() {
        let names = [
            (Cow::Borrowed("/a"), "/m/a".to_owned()),
            (Cow::Borrowed("/a/b"), "/m/a/b".to_owned()),
            (Cow::Borrowed("/m/a"), "/m/m/a".to_owned()),
        ];
        let text = |text: &str| replace(text, &names);
        assert_eq!(text("/a and /a/b are the same"), "/m/a and /m/a/b are the same");
        assert_eq!(text("`/a`: no"), "`/m/a`: no");
        assert_eq!(text("not /ab, /a.txt, x/a; but /a."), "not /ab, /a.txt, x/a; but /m/a.");
        assert_eq!(text("/m/a é"), "/m/m/a é");
        assert_eq!(text(""), "");
    }
}
