//! Paths of a workspace: how they are read and how they are shown.
//!
//! The rules are those of `wit/path-resolution.md`. They are lexical; what a path meets on the way
//! (links, files) is the backend's part.

use crate::types::ErrorCode;
use std::borrow::Cow;
use std::fmt;

use crate::limits::{MAX_NAME_BYTES, MAX_PATH_BYTES};

/// A normalised absolute path of a workspace, as in `/src/a.rs`; the root is `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(String);

/// What is wrong with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    given: String,
    reason: PathReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathReason {
    Climbs,
    Nul,
    LongName,
    LongPath,
    Drive,
    Share,
    Home,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start: String = self.given.chars().take(80).collect();
        let cut = if start.len() < self.given.len() { "…" } else { "" };
        let given = show(&start);
        match self.reason {
            PathReason::Climbs => {
                write!(f, "{given}{cut} climbs above the workspace root; paths start at /")
            }
            PathReason::Nul => write!(f, "{given}{cut} has a NUL character"),
            PathReason::LongName => {
                write!(f, "{given}{cut} has a name over {MAX_NAME_BYTES} bytes")
            }
            PathReason::LongPath => write!(f, "{given}{cut} is over {MAX_PATH_BYTES} bytes"),
            PathReason::Drive => write!(
                f,
                "{given}{cut} looks like a Windows path; use a path of the workspace, as in /dir/file"
            ),
            PathReason::Share => write!(
                f,
                "{given}{cut} looks like a network share; use a path of the workspace, as in /dir/file"
            ),
            PathReason::Home => write!(
                f,
                "{given}{cut}: ~ is not expanded; use a path of the workspace, as in /dir/file"
            ),
        }
    }
}

impl std::error::Error for PathError {}

impl WorkspacePath {
    /// The root of the workspace.
    #[must_use]
    pub fn root() -> Self {
        Self("/".to_owned())
    }

