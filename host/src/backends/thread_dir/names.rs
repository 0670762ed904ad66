//! The directory name of a thread or tenant id.
//!
//! Different ids have different names, also where the file system folds case or normalises
//! Unicode: a name has only lower-case ASCII, digits, `_`, `-`, `.` and `%`.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 512;

/// The longest id that is stored as it is, in bytes.
const MAX_PLAIN_BYTES: usize = 120;

/// The longest name that is made by encoding. Longer ones end in a hash of the id.
const MAX_NAME_BYTES: usize = 200;

/// How much of a shortened name is the front of the encoded id.
const FRONT_BYTES: usize = 100;

/// Names that mean a device on some systems, with any extension.
const DEVICES: [&str; 22] = [
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1",
    "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// What is wrong with a thread or tenant id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The id is empty.
    #[error("the id is empty")]
    Empty,
    /// The id has more than 512 bytes.
    #[error("the id is over {MAX_ID_BYTES} bytes")]
    TooLong,
    /// The id has a NUL character.
    #[error("the id has a NUL character")]
    Nul,
}

impl IdError {
    /// Checks that a text can be the id of a thread or a tenant.
    ///
    /// # Errors
    /// Fails if it cannot.
    pub fn check(id: &str) -> Result<(), Self> {
        if id.is_empty() {
            return Err(Self::Empty);
        }
        if id.len() > MAX_ID_BYTES {
            return Err(Self::TooLong);
        }
        if id.contains('\0') {
            return Err(Self::Nul);
        }
        Ok(())
    }
}

/// The directory name of an id.
pub(super) fn directory_name(id: &str) -> Result<String, IdError> {
    IdError::check(id)?;
    if is_plain(id) {
        return Ok(id.to_owned());
    }
    let mut name = String::new();
    let device = is_device(id);
    for (at, byte) in id.bytes().enumerate() {
        let keep = match byte {
            // A reserved name is broken up, and a dot must be neither first nor last.
            b'.' => at > 0 && at + 1 < id.len(),
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => !(device && at == 0),
            _ => false,
        };
        if keep {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "%{byte:02x}");
        }
    }
    if id.len() <= MAX_PLAIN_BYTES && name.len() <= MAX_NAME_BYTES {
        return Ok(name);
    }
    // `%-` is no encoded byte, so that no other name has this form.
    let front: String = name.chars().take(FRONT_BYTES).collect();
    let mut short = format!("{front}%-");
    for byte in Sha256::digest(id.as_bytes()) {
        let _ = write!(short, "{byte:02x}");
    }
    Ok(short)
}

/// The id that has this directory name; none if the name has only a hash of it, or is no name of an
/// id at all.
pub(super) fn id_of(name: &str) -> Option<String> {
    let mut id = Vec::new();
    let mut bytes = name.bytes();
    while let Some(byte) = bytes.next() {
        id.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    let id = String::from_utf8(id).ok()?;
    (directory_name(&id).as_deref() == Ok(name)).then_some(id)
}

/// Whether some id has this directory name: what else lies in a root is nobody's workspace.
pub(super) fn is_name(name: &str) -> bool {
    let is_short = || {
        let (front, hash) = name.split_once("%-")?;
        let is_hash =
            hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let front_is_good = front.len() == FRONT_BYTES && front.bytes().all(is_kept_or_percent);
        Some(is_hash && front_is_good)
    };
    id_of(name).is_some() || is_short() == Some(true)
}

fn is_kept_or_percent(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'%')
}

/// Whether an id is stored as it is.
fn is_plain(id: &str) -> bool {
    let good = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    let mut bytes = id.bytes();
    bytes.next().is_some_and(good)
        && bytes.all(|byte| good(byte) || byte == b'.')
        && id.len() <= MAX_PLAIN_BYTES
        && !id.ends_with('.')
        && !is_device(id)
}

fn is_device(id: &str) -> bool {
    let stem = id.split('.').next().unwrap_or(id).trim_end_matches(' ');
    DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(id: &str) -> String {
        directory_name(id).expect("an id")
    }

    #[test]
    fn plain_ids_stay() {
        for id in ["abc123", "_x", "-", "a.b-c_d", "7"] {
            assert_eq!(name(id), id);
        }
    }

    #[test]
    fn all_others_get_names_of_their_own() {
        let long = "x".repeat(512);
        let long_twin = format!("{}y", "x".repeat(511));
        let ids = [
            "abc",
            "ABC",
            "Abc",
            ".",
            "..",
            "../x",
            "a/b",
            "a-b",
            "a:b",
            "a_b",
            "a b",
            "x",
            "x ",
            "\u{e9}",
            "e\u{301}",
            "a\\b",
            "%2e%2e",
            "a%2fb",
            "con",
            "CON",
            "con.txt",
            "nul",
            "a.",
            "a\nb",
            ".handhold",
            ".tenants",
            "\u{ff21}",
            &long,
            &long_twin,
            "%",
            "%-",
        ];
        let mut names: Vec<String> = ids.iter().map(|id| name(id)).collect();
        for name in &names {
            assert!(name.len() <= 255 && !name.starts_with('.') && !name.ends_with('.'), "{name}");
            assert!(
                name.bytes()
                    .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'%'))
            );
            assert!(!is_device(name), "{name}");
        }
        assert!(names.iter().all(|name| is_name(name)));
        for id in ids.iter().filter(|id| id.len() < 100) {
            assert_eq!(id_of(&name(id)).as_deref(), Some(*id));
        }
        assert_eq!(id_of(&name(&long)), None);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ids.len());
    }

    #[test]
    fn what_is_no_name_of_an_id_has_none() {
        for name in ["", "A", ".x", "a%", "a%4", "a%zz", "%61", "con", "a.", "%ff", "%-00", "%00"] {
            assert_eq!(id_of(name), None, "{name}");
            assert!(!is_name(name), "{name}");
        }
        let short = name(&"x".repeat(512));
        for name in ["lost+found", "Photos", &short[1..], &short[..short.len() - 1]] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn ids_that_cannot_be_are_errors() {
        assert_eq!(directory_name(""), Err(IdError::Empty));
        assert_eq!(directory_name("a\0b"), Err(IdError::Nul));
        assert_eq!(directory_name(&"x".repeat(513)), Err(IdError::TooLong));
        assert!(directory_name(&"x".repeat(512)).is_ok());
    }
}
