//! Lists that are shown page by page within the size of a result.

use super::Context;
use crate::failure::Failure;
use crate::text::counted;

/// How much room notices and the frame of a result may take.
const RESERVED_BYTES: usize = 8 << 10;

/// Adds up the two forms of a result until they reach its size.
pub(super) struct Room {
    left: usize,
    /// How much is left for text alone; none if it has no limit of its own.
    text_left: Option<usize>,
    taken: bool,
}

impl Room {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Self {
            left: bytes(context.config().result_bytes).saturating_sub(RESERVED_BYTES),
            text_left: context.own_page_bytes().map(bytes),
            taken: false,
        }
    }

    /// Takes room for a piece of text and its JSON; false if it is not there. The first piece may
    /// be larger than a page: there would be no way past it.
    pub(super) fn take(&mut self, text: &str, json: &str) -> bool {
        let Some(left) = self.left.checked_sub(text.len() + json.len() + 2) else { return false };
        if let Some(text_left) = &mut self.text_left {
            // A line feed stands before every piece but the first.
            match text_left.checked_sub(text.len() + usize::from(self.taken)) {
                Some(left) => *text_left = left,
                None if self.taken => return false,
                None => *text_left = 0,
            }
        }
        self.left = left;
        self.taken = true;
        true
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
