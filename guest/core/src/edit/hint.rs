//! Why a text was not found, when a small difference explains it.

use memchr::{memchr_iter, memmem};

/// How many characters of a line a hint shows.
const SHOWN_CHARS: usize = 120;

/// Explains why `old` is not in `content`; none if nothing near is there.
pub(super) fn explain(content: &[u8], old: &str) -> Option<String> {
    let text = String::from_utf8_lossy(content);
    if let Some(body) = old.strip_suffix('\n').map(|body| body.replace("\r\n", "\n"))
        && let body = body.trim_end_matches('\r')
        && !body.is_empty()
        && !text.ends_with('\n')
        && text.replace("\r\n", "\n").ends_with(body)
    {
        return Some(
            "the file ends without a final newline; leave the newline at the end of old_string out"
                .to_owned(),
        );
    }
    let wanted = loosen(old);
    if wanted.trim_matches('\n').is_empty() {
        return None;
    }
    let loose = loosen(&text);
    let at = memmem::find(loose.as_bytes(), wanted.trim_matches('\n').as_bytes())?;
    let index = memchr_iter(b'\n', loose.as_bytes().get(..at)?).count();
    let wanted: Vec<&str> = old.trim_matches('\n').split('\n').collect();
    let last = wanted.len() - 1;
    // Of several lines, name the first that differs. The first and the last may be parts.
    let (number, line) =
        text.split('\n').enumerate().skip(index).zip(&wanted).enumerate().find_map(
            |(n, ((number, line), wanted))| {
                let (line, wanted) = (line.trim_end_matches('\r'), wanted.trim_end_matches('\r'));
                let same = match (n == 0, n == last) {
                    (true, true) => line.contains(wanted),
                    (true, false) => line.ends_with(wanted),
                    (false, true) => line.starts_with(wanted),
                    (false, false) => line == wanted,
                };
                (!same).then_some((number, line))
            },
        )?;
    Some(format!("line {} differs only in white space or quotes: {}", number + 1, show_line(line)))
}

/// The text without white space (line feeds stay) and with one kind of quotes.
fn loosen(text: &str) -> String {
    text.chars()
        .filter(|c| *c == '\n' || !(c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}')))
        .map(|c| match c {
            '\u{2018}'..='\u{201f}' | '\u{2032}' | '\u{2033}' => '"',
            '\'' | '`' | '\u{ab}' | '\u{bb}' => '"',
            c => c,
        })
        .collect()
}

/// A line with everything that is easily mistaken for a space made visible.
fn show_line(line: &str) -> String {
    let mut out = String::from("`");
    for (n, c) in line.chars().enumerate() {
        if n == SHOWN_CHARS {
            out.push('…');
            break;
        }
        match c {
            '\t' => out.push_str("\\t"),
            c if c != ' ' && (c.is_whitespace() || c.is_control() || c == '\u{200b}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('`');
    out
}
