//! Lists that are shown page by page within the size of a result.

use crate::failure::Failure;
use crate::text::counted;

/// How much room notices and the frame of a result may take.
const RESERVED_BYTES: usize = 8 << 10;

/// Adds up the two forms of a result until they reach its size.
pub(super) struct Room {
    left: usize,
}

impl Room {
    pub(super) fn new(result_bytes: u64) -> Self {
        let bytes = usize::try_from(result_bytes).unwrap_or(usize::MAX);
        Self { left: bytes.saturating_sub(RESERVED_BYTES) }
    }

    /// Takes room for a piece of text and its JSON; false if it is not there.
    pub(super) fn take(&mut self, text: &str, json: &str) -> bool {
        match self.left.checked_sub(text.len() + json.len() + 2) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// The footer of a list that goes on.
pub(super) fn footer(shown: u64, total: u64, next_offset: u64) -> String {
    format!(
        "[{shown} of {} shown; continue with offset={next_offset}]",
        counted(total, "entry", "entries")
    )
}

/// The failure for an offset behind the end of a list.
pub(super) fn past_the_end(offset: u64, what: &str, total: &str) -> Failure {
    Failure::invalid(format!("offset {offset} is past the end: {what} has {total}"))
}
