//! Changes of mounts of random trees are those of one tree.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::merged::run;
use super::model::{Model, models, paths, within};
use super::*;

#[derive(Clone, Debug)]
enum Change {
    Write(String, String),
    Append(String, String),
    Remove(String, bool),
    Rename(String, String, bool),
}

fn models_and_changes() -> impl Strategy<Value = (Model, Vec<Change>)> {
    models().prop_flat_map(|model| {
        let change = prop_oneof![
            (paths(&model), ".{0,3}").prop_map(|(path, text)| Change::Write(path, text)),
            (paths(&model), ".{0,3}").prop_map(|(path, text)| Change::Append(path, text)),
            (paths(&model), any::<bool>()).prop_map(|(path, all)| Change::Remove(path, all)),
            (paths(&model), paths(&model), any::<bool>())
                .prop_map(|(from, to, over)| Change::Rename(from, to, over)),
        ];
        (Just(model.clone()), prop::collection::vec(change, 1..12))
    })
}

/// Makes a change in both, unless it is one that only mounts refuse.
async fn apply(model: &Model, all: &Mounts, merged: &Memory, change: Change) -> TestCaseResult {
    let relative = |path: &str| path.trim_start_matches('/').to_owned();
    match change {
        Change::Write(path, text) | Change::Append(path, text)
            if model.is_in_the_way(&relative(&path)) && !model.is_fixed(&relative(&path)) =>
        {
            prop_assert_eq!(put(all, &path, &text).await.err(), Some(ErrorCode::NotPermitted));
        }
        Change::Write(path, text) => {
            let size = |written: Written| (written.size, written.previous_size);
            let one = put(all, &path, &text).await.map(size);
            prop_assert_eq!(one, put(merged, &path, &text).await.map(size));
        }
        Change::Append(path, text) => {
            let size = |written: Written| (written.size, written.previous_size);
            let one = all.append(write_request(&path, &text)).await.map(size);
            prop_assert_eq!(one, merged.append(write_request(&path, &text)).await.map(size));
        }
        Change::Remove(path, _) if model.is_fixed(&relative(&path)) => {
            prop_assert_eq!(all.remove(&path, true).await.err(), Some(ErrorCode::NotPermitted));
        }
        Change::Remove(path, recursive) => {
            let one = all.remove(&path, recursive).await;
            prop_assert_eq!(one, merged.remove(&path, recursive).await);
        }
        Change::Rename(from, to, overwrite) => {
            let refused = refused(model, merged, &from, &to).await;
            let one = all.rename(&from, &to, overwrite).await;
            match refused {
                Some(error) => prop_assert_eq!(one.map_err(kind), Err(kind(error))),
                None => prop_assert_eq!(one, merged.rename(&from, &to, overwrite).await),
            }
        }
    }
    Ok(())
}

/// Why mounts refuse a move that one tree may allow.
async fn refused(model: &Model, merged: &Memory, from: &str, to: &str) -> Option<ErrorCode> {
    let (source, target) = (from.trim_start_matches('/'), to.trim_start_matches('/'));
    if source.is_empty() || model.is_fixed(source) {
        return Some(ErrorCode::NotPermitted);
    }
    if model.is_in_the_way(source) {
        return Some(ErrorCode::NotFound);
    }
    if target.is_empty() {
        return Some(ErrorCode::IsDirectory);
    }
    if within(target, source) {
        return None;
    }
    if model.is_fixed(target) || model.is_in_the_way(target) {
        return Some(ErrorCode::NotPermitted);
    }
    let is_directory = merged.ls_info(from, 0, 1).await.is_ok_and(|page| page.is_directory);
    (is_directory && model.layer(source) != model.layer(target))
        .then(|| ErrorCode::InvalidArguments(String::new()))
}

/// An error without its text.
fn kind(error: ErrorCode) -> ErrorCode {
    match error {
        ErrorCode::InvalidArguments(_) => ErrorCode::InvalidArguments(String::new()),
        error => error,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn changes_are_those_of_one_tree((model, changes) in models_and_changes()) {
        run(async {
            let (all, layers) = model.mounted().await;
            let merged = model.merged().await;
            for change in changes {
                apply(&model, &all, &merged, change).await?;
            }
            let everything = GlobRequest { include_ignored: true, ..glob_request("/", "**") };
            let files = glob(&all, everything.clone()).await.expect("a page").files;
            prop_assert_eq!(&files, &glob(&*merged, everything).await.expect("a page").files);
            for file in files {
                prop_assert_eq!(get(&all, &file).await, get(&*merged, &file).await);
            }
            // What is hidden has stayed as it was.
            for (at, path, content) in model.hidden() {
                prop_assert_eq!(get(&*layers[at], path).await, Ok(content.to_owned()));
            }
            Ok(())
        })?;
    }
}
