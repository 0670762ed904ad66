//! Gathers a page of lines from bytes that come in pieces.

use memchr::memchr;

use crate::types::{LinePage, LongLine, ReadRequest};

/// A page in the making.
pub(super) struct PageBuilder {
    limit: u64,
    max_bytes: usize,
    column: u64,
    line_chars: u64,
    page: LinePage,
    line: LineBuilder,
    full: bool,
    more: bool,
}

impl PageBuilder {
    pub(super) fn new(request: &ReadRequest, first: u64) -> Self {
        Self {
            limit: request.limit,
            max_bytes: usize::try_from(request.max_bytes).unwrap_or(usize::MAX),
            column: request.column.max(1),
            line_chars: request.line_chars.max(1),
            page: LinePage {
                text: String::new(),
                start_line: first,
                line_count: 0,
                total_lines: None,
                more: false,
                long_lines: Vec::new(),
                lossy: false,
                size: 0,
                version: String::new(),
            },
            line: LineBuilder::default(),
            full: false,
            more: false,
        }
    }

    /// Whether no further line is taken.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether something follows the page.
    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.page.line_count >= self.limit {
                self.full = true;
            }
            if self.full {
                self.more = true;
                return;
            }
            match memchr(b'\n', bytes) {
                Some(at) => {
                    let line = bytes.get(..at).unwrap_or_default();
                    bytes = bytes.get(at + 1..).unwrap_or_default();
                    if !self.take_plain(line) {
                        self.line.push(line, self.column, self.line_chars);
                        self.end_line(true);
                    }
                }
                None => {
                    self.line.push(bytes, self.column, self.line_chars);
                    return;
                }
            }
        }
    }

    /// Takes a whole line the quick way, which is open to short UTF-8 text.
    fn take_plain(&mut self, line: &[u8]) -> bool {
        if self.line.started || self.column > 1 || line.len() as u64 > self.line_chars {
            return false;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(text) = std::str::from_utf8(line) else { return false };
        if self.fits(text.len()) {
            self.page.text.push_str(text);
            self.page.text.push('\n');
            self.page.line_count += 1;
        }
        true
    }

    /// Whether a line of this length has room; if not, the page is full.
    fn fits(&mut self, len: usize) -> bool {
        if self.page.line_count > 0 && self.page.text.len() + len + 1 > self.max_bytes {
            self.full = true;
            self.more = true;
            return false;
        }
        true
    }

    fn end_line(&mut self, terminated: bool) {
        let mut line = std::mem::take(&mut self.line);
        line.finish(terminated, self.column, self.line_chars);
        if !self.fits(line.text.len()) {
            return;
        }
        if self.column > 1 || line.chars > (self.column - 1).saturating_add(self.line_chars) {
            let number = self.page.start_line + self.page.line_count;
            self.page.long_lines.push(LongLine { line: number, chars: line.chars });
        }
        self.page.lossy |= line.lossy;
        self.page.text.push_str(&line.text);
        self.page.text.push('\n');
        self.page.line_count += 1;
    }

    /// Ends the page; the bytes that were pushed are all there is, or the page is full.
    pub(super) fn finish(mut self) -> LinePage {
        if self.line.started && !self.full {
            self.end_line(false);
        }
        self.page.more = self.more;
        self.page
    }
}

/// One line, of which only the wanted characters are kept.
#[derive(Default)]
struct LineBuilder {
    started: bool,
    text: String,
    /// How many characters the line has had so far, a held-back carriage return not among them.
    chars: u64,
    /// Bytes that may be the front part of a character.
    partial: Vec<u8>,
    /// Whether the last character was a carriage return, which may belong to the line ending.
    carriage_return: bool,
    lossy: bool,
}

impl LineBuilder {
    fn push(&mut self, bytes: &[u8], column: u64, line_chars: u64) {
        self.started = true;
        let joined;
        let mut rest = if self.partial.is_empty() {
            bytes
        } else {
            let mut partial = std::mem::take(&mut self.partial);
            partial.extend_from_slice(bytes);
            joined = partial;
            joined.as_slice()
        };
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.push_text(text, column, line_chars),
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.push_text(&String::from_utf8_lossy(good), column, line_chars);
                    let Some(len) = error.error_len() else {
                        self.partial = bad.to_vec();
                        return;
                    };
                    self.push_replacement(column, line_chars);
                    rest = bad.get(len..).unwrap_or_default();
                }
            }
        }
    }

    fn push_replacement(&mut self, column: u64, line_chars: u64) {
        self.lossy = true;
        self.push_text("\u{fffd}", column, line_chars);
    }

    fn push_text(&mut self, text: &str, column: u64, line_chars: u64) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.carriage_return) {
            self.keep("\r", column, line_chars);
        }
        match text.strip_suffix('\r') {
            Some(before) => {
                self.carriage_return = true;
                self.keep(before, column, line_chars);
            }
            None => self.keep(text, column, line_chars),
        }
    }

    /// Counts characters and keeps those of the window.
    fn keep(&mut self, text: &str, column: u64, line_chars: u64) {
        let len = text.chars().count() as u64;
        let (from, to) = (column - 1, (column - 1).saturating_add(line_chars));
        let (start, end) = (self.chars, self.chars + len);
        self.chars = end;
        if end <= from || start >= to {
            return;
        }
        let skip = usize::try_from(from.saturating_sub(start)).unwrap_or(usize::MAX);
        let take = usize::try_from(to - start.max(from)).unwrap_or(usize::MAX);
        if skip == 0 && end <= to {
            self.text.push_str(text);
        } else {
            self.text.extend(text.chars().skip(skip).take(take));
        }
    }

    fn finish(&mut self, terminated: bool, column: u64, line_chars: u64) {
        if !self.partial.is_empty() {
            self.partial.clear();
            self.push_replacement(column, line_chars);
        }
        if self.carriage_return && !terminated {
            self.keep("\r", column, line_chars);
        }
        self.carriage_return = false;
    }
}
