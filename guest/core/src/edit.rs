//! Edits: literal text replaced by literal text, and every other byte left alone.

mod hint;
mod newlines;

use memchr::memmem;

use self::newlines::{Endings, LineFeedView};
use crate::encoding::Encoding;
use crate::limits::MAX_EDIT_BYTES;

/// One replacement.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The text to find.
    pub old: &'a str,
    /// The text to put there.
    pub new: &'a str,
    /// Whether every occurrence is replaced.
    pub replace_all: bool,
}

/// What a list of edits made of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new content.
    pub bytes: Vec<u8>,
    /// How many occurrences were replaced.
    pub replacements: usize,
    /// How many more places match with line endings ignored and were left, because others match
    /// exactly and all were to be replaced.
    pub left: usize,
    /// How many lines the replaced and the new text have together, an upper bound of what changed.
    pub touched_lines: usize,
}

/// Why a list of edits was not applied.
#[derive(Debug, PartialEq, Eq)]
pub struct EditError {
    /// Which edit of the list, from 0.
    pub index: usize,
    /// What went wrong.
    pub reason: EditFault,
}

/// Why an edit was not applied.
#[derive(Debug, PartialEq, Eq)]
pub enum EditFault {
    /// There is nothing to find.
    EmptyOld,
    /// Old and new are the same.
    Identical,
    /// The new text takes the line endings of its place, and then nothing is different.
    NothingChanges,
    /// The text occurs nowhere.
    NoMatch {
        /// What may explain it.
        hint: Option<String>,
    },
    /// The text occurs more than once.
    NotUnique {
        /// How often, overlapping occurrences included.
        count: usize,
        /// Whether there are more than that.
        at_least: bool,
        /// The numbers of the first lines with an occurrence.
        lines: Vec<usize>,
    },
    /// The result would be over [`MAX_EDIT_BYTES`].
    TooLarge,
    /// The file is UTF-16 that would not come back the same.
    NotRoundTrip,
}

/// How many places an ambiguous text is named for.
const NAMED_LINES: usize = 5;

/// Until which number of occurrences an ambiguous text is counted.
const MAX_COUNTED: usize = 10_000;

/// How many bytes counting the occurrences of an ambiguous text may compare: 256 MiB.
const MAX_COUNT_WORK: usize = 256 << 20;

