//! Windows of lines: what `read_file` sees of a file, in bounded memory wherever the window lies.

mod builder;
mod stream;

use std::io;

use memchr::{memchr, memchr_iter};

use self::builder::PageBuilder;
use self::stream::{Position, TextStream};
use crate::encoding::Encoding;
use crate::limits::{BINARY_PROBE_BYTES, COUNT_LINES_BYTES};
use crate::media;
use crate::types::{BinaryInfo, LinePage, ReadOutcome, ReadRequest};

/// Bytes that can be read at any position.
pub trait ByteSource {
    /// How many bytes there are.
    fn size(&self) -> u64;

    /// Reads bytes from `offset` on into `buffer` and returns how many; 0 only at the end.
    ///
    /// # Errors
    /// Fails if the storage does.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

impl ByteSource for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let n = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..n), rest.get(..n)) {
            to.copy_from_slice(from);
        }
        Ok(n)
    }
}

/// Reads as far as `buffer` or the source goes.
fn fill(source: &mut dyn ByteSource, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let n = source.read_at(offset + done as u64, rest)?;
        if n == 0 {
            break;
        }
        done += n;
    }
    Ok(done)
}

/// Whether a file with this beginning is binary: a NUL, unless it is marked as UTF-16.
#[must_use]
pub fn is_binary(head: &[u8]) -> bool {
    let probe = head.get(..BINARY_PROBE_BYTES).unwrap_or(head);
    !Encoding::detect(probe).is_utf16() && memchr(0, probe).is_some()
}

/// Reads the lines that `request` asks for.
///
/// # Errors
/// Fails if the source does.
pub fn read_window(
    source: &mut dyn ByteSource,
    request: &ReadRequest,
    version: &str,
) -> io::Result<ReadOutcome> {
    let size = source.size();
    if request.if_version.as_deref() == Some(version) {
        return Ok(ReadOutcome::Unchanged(version.to_owned()));
    }
    let probe = usize::try_from(size).map_or(BINARY_PROBE_BYTES, |n| n.min(BINARY_PROBE_BYTES));
    let mut head = vec![0; probe];
    let n = fill(source, 0, &mut head)?;
    head.truncate(n);
    if is_binary(&head) {
        return Ok(ReadOutcome::Binary(BinaryInfo {
            media_type: media::detect(&head).to_owned(),
            size,
            version: version.to_owned(),
        }));
    }
    let mut stream = TextStream::new(source, Encoding::detect(&head));
    let first = match request.offset {
        offset if offset < 0 => start_from_end(&mut stream, offset.unsigned_abs())?,
        offset => offset.unsigned_abs().max(1),
    };
    let page = collect(&mut stream, first, request)?;
    Ok(ReadOutcome::Lines(LinePage { size, version: version.to_owned(), ..page }))
}

/// The number of the line that is `back` lines before the end. Leaves the stream at a place before
/// that line.
fn start_from_end(stream: &mut TextStream<'_>, back: u64) -> io::Result<u64> {
    let mut places = vec![stream.position()];
    let mut count = LineCount::default();
    while let Some(chunk) = stream.next_chunk()? {
        count.add(chunk);
        places.extend(stream.place(count.newlines));
    }
    let first = count.lines().saturating_sub(back) + 1;
    // A place may be in the middle of a line, so the wanted line must start after it.
    let before = places.iter().rev().find(|place| place.newlines + 1 < first).copied();
    stream.seek(before.unwrap_or_default());
    Ok(first)
}

/// Counts lines: a final line feed ends the last line and opens no further one.
#[derive(Default)]
struct LineCount {
    newlines: u64,
    open: bool,
}

impl LineCount {
    fn add(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.newlines += memchr_iter(b'\n', bytes).count() as u64;
            self.open = *last != b'\n';
        }
    }

    fn lines(&self) -> u64 {
        self.newlines + u64::from(self.open)
    }
}

/// Goes on from where the stream is to line `first`, and gathers the page from there.
fn collect(stream: &mut TextStream<'_>, first: u64, request: &ReadRequest) -> io::Result<LinePage> {
    let Position { newlines, .. } = stream.position();
    let mut count = LineCount { newlines, open: false };
    let mut page = PageBuilder::new(request, first);
    let mut started = count.newlines + 1 == first;
    let mut complete = true;
    while let Some(chunk) = stream.next_chunk()? {
        let missing = first.saturating_sub(1 + count.newlines);
        count.add(chunk);
        let mut rest = chunk;
        // Counting is much faster than finding one by one, which only the last chunk needs.
        if !started && count.newlines + 1 < first {
            rest = &[];
        } else if !started {
            let nth = usize::try_from(missing).map_or(usize::MAX, |n| n.saturating_sub(1));
            let at = memchr_iter(b'\n', chunk).nth(nth);
            started = true;
            rest = at.and_then(|at| chunk.get(at + 1..)).unwrap_or_default();
        }
        if started && !page.is_full() {
            page.push(rest);
        }
        if page.is_full() && page.has_more() && stream.size() > COUNT_LINES_BYTES {
            complete = false;
            break;
        }
    }
    let lossy = stream.is_lossy();
    let mut page = page.finish();
    page.lossy |= lossy;
    page.total_lines = complete.then(|| count.lines());
    Ok(page)
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "tests run on 64 bits")]
mod tests;
