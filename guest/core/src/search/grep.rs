//! `grep`: which lines of which files match.

use std::ffi::OsStr;

use super::content::{LINE_OVERHEAD, MAX_MATCH_LINES, Plan, Scratch, Searched};
use super::find::{Named, named_entry, unreadable};
use super::hits::{FileHits, Hits, Sorted};
use super::tree::{Base, Tree};
use super::walk::{Candidate, Scope, Seen, Visitor, walk};
use super::{Budget, pattern, storage_error};
use crate::globs::GlobRule;
use crate::limits::MAX_PATH_BYTES;
use crate::types::{
    ErrorCode, GrepFile, GrepLine, GrepLineKind, GrepMode, GrepPage, GrepRequest, WalkReport,
};

/// How much room a file takes in a result besides its path and lines.
pub(super) const FILE_OVERHEAD: u64 = 8;

/// How many bytes of results before a page are held at most: 256 MiB. An offset that is further
/// away is an error.
const MAX_SKIPPED_BYTES: u64 = 256 << 20;

/// Searches what a request is for.
///
/// # Errors
/// Fails for a pattern, glob or type that cannot be used, and if the base cannot be read.
pub fn grep<T: Tree>(
    tree: &T,
    base: Base<'_>,
    request: &GrepRequest,
    budget: &Budget<'_>,
) -> Result<GrepPage, ErrorCode> {
    let invalid = ErrorCode::InvalidArguments;
    let matcher = pattern::compile(request, budget).map_err(invalid)?;
    let glob_base = if base.is_file {
        base.shown.rsplit_once('/').map_or("", |(dir, _)| dir)
    } else {
        base.asked
    };
    let glob = request
        .glob
        .as_deref()
        .map(|glob| GlobRule::new(glob, glob_base))
        .transpose()
        .map_err(invalid)?;
    let file_type =
        request.file_type.as_deref().map(pattern::file_type).transpose().map_err(invalid)?;
    let limit = if request.limit == 0 { u64::MAX } else { request.limit };
    let last = request.offset.saturating_add(limit);
    let enough = last.saturating_add(1);
    let max_bytes = held_bytes(request);
    let search = Search {
        plan: Plan { matcher: &matcher, request, enough, max_bytes, budget },
        glob: glob.as_ref(),
        file_type: file_type.as_ref(),
        hits: Hits::new(enough, max_bytes),
    };
    let named = glob.as_ref().filter(|_| !base.is_file).and_then(GlobRule::literal_path);
    let report = match named {
        Some(path) => match named_entry(tree, base, &path)? {
            Named::File(real) => {
                let base = Base { real: &real, shown: &path, is_file: true, ..base };
                walk(tree, base, Scope::new(true, ""), budget, &search)
            }
            Named::Nothing => Ok(WalkReport::default()),
            Named::Unreadable => Ok(unreadable(&path)),
        },
        None => {
            let scope = Scope::new(request.include_ignored, &request.offload_path);
            walk(tree, base, scope, budget, &search)
        }
    }
    .map_err(|error| storage_error(&error))?;
    finish(search.hits.into_sorted(), request, report)
}

/// Makes the page of what was found.
///
/// Fails if more results come before it than can be held.
pub(super) fn finish(
    found: Sorted,
    request: &GrepRequest,
    report: WalkReport,
) -> Result<GrepPage, ErrorCode> {
    let page = page(found, request, report);
    // Where the time ran out, the report says so.
    if page.files.is_empty() && !page.complete && !page.report.stopped {
        return Err(ErrorCode::TooLarge(format!(
            "too many results come before offset={}; narrow the search with path or glob",
            request.offset
        )));
    }
    Ok(page)
}

/// How many bytes of results are held: those of the page, and those that are left out before it.
pub(super) fn held_bytes(request: &GrepRequest) -> u64 {
    let before = request.offset.saturating_mul(result_bytes(request));
    request.max_bytes.saturating_add(before.min(MAX_SKIPPED_BYTES))
}

/// How many bytes one result has at most.
pub(super) fn result_bytes(request: &GrepRequest) -> u64 {
    let line = request.line_chars.saturating_mul(4).saturating_add(LINE_OVERHEAD);
    let of_match = if request.multiline { MAX_MATCH_LINES as u64 } else { 1 };
    let lines = of_match + u64::from(request.before) + u64::from(request.after);
    line.saturating_mul(lines).saturating_add(MAX_PATH_BYTES as u64)
}

struct Search<'a> {
    plan: Plan<'a>,
    glob: Option<&'a GlobRule>,
    file_type: Option<&'a ignore::types::Types>,
    hits: Hits,
}

impl Search<'_> {
    fn add(&self, path: &OsStr, mut hits: FileHits) {
        if hits.count > 0 {
            hits.weight = match self.plan.request.mode {
                GrepMode::Content => hits.count,
                GrepMode::Files | GrepMode::Count => 1,
            };
            hits.bytes += path.len() as u64 + FILE_OVERHEAD;
            self.hits.add(path, hits);
        }
    }
}

impl<'a, T: Tree> Visitor<T> for Search<'a> {
    type Scratch = Scratch<'a>;