    /// Reads a path as a caller gives it.
    ///
    /// # Errors
    /// Fails if the path climbs above the root, has a NUL or is too long, or has the form of a
    /// path of another system.
    pub fn parse(given: &str) -> Result<Self, PathError> {
        let fail = |reason| Err(PathError { given: given.to_owned(), reason });
        if given.len() > MAX_PATH_BYTES {
            return fail(PathReason::LongPath);
        }
        if given.contains('\0') {
            return fail(PathReason::Nul);
        }
        if let Some(reason) = foreign_form(given) {
            return fail(reason);
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in given.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return fail(PathReason::Climbs);
                    }
                }
                name if name.len() > MAX_NAME_BYTES => return fail(PathReason::LongName),
                name => parts.push(name),
            }
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }

    /// The path as text, with its leading slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path without its leading slash; empty for the root.
    #[must_use]
    pub fn relative(&self) -> &str {
        self.0.get(1..).unwrap_or_default()
    }

    /// Whether this is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == "/"
    }

    /// The names from the root down.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.relative().split('/').filter(|name| !name.is_empty())
    }

    /// The last name; none for the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.components().last()
    }

    /// The directory that holds this; none for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let end = self.0.rfind('/').unwrap_or(0);
        Some(if end == 0 {
            Self::root()
        } else {
            Self(self.0.get(..end).unwrap_or("/").to_owned())
        })
    }

    /// The path of the entry `name` of this directory.
    ///
    /// # Errors
    /// Fails if that is no single name.
    pub fn entry(&self, name: &str) -> Result<Self, ErrorCode> {
        let refused = |why: String| ErrorCode::InvalidPath(why);
        let path = Self::parse(&format!("{}/{name}", self.as_str()))
            .map_err(|error| refused(error.to_string()))?;
        if path.parent().as_ref() == Some(self) && path.name() == Some(name) {
            Ok(path)
        } else {
            Err(refused(format!("{} is not the name of an entry", show(name))))
        }
    }

    /// The path of the entry `name` of this directory.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.is_root() { Self(format!("/{name}")) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// Whether this is `ancestor` or lies beneath it.
    #[must_use]
    pub fn is_within(&self, ancestor: &Self) -> bool {
        ancestor.is_root()
            || self.0 == ancestor.0
            || self.0.strip_prefix(&ancestor.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl fmt::Display for WorkspacePath {
    /// Shows the path as model text has it; see [`show`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show(&self.0))
    }
}

/// Recognises paths that only mean something on another system.
fn foreign_form(given: &str) -> Option<PathReason> {
    let bytes = given.as_bytes();
    match bytes {
        [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic() => Some(PathReason::Drive),
        [b'\\', b'\\', _, ..] => Some(PathReason::Share),
        [b'~', b'/', ..] => Some(PathReason::Home),
        _ => None,
    }
}

/// Shows a path: as it is, or, when it has control characters, as a JSON string literal with every
/// one of them as `\uXXXX`.
#[must_use]
pub fn show(path: &str) -> Cow<'_, str> {
    if !path.chars().any(is_control) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len() + 16);
    out.push('"');
    for c in path.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if is_control(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    Cow::Owned(out)
}

/// Reads a path that was printed by [`show`] as a literal; none if `given` is no such literal.
#[must_use]
pub fn unquote(given: &str) -> Option<String> {
    if given.len() < 2 || !given.starts_with('"') || !given.ends_with('"') {
        return None;
    }
    serde_json::from_str::<String>(given).ok()
}

/// Whether a character of a name could change how a line of text is read: C0, DEL, C1, and the
/// controls of writing direction.
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(given: &str) -> String {
        WorkspacePath::parse(given).map_or_else(|e| format!("error: {e}"), |p| p.0)
    }

    #[test]
    fn spellings_of_one_path_are_one_path() {
        for given in ["a/b", "/a/b", "//a//b", "./a/b/", "/a/./b", "/a/x/../b", "a/b//"] {
            assert_eq!(parse(given), "/a/b", "{given}");
        }
        for given in ["", ".", "/", "//", "./", "a/.."] {
            assert_eq!(parse(given), "/", "{given}");
        }
    }

    #[test]
    fn climbing_above_the_root_is_refused() {
        for given in ["..", "../x", "/..", "/a/../../b", "a/../.."] {
            assert!(parse(given).contains("climbs above"), "{given}");
        }
    }

    #[test]
    fn odd_names_are_ordinary() {
        for given in ["r..x", "[...slug].tsx", "...", "a\\b", "a~/b", "~", "%2e%2e", " ", "x/C:/y"]
        {
            assert_eq!(parse(given), format!("/{given}"));
        }
    }

    #[test]
    fn foreign_forms_are_refused_with_a_hint() {
        for given in ["C:\\a", "c:/a", "\\\\server\\share", "~/x", "a\0b"] {
            assert!(parse(given).starts_with("error: "), "{given}");
        }
        assert!(parse(&"a".repeat(256)).contains("over 255 bytes"));
        assert!(parse(&"a/".repeat(2100)).contains("over 4096 bytes"));
        assert_eq!(parse(&"a".repeat(255)).len(), 256);
    }

    #[test]
    fn relations() {
        let path = |given| WorkspacePath::parse(given).expect("a path");
        assert_eq!(path("/a/b").parent(), Some(path("/a")));
        assert_eq!(path("/a").parent(), Some(WorkspacePath::root()));
        assert_eq!(path("/").parent(), None);
        assert_eq!(path("/a/b").name(), Some("b"));
        assert_eq!(path("/").child("a").child("b").as_str(), "/a/b");
        assert!(path("/ab/c").is_within(&path("/ab")));
        assert!(!path("/abc").is_within(&path("/ab")));
        assert!(path("/x").is_within(&WorkspacePath::root()));
    }

    #[test]
    fn control_characters_are_shown_as_a_literal_that_reads_back() {
        for name in ["/a\nb", "/x\u{7f}", "/\u{202e}txt", "/tab\t", "/q\"\n\\", "/\u{85}"] {
            let shown = show(name);
            assert!(!shown.chars().any(is_control));
            assert_eq!(unquote(&shown).as_deref(), Some(name));
        }
        assert_eq!(show("/plain \"quoted\""), "/plain \"quoted\"");
        assert_eq!(show("/a\nb"), "\"/a\\u000ab\"");
    }
}
