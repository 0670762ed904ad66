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

impl Store {
    /// Begins a file in `directory`.
    pub(super) fn begin(writer: Option<&dyn Writer>, directory: &str) -> Self {
        let state = match writer {
            None => State::Failed(Reason::ReadOnly),
            Some(writer) => match writer.draft(directory) {
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
        if bytes.is_empty() {
            return;
        }
        let nothing_yet = State::Failed(Reason::ReadOnly);
        self.state = match std::mem::replace(&mut self.state, nothing_yet) {
            State::Open(mut draft) => match draft.push(bytes) {
                Ok(()) => {
                    self.hash.update(bytes);
                    self.saved += bytes.len() as u64;
                    State::Open(draft)
                }
                // What fits is better than nothing.
                Err(ErrorCode::TooLarge(_)) if self.saved > 0 => State::Full(draft),
                Err(error) => State::Failed(Reason::Error(error)),
            },
            other => other,
        };
    }

    /// Gives the file its name. If the same content has one for this call already, that is it.
    pub(super) fn publish(
        mut self,
        reader: &dyn Reader,
        directory: &str,
        call_id: Option<&str>,
        ending: &str,
    ) -> Saved {
        let carry = std::mem::take(&mut self.carry);
        self.write(&carry);
        let (mut draft, is_whole) = match self.state {
            State::Open(draft) => (draft, true),
            State::Full(draft) => (draft, false),
            State::Failed(reason) => return Saved::Nothing(reason),
        };
        let hash = self.hash.finalize();
        let place = Place { reader, directory, hash, size: self.saved };
        match place.find(&mut *draft, &name::of(call_id, &hash), ending) {
            Ok(path) if is_whole => Saved::All(path),
            Ok(path) => Saved::Front(path, self.saved),
            Err(reason) => Saved::Nothing(reason),
        }
    }
}

/// Where a file is to go, and what is in it.
struct Place<'a> {
    reader: &'a dyn Reader,
    directory: &'a str,
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
    fn find(&self, draft: &mut dyn Draft, name: &str, ending: &str) -> Result<String, Reason> {
        for attempt in 0..MAX_ATTEMPTS {
            let name = name::candidate(name, &self.hash, ending, attempt);
            let path = format!("{}/{name}", self.directory);
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
                Err(error) => return Err(Reason::Error(error)),
            }
        }
        Err(Reason::NoName)
    }

    fn look(&self, path: &str) -> Result<Slot, Reason> {
        let page = match self.reader.ls_info(path, 0, 1) {
            Ok(page) => page,
            Err(ErrorCode::NotFound) => return Ok(Slot::Free),
            // A link that leads out.
            Err(ErrorCode::NotPermitted) => return Ok(Slot::Taken),
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
