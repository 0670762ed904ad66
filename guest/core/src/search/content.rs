//! Searches the content of one file, in bounded memory.

use std::io::{self, Read};

use grep_matcher::Matcher;
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch,
};

use super::hits::FileHits;
use super::matcher::PatternMatcher;
use super::{Budget, tree::TreeFile};
use crate::encoding::Encoding;
use crate::limits::{BINARY_PROBE_BYTES, MAX_SEARCH_BUFFER_BYTES, SEARCH_WHOLE_BYTES};
use crate::lines::is_binary;
use crate::types::{GrepLine, GrepLineKind, GrepMode, GrepRequest};

/// How many lines of one match are given: ten thousand. Others are counted in the last of them.
pub(super) const MAX_MATCH_LINES: usize = 10_000;

/// How many bytes around a match are looked at to make a window of a long line: enough for the
/// widest characters on both sides.
const WINDOW_BYTES: usize = 16 << 10;

/// How much room a line takes in a result besides its text.
pub(super) const LINE_OVERHEAD: u64 = 64;

/// What to find in every file.
pub(super) struct Plan<'a> {
    pub(super) matcher: &'a PatternMatcher<'a>,
    pub(super) request: &'a GrepRequest,
    /// After how many matches of one file the others cannot matter.
    pub(super) enough: u64,
    /// After how many bytes of results of one file the others cannot matter.
    pub(super) max_bytes: u64,
    pub(super) budget: &'a Budget<'a>,
}

/// What one thread uses for file after file.
pub(super) struct Scratch<'a> {
    searcher: Searcher,
    /// A matcher of its own, so that threads do not wait for each other.
    matcher: PatternMatcher<'a>,
    buffer: Vec<u8>,
}

/// What became of the search of one file.
pub(super) enum Searched {
    Hits(FileHits),
    Binary,
    Unreadable,
    /// The time ran out; what was found until then.
    Stopped(FileHits),
}

impl<'a> Plan<'a> {
    pub(super) fn scratch(&self) -> Scratch<'a> {
        let content = self.request.mode == GrepMode::Content;
        let context = |lines: u32| if content { lines as usize } else { 0 };
        let searcher = SearcherBuilder::new()
            .line_terminator(self.matcher.terminator())
            .line_number(content)
            .multi_line(self.request.multiline)
            .before_context(context(self.request.before))
            .after_context(context(self.request.after))
            .binary_detection(BinaryDetection::none())
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_SEARCH_BUFFER_BYTES))
            .build();
        Scratch { searcher, matcher: self.matcher.clone(), buffer: Vec::new() }
    }

    /// Searches one file.
    pub(super) fn search<F: Read>(&self, scratch: &mut Scratch<'_>, file: TreeFile<F>) -> Searched {
        let mut sink = HitSink { plan: self, hits: FileHits::default() };
        match self.search_into(scratch, file, &mut sink) {
            Ok(true) => Searched::Hits(sink.hits),
            Ok(false) => Searched::Binary,
            // An error of the matcher is the time that ran out, too.
            Err(_) if self.budget.is_over() => {
                Searched::Stopped(FileHits { cut: true, ..sink.hits })
            }
            Err(_) => Searched::Unreadable,
        }
    }

    /// Searches a file; false if it is binary.
    fn search_into<F: Read>(
        &self,
        scratch: &mut Scratch<'_>,
        file: TreeFile<F>,
        sink: &mut HitSink<'_>,
    ) -> io::Result<bool> {
        let TreeFile { mut reader, size } = file;
        let Scratch { searcher, matcher, buffer } = scratch;
        let whole = usize::try_from(size).ok().filter(|_| size <= SEARCH_WHOLE_BYTES);
        // One byte more than the size, so that the end shows without another read of the rest.
        let wanted = whole.map_or(BINARY_PROBE_BYTES, |size| size + 1);
        let n = read_up_to(&mut reader, buffer, wanted)?;
        let head = buffer.get(..n).unwrap_or_default();
        if is_binary(head) {
            return Ok(false);
        }
        if whole.is_some() && n < wanted {
            let skip = match Encoding::detect(head) {
                Encoding::Utf8Bom => Encoding::Utf8Bom.mark_len(),
                _ => 0,
            };
            searcher.search_slice(&*matcher, head.get(skip..).unwrap_or_default(), sink)?;
        } else {
            let rest = Guarded { reader, budget: self.budget };
            searcher.search_reader(&*matcher, head.chain(rest), sink)?;
        }
        Ok(true)
    }
}

