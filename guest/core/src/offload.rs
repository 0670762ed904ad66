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
use self::store::Store;
use crate::backend::{Reader, Writer};
use crate::encoding::Encoding;
use crate::limits::{BINARY_PROBE_BYTES, MAX_IMAGE_BYTES, TOKEN_BYTES};
use crate::media::{SHOWN_IMAGES, is_image};
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
    /// Whether a block has begun of which nothing was pushed yet.
    between_blocks: bool,
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
    is_utf16: bool,
    preview: Preview,
    store: Store,
}

impl Large {
    fn push(&mut self, bytes: &[u8]) {
        let before = usize::try_from(self.size).unwrap_or(usize::MAX);
        let probed = BINARY_PROBE_BYTES.saturating_sub(before).min(bytes.len());
        let probe = bytes.get(..probed).unwrap_or_default();
        self.is_binary |= !self.is_utf16 && memchr::memchr(0, probe).is_some();
        self.size += bytes.len() as u64;
        self.preview.push(bytes);
        self.store.push(bytes);
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
            between_blocks: false,
        }
    }

    /// Takes the next bytes of text, and gives those to pass on now. What is given never ends
    /// within a character.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if bytes.is_empty() {
            return Vec::new();
        }
        let mut given = Vec::new();
        if std::mem::take(&mut self.between_blocks) {
            given = self.take(b"\n");
        }
        given.append(&mut self.take(bytes));
        self.passed_on += given.len() as u64;
        given
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
            let mut large = Large {
                size: 0,
                is_binary: false,
                is_utf16: Encoding::detect(held).is_utf16(),
                preview: Preview::default(),
                store: Store::begin(self.writer, &self.guide.directory),
            };
            large.push(held);
            self.text = Text::Large(Box::new(large));
        }
        passed_on
    }

    /// Begins another block of text: a line feed stands between the two.
    pub fn next_block(&mut self) {
        let is_first =
            self.passed_on == 0 && matches!(&self.text, Text::Held(held, _) if held.is_empty());
        self.between_blocks = !is_first;
    }

    /// Takes a block that is not text. None if it stays, else the text for its place.
    pub fn media(&mut self, media: &Media) -> Option<String> {
        self.limit?;
        let size = media.data.len() as u64;
        let fault = if size > MAX_IMAGE_BYTES {
            Fault::TooLarge
        } else if SHOWN_IMAGES.contains(&media.media_type.as_str())
            && !is_image(&media.media_type, &media.data)
        {
            Fault::NotWhatItSays
        } else {
            return None;
        };
        let mut store = Store::begin(self.writer, &self.guide.directory);
        for chunk in media.data.chunks(MEDIA_CHUNK_BYTES) {
            store.push(chunk);
        }
        let ending = ending(&media.media_type);
        let call_id = self.call_id.as_deref();
        let saved = store.publish(self.reader, &self.guide.directory, call_id, ending);
        Some(self.guide.media(&media.media_type, size, fault, &saved))
    }

    /// Ends the result, of a call that failed if `is_error`.
    #[must_use]
    pub fn finish(self, is_error: bool) -> OutputEnd {
        let Large { size, is_binary, mut preview, store, .. } = match self.text {
            Text::Held(mut held, given) => {
                return OutputEnd { rest: held.split_off(given), offloaded: None };
            }
            Text::Large(large) => *large,
        };
        preview.finish();
        let directory = &self.guide.directory;
        let saved = store.publish(self.reader, directory, self.call_id.as_deref(), "");
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
        OutputEnd {
            rest: Vec::new(),
            offloaded: Some(Offloaded { text, notice, path, size, saved }),
        }
    }
}

/// How much of a part that is not text is written at once: 1 MiB.
const MEDIA_CHUNK_BYTES: usize = 1 << 20;

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
