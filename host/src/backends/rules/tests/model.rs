//! Rules against a plain model: a tree from which what is denied was taken out before.

use std::collections::BTreeMap;

use handhold_core::globs::GlobRule;
use proptest::prelude::*;

use super::*;

mod attempts;
#[cfg(target_os = "linux")]
mod on_disk;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Directory,
    File(String),
    Link(String),
}

/// A tree by path (`/a/b`); the root is not among them.
type Nodes = BTreeMap<String, Node>;

/// Puts nodes in a tree, with the directories that they need, as far as they have room.
fn tree(nodes: Vec<(Vec<&'static str>, Node)>) -> Nodes {
    let mut all = Nodes::new();
    for (names, node) in nodes {
        let paths: Vec<String> =
            (1..=names.len()).map(|n| format!("/{}", names[..n].join("/"))).collect();
        let (path, above) = paths.split_last().unwrap();
        let fits = |path: &String| all.get(path).is_none_or(|node| *node == Node::Directory);
        if above.iter().all(fits) && !all.contains_key(path) {
            all.extend(above.iter().map(|path| (path.clone(), Node::Directory)));
            all.insert(path.clone(), node);
        }
    }
    all
}

/// A pattern, and what it is without the stars at its end.
fn forms(pattern: &str) -> Vec<String> {
    let mut all = vec![pattern.to_owned()];
    let mut last = pattern.to_owned();
    loop {
        last = match (last.strip_suffix("/**"), last.strip_suffix("{s/**,b}")) {
            (Some(rest), _) => rest.to_owned(),
            (None, Some(rest)) => format!("{rest}{{s,b}}"),
            (None, None) => return all,
        };
        if last.is_empty() {
            return all;
        }
        all.push(last.clone());
    }
}

/// What the rules say, in the plainest way.
fn is_allowed(rules: &[Rule], operation: Operation, path: &str) -> bool {
    let mut here = path.trim_start_matches('/');
    while !here.is_empty() {
        for rule in rules.iter().filter(|rule| rule.operations.contains(&operation)) {
            let matches = |pattern: &String| {
                let matches = |form: &String| GlobRule::new(form, "").unwrap().matches(here);
                forms(pattern).iter().any(matches)
            };
            if rule.paths.iter().any(matches) {
                return rule.mode == Mode::Allow;
            }
        }
        here = here.rsplit_once('/').map_or("", |(dir, _)| dir);
    }
    true
}

/// The tree without what may not be read.
fn pruned(all: &Nodes, rules: &[Rule]) -> Nodes {
    let allowed = |path: &str| is_allowed(rules, Operation::Read, path);
    let is_way = |path: &str| {
        let beneath = format!("{path}/");
        all.keys().any(|other| other.starts_with(&beneath) && allowed(other))
    };
    let kept = |(path, node): &(&String, &Node)| {
        allowed(path) || (**node == Node::Directory && is_way(path))
    };
    all.iter().filter(kept).map(|(path, node)| (path.clone(), node.clone())).collect()
}

/// A tree without links in memory.
async fn in_memory(nodes: &Nodes) -> Memory {
    let memory = Memory::new();
    for (path, node) in nodes {
        match node {
            Node::File(content) => drop(put(&memory, path, content).await.unwrap()),
            Node::Directory => {
                let inside = format!("{path}/x");
                put(&memory, &inside, "").await.unwrap();
                memory.remove(&inside, false).await.unwrap();
            }
            Node::Link(_) => panic!("memory has no links"),
        }
    }
    memory
}

const NAMES: [&str; 4] = ["a", "b", "s", ".x"];

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&NAMES[..]), 1..=4)
}

fn file() -> impl Strategy<Value = (Vec<&'static str>, Node)> {
    let plain = prop::sample::select(vec!["needle\n", "hay\n", "a needle\nneedle\n", "\0needle"]);
    let rules = prop::sample::select(vec!["a\n", "s\n!s\n", "/b\n", "*\n!.x\n", "a/b\n"]);
    prop_oneof![
        8 => (names(), plain).prop_map(|(names, text)| (names, Node::File(text.to_owned()))),
        1 => (names(), rules).prop_map(|(mut names, text)| {
            *names.last_mut().unwrap() = ".gitignore";
            (names, Node::File(text.to_owned()))
        }),
        1 => names().prop_map(|names| (names, Node::Directory)),
    ]
}

