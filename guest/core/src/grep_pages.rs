//! Pages of a search that follow each other.

use crate::types::{GrepFile, GrepLineKind, GrepMode, GrepPage};

/// How much of a limit a file uses up.
#[must_use]
pub fn weight(mode: GrepMode, file: &GrepFile) -> u64 {
    if mode == GrepMode::Content { file.count } else { 1 }
}

/// Puts a following page behind a page.
pub fn join(page: &mut GrepPage, more: GrepPage) {
    page.complete = more.complete;
    page.total = page.total.max(more.total);
    page.report.stopped |= more.report.stopped;
    for file in more.files {
        let Some(last) = page.files.last_mut().filter(|last| last.path == file.path) else {
            page.files.push(file);
            continue;
        };
        last.count += file.count;
        for line in file.lines {
            // The context of both pages may overlap.
            match last.lines.binary_search_by_key(&line.number, |known| known.number) {
                Ok(at) => match last.lines.get_mut(at) {
                    Some(known) if known.kind == GrepLineKind::Context => *known = line,
                    // A match that starts in the last line of another.
                    Some(known)
                        if known.kind == GrepLineKind::Continuation
                            && line.kind == GrepLineKind::Match =>
                    {
                        last.lines.insert(at + 1, line);
                    }
                    _ => {}
                },
                Err(at) => last.lines.insert(at, line),
            }
        }
    }
}
