use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;

use proptest::prelude::*;

use super::*;
use crate::types::{
    FileKind, FileOrder, GlobPage, GlobRequest, GrepLineKind, GrepMode, GrepPage, GrepRequest,
};

/// A tree of files by path.
#[derive(Clone, Debug, Default)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(p, c)| ((*p).to_owned(), c.as_bytes().to_vec())).collect())
    }

    fn under(dir: &str) -> String {
        if dir.is_empty() { String::new() } else { format!("{dir}/") }
    }
}

impl Tree for Files {
    type Dir = String;
    type File = io::Cursor<Vec<u8>>;

    fn open_dir(&self, path: &OsStr) -> io::Result<String> {
        let path = path.to_str().expect("UTF-8").to_owned();
        let prefix = Self::under(&path);
        if path.is_empty() || self.0.keys().any(|file| file.starts_with(&prefix)) {
            return Ok(path);
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn entries(&self, dir: &String) -> io::Result<Vec<TreeEntry>> {
        let prefix = Self::under(dir);
        let names: BTreeSet<(String, bool)> = self
            .0
            .keys()
            .filter_map(|file| file.strip_prefix(&prefix))
            .map(|rest| match rest.split_once('/') {
                Some((dir, _)) => (dir.to_owned(), true),
                None => (rest.to_owned(), false),
            })
            .collect();
        Ok(names
            .into_iter()
            .map(|(name, is_dir)| TreeEntry {
                name: name.into(),
                kind: if is_dir { FileKind::Directory } else { FileKind::File },
            })
            .collect())
    }

    fn open_file(&self, dir: &String, name: &OsStr) -> io::Result<Option<TreeFile<Self::File>>> {
        let path = format!("{}{}", Self::under(dir), name.to_str().expect("UTF-8"));
        let bytes = self.0.get(&path).ok_or(io::ErrorKind::NotFound)?.clone();
        Ok(Some(TreeFile { size: bytes.len() as u64, reader: io::Cursor::new(bytes) }))
    }

    fn modified(&self, dir: &String, name: &OsStr) -> io::Result<u64> {
        Ok((dir.len() + name.len()) as u64)
    }
}

fn at(path: &str) -> Base<'_> {
    Base { real: path, shown: path, is_file: false, asked: path, root: "" }
}

fn grep_request(pattern: &str) -> GrepRequest {
    GrepRequest {
        path: "/".to_owned(),
        pattern: pattern.to_owned(),
        literal: false,
        ignore_case: false,
        multiline: false,
        glob: None,
        file_type: None,
        include_ignored: false,
        offload_path: "/large_tool_result".to_owned(),
        mode: GrepMode::Content,
        before: 0,
        after: 0,
        offset: 0,
        limit: 1000,
        max_bytes: 1 << 20,
        line_chars: 500,
        time_ms: 30_000,
    }
}

fn glob_request(pattern: &str) -> GlobRequest {
    GlobRequest {
        path: "/".to_owned(),
        pattern: pattern.to_owned(),
        include_ignored: false,
        offload_path: "/large_tool_result".to_owned(),
        order: FileOrder::Path,
        offset: 0,
        limit: 1000,
        max_bytes: 1 << 20,
        time_ms: 30_000,
    }
}

fn run_grep(tree: &Files, base: Base<'_>, request: &GrepRequest, threads: usize) -> GrepPage {
    let cancelled = AtomicBool::new(false);
    grep(tree, base, request, &Budget::new(30_000, &cancelled, threads)).expect("a page")
}

fn run_glob(tree: &Files, base: Base<'_>, request: &GlobRequest, threads: usize) -> GlobPage {
    let cancelled = AtomicBool::new(false);
    glob(tree, base, request, &Budget::new(30_000, &cancelled, threads)).expect("a page")
}

fn shown(page: &GrepPage) -> Vec<String> {
    page.files
        .iter()
        .flat_map(|file| {
            file.lines.iter().map(move |line| {
                let mark = match line.kind {
                    GrepLineKind::Match => ':',
                    GrepLineKind::Continuation => '+',
                    GrepLineKind::Context => '-',
                };
                format!("{}{mark}{}{mark}{}", file.path, line.number, line.text)
            })
        })
        .collect()
}

#[test]
fn results_are_in_path_order_with_context_once() {
    let tree =
        Files::new(&[("f.txt", "hit\nlow\nhit\nmid\nhit\n"), ("a/b", "no\nhit"), ("a.c", "hit")]);
    let request = GrepRequest { before: 2, after: 2, ..grep_request("hit") };
    let page = run_grep(&tree, at(""), &request, 2);
    assert_eq!(
        shown(&page),
        [
            "/a.c:1:hit",
            "/a/b-1-no",
            "/a/b:2:hit",
            "/f.txt:1:hit",
            "/f.txt-2-low",
            "/f.txt:3:hit",
            "/f.txt-4-mid",
            "/f.txt:5:hit"
        ]
    );
    assert_eq!((page.total, page.complete, page.report.files), (5, true, 3));
}

#[test]
fn anchors_ignore_carriage_returns() {
    let tree = Files::new(&[("w", "cat\r\ndog\r\n")]);
    for pattern in ["cat$", "^dog$", r"\bcat\b", "c.t$"] {
        let page = run_grep(&tree, at(""), &grep_request(pattern), 1);
        assert_eq!(page.total, 1, "{pattern}");
        assert!(!shown(&page)[0].contains('\r'));
    }
}

#[test]
fn a_carriage_return_that_is_named_is_found() {
    let tree = Files::new(&[("p", "5%\r40%\r99%\nx\n")]);
    for pattern in [r"5%\r40", "5%\r40"] {
        let page = run_grep(&tree, at(""), &grep_request(pattern), 1);
        assert_eq!(page.total, 1, "{pattern:?}");
    }
}

#[test]
fn a_text_that_must_be_there_hides_no_match() {
    let tree = Files::new(&[("a", "walking codified\nified\nbeing ratified and é ified\n")]);
    for (pattern, lines) in
        [(r"[a-z]+ing \w+ified", 2), (r"\w+ified$", 1), (r"(?i)[A-Z]+ING \w+IFIED", 2)]
    {
        assert_eq!(run_grep(&tree, at(""), &grep_request(pattern), 1).total, lines, "{pattern}");
    }
}

#[test]
fn a_match_over_lines_is_reported_once_with_all_its_lines() {
    let tree = Files::new(&[("m", "a\ny => {\n  stop;\n}\nz\n")]);
    let request = GrepRequest { multiline: true, ..grep_request(r"\{\n +stop;") };
    assert_eq!(shown(&run_grep(&tree, at(""), &request, 1)), ["/m:2:y => {", "/m+3+  stop;"]);
    let count = GrepRequest { mode: GrepMode::Count, ..request };
    assert_eq!(run_grep(&tree, at(""), &count, 1).files[0].count, 1);
    let dots = GrepRequest { multiline: true, ..grep_request("y.*z") };
    assert_eq!(run_grep(&tree, at(""), &dots, 1).files[0].lines.len(), 4);
}

#[test]
fn patterns_that_cannot_be_used_are_errors() {
    let tree = Files::new(&[("a", "(\n")]);
    let cancelled = AtomicBool::new(false);
    let budget = Budget::new(1000, &cancelled, 1);
    for (pattern, part) in [
        ("(", "at character 1"),
        ("a{2,1}", "literal=true"),
        ("(?!x)", "look-around"),
        (r"(a)\1", "literal=true"),
        (r"a\nb", "multiline=true"),
        ("(x{1000}){1000}", "cannot be used"),
    ] {
        match grep(&tree, at(""), &grep_request(pattern), &budget) {
            Err(ErrorCode::InvalidArguments(why)) => {
                assert!(why.contains(part), "{pattern}: {why}")
            }
            other => panic!("{pattern}: {other:?}"),
        }
    }
    let request = GrepRequest { file_type: Some("pyton".to_owned()), ..grep_request("x") };
    let error = grep(&tree, at(""), &request, &budget).expect_err("no such type");
    assert!(error.to_string().contains("python"), "{error}");
    let literal = GrepRequest { literal: true, ..grep_request("(") };
    assert_eq!(run_grep(&tree, at(""), &literal, 1).total, 1);
}

#[test]
fn ignore_files_nest_and_a_named_path_is_meant() {
    let tree = Files::new(&[
        (".gitignore", "*.log\n/build/\n!keep.log\n"),
        ("a.log", "x"),
        ("keep.log", "x"),
        ("build/out.txt", "x"),
        ("sub/.gitignore", "!*.log\n"),
        ("sub/b.log", "x"),
        ("sub/build/c", "x"),
        (".git/config", "x"),
        ("large_tool_result/r", "x"),
        ("sub/large_tool_result/r", "x"),
    ]);
    let files =
        |base: &str, pattern: &str| run_glob(&tree, at(base), &glob_request(pattern), 2).files;
    assert_eq!(
        files("", "**"),
        [
            "/.gitignore",
            "/keep.log",
            "/sub/.gitignore",
            "/sub/b.log",
            "/sub/build/c",
            "/sub/large_tool_result/r"
        ]
    );
    assert_eq!(files("build", "*"), ["/build/out.txt"]);
    assert_eq!(files(".git", "*"), ["/.git/config"]);
    assert_eq!(files("", "build/out.txt"), ["/build/out.txt"]);
    assert_eq!(files("", "a.log"), ["/a.log"]);
    assert!(run_glob(&tree, at(""), &glob_request("*.zip"), 1).report.ignored);
    let all = GlobRequest { include_ignored: true, ..glob_request("**") };
    assert_eq!(run_glob(&tree, at(""), &all, 2).total, 10);
}

#[test]
fn enough_results_end_the_search_and_say_so() {
    let files: Vec<(String, Vec<u8>)> =
        (0..300).map(|n| (format!("d{n:03}/f"), b"hit\nhit\n".to_vec())).collect();
    let tree = Files(files.into_iter().collect());
    let request = GrepRequest { limit: 5, ..grep_request("hit") };
    for threads in 1..4 {
        let page = run_grep(&tree, at(""), &request, threads);
        assert_eq!((page.total, page.complete), (5, false));
        let last = page.files.last().expect("results");
        assert_eq!((last.path.as_str(), last.count), ("/d002/f", 1));
        let next = GrepRequest { offset: 5, ..request.clone() };
        let page = run_grep(&tree, at(""), &next, threads);
        assert_eq!(shown(&page)[0], "/d002/f:2:hit");
    }
}

#[test]
fn a_cancelled_search_is_marked() {
    let tree = Files::new(&[("a", "x")]);
    let cancelled = AtomicBool::new(true);
    let budget = Budget::new(1000, &cancelled, 1);
    let page = grep(&tree, at(""), &grep_request("x"), &budget).expect("a page");
    assert!(page.report.stopped);
}

#[test]
fn what_is_hidden_is_so_with_all_beneath_it_however_it_is_named() {
    let tree = Files::new(&[("secret/deep/a", "hit"), ("secrets/a", "hit"), ("b", "hit")]);
    let hiding = Hiding::new(tree, |path: &OsStr, _| path == "secret");
    let cancelled = AtomicBool::new(false);
    let budget = Budget::new(30_000, &cancelled, 1);
    let files = |base, pattern| {
        let all = GlobRequest { include_ignored: true, ..glob_request(pattern) };
        glob(&hiding, base, &all, &budget).map(|page| page.files)
    };
    let some = |paths: &[&str]| Ok(paths.iter().map(|path| (*path).to_owned()).collect());
    assert_eq!(files(at(""), "**"), some(&["/b", "/secrets/a"]));
    assert_eq!(files(at(""), "secret/deep/a"), some(&[]));
    assert_eq!(files(at(""), "/secret/deep/a"), some(&[]));
    assert_eq!(files(at("secret/deep"), "**"), Err(ErrorCode::NotFound));
    assert_eq!(files(at("secrets"), "**"), some(&["/secrets/a"]));
    let named = GrepRequest { glob: Some("secret/deep/a".to_owned()), ..grep_request("hit") };
    assert_eq!(grep(&hiding, at(""), &named, &budget).map(|page| page.files.len()), Ok(0));
}

#[test]
fn ignore_files_above_the_start_are_named_where_the_tree_is_shown() {
    let large = "#".repeat(2 << 20);
    let tree = Files::new(&[(".gitignore", &large), ("src/.ignore", &large), ("src/in/a", "hit")]);
    let base =
        Base { real: "src/in", shown: "m/src/in", is_file: false, asked: "m/src/in", root: "m" };
    let page = run_glob(&tree, base, &glob_request("**"), 1);
    assert_eq!(page.files, ["/m/src/in/a"]);
    assert_eq!(page.report.unreadable, ["/m/.gitignore", "/m/src/.ignore"]);
}

fn trees() -> impl Strategy<Value = Files> {
    let name = prop::sample::select(vec!["a", "b.rs", "c", ".d", "e.txt"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|parts| parts.join("/"));
    let content = prop::collection::vec(
        prop::sample::select(vec!["hit\n", "miss\n", "\r\n", "xhit", "é\n", "\0"]),
        0..6,
    )
    .prop_map(|parts| parts.concat().into_bytes());
    let ignore =
        prop::option::of(prop::sample::select(vec!["*.rs\n", "a/\n", "c\n!b.rs\n", "/b.rs\n"]));
    (prop::collection::btree_map(path, content, 0..14), ignore).prop_map(|(files, ignore)| {
        // A name cannot be a file and a directory.
        let dirs: BTreeSet<String> = files
            .keys()
            .flat_map(|path| path.match_indices('/').map(|(at, _)| path[..at].to_owned()))
            .collect();
        let mut files: BTreeMap<String, Vec<u8>> =
            files.into_iter().filter(|(path, _)| !dirs.contains(path)).collect();
        if let Some(rules) = ignore {
            files.insert(".gitignore".to_owned(), rules.as_bytes().to_vec());
        }
        Files(files)
    })
}

proptest! {
    #[test]
    fn glob_and_grep_see_the_same_files(tree in trees(), include_ignored: bool, threads in 1_usize..4) {
        let glob = GlobRequest { include_ignored, ..glob_request("**") };
        let found = run_glob(&tree, at(""), &glob, threads);
        let grep = GrepRequest { include_ignored, mode: GrepMode::Files, ..grep_request("") };
        let page = run_grep(&tree, at(""), &grep, threads);
        prop_assert_eq!(page.report.files + page.report.binary, found.total);
        prop_assert_eq!(page.report.ignored, found.report.ignored);
        let seen: BTreeSet<String> = found.files.into_iter().collect();
        prop_assert!(page.files.iter().all(|file| seen.contains(&file.path)));
    }

    #[test]
    fn pages_joined_are_the_whole_on_any_number_of_threads(
        tree in trees(), limit in 1_u64..4, context in 0_u32..3,
    ) {
        let request = GrepRequest { before: context, after: context, ..grep_request("hit") };
        let whole = run_grep(&tree, at(""), &request, 1);
        prop_assert!(whole.complete);
        prop_assert_eq!(&run_grep(&tree, at(""), &request, 3), &whole);
        let matches = |page: &GrepPage| -> Vec<String> {
            shown(page).into_iter().filter(|line| line.contains(':')).collect()
        };
        let mut joined = Vec::new();
        let mut offset = 0;
        loop {
            let page = run_grep(&tree, at(""), &GrepRequest { offset, limit, ..request.clone() }, 2);
            joined.extend(matches(&page));
            offset += page.files.iter().map(|file| file.count).sum::<u64>();
            if page.complete { break }
        }
        prop_assert_eq!(joined, matches(&whole));
    }

    #[test]
    fn matches_equal_a_naive_search(tree in trees()) {
        let page = run_grep(&tree, at(""), &GrepRequest { include_ignored: true, ..grep_request("hit") }, 2);
        let mut naive = Vec::new();
        for (path, content) in &tree.0 {
            let text = String::from_utf8_lossy(content);
            if text.contains('\0') { continue }
            for (n, line) in text.split_terminator('\n').enumerate() {
                if line.contains("hit") {
                    naive.push(format!("/{path}:{}:{}", n + 1, line.trim_end_matches('\r')));
                }
            }
        }
        prop_assert_eq!(shown(&page), naive);
    }
}
