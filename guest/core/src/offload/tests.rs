//! What the rule does by itself; what becomes of files is shown by data cases.

use super::*;
use crate::toolbox::Toolbox;
use crate::tools::ALL_TOOLS;
use crate::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest,
};

/// A workspace that has nothing.
struct Nothing;

impl Reader for Nothing {
    fn ls_info(&self, _: &str, _: u64, _: u64) -> Result<LsPage, ErrorCode> {
        Err(ErrorCode::NotFound)
    }
    fn read(&self, _: &ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        Err(ErrorCode::NotFound)
    }
    fn read_bytes(&self, _: &str, _: u64, _: u64) -> Result<BytesPage, ErrorCode> {
        Err(ErrorCode::NotFound)
    }
    fn glob_info(&self, _: &GlobRequest) -> Result<GlobPage, ErrorCode> {
        Err(ErrorCode::NotFound)
    }
    fn grep_raw(&self, _: &GrepRequest) -> Result<GrepPage, ErrorCode> {
        Err(ErrorCode::NotFound)
    }
}

fn output(tokens: u64) -> Output<'static> {
    let mut config = Config::default();
    config.offload.tokens = tokens;
    let toolbox = Toolbox::open(ALL_TOOLS, config).expect("a good configuration");
    toolbox.output(&Nothing, None, "web", Some("x"))
}

/// What is passed on of a text in pieces, and how it ended.
fn pass(text: &[u8], piece: usize, tokens: u64) -> (Vec<Vec<u8>>, OutputEnd) {
    let mut output = output(tokens);
    let given = text.chunks(piece).map(|piece| output.push(piece)).collect();
    (given, output.finish(false))
}

#[test]
fn what_is_within_the_limit_is_passed_on_as_it_is() {
    let texts: [&[u8]; 6] = [
        b"",
        b"0123456789",
        "é€😀é".as_bytes(),
        b"\xff\xfe\x80",
        "ab😀".as_bytes().get(..5).unwrap(),
        b"\xf0\x9f\x98",
    ];
    for text in texts {
        for piece in 1..=4 {
            let (mut given, end) = pass(text, piece, 3);
            assert!(end.offloaded.is_none());
            given.push(end.rest);
            assert_eq!(given.concat(), text);
        }
    }
}

#[test]
fn a_cut_never_splits_a_character() {
    for unit in ["é", "€", "😀", "a€😀é"] {
        let text = unit.repeat(100);
        for front in 0..8 {
            let text = format!("{}{text}", "x".repeat(front));
            for piece in [1, 2, 3, 7, 1000] {
                let (given, end) = pass(text.as_bytes(), piece, 10);
                let offloaded = end.offloaded.expect("it is too large");
                for part in &given {
                    assert!(std::str::from_utf8(part).is_ok(), "{part:?}");
                }
                let passed: Vec<u8> = given.concat();
                assert!(text.as_bytes().starts_with(&passed));
                assert!(passed.len() <= 40 && passed.len() > 36, "{}", passed.len());
                assert_eq!(offloaded.size, text.len() as u64);
                assert!(end.rest.is_empty());
            }
        }
    }
}

#[test]
fn the_limit_is_in_bytes_and_strict() {
    for unit in ["a", "名", "😀"] {
        let n = 1200 / unit.len();
        for piece in [1, 5, 5000] {
            let at = unit.repeat(n);
            assert!(pass(at.as_bytes(), piece, 300).1.offloaded.is_none());
            let over = format!("{at}a");
            assert!(pass(over.as_bytes(), piece, 300).1.offloaded.is_some());
        }
    }
}

#[test]
fn without_a_limit_all_is_passed_on() {
    let mut config = Config::default();
    config.offload.enabled = false;
    let toolbox = Toolbox::open(ALL_TOOLS, config).expect("a good configuration");
    let mut output = toolbox.output(&Nothing, None, "web", None);
    let text = "名前😀".repeat(100_000);
    let mut passed: Vec<u8> =
        text.as_bytes().chunks(1001).flat_map(|piece| output.push(piece)).collect();
    passed.extend(output.finish(false).rest);
    assert!(passed == text.as_bytes());
}

#[test]
fn blocks_count_together_with_a_line_feed_between_them() {
    let mut output = output(1);
    output.next_block();
    output.push(b"ab");
    output.next_block();
    output.push(b"c");
    assert!(output.finish(false).offloaded.is_none());
    let mut output = super::tests::output(1);
    output.push(b"ab");
    output.next_block();
    output.push(b"cd");
    let offloaded = output.finish(false).offloaded.expect("five bytes");
    assert_eq!(offloaded.size, 5);
    assert!(offloaded.text.contains("     1\tab\n     2\tcd"), "{}", offloaded.text);
}

#[test]
fn results_of_tools_that_show_pages_are_never_offloaded() {
    let toolbox = Toolbox::open(ALL_TOOLS, Config::default()).expect("the default is valid");
    for tool in ["ls", "read_file", "glob", "grep"] {
        let mut output = toolbox.output(&Nothing, None, tool, None);
        output.push(&[b'x'; 100_000]);
        assert!(output.finish(false).offloaded.is_none());
    }
}
