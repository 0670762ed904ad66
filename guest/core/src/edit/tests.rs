use proptest::prelude::*;

use super::*;

fn one(content: &[u8], old: &str, new: &str) -> Result<Vec<u8>, EditFault> {
    apply(content, &[Edit { old, new, replace_all: false }])
        .map(|edited| edited.bytes)
        .map_err(|error| error.reason)
}

fn all(content: &[u8], old: &str, new: &str) -> (Vec<u8>, usize) {
    let edited = apply(content, &[Edit { old, new, replace_all: true }]).expect("a match");
    (edited.bytes, edited.replacements)
}

#[test]
fn text_that_was_shown_matches_a_file_with_carriage_returns() {
    assert_eq!(
        one(b"red fox\r\nblue jay\r\ngrey owl\r\n", "red fox\nblue jay", "RED fox\nBLUE jay"),
        Ok(b"RED fox\r\nBLUE jay\r\ngrey owl\r\n".to_vec())
    );
    assert_eq!(one(b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), Ok(b"x\r\ny\r\nz\r\nc\r\n".to_vec()));
}

#[test]
fn only_the_named_bytes_change() {
    assert_eq!(one(b"p\r\nq\nr", "r", "R"), Ok(b"p\r\nq\nR".to_vec()));
    assert_eq!(one(b"5%\r40%\nstop\n", "stop", "ended"), Ok(b"5%\r40%\nended\n".to_vec()));
    assert_eq!(one(b"n = 1\n# na\xefve\n", "n = 1", "n = 2"), Ok(b"n = 2\n# na\xefve\n".to_vec()));
    assert_eq!(one(b"p\r\nq\nr\n", "p\nq\nr", "P\nQ\nR"), Ok(b"P\r\nQ\nR\n".to_vec()));
}

#[test]
fn inserted_lines_take_the_ending_of_their_place() {
    assert_eq!(one(b"a\r\nb\nc", "a", "a\na2"), Ok(b"a\r\na2\r\nb\nc".to_vec()));
    assert_eq!(one(b"a\r\nb\nc", "b", "b\nb2"), Ok(b"a\r\nb\nb2\nc".to_vec()));
    assert_eq!(one(b"a\r\nc", "c", "c\nd"), Ok(b"a\r\nc\r\nd".to_vec()));
    assert_eq!(one(b"a\nb", "b", "x\r\ny"), Ok(b"a\nx\r\ny".to_vec()));
    assert_eq!(one(b"a\r\nb", "\nb", "\nc\nd"), Ok(b"a\r\nc\r\nd".to_vec()));
}

#[test]
fn a_change_of_nothing_but_line_endings_is_no_silent_success() {
    assert_eq!(one(b"a\r\nb", "a\r\n", "a\n"), Err(EditFault::NothingChanges));
    assert_eq!(one(b"same", "same", "same"), Err(EditFault::Identical));
    assert_eq!(one(b"same", "", "x"), Err(EditFault::EmptyOld));
}

#[test]
fn occurrences_overlap_for_uniqueness_only() {
    assert_eq!(
        one(b"aaa", "aa", "b"),
        Err(EditFault::NotUnique { count: 2, at_least: false, lines: vec![1] })
    );
    assert_eq!(
        one(b"tick\ntick\ntick\n", "tick\ntick\n", "R"),
        Err(EditFault::NotUnique { count: 2, at_least: false, lines: vec![1, 2] })
    );
    assert_eq!(all(b"aaaa", "aa", "b"), (b"bb".to_vec(), 2));
    assert_eq!(all(b"aaa", "aa", "b"), (b"ba".to_vec(), 1));
    assert_eq!(all(b"aXa", "a", "aa"), (b"aaXaa".to_vec(), 2));
}

#[test]
fn places_that_match_only_with_endings_ignored_are_counted() {
    let edit = Edit { old: "hit\nnext", new: "X", replace_all: true };
    let edited = apply(b"hit\nnext\nhit\r\nnext\r\n", &[edit]).expect("a match");
    assert_eq!(edited.bytes, b"X\nhit\r\nnext\r\n");
    assert_eq!((edited.replacements, edited.left), (1, 1));
}

#[test]
fn a_list_is_applied_in_order_or_not_at_all() {
    let edit = |old, new| Edit { old, new, replace_all: false };
    let edited = apply(b"a b", &[edit("a", "b2"), edit("b2", "c")]).expect("both match");
    assert_eq!((edited.bytes.as_slice(), edited.replacements), (&b"c b"[..], 2));
    let error = apply(b"a b", &[edit("a", "c"), edit("zz", "y")]).expect_err("no zz");
    assert_eq!(error.index, 1);
}

#[test]
fn hints_name_the_line() {
    let hint = |content: &[u8], old| match one(content, old, "new") {
        Err(EditFault::NoMatch { hint }) => hint.unwrap_or_default(),
        other => panic!("{other:?}"),
    };
    assert!(hint(b"if a:\n    p = 1\n", "    p  =  1").contains("line 2 differs"));
    assert!(hint("see item\u{a0}seven".as_bytes(), "item seven").contains("item\\u00a0seven"));
    assert!(hint("say \u{201c}hi\u{201d}".as_bytes(), "say \"hi\"").contains("line 1"));
    assert!(hint(b"foo", "foo\n").contains("final newline"));
    assert_eq!(hint(b"foo", "bar"), "");
}

#[test]
fn utf16_is_edited_in_its_encoding() {
    let file = Encoding::Utf16Be.encode_utf16("a\r\nb\r\n");
    assert_eq!(one(&file, "a\nb", "x\ny"), Ok(Encoding::Utf16Be.encode_utf16("x\r\ny\r\n")));
    assert_eq!(one(b"\xff\xfea\0\0\xd8", "a", "b"), Err(EditFault::NotRoundTrip));
}

#[test]
fn ambiguous_giants_are_answered_quickly() {
    let content = vec![b'a'; 1 << 20];
    let old = "a".repeat(1 << 19);
    assert!(matches!(one(&content, &old, "b"), Err(EditFault::NotUnique { at_least: true, .. })));
}

proptest! {
    #[test]
    fn bytes_outside_the_match_stay(
        before in prop::collection::vec(any::<u8>(), 0..60),
        after in prop::collection::vec(any::<u8>(), 0..60),
        old in "[a-c\n]{1,6}",
        new in "[a-c\r\n]{0,6}",
    ) {
        let content = [before.as_slice(), old.as_bytes(), after.as_slice()].concat();
        prop_assume!(!Encoding::detect(&content).is_utf16());
        // A line feed that is named stands for the whole line ending.
        prop_assume!(!(old.starts_with('\n') && before.ends_with(b"\r")));
        let edit = Edit { old: &old, new: &new, replace_all: false };
        if let Ok(edited) = apply(&content, &[edit]) {
            prop_assert!(edited.bytes.starts_with(&before));
            prop_assert!(edited.bytes.ends_with(&after));
            let middle = &edited.bytes[before.len()..edited.bytes.len() - after.len()];
            let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            prop_assert_eq!(plain(middle), plain(new.as_bytes()));
        }
    }

    #[test]
    fn nothing_panics_on_arbitrary_bytes(
        content in prop::collection::vec(any::<u8>(), 0..200),
        old in ".{0,8}", new in ".{0,8}", replace_all: bool,
    ) {
        drop(apply(&content, &[Edit { old: &old, new: &new, replace_all }]));
    }
}
