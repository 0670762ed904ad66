//! The first and last lines of a text of any size, gathered as it goes by.

use std::collections::VecDeque;

use crate::limits::{PREVIEW_BYTES, PREVIEW_LINE_CHARS, PREVIEW_LINES};

/// How many bytes of a line are kept: enough for one character more than is shown.
const KEPT_BYTES: usize = 4 * (PREVIEW_LINE_CHARS + 1);

/// How wide the number of a line is, as in a page of a file.
const NUMBER_WIDTH: usize = 6;

/// What stands at the end of a line that is cut.
const CUT: char = '…';

/// How much room there is for a line that says how many are not shown.
const GAP_BYTES: usize = 64;

/// The front of a line.
#[derive(Clone, Debug, Default)]
struct Line {
    front: Vec<u8>,
    /// Whether the line has anything, also behind what is kept.
    started: bool,
    cut: bool,
    /// Whether a line feed has ended it.
    ended: bool,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        self.started |= !bytes.is_empty();
        let room = KEPT_BYTES - self.front.len();
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.front.extend_from_slice(kept);
        self.cut |= kept.len() < bytes.len();
    }

    /// The line as it is shown. A carriage return before a line feed is not, nor is a mark of the
    /// byte order at the front of the text.
    fn show(&self, number: u64) -> String {
        let front = String::from_utf8_lossy(&self.front);
        let mut text = &*front;
        if self.ended && !self.cut {
            text = text.strip_suffix('\r').unwrap_or(text);
        }
        if number == 1 {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        let mut chars = text.char_indices();
        match chars.nth(PREVIEW_LINE_CHARS) {
            Some((at, _)) => format!("{}{CUT}", text.get(..at).unwrap_or_default()),
            None => text.to_owned(),
        }
    }
}

/// The first and last lines of a text.
#[derive(Debug, Default)]
pub(super) struct Preview {
    first: Vec<Line>,
    last: VecDeque<Line>,
    open: Line,
    /// How many lines have ended.
    ended: u64,
}

impl Preview {
    /// Takes the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        let mut has_skipped = false;
        loop {
            if !has_skipped && self.first.len() == PREVIEW_LINES {
                bytes = self.skip(bytes);
                has_skipped = true;
            }
            let Some(end) = memchr::memchr(b'\n', bytes) else { break };
            let (line, rest) = bytes.split_at(end);
            self.open.push(line);
            self.open.ended = true;
            self.end_line();
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.open.push(bytes);
    }

    /// Only counts the lines that so many follow that they cannot be among the last; gives the
    /// others.
    fn skip<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(before) = memchr::memrchr_iter(b'\n', bytes).nth(PREVIEW_LINES) else {
            return bytes;
        };
        let (passed, rest) = bytes.split_at(before + 1);
        self.ended += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.last.clear();
        self.open = Line::default();
        rest
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.open);
        self.ended += 1;
        if self.first.len() < PREVIEW_LINES {
            self.first.push(line);
            return;
        }
        if self.last.len() == PREVIEW_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// Ends the text. A final newline opens no further line.
    pub(super) fn finish(&mut self) {
        if self.open.started {
            self.end_line();
        }
    }

    /// How many lines there are.
    pub(super) fn lines(&self) -> u64 {
        self.ended
    }

    /// Numbered lines, within the size of a preview. `gap` words how many are not shown; without
    /// `first`, only the last ones are given.
    pub(super) fn show(&self, first: bool, gap: impl Fn(u64) -> String) -> String {
        let front = self.first.iter().zip(1_u64..);
        let back = self.last.iter().zip(self.ended + 1 - self.last.len() as u64..);
        let hidden = self.ended - (self.first.len() + self.last.len()) as u64;
        // Of a short text, the last lines are among the first.
        let all: Vec<(&Line, u64)> = if first {
            front.chain(back).collect()
        } else {
            let all = front.chain(back);
            let skipped = (self.first.len() + self.last.len()).saturating_sub(PREVIEW_LINES);
            all.skip(skipped).collect()
        };
        let numbers: Vec<String> =
            all.iter().map(|(_, number)| format!("{number:>NUMBER_WIDTH$}\t")).collect();
        let texts: Vec<String> = all.iter().map(|(line, number)| line.show(*number)).collect();
        let frame: usize = numbers.iter().map(|number| number.len() + 1).sum();
        let most = longest(&texts, PREVIEW_BYTES - GAP_BYTES - frame);
        let mut shown: Vec<String> = numbers
            .into_iter()
            .zip(&texts)
            .map(|(number, text)| format!("{number}{}", cut_to(text, most)))
            .collect();
        if first && hidden > 0 {
            shown.insert(self.first.len(), gap(hidden));
        }
        shown.join("\n")
    }
}

