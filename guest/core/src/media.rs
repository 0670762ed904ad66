//! What a binary file is, by its first bytes.

/// The media type of content that says nothing about itself.
pub const UNKNOWN: &str = "application/octet-stream";

/// Images that models take as images.
pub const SHOWN_IMAGES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// A media type without its parameters, in the spelling that is compared.
#[must_use]
pub fn essence(media_type: &str) -> String {
    let plain = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if plain == "image/jpg" { "image/jpeg".to_owned() } else { plain }
}

/// Whether content begins as an image of that type does, which must be one of [`SHOWN_IMAGES`].
#[must_use]
pub fn is_image(media_type: &str, content: &[u8]) -> bool {
    match media_type {
        "image/gif" => content.starts_with(b"GIF87a") || content.starts_with(b"GIF89a"),
        "image/jpeg" => content.starts_with(b"\xff\xd8\xff"),
        "image/png" => content.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/webp" => content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}

/// Finds the media type of content by its first bytes.
#[cfg(feature = "backend")]
#[must_use]
pub fn detect(head: &[u8]) -> &'static str {
    infer::get(head).map_or(UNKNOWN, |kind| kind.mime_type())
}
