//! Mounts of random trees answer as one tree does.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::model::{Model, models, paths};
use super::*;

/// What is asked of both.
#[derive(Clone, Debug)]
enum Ask {
    Ls(String, u64, u64),
    Read(String),
    Glob(GlobRequest),
    Grep(GrepRequest),
}

fn patterns() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "**",
        "*",
        "*.rs",
        "a*",
        "a/**",
        "./a/*",
        "/a/**",
        "/b/*.rs",
        "**/a",
        "{a,b}/**",
        "a/a.rs",
        "/a/b",
        "/b/a/c",
        "b/c",
        "a.rs",
        "/a.rs",
        "**/.git/*",
        ".git/a",
        "*/*",
        "[",
        "a/",
        "..",
        "a-/*",
        "**/b/**",
    ])
    .prop_map(str::to_owned)
}

fn asks(model: &Model) -> impl Strategy<Value = Ask> + use<> {
    let offload = prop_oneof![Just("/large_tool_result".to_owned()), paths(model)];
    let max_bytes = prop::sample::select(vec![1_u64 << 20, 400, 150, 20]);
    let page = (0..6_u64, 0..6_u64, max_bytes, any::<bool>(), offload);
    let glob = (paths(model), patterns(), page.clone()).prop_map(|(path, pattern, page)| {
        let (offset, limit, max_bytes, include_ignored, offload_path) = page;
        Ask::Glob(GlobRequest {
            include_ignored,
            offload_path,
            offset,
            limit: if limit == 0 { 1000 } else { limit },
            max_bytes,
            ..glob_request(&path, &pattern)
        })
    });
    let mode = prop::sample::select(vec![GrepMode::Files, GrepMode::Content, GrepMode::Count]);
    let text = prop::sample::select(vec!["hit", "h", "miss|hit", "^$", "(", "t\nh", "é"]);
    let flags = (0..3_u32, 0..3_u32, any::<bool>(), any::<bool>());
    let narrow = (prop::option::of(patterns()), prop::option::weighted(0.1, Just("rust")));
    let grep = (paths(model), text, mode, page, flags, narrow).prop_map(
        |(path, text, mode, page, (before, after, multiline, literal), (glob, kind))| {
            let (offset, limit, max_bytes, include_ignored, offload_path) = page;
            Ask::Grep(GrepRequest {
                include_ignored,
                offload_path,
                offset,
                limit,
                max_bytes,
                mode,
                before,
                after,
                multiline,
                literal,
                glob,
                file_type: kind.map(str::to_owned),
                ..grep_request(&path, text)
            })
        },
    );
    prop_oneof![
        2 => (paths(model), 0..6_u64, 0..6_u64).prop_map(|(path, offset, limit)| {
            Ask::Ls(path, offset, limit)
        }),
        1 => paths(model).prop_map(Ask::Read),
        3 => glob,
        4 => grep,
    ]
}

/// Compares two answers to one question.
async fn compare(all: &Mounts, merged: &Memory, ask: Ask) -> TestCaseResult {
    match ask {
        Ask::Ls(path, offset, limit) => {
            let no_time = |page: LsPage| {
                let entries = page.entries.into_iter();
                let entries = entries.map(|entry| (entry.path, entry.kind, entry.size));
                (entries.collect::<Vec<_>>(), page.total, page.undecodable, page.is_directory)
            };
            let one = all.ls_info(&path, offset, limit).await.map(no_time);
            let other = merged.ls_info(&path, offset, limit).await.map(no_time);
            prop_assert_eq!(one, other);
        }
        Ask::Read(path) => {
            prop_assert_eq!(get(all, &path).await, get(merged, &path).await);
            let request = ReadRequest {
                path: path.clone(),
                offset: 1,
                limit: 10,
                column: 1,
                line_chars: 100,
                max_bytes: 1000,
                if_version: None,
            };
            let text = |outcome| match outcome {
                ReadOutcome::Lines(page) => Some((page.text, page.more)),
                _ => None,
            };
            let one = all.read(request.clone()).await.map(text);
            prop_assert_eq!(one, merged.read(request).await.map(text));
            // Of a path beneath a file, nothing is known to be wrong before it is used.
            prop_assert_eq!(all.resolve(&path, true).await, merged.resolve(&path, true).await);
        }
        Ask::Glob(request) => {
            prop_assert_eq!(glob(all, request.clone()).await, glob(merged, request).await);
        }
        Ask::Grep(request) => {
            let one = grep(all, request.clone()).await;
            let mut other = grep(merged, request).await;
            // How much was searched beyond the page is not told.
            if let (Ok(one), Ok(other)) = (&one, &mut other)
                && !one.complete
            {
                other.report = one.report.clone();
            }
            prop_assert_eq!(one, other);
        }
    }
    Ok(())
}

fn models_and_asks() -> impl Strategy<Value = (Model, Vec<Ask>)> {
    models().prop_flat_map(|model| {
        let asks = prop::collection::vec(asks(&model), 1..24);
        (Just(model), asks)
    })
}

pub(super) fn run(future: impl Future<Output = TestCaseResult>) -> TestCaseResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn mounts_answer_as_one_tree((model, asks) in models_and_asks()) {
        run(async {
            let (all, _) = model.mounted().await;
            let merged = model.merged().await;
            for ask in asks {
                compare(&all, &merged, ask).await?;
            }
            Ok(())
        })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_newest_come_first_from_all_layers(
        model in models(), offset in 0..5_u64, limit in 1..6_u64,
    ) {
        run(async {
            let merged = memory(&[]).await;
            let (all, _) = model.mounted().await;
            // All are written anew, one after the other, in an order that is not that of paths.
            let everything = GlobRequest { include_ignored: true, ..glob_request("/", "**") };
            let mut files = glob(&all, everything.clone()).await.expect("a page").files;
            files.sort_by_key(|path| path.bytes().rev().collect::<Vec<_>>());
            for file in files {
                std::thread::sleep(std::time::Duration::from_millis(1));
                put(&all, &file, "x").await.expect("a write");
                put(&*merged, &file, "x").await.expect("a write");
            }
            let request =
                GlobRequest { order: FileOrder::Modified, offset, limit, ..everything };
            prop_assert_eq!(
                glob(&all, request.clone()).await,
                glob(&*merged, request).await
            );
            Ok(())
        })?;
    }
}
