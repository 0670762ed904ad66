//! Off-loading: a result with more text than it may have is saved as a file and replaced by a
//! notice that names the file and shows the first and last lines.
//!
//! The rule is for the results of all tools, also of those that are not ours, and it sees a result
//! piece by piece: nothing here grows with the size of the result. [`Output`] measures and
//! forwards, `store` writes the file, `name` says what it is called, `preview` keeps the lines and
//! `notice` words it all.

mod name;
mod notice;
mod preview;
mod store;

use self::notice::{Facts, Fault, Guide};
use self::preview::Preview;
use self::store::{Call, Store};
use crate::backend::{Reader, Writer};
use crate::encoding::{Encoding, Utf16Decoder};
use crate::limits::{BINARY_PROBE_BYTES, MAX_IMAGE_BYTES, TOKEN_BYTES};
use crate::media;
use crate::tools::Offered;
use crate::types::{Config, Media, Offloaded, OutputEnd};

/// The result of one call, as it comes.
pub struct Output<'a> {
    reader: &'a dyn Reader,
    writer: Option<&'a dyn Writer>,
    tool: String,
    call_id: Option<String>,
    guide: Guide,
    /// How many bytes are passed on; none if all are.
    limit: Option<usize>,
    text: Text,
    /// How many bytes were passed on.
    passed_on: u64,
    /// Whether a block of text has begun.
    has_block: bool,
    /// How many line feeds stand between the text so far and what comes next.
    breaks: usize,
}

/// The text so far.
enum Text {
    /// Within the limit: all of it, of which so many bytes were passed on.
    Held(Vec<u8>, usize),
    /// Over the limit.
    Large(Box<Large>),
}

struct Large {
    size: u64,
    /// Whether tools for files will take it for binary.
    is_binary: bool,
    /// Of a text in UTF-16, as these tools will read it.
    utf16: Option<Utf16Decoder>,
    preview: Preview,
    store: Store,
}

impl Large {
    fn new(encoding: Encoding, store: Store) -> Self {
        let utf16 = encoding.is_utf16().then(|| Utf16Decoder::new(encoding));
        Self { size: 0, is_binary: false, utf16, preview: Preview::default(), store }
    }

    fn push(&mut self, bytes: &[u8]) {
        let before = usize::try_from(self.size).unwrap_or(usize::MAX);
        let probed = BINARY_PROBE_BYTES.saturating_sub(before).min(bytes.len());
        let probe = bytes.get(..probed).unwrap_or_default();
        self.is_binary |= self.utf16.is_none() && memchr::memchr(0, probe).is_some();
        self.size += bytes.len() as u64;
        match &mut self.utf16 {
            None => self.preview.push(bytes),
            Some(decoder) => {
                let mut text = String::new();
                decoder.push(bytes, &mut text);
                self.preview.push(text.as_bytes());
            }
        }
        self.store.push(bytes);
    }

    /// Ends the text.
    fn finish(&mut self) {
        if let Some(decoder) = &mut self.utf16 {
            let mut text = String::new();
            decoder.finish(&mut text);
            self.preview.push(text.as_bytes());
        }
        self.preview.finish();
    }
}

impl<'a> Output<'a> {
    /// Begins the result of a call of `tool`, which may be one of `offered` or of others.
    #[must_use]
    pub fn new(
        reader: &'a dyn Reader,
        writer: Option<&'a dyn Writer>,
        config: &Config,
        offered: &[Offered],
        tool: &str,
        call_id: Option<&str>,
    ) -> Self {
        let name = |tool: &str| {
            offered.iter().find(|offered| offered.tool.name() == tool).map(|o| o.name.clone())
        };
        Self {
            reader,
            writer,
            tool: tool.to_owned(),
            call_id: call_id.map(str::to_owned),
            guide: Guide {
                language: config.language,
                directory: config.offload.path.clone(),
                read: name("read_file"),
                grep: name("grep"),
            },
            limit: limit(config, offered, tool),
            text: Text::Held(Vec::new(), 0),
            passed_on: 0,
            has_block: false,
            breaks: 0,
        }
    }

