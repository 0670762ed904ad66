//! Names and targets of links as text: bytes that are not UTF-8 are percent-encoded, and so is the
//! percent sign.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The text for a name.
pub(super) fn encode(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.as_bytes().utf8_chunks() {
        for (at, part) in chunk.valid().split('%').enumerate() {
            text.push_str(if at > 0 { "%25" } else { "" });
            text.push_str(part);
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

/// The name that a text stands for; none if it stands for none.
pub(super) fn decode(text: &str) -> Option<OsString> {
    let mut name = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        name.push(match byte {
            b'%' => 16 * digit(bytes.next()?)? + digit(bytes.next()?)?,
            byte => byte,
        });
    }
    Some(OsString::from_vec(name))
}

/// A path in the workspace as tools show it: bytes that are not UTF-8 are U+FFFD.
pub(super) fn shown<'a>(names: impl IntoIterator<Item = &'a OsStr>) -> String {
    let mut path = String::new();
    for name in names {
        path.push('/');
        path.push_str(&name.to_string_lossy());
    }
    path
}

/// The value of a hexadecimal digit.
pub(super) fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back() {
        let all: Vec<u8> = (1..=255).collect();
        let names: [&[u8]; 8] = [
            b"a.txt",
            "\u{e9}\u{1f980}".as_bytes(),
            b"%",
            b"%25",
            b"100%\xff%",
            b"\xc3",
            b"\n\"",
            &all,
        ];
        for name in names {
            let name = OsStr::from_bytes(name);
            assert_eq!(decode(&encode(name)).as_deref(), Some(name));
        }
        assert_eq!(encode(OsStr::new("a-\u{e9}")), "a-\u{e9}");
    }

    #[test]
    fn what_no_name_gives_is_refused() {
        for text in ["%", "%2", "%zz", "%+1", "%F0"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
