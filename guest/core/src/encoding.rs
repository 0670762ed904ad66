//! How the bytes of a file are read as text: UTF-8, or UTF-16 with a byte order mark.

/// The encoding of a text file, by its byte order mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8 without a mark, or bytes that are taken for it.
    Utf8,
    /// UTF-8 with a mark.
    Utf8Bom,
    /// UTF-16, little end first.
    Utf16Le,
    /// UTF-16, big end first.
    Utf16Be,
}

impl Encoding {
    /// Finds the encoding by the first bytes of a file.
    #[must_use]
    pub fn detect(head: &[u8]) -> Self {
        match head {
            [0xef, 0xbb, 0xbf, ..] => Self::Utf8Bom,
            [0xff, 0xfe, ..] => Self::Utf16Le,
            [0xfe, 0xff, ..] => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    /// How many bytes the mark has.
    #[must_use]
    pub fn mark_len(self) -> usize {
        match self {
            Self::Utf8 => 0,
            Self::Utf8Bom => 3,
            Self::Utf16Le | Self::Utf16Be => 2,
        }
    }

    /// Whether this is UTF-16.
    #[must_use]
    pub fn is_utf16(self) -> bool {
        matches!(self, Self::Utf16Le | Self::Utf16Be)
    }

    /// The code unit that two bytes stand for.
    fn unit(self, pair: [u8; 2]) -> u16 {
        if self == Self::Utf16Be { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }

    /// Decodes a whole UTF-16 file, mark included; none if it would not come back the same.
    #[must_use]
    pub fn decode_utf16(self, bytes: &[u8]) -> Option<String> {
        let body = bytes.get(self.mark_len()..)?;
        let (pairs, rest) = body.as_chunks::<2>();
        if !rest.is_empty() {
            return None;
        }
        char::decode_utf16(pairs.iter().map(|pair| self.unit(*pair))).collect::<Result<_, _>>().ok()
    }

    /// Encodes text as a UTF-16 file with its mark.
    #[must_use]
    pub fn encode_utf16(self, text: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 * text.len() + 2);
        for unit in std::iter::once(0xfeff).chain(text.encode_utf16()) {
            out.extend_from_slice(&match self {
                Self::Utf16Be => u16::to_be_bytes(unit),
                _ => u16::to_le_bytes(unit),
            });
        }
        out
    }
}

/// Decodes UTF-16 that comes in pieces. What is no text becomes U+FFFD.
#[derive(Debug)]
pub struct Utf16Decoder {
    encoding: Encoding,
    half: Option<u8>,
    high: Option<u16>,
    lossy: bool,
}

impl Utf16Decoder {
    /// Makes a decoder for the bytes after the mark.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding, half: None, high: None, lossy: false }
    }

    /// Whether anything was no text.
    #[must_use]
    pub fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// Decodes the next bytes onto the end of `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        for &byte in bytes {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            let unit = self.encoding.unit([first, byte]);
            match (self.high.take(), unit) {
                (Some(high), 0xdc00..=0xdfff) => {
                    let pair = char::decode_utf16([high, unit]).next();
                    self.put(pair.and_then(Result::ok), out);
                }
                (before, unit) => {
                    if before.is_some() {
                        self.put(None, out);
                    }
                    if (0xd800..=0xdbff).contains(&unit) {
                        self.high = Some(unit);
                    } else {
                        self.put(char::from_u32(u32::from(unit)), out);
                    }
                }
            }
        }
    }

    /// Ends the text: what is left over becomes U+FFFD.
    pub fn finish(&mut self, out: &mut String) {
        if self.high.take().is_some() {
            self.put(None, out);
        }
        if self.half.take().is_some() {
            self.put(None, out);
        }
    }

    fn put(&mut self, c: Option<char>, out: &mut String) {
        self.lossy |= c.is_none();
        out.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_in_pieces_is_the_same_as_whole() {
        let text = "a\u{e9}\u{1f600}\nz";
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = encoding.encode_utf16(text);
            assert_eq!(Encoding::detect(&bytes), encoding);
            assert_eq!(encoding.decode_utf16(&bytes).as_deref(), Some(text));
            for size in 1..5 {
                let mut decoder = Utf16Decoder::new(encoding);
                let mut out = String::new();
                for piece in bytes[2..].chunks(size) {
                    decoder.push(piece, &mut out);
                }
                decoder.finish(&mut out);
                assert_eq!(out, text);
                assert!(!decoder.is_lossy());
            }
        }
    }

    #[test]
    fn broken_utf16_is_replaced_and_does_not_round_trip() {
        let bytes = [0xff, 0xfe, 0x00, 0xd8, b'a', 0, b'b'];
        assert_eq!(Encoding::Utf16Le.decode_utf16(&bytes), None);
        let mut decoder = Utf16Decoder::new(Encoding::Utf16Le);
        let mut out = String::new();
        decoder.push(&bytes[2..], &mut out);
        decoder.finish(&mut out);
        assert_eq!(out, "\u{fffd}a\u{fffd}");
        assert!(decoder.is_lossy());
    }
}
