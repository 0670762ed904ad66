//! The file of an off-loaded result: written as the result comes, named when it has ended.

use super::name;
use super::notice::{Reason, Saved};
use crate::backend::{Draft, Reader, Writer};
use crate::limits::READ_CHUNK_BYTES;
use crate::types::{Condition, ErrorCode, FileKind};

/// How many names are tried. More than a few are needed only if somebody else puts files there.
const MAX_ATTEMPTS: usize = 100;

/// A file in the making, or why there is none.
pub(super) struct Store {
    state: State,
    /// Of all that came, saved or not: it may turn out to be there already.
    whole: Content,
    /// The front of a character whose rest is still to come.
    carry: Vec<u8>,
}

enum State {
    Open(Box<dyn Draft>),
    /// It has what it may have, and there is more.
    Full(Box<dyn Draft>, Box<Content>),
    Failed(Reason),
}

/// What tells one content from another.
#[derive(Clone, Default)]
struct Content {
    hash: blake3::Hasher,
    size: u64,
}

impl Content {
    fn push(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
    }
}

/// Of which call the file is, and where it is to go.
pub(super) struct Call<'a> {
    pub(super) directory: &'a str,
    pub(super) id: Option<&'a str>,
    /// How the name of a part that is not text ends; empty for text.
    pub(super) ending: &'static str,
}

impl Store {
    /// Begins a file.
    pub(super) fn begin(writer: Option<&dyn Writer>, call: &Call<'_>) -> Self {
        let state = match writer {
            None => State::Failed(Reason::ReadOnly),
            Some(writer) => match writer.draft(call.directory) {
                Ok(draft) => State::Open(draft),
                Err(error) => State::Failed(Reason::Error(error)),
            },
        };
        Self { state, whole: Content::default(), carry: Vec::new() }
    }

