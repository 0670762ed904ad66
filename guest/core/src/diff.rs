//! A unified diff of an edit, bounded in work and in length.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use similar::DiffOp;
use similar::algorithms::{Capture, Replace, myers};

use crate::encoding::Encoding;
use crate::limits::{DIFF_CHARS, DIFF_WINDOW_LINES, DIFF_WORK};
use crate::path::show;

/// How many unchanged lines stand around a change.
const CONTEXT_LINES: usize = 3;

/// Makes the diff of two contents of the file at `path`.
///
/// `touched_lines` is an upper bound of how many lines differ. At most [`DIFF_CHARS`] characters
/// are given, and a last line says so when there is more.
#[must_use]
pub fn unified(path: &str, old: &[u8], new: &[u8], touched_lines: usize) -> String {
    let (old, new) = (shown_text(old), shown_text(new));
    let mut old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut new: Vec<&str> = new.split_inclusive('\n').collect();
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let start = same.saturating_sub(CONTEXT_LINES);
    old.drain(..start);
    new.drain(..start);
    let work = (old.len() + new.len()) as u64 * touched_lines as u64;
    let windowed = work > DIFF_WORK;
    if windowed {
        old.truncate(DIFF_WINDOW_LINES);
        new.truncate(DIFF_WINDOW_LINES);
    }
    let path = show(path);
    let mut out = format!("--- {path}\n+++ {path}\n");
    let mut writer = Writer { out: &mut out, left: DIFF_CHARS, cut: windowed };
    'all: for group in similar::group_diff_ops(changes(&old, &new), CONTEXT_LINES) {
        if !writer.line(&hunk_header(&group, start)) {
            break;
        }
        for op in &group {
            let equal = matches!(op, DiffOp::Equal { .. });
            let removed = old.get(op.old_range()).unwrap_or_default();
            let added = if equal { &[] } else { new.get(op.new_range()).unwrap_or_default() };
            let sign = if equal { ' ' } else { '-' };
            let lines = removed.iter().map(|line| (sign, *line));
            for (sign, text) in lines.chain(added.iter().map(|line| ('+', *line))) {
                let line = text.strip_suffix('\n');
                let shown = line.map(|line| line.strip_suffix('\r').unwrap_or(line));
                if !writer.line(&format!("{sign}{}", shown.unwrap_or(text))) {
                    break 'all;
                }
                if line.is_none() && !windowed && !writer.line("\\ No newline at end of file") {
                    break 'all;
                }
            }
        }
    }
    if writer.cut {
        out.push_str("… [the diff is cut here; there may be more changes]\n");
    }
    out
}

/// The text of a file as it is read: decoded, without a byte order mark.
fn shown_text(bytes: &[u8]) -> Cow<'_, str> {
    let encoding = Encoding::detect(bytes);
    if let Some(text) = encoding.is_utf16().then(|| encoding.decode_utf16(bytes)).flatten() {
        return Cow::Owned(text);
    }
    let mark = if encoding == Encoding::Utf8Bom { encoding.mark_len() } else { 0 };
    String::from_utf8_lossy(bytes.get(mark..).unwrap_or_default())
}

/// What differs between two lists of lines.
fn changes(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut changes = Replace::new(Capture::new());
    // Nothing in here can fail.
    match myers::diff_deadline_raw(&mut changes, old, 0..old.len(), new, 0..new.len(), None) {
        Ok(()) => changes.into_inner().into_ops(),
        Err(never) => match never {},
    }
}

/// Writes lines until the room is used up.
struct Writer<'a> {
    out: &'a mut String,
    left: usize,
    cut: bool,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) -> bool {
        let chars = line.chars().count() + 1;
        if chars > self.left {
            self.out.extend(line.chars().take(self.left.saturating_sub(1)));
            if self.left > 1 {
                self.out.push('\n');
            }
            self.cut = true;
            return false;
        }
        self.left -= chars;
        self.out.push_str(line);
        self.out.push('\n');
        true
    }
}

/// The `@@` line of a group of changes that start `before` lines into the file.
fn hunk_header(group: &[DiffOp], before: usize) -> String {
    let span = |pick: fn(&DiffOp) -> Range<usize>| {
        let start = group.first().map_or(0, |op| pick(op).start);
        let end = group.last().map_or(0, |op| pick(op).end);
        let first = before + start + usize::from(end > start);
        match end - start {
            1 => format!("{first}"),
            len => format!("{first},{len}"),
        }
    };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(out, "@@ -{} +{} @@", span(DiffOp::old_range), span(DiffOp::new_range));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_have_true_line_numbers_and_context() {
        let old: String = (1..=20).map(|n| format!("l{n}\n")).collect();
        let new = old.replace("l10\n", "L10\nL10b\n");
        let diff = unified("/x", old.as_bytes(), new.as_bytes(), 4);
        assert_eq!(
            diff,
            "--- /x\n+++ /x\n@@ -7,7 +7,8 @@\n l7\n l8\n l9\n-l10\n+L10\n+L10b\n l11\n l12\n l13\n"
        );
    }

    #[test]
    fn a_new_last_line_without_a_line_feed_is_marked() {
        let diff = unified("/x", b"a\nb", b"a\nc", 2);
        assert!(diff.contains("-b\n\\ No newline at end of file\n+c\n"), "{diff}");
        assert!(unified("/x", b"only\n", b"", 2).contains("@@ -1 +0,0 @@"));
    }

    #[test]
    fn a_long_diff_is_cut_and_says_so() {
        let old = "x\n".repeat(5000);
        let new = "y\n".repeat(5000);
        let diff = unified("/x", old.as_bytes(), new.as_bytes(), 10_000);
        assert!(diff.chars().count() < DIFF_CHARS + 200);
        assert!(diff.ends_with("there may be more changes]\n"));
    }

    #[test]
    fn a_line_longer_than_the_room_is_cut_at_a_character() {
        let new = "é".repeat(9000);
        let diff = unified("/x", b"", new.as_bytes(), 2);
        assert!(diff.contains("is cut here"));
    }
}
