//! Hashes of what is written.

use std::fmt::Write;

use handhold_core::types::ErrorCode;
use sha2::{Digest, Sha256};

use super::super::blocking;

/// How many bytes are hashed on the thread that runs the call: 64 KiB, well below a millisecond.
const HASHED_AT_ONCE: usize = 64 << 10;

/// Adds `content` to a hash, and gives it back.
///
/// Much of it is hashed where that may take time; if that breaks down, so does this.
pub(super) async fn update(
    mut hash: Sha256,
    content: Vec<u8>,
) -> Result<(Sha256, Vec<u8>), ErrorCode> {
    let is_short = content.len() <= HASHED_AT_ONCE;
    let add = move || {
        hash.update(&content);
        (hash, content)
    };
    if is_short { Ok(add()) } else { blocking::run(move |_| Ok(add())).await }
}

/// The hash of all that was added, in hexadecimal digits.
pub(super) fn in_hex(hash: Sha256) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
