//! What a binary file is, by its first bytes.

/// The media type of content that says nothing about itself.
pub const UNKNOWN: &str = "application/octet-stream";

/// Images that models take as images.
pub const SHOWN_IMAGES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// Finds the media type of content by its first bytes.
#[cfg(feature = "backend")]
#[must_use]
pub fn detect(head: &[u8]) -> &'static str {
    infer::get(head).map_or(UNKNOWN, |kind| kind.mime_type())
}