/// Applies edits in order, all or none.
///
/// # Errors
/// Fails with the first edit that cannot be applied.
pub fn apply(content: &[u8], edits: &[Edit<'_>]) -> Result<Edited, EditError> {
    let encoding = Encoding::detect(content);
    if !encoding.is_utf16() {
        return apply_bytes(content, edits);
    }
    let fault = |reason| EditError { index: 0, reason };
    let text = encoding.decode_utf16(content).ok_or_else(|| fault(EditFault::NotRoundTrip))?;
    let mut edited = apply_bytes(text.as_bytes(), edits)?;
    let text = String::from_utf8(edited.bytes).map_err(|_| fault(EditFault::NotRoundTrip))?;
    edited.bytes = encoding.encode_utf16(&text);
    if edited.bytes.len() as u64 > MAX_EDIT_BYTES {
        return Err(EditError {
            index: edits.len().saturating_sub(1),
            reason: EditFault::TooLarge,
        });
    }
    Ok(edited)
}

fn apply_bytes(content: &[u8], edits: &[Edit<'_>]) -> Result<Edited, EditError> {
    let mut edited = Edited { bytes: Vec::new(), replacements: 0, left: 0, touched_lines: 0 };
    for (index, edit) in edits.iter().enumerate() {
        let before = if index == 0 { content } else { &edited.bytes };
        let one = apply_one(before, edit).map_err(|reason| EditError { index, reason })?;
        edited.bytes = one.bytes;
        edited.replacements += one.replacements;
        edited.left += one.left;
        edited.touched_lines += one.touched_lines;
    }
    Ok(edited)
}

fn apply_one(content: &[u8], edit: &Edit<'_>) -> Result<Edited, EditFault> {
    if edit.old.is_empty() {
        return Err(EditFault::EmptyOld);
    }
    if edit.old == edit.new {
        return Err(EditFault::Identical);
    }
    let found = find(content, edit)?;
    let endings = Endings::of_text(edit.new);
    let pieces = endings.adapt_all(content, &found.places);
    let removed: usize = found.places.iter().map(|(start, end)| end - start).sum();
    let added: usize = pieces.iter().map(|piece| piece.len()).sum();
    let size = content.len() - removed + added;
    if size as u64 > MAX_EDIT_BYTES {
        return Err(EditFault::TooLarge);
    }
    let mut bytes = Vec::with_capacity(size);
    let mut from = 0;
    for ((start, end), piece) in found.places.iter().zip(&pieces) {
        bytes.extend_from_slice(content.get(from..*start).unwrap_or_default());
        bytes.extend_from_slice(piece);
        from = *end;
    }
    bytes.extend_from_slice(content.get(from..).unwrap_or_default());
    if bytes == content {
        return Err(EditFault::NothingChanges);
    }
    let lines = |text: &str| text.matches('\n').count() + 1;
    let replacements = found.places.len();
    Ok(Edited {
        bytes,
        replacements,
        left: found.left,
        touched_lines: replacements * (lines(edit.old) + lines(edit.new)),
    })
}

/// Where an edit applies, as byte ranges in order.
struct Found {
    places: Vec<(usize, usize)>,
    left: usize,
}

/// Finds the places of an edit: exact ones, or, if there is none, those with line endings ignored.
fn find(content: &[u8], edit: &Edit<'_>) -> Result<Found, EditFault> {
    let old = edit.old.as_bytes();
    if let Some(mut places) = places(content, old, edit.replace_all)? {
        if old.first() == Some(&b'\n') {
            include_carriage_returns(content, &mut places);
        }
        let left = if edit.replace_all {
            LineFeedView::new(content, edit.old)
                .map_or(0, |view| view.count().saturating_sub(places.len()))
        } else {
            0
        };
        return Ok(Found { places, left });
    }
    if let Some(view) = LineFeedView::new(content, edit.old)
        && let Some(places) = places(view.content(), view.pattern(), edit.replace_all)?
    {
        let places = places.iter().map(|(start, end)| view.original(*start, *end)).collect();
        return Ok(Found { places, left: 0 });
    }
    Err(EditFault::NoMatch { hint: hint::explain(content, edit.old) })
}

/// Makes places that start with a line feed start with its carriage return: who names a line ending
/// means all of it.
fn include_carriage_returns(content: &[u8], places: &mut [(usize, usize)]) {
    let mut last_end = 0;
    for (start, end) in places {
        let before = start.checked_sub(1).filter(|before| *before >= last_end);
        if let Some(before) = before
            && content.get(before) == Some(&b'\r')
        {
            *start = before;
        }
        last_end = *end;
    }
}

/// The places of `old`: all that do not overlap, or the only one.
fn places(
    content: &[u8],
    old: &[u8],
    replace_all: bool,
) -> Result<Option<Vec<(usize, usize)>>, EditFault> {
    let finder = memmem::Finder::new(old);
    if replace_all {
        let places: Vec<_> = finder.find_iter(content).map(|at| (at, at + old.len())).collect();
        return Ok((!places.is_empty()).then_some(places));
    }
    let Some(first) = finder.find(content) else { return Ok(None) };
    let mut starts = vec![first];
    let mut count = 1;
    let mut last = first;
    let mut at_least = false;
    while let Some(next) = content.get(last + 1..).and_then(|rest| finder.find(rest)) {
        last += 1 + next;
        count += 1;
        if starts.len() < NAMED_LINES {
            starts.push(last);
        }
        if count >= MAX_COUNTED || count * old.len() > MAX_COUNT_WORK {
            at_least = true;
            break;
        }
    }
    if count == 1 {
        return Ok(Some(vec![(first, first + old.len())]));
    }
    let mut lines: Vec<usize> = starts.iter().map(|at| line_number(content, *at)).collect();
    lines.dedup();
    Err(EditFault::NotUnique { count, at_least, lines })
}

/// The number, from 1, of the line that holds byte `at`.
fn line_number(content: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', content.get(..at).unwrap_or_default()).count() + 1
}

#[cfg(test)]
mod tests;
