//! Nothing panics, whatever comes in.

use std::ffi::OsStr;
use std::io;
use std::sync::atomic::AtomicBool;

use handhold_core::arguments::Arguments;
use handhold_core::globs::{self, GlobRule};
use handhold_core::lines::read_window;
use handhold_core::path::{WorkspacePath, show, unquote};
use handhold_core::search::{Base, Budget, Tree, TreeEntry, TreeFile, grep};
use handhold_core::tools::ALL_TOOLS;
use handhold_core::types::{ErrorCode, FileKind, GrepMode, GrepRequest, ReadRequest};
use proptest::prelude::*;

/// A tree with one file.
struct OneFile(Vec<u8>);

impl Tree for OneFile {
    type Dir = ();
    type File = io::Cursor<Vec<u8>>;

    fn open_dir(&self, _: &OsStr) -> io::Result<()> {
        Ok(())
    }

    fn entries(&self, (): &()) -> io::Result<Vec<TreeEntry>> {
        Ok(vec![TreeEntry { name: "f".into(), kind: FileKind::File }])
    }

    fn open_file(&self, (): &(), _: &OsStr) -> io::Result<Option<TreeFile<Self::File>>> {
        let reader = io::Cursor::new(self.0.clone());
        Ok(Some(TreeFile { reader, size: self.0.len() as u64 }))
    }

    fn modified(&self, (): &(), _: &OsStr) -> io::Result<u64> {
        Ok(0)
    }
}

/// Text that is likely to be near something: marks of every syntax that is read.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/", "..", ".", "\\", "*", "**", "?", "[", "]", "!", "-", "{", "}", ",", "~", "C:", "\"",
        "a", "\u{e9}", "\n", "\r\n", "\0", "(", ")", "+", "|", "^", "$", ":", "\u{202e}", "1",
        "e9",
    ]);
    prop_oneof![prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()), ".{0,24}"]
}

proptest! {
    #[test]
    fn paths_are_read_or_refused(given in text()) {
        if let Ok(path) = WorkspacePath::parse(&given) {
            let again = WorkspacePath::parse(path.as_str()).expect("a printed path is a path");
            prop_assert_eq!(&again, &path);
            let shown = show(path.as_str());
            prop_assert!(!shown.contains('\n'));
            let back = unquote(&shown).unwrap_or_else(|| shown.into_owned());
            prop_assert_eq!(back.as_str(), path.as_str());
        }
    }

    #[test]
    fn globs_are_read_or_refused(pattern in text(), path in "[a-c./]{0,8}") {
        if globs::parse(&pattern).is_ok() {
            let rule = GlobRule::new(&pattern, "").expect("what has the right form can be used");
            let _ = rule.matches(&path);
        } else {
            prop_assert!(GlobRule::new(&pattern, "").is_err());
        }
    }

    #[test]
    fn arguments_are_read_or_refused(given in text(), key in text()) {
        for tool in ALL_TOOLS {
            drop(Arguments::read(&given, &tool.params(), 1 << 20));
            let object = format!("{{{}:{given}}}", serde_json::Value::from(key.as_str()));
            drop(Arguments::read(&object, &tool.params(), 1 << 20));
        }
    }

    #[test]
    fn any_bytes_can_be_searched_and_read(
        content in prop::collection::vec(any::<u8>(), 0..300),
        pattern in text(),
        literal: bool, multiline: bool, content_mode: bool,
        line_chars in 1_u64..20,
    ) {
        let request = GrepRequest {
            path: "/".to_owned(), pattern, literal, ignore_case: false, multiline, glob: None,
            file_type: None, include_ignored: false, offload_path: "/large_tool_result".to_owned(),
            mode: if content_mode { GrepMode::Content } else { GrepMode::Count },
            before: 1, after: 1, offset: 0, limit: 10, max_bytes: 10_000, line_chars, time_ms: 10_000,
        };
        let base = Base { real: "", shown: "", is_file: false, asked: "", root: "" };
        let cancelled = AtomicBool::new(false);
        let budget = Budget::new(10_000, &cancelled, 2);
        match grep(&OneFile(content.clone()), base, &request, &budget) {
            Ok(_) | Err(ErrorCode::InvalidArguments(_)) => {}
            Err(other) => prop_assert!(false, "{}", other),
        }
        for offset in [-3, 0, 2] {
            let request = ReadRequest {
                path: "/f".to_owned(), offset, limit: 3, column: 2, line_chars, max_bytes: 50,
                if_version: None,
            };
            prop_assert!(read_window(&mut content.as_slice(), &request, "v").is_ok());
        }
    }
}