    /// Takes the next bytes. The file never ends within a character, unless the text does.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let joined;
        let bytes = if self.carry.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.carry).as_slice(), bytes].concat();
            &joined
        };
        let (whole, rest) = bytes.split_at(super::boundary(bytes, bytes.len()));
        self.carry = rest.to_vec();
        self.write(whole);
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        let nothing_yet = State::Failed(Reason::ReadOnly);
        self.state = match std::mem::replace(&mut self.state, nothing_yet) {
            State::Open(mut draft) => match self.write_what_fits(&mut *draft, &mut rest) {
                Ok(()) => State::Open(draft),
                // What fits is better than nothing.
                Err(ErrorCode::TooLarge(_)) if self.whole.size > 0 => {
                    State::Full(draft, Box::new(self.whole.clone()))
                }
                Err(error) => State::Failed(Reason::Error(error)),
            },
            other => other,
        };
        self.whole.push(rest);
    }

    /// Writes as many characters as there is room for, however they came, and takes them off the
    /// front of `rest`. Fails if that is not all.
    fn write_what_fits(
        &mut self,
        draft: &mut dyn Draft,
        rest: &mut &[u8],
    ) -> Result<(), ErrorCode> {
        let why = match self.push_to(draft, rest, rest.len()) {
            Err(ErrorCode::TooLarge(why)) => why,
            result => return result.map(drop),
        };
        let mut step = rest.len();
        while step > 1 {
            step = step.div_ceil(2);
            loop {
                match self.push_to(draft, rest, step) {
                    Ok(0) => break,
                    Ok(_) => {}
                    // A half of it may fit.
                    Err(ErrorCode::TooLarge(_)) => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Err(ErrorCode::TooLarge(why))
    }

    /// Writes the characters within the next `most` bytes, or all bytes if there are no more, and
    /// says how many bytes those are.
    fn push_to(
        &mut self,
        draft: &mut dyn Draft,
        rest: &mut &[u8],
        most: usize,
    ) -> Result<usize, ErrorCode> {
        // All of it may end within a character, as the text does.
        let end = if most < rest.len() { super::boundary(rest, most) } else { rest.len() };
        let (part, after) = rest.split_at(end);
        if !part.is_empty() {
            draft.push(part)?;
            self.whole.push(part);
            *rest = after;
        }
        Ok(part.len())
    }

    /// Gives the file its name. If the same content has one for this call already, that is it, also
    /// where there is no room for it a second time.
    pub(super) fn publish(mut self, reader: &dyn Reader, call: &Call<'_>) -> Saved {
        let carry = std::mem::take(&mut self.carry);
        self.write(&carry);
        let whole = Place::new(reader, call, &self.whole);
        let result = match self.state {
            State::Open(mut draft) => whole.find(&mut *draft).map(Saved::All),
            State::Full(mut draft, saved) => match whole.is_there() {
                Some(path) => Ok(Saved::All(path)),
                // The front of an image is of no use to anybody.
                None if !call.ending.is_empty() => {
                    Err(Reason::Error(ErrorCode::TooLarge(String::new())))
                }
                None => Place::new(reader, call, &saved)
                    .find(&mut *draft)
                    .map(|path| Saved::Front(path, saved.size)),
            },
            State::Failed(reason) => whole.is_there().map(Saved::All).ok_or(reason),
        };
        result.unwrap_or_else(Saved::Nothing)
    }
}

/// Where a file is to go, and what is in it.
struct Place<'a> {
    reader: &'a dyn Reader,
    call: &'a Call<'a>,
    name: String,
    hash: blake3::Hash,
    size: u64,
}

/// What is under a name.
enum Slot {
    Free,
    /// A file with the same content.
    Same,
    Taken,
}

impl<'a> Place<'a> {
    fn new(reader: &'a dyn Reader, call: &'a Call<'a>, content: &Content) -> Self {
        let hash = content.hash.finalize();
        Self { reader, call, name: name::of(call.id, &hash), hash, size: content.size }
    }

    /// The name to try, and its path.
    fn candidate(&self, attempt: usize) -> (String, String) {
        let name = name::candidate(&self.name, &self.hash, self.call.ending, attempt);
        let path = format!("{}/{name}", self.call.directory);
        (name, path)
    }

    /// The file that has the content already; none if there is none, or none can be told.
    fn is_there(&self) -> Option<String> {
        (0..2)
            .map(|attempt| self.candidate(attempt).1)
            .find(|path| matches!(self.look(path), Ok(Slot::Same)))
    }

    /// Gives the draft a name, unless the content has one.
    fn find(&self, draft: &mut dyn Draft) -> Result<String, Reason> {
        for attempt in 0..MAX_ATTEMPTS {
            let (name, path) = self.candidate(attempt);
            match self.look(&path)? {
                Slot::Same => return Ok(path),
                Slot::Taken => continue,
                Slot::Free => {}
            }
            match draft.publish(&name, &Condition::Absent) {
                Ok(_) => return Ok(path),
                // Somebody was quicker: with the same content, if it is the same call.
                Err(ErrorCode::AlreadyExists) => {
                    if matches!(self.look(&path)?, Slot::Same) {
                        return Ok(path);
                    }
                }
                // The name may be that of a link that leads nowhere; at the next one it is the
                // directory that is wrong.
                Err(ErrorCode::NotFound) if attempt == 0 => {}
                Err(error) => return Err(Reason::Error(error)),
            }
        }
        Err(Reason::NoName)
    }

    fn look(&self, path: &str) -> Result<Slot, Reason> {
        let page = match self.reader.ls_info(path, 0, 1) {
            Ok(page) => page,
            Err(ErrorCode::NotFound) => return Ok(Slot::Free),
            // A link that leads out, or in a circle.
            Err(ErrorCode::NotPermitted | ErrorCode::InvalidPath(_)) => return Ok(Slot::Taken),
            Err(error) => return Err(Reason::Error(error)),
        };
        let is_like = |kind, size| kind == FileKind::File && size == self.size;
        let same_size = !page.is_directory
            && page.entries.first().is_some_and(|entry| is_like(entry.kind, entry.size));
        Ok(if same_size && self.has_same_content(path) { Slot::Same } else { Slot::Taken })
    }

    fn has_same_content(&self, path: &str) -> bool {
        let mut hash = blake3::Hasher::new();
        let mut done = 0;
        while done < self.size {
            match self.reader.read_bytes(path, done, READ_CHUNK_BYTES) {
                Ok(page) if !page.data.is_empty() => {
                    hash.update(&page.data);
                    done += page.data.len() as u64;
                }
                _ => return false,
            }
        }
        hash.finalize() == self.hash
    }
}