    /// Takes the next bytes of text, and gives those to pass on now. What is given never ends
    /// within a character.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if bytes.is_empty() {
            return Vec::new();
        }
        let mut given = self.take_breaks();
        given.append(&mut self.take(bytes));
        self.passed_on += given.len() as u64;
        given
    }

    fn take_breaks(&mut self) -> Vec<u8> {
        self.has_block = true;
        let breaks = vec![b'\n'; std::mem::take(&mut self.breaks)];
        if breaks.is_empty() { breaks } else { self.take(&breaks) }
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let (held, given) = match &mut self.text {
            Text::Large(large) => {
                large.push(bytes);
                return Vec::new();
            }
            Text::Held(held, given) => (held, given),
        };
        held.extend_from_slice(bytes);
        let Some(limit) = self.limit else {
            // Nothing is off-loaded, and nothing need be kept but the front of a character.
            let rest = held.split_off(boundary(held, held.len()));
            return std::mem::replace(held, rest);
        };
        let end = boundary(held, held.len().min(limit));
        let passed_on = held.get(*given..end).unwrap_or_default().to_vec();
        *given += passed_on.len();
        if held.len() > limit {
            let store = Store::begin(self.writer, &call(&self.guide, self.call_id.as_deref(), ""));
            let mut large = Large::new(Encoding::detect(held), store);
            large.push(held);
            self.text = Text::Large(Box::new(large));
        }
        passed_on
    }

    /// Begins another block of text: a line feed stands between the two.
    pub fn next_block(&mut self) {
        self.breaks += usize::from(std::mem::replace(&mut self.has_block, true));
    }

    /// Takes a block that is not text. None if it stays, else the text for its place.
    pub fn media(&mut self, media: &Media) -> Option<String> {
        self.limit?;
        let size = media.data.len() as u64;
        let media_type = media::essence(&media.media_type);
        let fault = if size > MAX_IMAGE_BYTES {
            Fault::TooLarge
        } else if media::SHOWN_IMAGES.contains(&media_type.as_str())
            && !media::is_image(&media_type, &media.data)
        {
            Fault::NotWhatItSays
        } else {
            return None;
        };
        let call = call(&self.guide, self.call_id.as_deref(), ending(&media_type));
        let mut store = Store::begin(self.writer, &call);
        for chunk in media.data.chunks(MEDIA_CHUNK_BYTES) {
            store.push(chunk);
        }
        let saved = store.publish(self.reader, &call);
        Some(self.guide.media(&media.media_type, size, fault, &saved))
    }

    /// Ends the result, of a call that failed if `is_error`.
    #[must_use]
    pub fn finish(mut self, is_error: bool) -> OutputEnd {
        let mut last = self.take_breaks();
        self.passed_on += last.len() as u64;
        let mut large = match self.text {
            Text::Held(mut held, given) => {
                last.append(&mut held.split_off(given));
                return OutputEnd { rest: last, offloaded: None };
            }
            Text::Large(large) => *large,
        };
        large.finish();
        let Large { size, is_binary, preview, store, .. } = large;
        let call = call(&self.guide, self.call_id.as_deref(), "");
        let saved = store.publish(self.reader, &call);
        let facts = Facts {
            tool: &self.tool,
            is_error,
            size,
            passed_on: self.passed_on,
            is_binary,
            saved: &saved,
        };
        let text = self.guide.replacement(&facts, &preview);
        let notice = self.guide.continuation(&facts, &preview);
        let (path, saved) = match saved {
            notice::Saved::All(path) => (Some(path), size),
            notice::Saved::Front(path, saved) => (Some(path), saved),
            notice::Saved::Nothing(_) => (None, 0),
        };
        OutputEnd { rest: last, offloaded: Some(Offloaded { text, notice, path, size, saved }) }
    }
}

/// How much of a part that is not text is written at once: 1 MiB.
const MEDIA_CHUNK_BYTES: usize = 1 << 20;

/// The call that a file is of.
fn call<'a>(guide: &'a Guide, id: Option<&'a str>, ending: &'static str) -> Call<'a> {
    Call { directory: &guide.directory, id, ending }
}

/// How many bytes of text a result of `tool` may have; none if it is never off-loaded.
pub(crate) fn limit(config: &Config, offered: &[Offered], tool: &str) -> Option<usize> {
    let offload = &config.offload;
    let tokens = match offered.iter().find(|offered| offered.name == tool) {
        // It shows pages, also of what was off-loaded.
        Some(offered) if offered.tool.shows_pages() => return None,
        Some(offered) => offered.tokens,
        None => match offload.tools.iter().find(|setting| setting.tool == tool) {
            Some(setting) if !setting.enabled => return None,
            setting => setting.and_then(|setting| setting.tokens),
        },
    };
    if !offload.enabled {
        return None;
    }
    let bytes = tokens.unwrap_or(offload.tokens).saturating_mul(TOKEN_BYTES);
    // A result may not be larger than any, whatever its tokens.
    Some(usize::try_from(bytes.min(config.result_bytes)).unwrap_or(usize::MAX))
}

/// How a file of this media type ends.
fn ending(media_type: &str) -> &'static str {
    match media_type {
        "image/gif" => ".gif",
        "image/jpeg" => ".jpg",
        "image/png" => ".png",
        "image/webp" => ".webp",
        "application/pdf" => ".pdf",
        _ => ".bin",
    }
}

/// The last place at or before `end` that is not within a character, as far as can be told from
/// what is before it. Bytes that are not UTF-8 are no characters.
fn boundary(bytes: &[u8], end: usize) -> usize {
    let start = end.saturating_sub(3);
    let tail = bytes.get(start..end).unwrap_or_default();
    for (n, byte) in tail.iter().enumerate().rev() {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        let has = tail.len() - n;
        return if has < length { start + n } else { end };
    }
    end
}

#[cfg(test)]
mod tests;
