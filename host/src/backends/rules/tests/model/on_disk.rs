//! The same in directories with links.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::links::Site;
use super::attempts::{Attempt, attempt, check, make, with_secrets};
use super::*;

/// A tree in a directory.
fn on_disk(nodes: &Nodes) -> Site {
    let site = Site::new(&[], &[]);
    for (path, node) in nodes {
        let place = site.path.join(path.trim_start_matches('/'));
        match node {
            Node::Directory => fs::create_dir(place).unwrap(),
            Node::File(content) => fs::write(place, content).unwrap(),
            Node::Link(target) => symlink(target, place).unwrap(),
        }
    }
    site
}

const LINKS: [&str; 2] = ["l", "m"];

fn link() -> impl Strategy<Value = (Vec<&'static str>, Node)> {
    let target = prop::sample::select(vec![
        "a",
        "b",
        "s",
        "../a",
        "../s",
        "../s/a",
        "s/../a",
        "a/b",
        "../s/../b",
        ".",
        "..",
        "l",
        "m",
        "a/l",
        "../l",
        "../s/m",
        "../../a",
        "/a",
        "none",
        "s/none",
    ]);
    (names(), prop::sample::select(&LINKS[..]), target).prop_map(|(mut names, name, target)| {
        *names.last_mut().unwrap() = name;
        (names, Node::Link(target.to_owned()))
    })
}

/// Every path with a link that is asked for.
fn asked_by_links(all: &Nodes) -> Vec<String> {
    let links = all.iter().filter(|(_, node)| matches!(node, Node::Link(_)));
    let ends = ["", "/a", "/b", "/s", "/l", "/a/b", "/s/a", "/m/s"];
    links.flat_map(|(link, _)| ends.iter().map(move |end| format!("{link}{end}"))).collect()
}

/// Whether the rules say the same of all that is at and beneath a path by either name of it. If
/// not, there is no tree that shows what is seen by way of the link.
fn is_one(rules: &[Rule], all: &Nodes, named: &str, real: &str) -> bool {
    let real = real.trim_end_matches('/');
    let beneath = all.keys().filter_map(|path| path.strip_prefix(real));
    std::iter::once("").chain(beneath.filter(|rest| rest.starts_with('/'))).all(|rest| {
        let says = |path: &str| is_allowed(rules, Operation::Read, &format!("{path}{rest}"));
        says(named) == says(real)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_seen_by_links_is_the_tree_without_what_is_denied(
        files in prop::collection::vec(prop_oneof![3 => file(), 2 => link()], 0..14),
        rules in rules(),
    ) {
        let all = tree(files);
        runtime().block_on(async {
            let (site, model) = (on_disk(&all), on_disk(&pruned(&all, &rules)));
            let backend = ruled(&site.thread, rules.clone());
            let model = &model.thread;
            let is_allowed = |path: &str| is_allowed(&rules, Operation::Read, path);
            for path in asked() {
                compare_reading(&backend, model, &path, is_allowed(&path)).await;
            }
            for path in ["/", "/a", "/s/a"] {
                compare_searching(&backend, model, path, is_allowed(path)).await;
            }
            for path in asked_by_links(&all) {
                let Ok(real) = site.thread.resolve(&path, true).await else {
                    // Where it would lead may be denied, and no tree shows where that is.
                    let read = get(&backend, &path).await;
                    let wanted = expected(get(model, &path).await, is_allowed(&path));
                    prop_assert!(read == wanted || read == Err(NOT_FOUND), "{path}: {read:?}");
                    continue;
                };
                if !is_one(&rules, &all, &path, &real) {
                    // What is denied by the name that is asked for is not read at least.
                    if !is_allowed(&path) {
                        let read = get(&backend, &path).await;
                        prop_assert!(matches!(read, Err(NOT_FOUND | ErrorCode::IsDirectory)));
                    }
                    continue;
                }
                compare_reading(&backend, model, &path, is_allowed(&path)).await;
                if all.contains_key(&path) {
                    compare_searching(&backend, model, &path, is_allowed(&path)).await;
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn nothing_that_is_tried_by_links_gets_around_the_rules(
        files in prop::collection::vec(prop_oneof![3 => file(), 1 => link()], 0..14),
        rules in rules(),
        attempts in prop::collection::vec(attempt(), 1..20),
        by_links in prop::collection::vec((attempt(), any::<prop::sample::Index>()), 0..20),
    ) {
        let all = with_secrets(&tree(files), &rules);
        runtime().block_on(async {
            let site = on_disk(&all);
            let backend = ruled(&site.thread, rules.clone());
            let links = asked_by_links(&all);
            for attempt in &attempts {
                make(&backend, &rules, attempt).await;
            }
            for (attempt, index) in by_links.iter().filter(|_| !links.is_empty()) {
                let link = || index.get(&links).clone();
                let attempt = match attempt.clone() {
                    Attempt::Write(_) => Attempt::Write(link()),
                    Attempt::Append(_) => Attempt::Append(link()),
                    Attempt::Publish(_, name) => Attempt::Publish(link(), name),
                    Attempt::Remove(_) => Attempt::Remove(link()),
                    Attempt::Rename(from, _, true) => Attempt::Rename(from, link(), true),
                    Attempt::Rename(_, to, false) => Attempt::Rename(link(), to, false),
                };
                make(&backend, &rules, &attempt).await;
            }
            check(&site.thread, &backend, &rules, &all).await;
            for path in links {
                if let Ok(content) = get(&backend, &path).await {
                    assert!(!content.contains("secret"), "{path}: {content}");
                }
            }
        });
    }
}
