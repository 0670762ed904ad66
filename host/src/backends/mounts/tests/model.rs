//! Trees at random, and one tree that holds what all of them show.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// What a backend holds: files by path, without a leading slash.
pub(super) type Files = BTreeMap<String, String>;

/// A base and mounts.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) base: Files,
    pub(super) mounts: BTreeMap<String, Files>,
}

/// Names whose order differs with and without a slash behind them.
const NAMES: [&str; 6] = ["a", "a-", "a.rs", "b", "c", ".git"];

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&NAMES[..]), 1..4).prop_map(|names| names.join("/"))
}

fn files(most: usize) -> impl Strategy<Value = Files> {
    let content = prop::collection::vec(
        prop::sample::select(vec!["hit\n", "miss\n", "xhit", "\r\n", "é\n", "\0", "hit hit\n"]),
        0..6,
    );
    let content = content.prop_map(|parts| parts.concat());
    prop::collection::btree_map(path(), content, 0..most).prop_map(|mut files| {
        // A name cannot be a file and a directory.
        let dirs: BTreeSet<String> = files.keys().flat_map(|path| dirs_above(path)).collect();
        files.retain(|path, _| !dirs.contains(path));
        files
    })
}

pub(super) fn models() -> impl Strategy<Value = Model> {
    let mounts = prop::collection::btree_map(path(), files(6), 0..4);
    (files(14), mounts).prop_map(|(base, mounts)| Model { base, mounts })
}

/// Any path, mostly one that means something in a model.
pub(super) fn paths(model: &Model) -> impl Strategy<Value = String> + use<> {
    let mut known: BTreeSet<String> = model.base.keys().cloned().collect();
    for (at, files) in &model.mounts {
        known.insert(at.clone());
        known.extend(files.keys().map(|path| format!("{at}/{path}")));
    }
    let above: Vec<String> = known.iter().flat_map(|path| dirs_above(path)).collect();
    known.extend(above);
    known.insert(String::new());
    let known: Vec<String> = known.into_iter().collect();
    let known = prop::sample::select(known);
    let beneath = (known.clone(), path()).prop_map(|(dir, path)| format!("{dir}/{path}"));
    prop_oneof![6 => known, 1 => path(), 2 => beneath]
        .prop_map(|path| format!("/{}", path.trim_start_matches('/')))
}

/// The directories above a path, without the root.
fn dirs_above(path: &str) -> Vec<String> {
    path.match_indices('/').map(|(at, _)| path[..at].to_owned()).collect()
}

/// Whether a path is `dir` or beneath it.
pub(super) fn within(path: &str, dir: &str) -> bool {
    dir.is_empty() || path == dir || path.starts_with(&format!("{dir}/"))
}

impl Model {
    /// Whether a mount is shown at or beneath a path.
    pub(super) fn is_fixed(&self, path: &str) -> bool {
        self.mounts.keys().any(|mount| within(mount, path))
    }

    /// The innermost mount that a path lies in, the empty path for the base.
    pub(super) fn layer(&self, path: &str) -> &str {
        let around = self.mounts.keys().filter(|mount| within(path, mount));
        around.max_by_key(|mount| mount.len()).map_or("", String::as_str)
    }

    /// The files of every layer, by where the layer is shown.
    fn layers(&self) -> impl Iterator<Item = (&str, &Files)> {
        let mounts = self.mounts.iter().map(|(at, files)| (at.as_str(), files));
        std::iter::once(("", &self.base)).chain(mounts)
    }

    /// Files of layers that are hidden, as the layer has them.
    pub(super) fn hidden(&self) -> Vec<(&str, &str, &str)> {
        let mut hidden = Vec::new();
        for (at, files) in self.layers() {
            for (path, content) in files {
                if !self.shows(at, path) {
                    hidden.push((at, path.as_str(), content.as_str()));
                }
            }
        }
        hidden
    }

    /// Whether what a layer has at a path is to be seen: if it is a file.
    fn shows(&self, at: &str, path: &str) -> bool {
        let shown = join(at, path);
        self.layer(&shown) == at && !self.is_fixed(&shown)
    }

    /// Whether a layer has a file where there has to be a directory on the way to a mount.
    pub(super) fn is_in_the_way(&self, path: &str) -> bool {
        let at = self.layer(path);
        let files = if at.is_empty() { &self.base } else { &self.mounts[at] };
        let mut ways: Vec<String> = dirs_above(path);
        ways.push(path.to_owned());
        ways.iter().filter(|way| self.is_fixed(way) && self.layer(way) == at).any(|way| {
            let inner = way[at.len()..].trim_start_matches('/');
            files.contains_key(inner)
        })
    }

    /// One tree that holds all that is to be seen.
    pub(super) async fn merged(&self) -> Arc<Memory> {
        let merged = memory(&[]).await;
        let mut dirs: BTreeSet<String> = BTreeSet::new();
        for mount in self.mounts.keys() {
            dirs.extend(dirs_above(mount));
            dirs.insert(mount.clone());
        }
        for (at, files) in self.layers() {
            for (path, content) in files {
                let shown = join(at, path);
                if self.shows(at, path) {
                    put(&*merged, &shown, content).await.expect("a write");
                }
                let own = dirs_above(&shown).into_iter().filter(|dir| self.layer(dir) == at);
                dirs.extend(own.filter(|dir| within(dir, at)));
            }
        }
        for dir in dirs {
            // A directory is what is left of a file in it.
            let file = format!("/{dir}/made");
            put(&*merged, &file, "").await.expect("a write");
            merged.remove(&file, false).await.expect("it was just made");
        }
        merged
    }

    /// The base and the mounts by path, and all of them as one.
    pub(super) async fn mounted(&self) -> (Mounts, BTreeMap<String, Arc<Memory>>) {
        let mut layers = BTreeMap::new();
        for (at, files) in self.layers() {
            let layer = memory(&[]).await;
            for (path, content) in files {
                put(&*layer, path, content).await.expect("a write");
            }
            layers.insert(at.to_owned(), layer);
        }
        let list = layers.iter().filter(|(at, _)| !at.is_empty()).map(|(at, layer)| Mount {
            path: format!("/{at}"),
            backend: Arc::<Memory>::clone(layer),
        });
        let base = Arc::<Memory>::clone(&layers[""]);
        (Mounts::new(base, list.collect()).expect("mounts"), layers)
    }
}

pub(super) fn join(dir: &str, path: &str) -> String {
    if dir.is_empty() { path.to_owned() } else { format!("{dir}/{path}") }
}
