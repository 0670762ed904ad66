//! Whatever is tried, rules hold.

use super::*;

/// A change that somebody tries.
#[derive(Clone, Debug)]
pub(super) enum Attempt {
    Write(String),
    Append(String),
    Publish(String, &'static str),
    Remove(String),
    Rename(String, String, bool),
}

fn path() -> impl Strategy<Value = String> {
    names().prop_map(|names| format!("/{}", names.join("/")))
}

pub(super) fn attempt() -> impl Strategy<Value = Attempt> {
    prop_oneof![
        path().prop_map(Attempt::Write),
        path().prop_map(Attempt::Append),
        (path(), prop::sample::select(&NAMES[..]))
            .prop_map(|(dir, name)| Attempt::Publish(dir, name)),
        path().prop_map(Attempt::Remove),
        (path(), path(), any::<bool>())
            .prop_map(|(from, to, over)| Attempt::Rename(from, to, over)),
        (path(), path(), any::<bool>())
            .prop_map(|(from, to, over)| Attempt::Rename(from, to, over)),
    ]
}

/// Makes an attempt, and checks that what is denied is refused.
pub(super) async fn make(backend: &Rules, rules: &[Rule], attempt: &Attempt) {
    let writes = |path: &str| is_allowed(rules, Operation::Write, path);
    let (may, result) = match attempt {
        Attempt::Write(path) => (writes(path), put(backend, path, "mine").await.map(drop)),
        Attempt::Append(path) => {
            (writes(path), backend.append(request(path, "mine")).await.map(drop))
        }
        Attempt::Publish(directory, name) => match backend.draft(directory).await {
            Ok(mut draft) => {
                let published = draft.publish(name, Condition::Always).await;
                (writes(&format!("{directory}/{name}")), published.map(drop))
            }
            Err(error) => (writes(directory), Err(error)),
        },
        Attempt::Remove(path) => (writes(path), backend.remove(path, true).await.map(drop)),
        Attempt::Rename(from, to, overwrite) => {
            (writes(from) && writes(to), backend.rename(from, to, *overwrite).await)
        }
    };
    if !may {
        assert_eq!(result, Err(NOT_PERMITTED), "{attempt:?}");
    }
}

/// Marks what may not be read, to know it again.
pub(super) fn with_secrets(nodes: &Nodes, rules: &[Rule]) -> Nodes {
    let mark = |path: &String, node: &Node| match node {
        Node::File(_) if !is_allowed(rules, Operation::Read, path) => {
            Node::File(format!("secret {path}"))
        }
        Node::File(_) => Node::File(format!("open {path}")),
        node => node.clone(),
    };
    nodes.iter().map(|(path, node)| (path.clone(), mark(path, node))).collect()
}

/// Checks what must be so whatever was tried: what may not be written is as it was, what may not
/// be read is there, and what is read is no secret.
pub(super) async fn check(inner: &dyn Backend, backend: &Rules, rules: &[Rule], before: &Nodes) {
    for (path, node) in before {
        let Node::File(content) = node else { continue };
        let now = get(inner, path).await;
        if !is_allowed(rules, Operation::Write, path) {
            assert_eq!(now.as_ref(), Ok(content), "{path}");
        } else if !is_allowed(rules, Operation::Read, path) {
            assert!(now.is_ok(), "{path}: {now:?}");
        }
    }
    let request = GrepRequest { include_ignored: true, ..grep_request("/", "secret") };
    let found = backend.grep_raw(request, &View::default()).await.unwrap();
    assert_eq!(found.files, [], "secrets were found");
    for path in asked() {
        if let Ok(content) = get(backend, &path).await {
            assert!(!content.contains("secret"), "{path}: {content}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_that_is_tried_gets_around_the_rules(
        files in prop::collection::vec(file(), 0..14),
        rules in rules(),
        attempts in prop::collection::vec(attempt(), 1..30),
    ) {
        let all = with_secrets(&tree(files), &rules);
        runtime().block_on(async {
            let memory = in_memory(&all).await;
            let backend = ruled(&memory, rules.clone());
            for attempt in &attempts {
                make(&backend, &rules, attempt).await;
            }
            check(&memory, &backend, &rules, &all).await;
        });
    }
}