/// Reads until `wanted` bytes are there or the end is.
fn read_up_to(reader: &mut impl Read, buffer: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
    if buffer.len() < wanted {
        buffer.resize(wanted, 0);
    }
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..wanted).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// A reader that ends with an error when the time is up.
struct Guarded<'a, R> {
    reader: R,
    budget: &'a Budget<'a>,
}

impl<R: Read> Read for Guarded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.reader.read(buffer)
    }
}

/// Takes what the searcher finds.
struct HitSink<'a> {
    plan: &'a Plan<'a>,
    hits: FileHits,
}

impl HitSink<'_> {
    fn add(&mut self, number: u64, text: String, kind: GrepLineKind) {
        self.hits.bytes += text.len() as u64 + LINE_OVERHEAD;
        self.hits.lines.push(GrepLine { number, text, kind });
    }

    /// Whether the search of this file goes on.
    fn goes_on(&mut self) -> bool {
        let enough = self.hits.count >= self.plan.enough || self.hits.bytes > self.plan.max_bytes;
        self.hits.cut |= enough;
        !enough
    }

    /// Goes through the lines of `block` in which a match starts: where it starts and ends, for the
    /// first of each line. Ends when `take` says so.
    fn each_start(
        &self,
        block: &[u8],
        mut take: impl FnMut(usize, usize) -> bool,
    ) -> io::Result<()> {
        let mut line_end = 0;
        self.plan.matcher.find_iter(block, |found| {
            // A match at the very end of the block belongs to the last line.
            let start = found.start().min(block.len().saturating_sub(1));
            if start < line_end {
                return true;
            }
            let rest = block.get(start..).unwrap_or_default();
            line_end = memchr::memchr(b'\n', rest).map_or(block.len(), |at| start + at + 1);
            take(start, found.end())
        })
    }

    /// Takes lines with one or more matches that may span them, as far as more are wanted.
    fn add_block(&mut self, first: u64, block: &[u8]) -> io::Result<()> {
        // Every match takes some room, so that no more than this many can be taken.
        let room = self.plan.max_bytes / LINE_OVERHEAD + 1;
        let most = self.plan.enough.saturating_sub(self.hits.count).min(room).saturating_add(1);
        let mut starts = Vec::new();
        self.each_start(block, |start, end| {
            starts.push((start, end));
            (starts.len() as u64) < most
        })?;
        let mut starts = starts.into_iter().peekable();
        let (mut offset, mut given, mut left_out) = (0, 0, 0_u64);
        // Where the match ends whose lines are taken.
        let mut end_of_match = 0;
        for (number, line) in (first..).zip(block.split_inclusive(|byte| *byte == b'\n')) {
            let end = offset + line.len();
            let text = trim_ending(line);
            let chars = self.plan.request.line_chars;
            let started = starts.next_if(|(start, _)| *start < end);
            // The line belongs to the match before, also if another starts in it; or else to one
            // that started in the same line as that.
            if given > 0 && (end_of_match > offset || started.is_none()) {
                if given < MAX_MATCH_LINES {
                    given += 1;
                    self.add(number, window(text, 0, chars), GrepLineKind::Continuation);
                } else {
                    left_out += 1;
                }
            }
            if let Some((start, match_end)) = started {
                self.note_left_out(&mut left_out);
                if !self.goes_on() {
                    return Ok(());
                }
                self.hits.count += 1;
                (given, end_of_match) = (1, match_end);
                self.add(number, window(text, start - offset, chars), GrepLineKind::Match);
            }
            offset = end;
        }
        self.note_left_out(&mut left_out);
        Ok(())
    }

    fn note_left_out(&mut self, left_out: &mut u64) {
        if *left_out > 0
            && let Some(last) = self.hits.lines.last_mut()
        {
            let lines = if *left_out == 1 { "line" } else { "lines" };
            last.text.push_str(&format!(" … [{left_out} more {lines} of this match not shown]"));
            *left_out = 0;
        }
    }
}

