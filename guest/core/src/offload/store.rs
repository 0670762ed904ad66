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
    hash: blake3::Hasher,
    saved: u64,
    /// The front of a character whose rest is still to come.
    carry: Vec<u8>,
}

enum State {
    Open(Box<dyn Draft>),
    /// It has what it may have, and there is more.
    Full(Box<dyn Draft>),
    Failed(Reason),
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
        let name = name::expected(call.id, call.ending);
        let state = match writer {
            None => State::Failed(Reason::ReadOnly),
            Some(writer) => match writer.draft(call.directory, name.as_deref()) {
                Ok(draft) => State::Open(draft),
                Err(error) => State::Failed(Reason::Error(error)),
            },
        };
        Self { state, hash: blake3::Hasher::new(), saved: 0, carry: Vec::new() }
    }

    /// Takes the next bytes. The file never ends within a character, unless the text does.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !matches!(self.state, State::Open(_)) {
            return;
        }
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
        let nothing_yet = State::Failed(Reason::ReadOnly);
        self.state = match std::mem::replace(&mut self.state, nothing_yet) {
            State::Open(mut draft) => match self.write_what_fits(&mut *draft, bytes) {
                Ok(()) => State::Open(draft),
                // What fits is better than nothing.
                Err(ErrorCode::TooLarge(_)) if self.saved > 0 => State::Full(draft),
                Err(error) => State::Failed(Reason::Error(error)),
            },
            other => other,
        };
    }

    /// Writes as many characters as there is room for, however they came. Fails if that is not all.
    fn write_what_fits(&mut self, draft: &mut dyn Draft, bytes: &[u8]) -> Result<(), ErrorCode> {
        let why = match self.push_to(draft, bytes) {
            Err(ErrorCode::TooLarge(why)) => why,
            result => return result,
        };
        let (mut rest, mut step) = (bytes, bytes.len());
        while step > 1 {
            step = step.div_ceil(2);
            loop {
                let (part, after) = rest.split_at(super::boundary(rest, step.min(rest.len())));
                match self.push_to(draft, part) {
                    Ok(()) if part.is_empty() => break,
                    Ok(()) => rest = after,
                    // A half of it may fit.
                    Err(ErrorCode::TooLarge(_)) => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Err(ErrorCode::TooLarge(why))
    }

    fn push_to(&mut self, draft: &mut dyn Draft, bytes: &[u8]) -> Result<(), ErrorCode> {
        if !bytes.is_empty() {
            draft.push(bytes)?;
            self.hash.update(bytes);
            self.saved += bytes.len() as u64;
        }
        Ok(())
    }

    /// Gives the file its name. If the same content has one for this call already, that is it.
    pub(super) fn publish(mut self, reader: &dyn Reader, call: &Call<'_>) -> Saved {
        let carry = std::mem::take(&mut self.carry);
        self.write(&carry);
        let (mut draft, is_whole) = match self.state {
            State::Open(draft) => (draft, true),
            // The front of an image is of no use to anybody.
            State::Full(_) if !call.ending.is_empty() => {
                let error = ErrorCode::TooLarge(String::new());
                return Saved::Nothing(Reason::Error(error));
            }
            State::Full(draft) => (draft, false),
            State::Failed(reason) => return Saved::Nothing(reason),
        };
        let hash = self.hash.finalize();
        let place = Place { reader, call, hash, size: self.saved };
        match place.find(&mut *draft, &name::of(call.id, &hash)) {
            Ok(path) if is_whole => Saved::All(path),
            Ok(path) => Saved::Front(path, self.saved),
            Err(reason) => Saved::Nothing(reason),
        }
    }
}

/// Where a file is to go, and what is in it.
struct Place<'a> {
    reader: &'a dyn Reader,
    call: &'a Call<'a>,
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

impl Place<'_> {
    fn find(&self, draft: &mut dyn Draft, name: &str) -> Result<String, Reason> {
        for attempt in 0..MAX_ATTEMPTS {
            let name = name::candidate(name, &self.hash, self.call.ending, attempt);
            let path = format!("{}/{name}", self.call.directory);
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