    fn scratch(&self) -> Scratch<'a> {
        self.plan.scratch()
    }

    fn wants(&self, path: &OsStr) -> bool {
        self.glob.is_none_or(|glob| glob.matches(&path.to_string_lossy()))
            && self.file_type.is_none_or(|types| types.matched(path, false).is_whitelist())
    }

    fn is_past(&self, path: &OsStr) -> bool {
        self.hits.is_past(path)
    }

    fn lifts_ignores_of_files(&self) -> bool {
        self.glob.is_some_and(GlobRule::is_literal)
    }

    fn visit(&self, scratch: &mut Scratch<'a>, file: &Candidate<'_, T>) -> Seen {
        let open = match file.tree.open_file(file.dir, file.name) {
            Ok(Some(open)) => open,
            Ok(None) => return Seen::Gone,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Seen::Gone,
            Err(_) => return Seen::Unreadable,
        };
        match self.plan.search(scratch, open) {
            Searched::Hits(hits) => {
                self.add(file.path, hits);
                Seen::Done
            }
            // What was found before the time ran out counts.
            Searched::Stopped(hits) => {
                self.add(file.path, hits);
                Seen::Stopped
            }
            Searched::Binary => Seen::Binary,
            Searched::Unreadable => Seen::Unreadable,
        }
    }

    fn finish(&self, _: Scratch<'a>) {}
}

fn page(found: Sorted, request: &GrepRequest, report: WalkReport) -> GrepPage {
    let limit = if request.limit == 0 { u64::MAX } else { request.limit };
    let mut page = GrepPage { files: Vec::new(), total: found.total, complete: true, report };
    let (mut skip, mut left, mut room) = (request.offset, limit, request.max_bytes);
    let mut cut = found.dropped;
    for (path, hits) in found.files {
        cut |= hits.cut;
        if hits.weight <= skip {
            skip -= hits.weight;
            continue;
        }
        let bytes = hits.bytes;
        if left == 0
            || (bytes > room && !page.files.is_empty() && request.mode != GrepMode::Content)
        {
            page.complete = false;
            break;
        }
        let path = format!("/{}", path.to_string_lossy());
        if request.mode != GrepMode::Content {
            left -= 1;
            room = room.saturating_sub(bytes);
            page.files.push(GrepFile { path, count: hits.count, lines: Vec::new() });
            continue;
        }
        let first = page.files.is_empty();
        let taken = take_matches(hits, request, skip, left, &mut room, first);
        skip = 0;
        left -= taken.file.count;
        page.complete &= taken.all;
        if taken.file.count > 0 {
            page.files.push(GrepFile { path, ..taken.file });
        }
        if !taken.all {
            break;
        }
    }
    page.complete &= !cut;
    if !page.complete {
        // How much was found beyond the page depends on how the threads ran; this does not.
        let weight = |file: &GrepFile| {
            if request.mode == GrepMode::Content { file.count } else { 1 }
        };
        page.total = request.offset + page.files.iter().map(weight).sum::<u64>();
    }
    page
}

struct Taken {
    file: GrepFile,
    /// Whether nothing of the file was left out at the end.
    all: bool,
}

/// The matches of a file after the first `skip`, at most `left` of them, with their context.
fn take_matches(
    hits: FileHits,
    request: &GrepRequest,
    skip: u64,
    left: u64,
    room: &mut u64,
    must_take_one: bool,
) -> Taken {
    let mut matches: Vec<(u64, u64)> = Vec::new();
    let mut seen = 0;
    let mut all = true;
    let mut used = 0;
    let size = |line: &GrepLine| line.text.len() as u64 + LINE_OVERHEAD;
    for line in &hits.lines {
        match line.kind {
            GrepLineKind::Match => {
                seen += 1;
                if seen <= skip {
                    // What was left out takes no room, and neither does its context.
                    used = 0;
                    continue;
                }
                let taken = matches.len() as u64;
                let fits = used + size(line) <= *room || (must_take_one && taken == 0);
                if taken >= left || !fits {
                    all = false;
                    break;
                }
                matches.push((line.number, line.number));
            }
            GrepLineKind::Continuation if seen > skip => {
                if let Some(last) = matches.last_mut() {
                    last.1 = line.number;
                }
            }
            GrepLineKind::Continuation | GrepLineKind::Context => {}
        }
        if seen > skip || line.kind == GrepLineKind::Context {
            used += size(line);
        }
    }
    *room = room.saturating_sub(used);
    let (before, after) = (u64::from(request.before), u64::from(request.after));
    let lines = hits
        .lines
        .into_iter()
        .filter(|line| {
            let n = line.number;
            let index = matches.partition_point(|(_, end)| *end < n);
            let next = matches.get(index);
            match line.kind {
                GrepLineKind::Match => {
                    return matches.binary_search_by_key(&n, |(start, _)| *start).is_ok();
                }
                GrepLineKind::Continuation => return next.is_some_and(|(start, _)| *start < n),
                GrepLineKind::Context => {}
            }
            let previous = index.checked_sub(1).and_then(|index| matches.get(index));
            next.is_some_and(|(start, _)| start.saturating_sub(before) <= n)
                || previous.is_some_and(|(_, end)| n <= end + after)
        })
        .collect();
    Taken { file: GrepFile { path: String::new(), count: matches.len() as u64, lines }, all }
}
