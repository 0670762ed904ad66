//! Attacks on results that are saved: links, races, other processes, and disks that are full.

mod concurrent;
mod disk;
mod drafts;
mod dropped;
mod killed;
mod links;
mod races;

use std::sync::OnceLock;
use std::time::Duration;

use handhold::{Offloaded, Settings, Toolbox, Workspace};
use handhold_conformance::front_ends::toolbox;
use handhold_conformance::runtime;
use handhold_conformance::world::CANARY;

use crate::site::Site;

/// Where results are saved.
const RESULTS: &str = "large_tool_result";

/// How long the result of a tool may take that has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many lines a result has.
const LINES: usize = 40;

/// A line of a result that no preview shows.
const HIDDEN: &str = "line 20 of 40";

fn configured(text: &str) -> Toolbox {
    toolbox(&Settings::from_toml(text).unwrap()).unwrap()
}

/// A toolbox that saves what is over a hundred bytes.
pub(crate) fn strict() -> &'static Toolbox {
    static TOOLBOX: OnceLock<Toolbox> = OnceLock::new();
    TOOLBOX.get_or_init(|| configured("[offload]\ntokens = 25"))
}

/// A result that is over that limit.
pub(crate) fn result(mark: &str) -> String {
    (1..=LINES).map(|n| format!("{mark} line {n} of {LINES}\n")).collect()
}

/// Hands a result over and waits for its end, but not for ever.
pub(crate) fn hand_over(
    toolbox: &Toolbox,
    workspace: &Workspace,
    id: Option<&str>,
    text: &[u8],
    piece: usize,
) -> Offloaded {
    let whole = async {
        let mut output = toolbox.output(workspace, "web", id).await.unwrap();
        for piece in text.chunks(piece) {
            output.push(piece).await.unwrap();
        }
        output.finish(false).await.unwrap()
    };
    let end = runtime().block_on(async { tokio::time::timeout(PATIENCE, whole).await });
    let end = end.unwrap_or_else(|_| panic!("the result {id:?} does not come back"));
    assert!(end.rest.is_empty());
    end.offloaded.expect("the result is over the limit")
}

/// Hands [`result`]s over, and fails if the answer shows what it must not.
fn save_with(toolbox: &Toolbox, site: &Site, id: Option<&str>, text: &str) -> Offloaded {
    let offloaded = hand_over(toolbox, site.workspace(), id, text.as_bytes(), 300);
    let base = site.directory.base().to_string_lossy().into_owned();
    for shown in [&offloaded.text, &offloaded.notice] {
        assert!(!shown.contains(CANARY), "a canary is shown: {shown}");
        assert!(!shown.contains(&base), "a host path: {shown}");
        assert!(!shown.contains(HIDDEN), "all of it is shown: {shown}");
        let last = format!("line {LINES} of {LINES}");
        assert!(shown.contains(&last), "there is no preview: {shown}");
        match &offloaded.path {
            Some(path) => assert!(shown.contains(&format!("saved in {path}.\n")), "{shown}"),
            None => assert!(shown.contains("could not be saved, because "), "{shown}"),
        }
    }
    let saved = if offloaded.path.is_some() { text.len() as u64 } else { 0 };
    assert_eq!((offloaded.size, offloaded.saved), (text.len() as u64, saved));
    offloaded
}

fn save(site: &Site, id: Option<&str>, text: &str) -> Offloaded {
    save_with(strict(), site, id, text)
}

/// The path under which a result is saved, where nobody changes it meanwhile.
fn saved(site: &Site, id: Option<&str>, text: &str) -> String {
    let offloaded = save(site, id, text);
    let path = offloaded.path.unwrap_or_else(|| panic!("{}", offloaded.text));
    assert!(site.read(&path[1..]) == text, "{path} is no copy of the result");
    path
}
