//! What the file of an off-loaded result is called.

/// The longest id that is a name as it is.
const MAX_ID_BYTES: usize = 64;

/// How many characters of another id its name begins with.
const PREFIX_CHARS: usize = 40;

/// How many hexadecimal digits of a hash a name has: 64 bits.
const HASH_DIGITS: usize = 16;

/// The name for the result of a call whose content has this hash.
///
/// A safe id is its own name. No safe id has a dot, so that the names of all others, which have
/// one, are different from it and, by the hash, from each other. Without an id the content says
/// the name.
pub(super) fn of(call_id: Option<&str>, content: &blake3::Hash) -> String {
    match call_id {
        None | Some("") => format!("result.{}", digits(content)),
        Some(id) if is_safe(id) => id.to_owned(),
        Some(id) => {
            let readable: String = id
                .chars()
                .take(PREFIX_CHARS)
                .map(|c| if is_safe_char(c) { c } else { '_' })
                .collect();
            let readable = match readable.trim_matches('_') {
                "" => "call",
                readable => readable,
            };
            format!("{readable}.{}", digits(&blake3::hash(id.as_bytes())))
        }
    }
}

/// The names to try, one after the other: the second is for an id that had another content before,
/// and the others for names that something else has.
pub(super) fn candidate(
    name: &str,
    content: &blake3::Hash,
    ending: &str,
    attempt: usize,
) -> String {
    match attempt {
        0 => format!("{name}{ending}"),
        1 => format!("{name}.{}{ending}", digits(content)),
        n => format!("{name}.{}.{n}{ending}", digits(content)),
    }
}

fn is_safe(id: &str) -> bool {
    id.len() <= MAX_ID_BYTES && id.chars().all(is_safe_char)
}

fn is_safe_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn digits(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(HASH_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn safe_ids_are_names_and_all_names_are_safe_and_distinct() {
        let content = blake3::hash(b"content");
        let long = "A".repeat(1400);
        let safe = ["x", "call_1-B", &"a".repeat(64), "CON"];
        for id in safe {
            assert_eq!(of(Some(id), &content), id);
        }
        let others = [
            "../../x",
            "..",
            ".",
            "a.b",
            "a_b.",
            "a/b/c",
            "a\\b",
            "/etc/x",
            "x\n y",
            "\u{202e}",
            "a\0b",
            "名前",
            "é",
            "e\u{301}",
            &"a".repeat(65),
            &long,
            " ",
            "call.1",
            "-.-",
        ];
        let mut names = BTreeSet::new();
        for id in others.iter().chain(&safe) {
            let name = of(Some(id), &content);
            assert!(name.len() <= 64 + 17, "{name}");
            assert!(name.chars().all(|c| is_safe_char(c) || c == '.'), "{name}");
            assert!(!name.starts_with('.'), "{name}");
            assert!(names.insert(name), "{id:?} has the name of another");
        }
        assert!(of(Some(&long), &content).starts_with("AAAA"));
        assert_eq!(of(None, &content), of(Some(""), &content));
        assert_ne!(of(None, &content), of(None, &blake3::hash(b"other")));
    }
}
