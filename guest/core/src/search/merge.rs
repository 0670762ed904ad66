//! One page of the results of `grep` in several trees that are shown as one.

use std::ffi::{OsStr, OsString};

use super::content::LINE_OVERHEAD;
use super::grep::{FILE_OVERHEAD, finish, held_bytes, result_bytes};
use super::hits::{FileHits, Hits};
use crate::grep_pages::weight;
use crate::types::{ErrorCode, GrepFile, GrepPage, GrepRequest, WalkReport};

/// Makes one page of what several trees have for one request.
///
/// Each tree is asked for its [`first`](Self::first) results. No more of them is held than a search
/// of one tree holds.
pub struct MergedGrep<'a> {
    request: &'a GrepRequest,
    hits: Hits,
    /// Behind which path the results of a tree are not known.
    known_to: Option<OsString>,
    /// Whether a tree has more results than it gave.
    more: bool,
    report: WalkReport,
}

impl<'a> MergedGrep<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(request: &'a GrepRequest) -> Self {
        let limit = if request.limit == 0 { u64::MAX } else { request.limit };
        let enough = request.offset.saturating_add(limit).saturating_add(1);
        let hits = Hits::new(enough, held_bytes(request));
        Self { request, hits, known_to: None, more: false, report: WalkReport::default() }
    }

    /// What each tree is asked for: the results from the first on that can be on the page.
    #[must_use]
    pub fn first(&self) -> GrepRequest {
        let limit = match self.request.limit {
            0 => 0,
            limit => self.request.offset.saturating_add(limit),
        };
        let max_bytes = held_bytes(self.request);
        GrepRequest { offset: 0, limit, max_bytes, ..self.request.clone() }
    }

    /// What a tree that gave `page` so far is asked for next; none if that was all, or enough.
    ///
    /// A backend may give less than it was asked for.
    #[must_use]
    pub fn next(&self, page: &GrepPage) -> Option<GrepRequest> {
        let first = self.first();
        let done: u64 = page.files.iter().map(|file| weight(first.mode, file)).sum();
        let bytes: u64 = page.files.iter().map(bytes).sum();
        let room = first.max_bytes.saturating_sub(bytes);
        let full = first.limit > 0 && done >= first.limit;
        // Where the next result may not have had room, the page counts as a full one, but it must
        // reach the offset.
        let large = room == 0 || (room < result_bytes(&first) && done > self.request.offset);
        let over = page.complete || page.report.stopped || page.files.is_empty();
        let limit = first.limit.saturating_sub(done);
        let next = GrepRequest { offset: done, limit, max_bytes: room, ..first };
        (!(over || full || large)).then_some(next)
    }

    /// Whether nothing in a directory, shown at `dir` (`/src`), can be on the page any more.
    #[must_use]
    pub fn is_past(&self, dir: &str) -> bool {
        let inside = OsString::from(format!("{}/", dir.trim_start_matches('/')));
        // What follows results that are not known is not on the page either.
        self.known_to.as_ref().is_some_and(|known_to| inside > *known_to)
            || self.hits.is_past(&inside)
    }

    /// Adds what a tree gave.
    pub fn add(&mut self, page: GrepPage) {
        if !page.complete {
            self.more = true;
            // A search that ran out of time gives what it has, in no way all up to some path.
            if !page.report.stopped {
                let last = page.files.last().map(|file| relative(&file.path)).unwrap_or_default();
                let last = OsString::from(last);
                self.known_to =
                    Some(self.known_to.take().map_or(last.clone(), |known| known.min(last)));
            }
        }
        self.report.join(page.report);
        for file in page.files {
            let bytes = bytes(&file);
            let weight = weight(self.request.mode, &file);
            let GrepFile { path, count, lines } = file;
            let hits = FileHits { count, lines, bytes, weight, cut: false };
            self.hits.add(OsStr::new(relative(&path)), hits);
        }
    }

    /// Adds what there is to say of a tree that gave nothing.
    pub fn note(&mut self, report: WalkReport) {
        self.report.join(report);
    }

    /// The page.
    ///
    /// # Errors
    /// Fails if more results come before the page than can be held.
    pub fn finish(self) -> Result<GrepPage, ErrorCode> {
        let mut found = self.hits.into_sorted();
        found.dropped |= self.more;
        if let Some(known_to) = self.known_to {
            found.files.retain(|path, _| *path <= known_to);
        }
        finish(found, self.request, self.report)
    }
}

