use proptest::prelude::*;

use super::*;

fn request(offset: i64, limit: u64) -> ReadRequest {
    ReadRequest {
        path: "/x".to_owned(),
        offset,
        limit,
        column: 1,
        line_chars: 2000,
        max_bytes: 80_000,
        if_version: None,
    }
}

fn page(mut bytes: &[u8], request: &ReadRequest) -> LinePage {
    match read_window(&mut bytes, request, "v").expect("memory can be read") {
        ReadOutcome::Lines(page) => page,
        other => panic!("not lines: {other:?}"),
    }
}

/// A source that gives a byte at a time, to find faults at the borders of chunks.
struct Drip<'a>(&'a [u8]);

impl ByteSource for Drip<'_> {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(1);
        self.0.read_at(offset, &mut buffer[..n])
    }
}

/// The lines of `bytes`, the plain way.
fn naive(bytes: &[u8]) -> Vec<String> {
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines: Vec<&[u8]> = body.split(|b| *b == b'\n').collect();
    let open = lines.pop().unwrap_or_default();
    let mut out: Vec<String> = lines
        .iter()
        .map(|line| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
        .collect();
    if !open.is_empty() {
        out.push(String::from_utf8_lossy(open).into_owned());
    }
    out
}

#[test]
fn a_window_in_the_middle() {
    let p = page(b"a\nb\r\nc\nd", &request(2, 2));
    assert_eq!((p.text.as_str(), p.start_line, p.line_count, p.more), ("b\nc\n", 2, 2, true));
    assert_eq!(p.total_lines, Some(4));
}

#[test]
fn the_last_line_needs_no_line_feed() {
    let p = page(b"a\nb\nc", &request(3, 10));
    assert_eq!((p.text.as_str(), p.more, p.total_lines), ("c\n", false, Some(3)));
}

#[test]
fn past_the_end_gives_no_line_and_the_count() {
    for offset in [3, 9] {
        let p = page(b"a\nb\n", &request(offset, 10));
        assert_eq!((p.line_count, p.total_lines, p.more), (0, Some(2), false));
    }
    assert_eq!(page(b"", &request(1, 10)).total_lines, Some(0));
}

#[test]
fn counting_from_the_end() {
    let p = page(b"a\nb\nc\n", &request(-2, 10));
    assert_eq!((p.text.as_str(), p.start_line), ("b\nc\n", 2));
    let p = page(b"a\nb\nc\n", &request(-9, 10));
    assert_eq!((p.text.as_str(), p.start_line), ("a\nb\nc\n", 1));
}

#[test]
fn a_long_line_is_cut_at_a_character_and_counted() {
    let text = format!("{}\nz\n", "é".repeat(5000));
    let p = page(text.as_bytes(), &ReadRequest { column: 2001, limit: 1, ..request(1, 1) });
    assert_eq!(p.text, format!("{}\n", "é".repeat(2000)));
    assert_eq!(p.long_lines, [LongLine { line: 1, chars: 5000 }]);
    assert!(p.more);
}

#[test]
fn a_nul_makes_it_binary_unless_it_is_utf16() {
    let mut bytes: &[u8] = b"\x7fELF\0\0";
    assert!(matches!(
        read_window(&mut bytes, &request(1, 1), "v"),
        Ok(ReadOutcome::Binary(info)) if info.size == 6
    ));
    let p = page(&Encoding::Utf16Le.encode_utf16("ab\nc"), &request(1, 5));
    assert_eq!((p.text.as_str(), p.total_lines), ("ab\nc\n", Some(2)));
}

use crate::types::LongLine;

proptest! {
    #[test]
    fn windows_equal_the_naive_reading(
        pieces in prop::collection::vec(prop::sample::select(vec![
            &b"\n"[..], b"\r\n", b"\r", b"abc", "é😀".as_bytes(), b"\xff", b"\xf0\x9f", b"\x0c",
        ]), 0..40),
        offset in -12_i64..20,
        limit in 1_u64..12,
    ) {
        let bytes = pieces.concat();
        let lines = naive(&bytes);
        let mut drip = Drip(&bytes);
        let ReadOutcome::Lines(slow) = read_window(&mut drip, &request(offset, limit), "v").unwrap()
            else { panic!("text") };
        let quick = page(&bytes, &request(offset, limit));
        prop_assert_eq!(&slow, &quick);
        let first = if offset < 0 {
            lines.len().saturating_sub(offset.unsigned_abs() as usize)
        } else {
            (offset.max(1) - 1) as usize
        };
        let want: String = lines.iter().skip(first).take(limit as usize)
            .map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(quick.text, want);
        prop_assert_eq!(quick.total_lines, Some(lines.len() as u64));
        prop_assert_eq!(quick.more, lines.len() > first + limit as usize);
    }

    #[test]
    fn pages_joined_are_the_whole(bytes in prop::collection::vec(any::<u8>(), 0..400), limit in 1_u64..5, max_bytes in 1_u64..60) {
        prop_assume!(!is_binary(&bytes));
        let whole = page(&bytes, &request(1, 10_000));
        let mut joined = String::new();
        let mut next = 1;
        loop {
            let p = page(&bytes, &ReadRequest { max_bytes, ..request(next, limit) });
            joined.push_str(&p.text);
            if !p.more { break }
            prop_assert!(p.line_count > 0);
            next += p.line_count as i64;
        }
        prop_assert_eq!(joined, whole.text);
    }
}
