//! A file as a sequence of text chunks, UTF-8 or decoded to it.

use std::io;

use super::{ByteSource, fill};
use crate::encoding::{Encoding, Utf16Decoder};

/// How much is read at once: 256 KiB, where reading is as fast as it gets.
const CHUNK_BYTES: usize = 256 << 10;

/// A place in a stream, and how many line feeds come before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    pub(super) offset: u64,
    pub(super) newlines: u64,
}

/// The text of a file, chunk by chunk, without its byte order mark.
pub(super) struct TextStream<'s> {
    source: &'s mut dyn ByteSource,
    encoding: Encoding,
    position: Position,
    raw: Vec<u8>,
    decoder: Option<Utf16Decoder>,
    decoded: String,
}

impl<'s> TextStream<'s> {
    pub(super) fn new(source: &'s mut dyn ByteSource, encoding: Encoding) -> Self {
        // A small file takes a small buffer.
        let chunk = usize::try_from(source.size()).map_or(CHUNK_BYTES, |n| n.clamp(1, CHUNK_BYTES));
        let mut stream = Self {
            source,
            encoding,
            position: Position::default(),
            raw: vec![0; chunk],
            decoder: None,
            decoded: String::new(),
        };
        stream.seek(Position::default());
        stream
    }

    /// The size of the whole file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.source.size()
    }

    /// Where reading started or was set to.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Whether decoding met anything that is no text.
    pub(super) fn is_lossy(&self) -> bool {
        self.decoder.as_ref().is_some_and(Utf16Decoder::is_lossy)
    }

    /// The place after the last chunk, if reading can start there.
    pub(super) fn place(&self, newlines: u64) -> Option<Position> {
        (!self.encoding.is_utf16()).then_some(Position { offset: self.position.offset, newlines })
    }

    /// Goes on at a place from [`Self::place`], or at the front.
    pub(super) fn seek(&mut self, place: Position) {
        self.position = place;
        self.position.offset = place.offset.max(self.encoding.mark_len() as u64);
        self.decoder = self.encoding.is_utf16().then(|| Utf16Decoder::new(self.encoding));
    }

    /// The next bytes; none at the end. [`Self::position`] keeps its count of line feeds.
    pub(super) fn next_chunk(&mut self) -> io::Result<Option<&[u8]>> {
        let Some(decoder) = &mut self.decoder else {
            let n = fill(self.source, self.position.offset, &mut self.raw)?;
            self.position.offset += n as u64;
            return Ok((n > 0).then(|| self.raw.get(..n).unwrap_or_default()));
        };
        self.decoded.clear();
        loop {
            let n = fill(self.source, self.position.offset, &mut self.raw)?;
            self.position.offset += n as u64;
            decoder.push(self.raw.get(..n).unwrap_or_default(), &mut self.decoded);
            if n == 0 {
                decoder.finish(&mut self.decoded);
            }
            // The bytes of a chunk may be no character yet.
            if n == 0 || !self.decoded.is_empty() {
                return Ok((!self.decoded.is_empty()).then_some(self.decoded.as_bytes()));
            }
        }
    }
}