/// How much room a file takes in a result.
fn bytes(file: &GrepFile) -> u64 {
    let lines = file.lines.iter().map(|line| line.text.len() as u64 + LINE_OVERHEAD).sum::<u64>();
    lines + relative(&file.path).len() as u64 + FILE_OVERHEAD
}

fn relative(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{GrepLine, GrepLineKind, GrepMode};

    fn request(offset: u64, limit: u64) -> GrepRequest {
        GrepRequest {
            path: "/".to_owned(),
            pattern: "x".to_owned(),
            literal: false,
            ignore_case: false,
            multiline: false,
            glob: None,
            file_type: None,
            include_ignored: false,
            offload_path: String::new(),
            mode: GrepMode::Content,
            before: 0,
            after: 0,
            offset,
            limit,
            max_bytes: 1 << 20,
            line_chars: 500,
            time_ms: 1000,
        }
    }

    fn page(files: &[(&str, u64)], complete: bool) -> GrepPage {
        let file = |(path, count): &(&str, u64)| GrepFile {
            path: (*path).to_owned(),
            count: *count,
            lines: (1..=*count)
                .map(|number| GrepLine { number, text: "x".to_owned(), kind: GrepLineKind::Match })
                .collect(),
        };
        let files = files.iter().map(file).collect();
        GrepPage { files, total: 0, complete, report: WalkReport::default() }
    }

    fn merge(request: &GrepRequest, pages: &[GrepPage]) -> (Vec<(String, u64)>, u64, bool) {
        let mut merged = MergedGrep::new(request);
        pages.iter().for_each(|page| merged.add(page.clone()));
        let page = merged.finish().expect("a page");
        let files = page.files.into_iter().map(|file| (file.path, file.count)).collect();
        (files, page.total, page.complete)
    }

    fn named(files: &[(&str, u64)]) -> Vec<(String, u64)> {
        files.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect()
    }

    #[test]
    fn pages_of_several_trees_are_one() {
        let pages = [page(&[("/a", 2), ("/c", 2)], true), page(&[("/b/x", 3)], true)];
        let all = named(&[("/a", 2), ("/b/x", 3), ("/c", 2)]);
        assert_eq!(merge(&request(0, 0), &pages), (all.clone(), 7, true));
        assert_eq!(merge(&request(0, 7), &pages), (all, 7, true));
        assert_eq!(merge(&request(0, 3), &pages), (named(&[("/a", 2), ("/b/x", 1)]), 3, false));
        assert_eq!(merge(&request(4, 2), &pages), (named(&[("/b/x", 1), ("/c", 1)]), 6, false));
        assert_eq!(merge(&request(9, 2), &pages), (named(&[]), 7, true));
    }

    /// Where a tree has more than it gave, nothing behind that can be known.
    #[test]
    fn a_short_page_ends_the_whole() {
        let pages = [page(&[("/a", 1), ("/d", 1)], true), page(&[("/b", 1)], false)];
        assert_eq!(merge(&request(0, 9), &pages), (named(&[("/a", 1), ("/b", 1)]), 2, false));
        let request = request(0, 9);
        let mut merged = MergedGrep::new(&request);
        merged.add(page(&[("/b", 1)], false));
        assert!(merged.is_past("/c") && merged.is_past("c") && !merged.is_past("/a"));
        let next = merged.next(&page(&[("/b", 1)], false)).expect("more is wanted");
        assert_eq!((next.offset, next.limit), (1, 8));
        assert_eq!(merged.next(&page(&[("/b", 1)], true)), None);
        assert_eq!(merged.next(&page(&[("/b", 9)], false)), None);
    }

    #[test]
    fn reports_are_joined() {
        let mut report = WalkReport { files: 2, ignored: true, ..WalkReport::default() };
        let unreadable: Vec<String> = (0..9).map(|n| format!("/b{n}")).collect();
        let more = WalkReport { unreadable, unreadable_count: 9, binary: 1, ..report.clone() };
        let unreadable = vec!["/a".to_owned(), "/c".to_owned()];
        report.join(WalkReport { unreadable, unreadable_count: 2, ..WalkReport::default() });
        report.join(more);
        assert_eq!((report.files, report.binary, report.unreadable_count), (4, 1, 11));
        assert_eq!((report.unreadable.len(), report.unreadable[0].as_str()), (10, "/a"));
        assert_eq!(report.unreadable[9], "/b8");
    }
}