impl Sink for HitSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.plan.request.mode {
            GrepMode::Files => {
                self.hits.count = 1;
                return Ok(false);
            }
            GrepMode::Count if self.plan.request.multiline => {
                let mut count = 0;
                self.each_start(found.bytes(), |_, _| {
                    count += 1;
                    true
                })?;
                self.hits.count += count;
                return Ok(true);
            }
            GrepMode::Count => {
                self.hits.count += 1;
                return Ok(true);
            }
            GrepMode::Content => {}
        }
        let number = found.line_number().unwrap_or(1);
        if self.plan.request.multiline {
            self.add_block(number, found.bytes())?;
        } else {
            self.hits.count += 1;
            let line = trim_ending(found.bytes());
            let at = if line.len() as u64 <= self.plan.request.line_chars {
                0
            } else {
                self.plan.matcher.find(line)?.map_or(0, |m| m.start())
            };
            let text = window(line, at, self.plan.request.line_chars);
            self.add(number, text, GrepLineKind::Match);
        }
        Ok(self.goes_on())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().unwrap_or(1);
        let text = window(trim_ending(context.bytes()), 0, self.plan.request.line_chars);
        self.add(number, text, GrepLineKind::Context);
        Ok(true)
    }
}

fn trim_ending(line: &[u8]) -> &[u8] {
    let Some(line) = line.strip_suffix(b"\n") else { return line };
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A line as text; a long one as a window around byte `at`, with `…` where it is cut.
fn window(line: &[u8], at: usize, max_chars: u64) -> String {
    let max = usize::try_from(max_chars).unwrap_or(usize::MAX).max(1);
    if line.len() <= max {
        return String::from_utf8_lossy(line).into_owned();
    }
    let at = at.min(line.len());
    let from = char_start(line, at.saturating_sub(WINDOW_BYTES));
    let to = char_start(line, at.saturating_add(WINDOW_BYTES.max(4 * max)).min(line.len()));
    let before = String::from_utf8_lossy(line.get(from..at).unwrap_or_default());
    let after = String::from_utf8_lossy(line.get(at..to).unwrap_or_default());
    let chars_before = before.chars().count();
    let chars_after = after.chars().count();
    if from == 0 && to == line.len() && chars_before + chars_after <= max {
        return format!("{before}{after}");
    }
    // A fifth of the window stands before the match, more if little follows it.
    let lead = chars_before.min((max / 5).max(max.saturating_sub(chars_after)));
    let follow = chars_after.min(max - lead);
    let start: String = before.chars().skip(chars_before - lead).collect();
    let end: String = after.chars().take(follow).collect();
    let cut_front = if from > 0 || lead < chars_before { "…" } else { "" };
    let cut_back = if to < line.len() || follow < chars_after { "…" } else { "" };
    format!("{cut_front}{start}{end}{cut_back}")
}

/// The first position from `at` back where a character of UTF-8 starts.
fn char_start(line: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80))
        .unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn windows_hold_the_match_and_mark_the_cuts() {
        let line = format!("{}frames{}", "x".repeat(400_000), "y".repeat(250_000));
        let shown = window(line.as_bytes(), 400_000, 500);
        assert!(shown.contains("frames") && shown.starts_with('…') && shown.ends_with('…'));
        assert_eq!(shown.chars().count(), 502);
        let shown = window(line.as_bytes(), 0, 500);
        assert!(!shown.starts_with('…') && shown.ends_with('…'));
        let shown = window(line.as_bytes(), line.len(), 500);
        assert!(shown.starts_with('…') && !shown.ends_with('…'));
        assert_eq!(window(b"short", 3, 500), "short");
        let wide = "é".repeat(400);
        assert_eq!(window(wide.as_bytes(), 10, 500), wide);
        let wide = "😀".repeat(600);
        assert_eq!(window(wide.as_bytes(), 4, 500).chars().count(), 501);
    }
}
