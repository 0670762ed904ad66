//! By which links a path leads to its end.

use std::collections::VecDeque;

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};

use super::pages::Pages;
use crate::backend::Backend;

/// How many links one path may have, as in `path-resolution.md`.
const MAX_LINKS: usize = 40;

/// What a path meets on its way, and where it leads.
pub(super) struct Trail {
    pub(super) steps: Vec<Step>,
    /// Where it leads, or would if that were made; or how far it was followed, for one that leads
    /// out or in a circle.
    pub(super) end: WorkspacePath,
}

/// Something that a path needs to be there on its way.
pub(super) enum Step {
    /// A link that is followed.
    Link(WorkspacePath),
    /// A directory that a `..` in a link leaves.
    Left(WorkspacePath),
}

/// Follows `path` step by step, by the rules of `path-resolution.md`. `links` follows links,
/// `strict` does not.
///
/// What the backend makes of a path decides; this tells what else it would tell by it. It is only
/// needed for paths with links.
pub(super) async fn follow(
    links: &dyn Backend,
    strict: &dyn Backend,
    path: &WorkspacePath,
    follow_last: bool,
) -> Result<Trail, ErrorCode> {
    let mut todo: VecDeque<String> = path.components().map(str::to_owned).collect();
    let (mut steps, mut end) = (Vec::new(), WorkspacePath::root());
    let mut met = 0;
    while let Some(name) = todo.pop_front() {
        if name == ".." {
            // Above the root is outside.
            let Some(parent) = end.parent() else { break };
            steps.push(Step::Left(std::mem::replace(&mut end, parent)));
            continue;
        }
        if matches!(&*name, "" | ".") {
            continue;
        }
        let next = end.child(&name);
        let is_last = todo.iter().all(|name| matches!(&**name, "" | "."));
        if is_last && !follow_last {
            end = next;
            break;
        }
        let Some(target) = link(links, strict, &end, &next).await? else {
            end = next;
            continue;
        };
        steps.push(Step::Link(next));
        met += 1;
        if met > MAX_LINKS || target.starts_with('/') {
            break;
        }
        for part in target.split('/').rev() {
            todo.push_front(part.to_owned());
        }
    }
    Ok(Trail { steps, end })
}

/// What the link at `path`, an entry of `directory`, holds; none if it is no link.
async fn link(
    links: &dyn Backend,
    strict: &dyn Backend,
    directory: &WorkspacePath,
    path: &WorkspacePath,
) -> Result<Option<String>, ErrorCode> {
    if links.resolve(path.as_str(), true).await.is_ok_and(|real| real == path.as_str()) {
        return Ok(None);
    }
    let mut pages = Pages::of(strict, directory);
    loop {
        let page = match pages.next().await {
            Ok(Some(page)) => page,
            Ok(None) | Err(ErrorCode::NotFound | ErrorCode::NotADirectory) => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(entry) = page.entries.into_iter().find(|entry| entry.path == path.as_str()) {
            return Ok(entry.link_target.filter(|_| entry.kind == FileKind::Link));
        }
    }
}