/// How long a line may be at most so that all fit into `room`: short ones leave theirs to others.
fn longest(texts: &[String], room: usize) -> usize {
    let mut lengths: Vec<usize> = texts.iter().map(String::len).collect();
    lengths.sort_unstable();
    let mut left = room;
    for (n, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - n);
        if *length > share {
            return share;
        }
        left -= length;
    }
    room
}

/// The front of a text that has at most so many bytes, with a mark if it is cut.
fn cut_to(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes.saturating_sub(CUT.len_utf8()));
    format!("{}{CUT}", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &[u8], piece: usize) -> String {
        let mut preview = Preview::default();
        for piece in text.chunks(piece) {
            preview.push(piece);
        }
        preview.finish();
        preview.show(true, |n| format!("[{n}]"))
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let lines: String =
            (1..=200).map(|n| format!("L{n} é…😀{}\r\n", "x".repeat(n % 7))).collect();
        let texts = [
            lines.as_str(),
            "",
            "\n\n\n",
            "a",
            "a\n",
            "\r\n",
            "1\n2\n3\n4\n5\n6",
            "\u{feff}a\r\r\nb\r",
            &"😀".repeat(3000),
        ];
        for text in texts {
            let whole = show(text.as_bytes(), text.len().max(1));
            for piece in [1, 2, 3, 5, 64, 100] {
                assert_eq!(show(text.as_bytes(), piece), whole, "pieces of {piece}");
            }
        }
        assert!(show(lines.as_bytes(), 10).contains("\n[190]\n   196\tL196 é…😀\n"));
    }

    #[test]
    fn carriage_returns_are_left_out_before_line_feeds_alone() {
        assert_eq!(
            show("\u{feff}a\r\r\nb\u{feff}\r".as_bytes(), 2),
            "     1\ta\r\n     2\tb\u{feff}\r"
        );
    }

    #[test]
    fn ten_lines_are_all_shown_and_eleven_are_not() {
        let text = |n: usize| (1..=n).map(|n| format!("{n}\n")).collect::<String>();
        assert_eq!(show(text(10).as_bytes(), 1000).lines().count(), 10);
        let twelve = show(text(12).as_bytes(), 1000);
        assert!(twelve.contains("     5\t5\n[2]\n     8\t8\n"), "{twelve}");
        assert!(twelve.ends_with("    12\t12"), "{twelve}");
    }

    #[test]
    fn lines_are_cut_and_all_fit() {
        let one = show("😀".repeat(1 << 19).as_bytes(), 1 << 20);
        assert_eq!(one.chars().filter(|c| *c == '😀').count(), PREVIEW_LINE_CHARS);
        for line in ["x".repeat(1000), "é".repeat(5000), "\u{10ffff}".repeat(1001)] {
            let text = format!("{line}\n").repeat(100);
            let shown = show(text.as_bytes(), 777);
            assert!(shown.len() <= PREVIEW_BYTES, "{}", shown.len());
            assert!(shown.len() > PREVIEW_BYTES - 200, "{}", shown.len());
        }
        let mixed = format!("{}\n{}", "short\n".repeat(9), "x".repeat(1000));
        assert!(show(mixed.as_bytes(), 9).ends_with(&"x".repeat(1000)));
    }
}
