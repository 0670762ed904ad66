//! Why a text was not found, when a small difference explains it.

use memchr::{memchr_iter, memmem};

/// How many characters of a line a hint shows.
const SHOWN_CHARS: usize = 120;

/// Explains why `old` is not in `content`; none if nothing near is there.
pub(super) fn explain(content: &[u8], old: &str) -> Option<String> {
    if let Some(body) = old.strip_suffix('\n') {
        let body = body.strip_suffix('\r').unwrap_or(body);
        if !body.is_empty() && content.ends_with(body.as_bytes()) {
            return Some(
                "the file ends without a final newline; leave the newline at the end of old_string out"
                    .to_owned(),
            );
        }
    }
    let wanted = loosen(old);
    if wanted.trim_matches('\n').is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(content);
    let loose = loosen(&text);
    let at = memmem::find(loose.as_bytes(), wanted.trim_matches('\n').as_bytes())?;
    let index = memchr_iter(b'\n', loose.as_bytes().get(..at)?).count();
    let wanted_lines = old.trim_matches('\n').split('\n');
    // Of several lines, name the first that differs.
    let (number, line) = text
        .split('\n')
        .enumerate()
        .skip(index)
        .zip(wanted_lines)
        .find(|((_, line), wanted)| !line.contains(wanted.trim_end_matches('\r')))
        .map(|(found, _)| found)?;
    Some(format!(
        "line {} differs only in white space or quotes: {}",
        number + 1,
        show_line(line.trim_end_matches('\r'))
    ))
}

/// The text without white space (line feeds stay) and with plain quotes.
fn loosen(text: &str) -> String {
    text.chars()
        .filter(|c| *c == '\n' || !(c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}')))
        .map(|c| match c {
            '\u{2018}'..='\u{201b}' | '\u{2032}' | '`' => '\'',
            '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => '"',
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
