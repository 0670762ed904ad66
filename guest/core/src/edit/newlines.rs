//! Line endings in edits: found with them ignored, put in as the place has them.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memmem, memrchr};

/// A file and a pattern with every `\r\n` as `\n`, and the way back to the file's own positions.
pub(super) struct LineFeedView {
    content: Vec<u8>,
    pattern: Vec<u8>,
    /// Where in `content` the line feeds are that had a carriage return before them.
    pairs: Vec<usize>,
}

impl LineFeedView {
    /// Makes the view; none if it would show nothing but the file and the pattern themselves.
    pub(super) fn new(file: &[u8], pattern: &str) -> Option<Self> {
        let mixed = |bytes: &[u8]| memmem::find(bytes, b"\r\n").is_some();
        if !pattern.contains('\n') || !(mixed(file) || mixed(pattern.as_bytes())) {
            return None;
        }
        let mut content = Vec::with_capacity(file.len());
        let mut pairs = Vec::new();
        let mut from = 0;
        for at in memmem::find_iter(file, b"\r\n") {
            content.extend_from_slice(file.get(from..at).unwrap_or_default());
            pairs.push(content.len());
            from = at + 1;
        }
        content.extend_from_slice(file.get(from..).unwrap_or_default());
        Some(Self { content, pattern: pattern.replace("\r\n", "\n").into_bytes(), pairs })
    }

    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    pub(super) fn pattern(&self) -> &[u8] {
        &self.pattern
    }

    /// How many times the pattern occurs, without overlaps.
    pub(super) fn count(&self) -> usize {
        memmem::find_iter(&self.content, &self.pattern).count()
    }

    /// The range of the file for a range of the view. A range that starts with a line ending has
    /// all of it; one that ends before a line ending has none of it.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let map = |at: usize| at + self.pairs.partition_point(|pair| *pair < at);
        (map(start), map(end))
    }
}

/// The text to put in, with the places of its bare line feeds.
pub(super) struct Endings<'a> {
    text: &'a [u8],
    bare: Vec<usize>,
}

impl<'a> Endings<'a> {
    pub(super) fn of_text(text: &'a str) -> Self {
        let text = text.as_bytes();
        let bare = memchr_iter(b'\n', text)
            .filter(|at| at.checked_sub(1).and_then(|before| text.get(before)) != Some(&b'\r'))
            .collect();
        Self { text, bare }
    }

    /// The text for every place of `content`: a bare line feed takes the line ending that it
    /// stands for there.
    pub(super) fn adapt_all(
        &self,
        content: &[u8],
        places: &[(usize, usize)],
    ) -> Vec<Cow<'a, [u8]>> {
        if self.bare.is_empty() || memmem::find(content, b"\r\n").is_none() {
            return vec![Cow::Borrowed(self.text); places.len()];
        }
        let mut around = Surroundings { content, next: None };
        places.iter().map(|(start, end)| self.adapt(content, *start, *end, &mut around)).collect()
    }

    fn adapt(
        &self,
        content: &[u8],
        start: usize,
        end: usize,
        around: &mut Surroundings<'_>,
    ) -> Cow<'a, [u8]> {
        let replaced: Vec<bool> = memchr_iter(b'\n', content.get(start..end).unwrap_or_default())
            .map(|at| is_pair(content, start + at))
            .collect();
        let outside =
            replaced.last().copied().unwrap_or_else(|| around.has_carriage_returns(start, end));
        let mut out = Vec::with_capacity(self.text.len() + self.bare.len());
        let mut from = 0;
        for (number, at) in self.bare.iter().enumerate() {
            out.extend_from_slice(self.text.get(from..*at).unwrap_or_default());
            if replaced.get(number).copied().unwrap_or(outside) {
                out.push(b'\r');
            }
            from = *at;
        }
        out.extend_from_slice(self.text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }
}

/// Whether the line feed at `at` has a carriage return before it.
fn is_pair(content: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| content.get(before)) == Some(&b'\r')
}

/// Looks up how the line of a place ends, in one pass over the file for all places in order.
struct Surroundings<'a> {
    content: &'a [u8],
    /// The last answer: up to which position it holds, and the answer.
    next: Option<(usize, bool)>,
}

impl Surroundings<'_> {
    fn has_carriage_returns(&mut self, start: usize, end: usize) -> bool {
        if let Some((until, answer)) = self.next
            && end <= until
        {
            return answer;
        }
        let after = self.content.get(end..).unwrap_or_default();
        let found = match memchr(b'\n', after) {
            Some(at) => (end + at, is_pair(self.content, end + at)),
            None => {
                let before = self.content.get(..start).unwrap_or_default();
                let pair = memrchr(b'\n', before).is_some_and(|at| is_pair(self.content, at));
                (self.content.len(), pair)
            }
        };
        self.next = Some(found);
        found.1
    }
}