fn pattern() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "s",
        ".x",
        "a",
        "b",
        "s",
        "*",
        "**",
        "**",
        "?",
        "{a,b}",
        "[!a]",
        ".gitignore",
        "{a/b,s}",
        "{s/**,b}",
        ".*",
    ]);
    prop::collection::vec(part, 1..=4).prop_map(|parts| format!("/{}", parts.join("/")))
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let operations = prop::sample::select(vec![READ.to_vec(), WRITE.to_vec(), BOTH.to_vec()]);
    let mode = prop::sample::select(vec![Mode::Allow, Mode::Deny, Mode::Deny]);
    let paths = prop::collection::vec(pattern(), 1..=2);
    let rule = (operations, paths, mode).prop_map(|(operations, paths, mode)| Rule {
        operations,
        paths,
        mode,
    });
    prop::collection::vec(rule, 1..=5)
}

/// Every path that is asked for.
fn asked() -> Vec<String> {
    let mut all = vec![String::new()];
    let mut level = all.clone();
    for _ in 0..3 {
        level = level
            .iter()
            .flat_map(|path| NAMES.iter().map(move |name| format!("{path}/{name}")))
            .collect();
        all.extend(level.iter().cloned());
    }
    all[0] = "/".to_owned();
    all
}

/// A listing without times, which differ.
async fn listed(
    backend: &dyn Backend,
    path: &str,
) -> Result<Vec<(String, FileKind, u64, Option<String>)>, ErrorCode> {
    let all = entries(backend, path, 3).await?;
    let facts = |entry: FileInfo| (entry.path, entry.kind, entry.size, entry.link_target);
    Ok(all.into_iter().map(facts).collect())
}

/// What is to be answered for a path: what the model answers, but that a path that is denied is not
/// found whatever else is wrong with it.
fn expected<T>(answer: Result<T, ErrorCode>, is_allowed: bool) -> Result<T, ErrorCode> {
    answer.map_err(|error| match error {
        ErrorCode::IsDirectory => error,
        _ if is_allowed => error,
        _ => NOT_FOUND,
    })
}

/// Compares what is read at a path, by every way to read it.
async fn compare_reading(rules: &dyn Backend, model: &dyn Backend, path: &str, is_allowed: bool) {
    let read = expected(get(model, path).await, is_allowed);
    assert_eq!(get(rules, path).await, read, "{path}");
    let list = expected(listed(model, path).await, is_allowed);
    assert_eq!(listed(rules, path).await, list, "{path}");
}

/// Compares what is found beneath a path, whatever is asked for.
async fn compare_searching(rules: &dyn Backend, model: &dyn Backend, path: &str, is_allowed: bool) {
    for include_ignored in [false, true] {
        for pattern in ["**", "a", "*/b", "/a/b", "s/**", "/s/a/*"] {
            for (offset, limit) in [(0, 1000), (1, 2)] {
                let request =
                    GlobRequest { include_ignored, offset, limit, ..glob_request(path, pattern) };
                let found = rules.glob_info(request.clone(), &View::default()).await;
                let wanted = expected(model.glob_info(request, &View::default()).await, is_allowed);
                match (found, wanted) {
                    (Ok(mut found), Ok(wanted)) => {
                        // It may be said of a way that leads to nothing; nothing follows of it.
                        assert!(found.report.ignored || !wanted.report.ignored, "{path}");
                        found.report.ignored = wanted.report.ignored;
                        assert_eq!(found, wanted, "{path} {pattern}");
                    }
                    (found, wanted) => assert_eq!(found, wanted, "{path} {pattern}"),
                }
            }
        }
        for (mode, glob) in [
            (GrepMode::Files, None),
            (GrepMode::Count, Some("a")),
            (GrepMode::Content, Some("/a/b")),
            (GrepMode::Content, None),
        ] {
            let glob = glob.map(str::to_owned);
            let request =
                GrepRequest { include_ignored, mode, glob, ..grep_request(path, "needle") };
            let found = rules.grep_raw(request.clone(), &View::default()).await;
            let wanted = expected(model.grep_raw(request, &View::default()).await, is_allowed);
            match (found, wanted) {
                (Ok(mut found), Ok(wanted)) => {
                    assert!(found.report.ignored || !wanted.report.ignored, "{path}");
                    found.report.ignored = wanted.report.ignored;
                    assert_eq!(found, wanted, "{path}");
                }
                (found, wanted) => assert_eq!(found, wanted, "{path}"),
            }
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_seen_is_the_tree_without_what_is_denied(
        files in prop::collection::vec(file(), 0..14),
        rules in rules(),
    ) {
        let all = tree(files);
        runtime().block_on(async {
            let backend = ruled(&in_memory(&all).await, rules.clone());
            let model = in_memory(&pruned(&all, &rules)).await;
            let is_allowed = |path: &str| is_allowed(&rules, Operation::Read, path);
            for path in asked() {
                compare_reading(&backend, &model, &path, is_allowed(&path)).await;
            }
            for path in ["/", "/a", "/s", "/a/b", "/.x/s"] {
                compare_searching(&backend, &model, path, is_allowed(path)).await;
            }
        });
    }
}
