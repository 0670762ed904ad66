//! Rules about which paths are read and written.
//!
//! ```text
//! rule, pattern, set   what rules say about a path
//! trail, place         where a path leads, and whether a call may go there
//! pages, listing       what is seen of a directory
//! search               what is seen by glob and grep
//! change, tree, draft  what is written, removed, moved and published
//! ```

mod change;
mod draft;
mod listing;
mod pages;
mod pattern;
mod place;
mod rule;
mod search;
mod set;
mod trail;
mod tree;

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest, Removed, WriteRequest, Written,
};

use self::draft::RuledDraft;
use self::place::{Place, Sight, parse};
pub use self::rule::{Mode, Operation, Rule, RuleError};
use self::set::RuleSet;
use crate::backend::{Backend, Draft, View};

/// A backend of which rules allow only a part.
///
/// **What rules say.** A path is what the first rule that matches it says; if none does, what its
/// directory is, and so on upwards to the root, where everything is allowed. So a rule that denies
/// a directory denies what is in it, but for what another rule matches; with `/**` behind it, only
/// an earlier rule is an exception.
///
/// **Names** are compared byte for byte, in the form in which a call gives them. On a storage that
/// takes names that differ in case or in their Unicode form for one, a rule has to match all of
/// them.
///
/// **Reading** what is denied is what reading it is if nothing is there: `not-found`. It is not
/// listed, found, searched or counted, its ignore rules have no effect, and a link to it leads
/// nowhere. A directory that is denied is there all the same as far as it leads to something that is
/// allowed, and holds nothing else. The root is always there.
///
/// **Writing** what is denied is `not-permitted`, whether or not something is there. So is removing
/// or moving what may not be read or not be written, and a directory with anything such in it, as a
/// whole; and moving a directory to where something in it could not be written. Where writing is
/// allowed and reading is not, a write does not tell the size of what it replaced.
///
/// **Links.** A path must be allowed as it is named, and so must be where it leads and every link on
/// the way. What is done is then done on the path without links, by [`Backend::without_links`], so
/// that a link that is put there meanwhile makes a call fail and cannot redirect it. A draft is not
/// published through a link. A hard link is no link in this sense: it is one more name of a file, and
/// rules are about names.
///
/// **At the same time.** A directory is looked at before it is moved, and again after it. If there is
/// something then that may not be moved there, it is moved back. What is not noticed is a write
/// that begins before the move and ends after that second look. A directory is looked at before it
/// is removed; what comes into it behind that look is removed with it.
#[derive(Clone)]
pub struct Rules {
    /// Follows links.
    inner: Arc<dyn Backend>,
    /// Does not.
    strict: Arc<dyn Backend>,
    set: Arc<RuleSet>,
}

impl Rules {
    /// The same workspace, as far as `rules` allow.
    ///
    /// # Errors
    /// Fails for a rule without operations or paths, and for a pattern that does not start with
    /// `/`, is malformed or could match no path, naming the field.
    pub fn new(inner: Arc<dyn Backend>, rules: Vec<Rule>) -> Result<Self, RuleError> {
        let strict = inner.without_links().unwrap_or_else(|| Arc::clone(&inner));
        Ok(Self { inner, strict, set: Arc::new(RuleSet::new(rules)?) })
    }

    /// The same rules for another workspace.
    #[must_use]
    pub fn over(&self, inner: Arc<dyn Backend>) -> Self {
        let strict = inner.without_links().unwrap_or_else(|| Arc::clone(&inner));
        Self { inner, strict, set: Arc::clone(&self.set) }
    }

    /// Whether everything may be read.
    fn shows_all(&self) -> bool {
        !self.set.denies_some(Operation::Read)
    }

    /// Whether everything may be written, and a write may tell all.
    fn takes_all(&self) -> bool {
        self.shows_all() && !self.set.denies_some(Operation::Write)
    }

    /// Where the path of a file leads that is to be read.
    async fn file_to_read(&self, path: &str) -> Result<Place, ErrorCode> {
        let place = self.place_to_read(parse(path)?, true).await?;
        match self.look(&place) {
            Sight::Clear => Ok(place),
            // It was found to be one, and what comes in its place must not be read.
            Sight::Way | Sight::Hidden => Err(ErrorCode::IsDirectory),
        }
    }
}

#[async_trait]
impl Backend for Rules {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        if self.shows_all() {
            return self.inner.ls_info(path, offset, limit).await;
        }
        let place = self.place_to_read(parse(path)?, true).await?;
        match self.list_seen(&place, offset, limit).await {
            Ok(page) => Ok(page),
            Err(error) => Err(self.told(Operation::Read, &place, error).await),
        }
    }

    async fn read(&self, mut request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        if self.shows_all() {
            return self.inner.read(request).await;
        }
        let place = self.file_to_read(&request.path).await?;
        place.real.as_str().clone_into(&mut request.path);
        match self.strict.read(request).await {
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(self.told(Operation::Read, &place, error).await),
        }
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        if self.shows_all() {
            return self.inner.read_bytes(path, offset, length).await;
        }
        let place = self.file_to_read(path).await?;
        match self.strict.read_bytes(place.real.as_str(), offset, length).await {
            Ok(page) => Ok(page),
            Err(error) => Err(self.told(Operation::Read, &place, error).await),
        }
    }

    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        if self.shows_all() {
            return self.inner.glob_info(request, view).await;
        }
        let Some(narrowed) = self.narrow(&request.path, view).await? else {
            return self.inner.glob_info(request, view).await;
        };
        match self.inner.glob_info(request, &narrowed.view).await {
            Ok(mut page) => {
                self.trim(&mut page.report, &narrowed);
                Ok(page)
            }
            Err(error) => Err(self.told(Operation::Read, &narrowed.start, error).await),
        }
    }

    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        if self.shows_all() {
            return self.inner.grep_raw(request, view).await;
        }
        let Some(narrowed) = self.narrow(&request.path, view).await? else {
            return self.inner.grep_raw(request, view).await;
        };
        match self.inner.grep_raw(request, &narrowed.view).await {
            Ok(mut page) => {
                self.trim(&mut page.report, &narrowed);
                Ok(page)
            }
            Err(error) => Err(self.told(Operation::Read, &narrowed.start, error).await),
        }
    }

    /// Fails with `not-found` for what may not be read.
    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        if self.shows_all() {
            return self.inner.resolve(path, follow_last).await;
        }
        let place = self.place_to_read(parse(path)?, follow_last).await?;
        Ok(place.real.as_str().to_owned())
    }

    fn without_links(&self) -> Option<Arc<dyn Backend>> {
        let strict = self.inner.without_links()?;
        Some(Arc::new(Self { inner: Arc::clone(&strict), strict, ..self.clone() }))
    }

    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        if self.takes_all() {
            self.inner.write(request).await
        } else {
            self.put(request, false).await
        }
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        if self.takes_all() {
            self.inner.append(request).await
        } else {
            self.put(request, true).await
        }
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        if self.takes_all() {
            return self.inner.draft(directory).await;
        }
        Ok(Box::new(RuledDraft::open(self.clone(), parse(directory)?).await?))
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        if self.takes_all() {
            return self.inner.remove(path, recursive).await;
        }
        self.take_away(path, recursive).await
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        if self.takes_all() {
            return self.inner.rename(source, destination, overwrite).await;
        }
        self.give_name(source, destination, overwrite).await
    }
}

#[cfg(test)]
mod tests;
