//! Where a path leads, and what rules say about that.

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};

use super::Rules;
use super::pages::{Pages, name};
use super::rule::Operation;
use super::trail::{Step, follow};

/// How many entries are looked at to find out whether something among them is allowed or denied: a
/// million. With more it is an error.
pub(super) const MAX_LOOKED_AT: u64 = 1_000_000;

/// A path that a call names, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) named: WorkspacePath,
    /// The same without links.
    pub(super) real: WorkspacePath,
}

/// What may be seen of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// What is there.
    Clear,
    /// Nothing but a directory, if it leads to something that may be seen.
    Way,
    /// Nothing.
    Hidden,
}

impl Place {
    /// A place whose path has no links.
    pub(super) fn plain(path: WorkspacePath) -> Self {
        Self { real: path.clone(), named: path }
    }

    /// The entry `name` of the directory here.
    pub(super) fn child(&self, name: &str) -> Self {
        let real = self.real.child(name);
        let named = if self.named == self.real { real.clone() } else { self.named.child(name) };
        Self { named, real }
    }

    /// The path as it is named, and without links if that is another one.
    pub(super) fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        [&self.named].into_iter().chain((self.named != self.real).then_some(&self.real))
    }
}

impl Rules {
    pub(super) fn allows(&self, operation: Operation, place: &Place) -> bool {
        place.paths().all(|path| self.set.allows(operation, path))
    }

    /// What may be seen of a place, as far as its path tells.
    pub(super) fn look(&self, place: &Place) -> Sight {
        let sights = place.paths().map(|path| match self.set.allows(Operation::Read, path) {
            true => Sight::Clear,
            false if self.set.may_allow_beneath(Operation::Read, path) => Sight::Way,
            false => Sight::Hidden,
        });
        sights.fold(Sight::Clear, |one, other| match (one, other) {
            (Sight::Clear, sight) | (sight, Sight::Clear) => sight,
            (Sight::Way, Sight::Way) => Sight::Way,
            _ => Sight::Hidden,
        })
    }

    /// Whether all that is at a place and beneath may be seen.
    pub(super) fn sees_all_beneath(&self, place: &Place) -> bool {
        self.look(place) == Sight::Clear
            && !place.paths().any(|path| self.set.may_deny_beneath(Operation::Read, path))
    }

    /// Whether a directory that itself is denied has something in it that may be seen.
    pub(super) async fn leads_to_something(&self, way: &Place) -> Result<bool, ErrorCode> {
        let mut todo = vec![way.clone()];
        let mut looked_at = 0;
        while let Some(directory) = todo.pop() {
            let mut pages = Pages::of(&*self.strict, &directory.real);
            loop {
                let page = match pages.next().await {
                    Ok(Some(page)) if page.is_directory => page,
                    // What is gone, is no directory or cannot be listed leads nowhere.
                    Ok(_)
                    | Err(
                        ErrorCode::NotFound | ErrorCode::NotADirectory | ErrorCode::NotPermitted,
                    ) => break,
                    Err(error) => return Err(error),
                };
                looked_at += page.entries.len() as u64;
                if looked_at > MAX_LOOKED_AT {
                    return Err(looked_at_too_much());
                }
                for entry in &page.entries {
                    let place = directory.child(name(entry));
                    match self.look(&place) {
                        Sight::Clear => return Ok(true),
                        Sight::Way if entry.kind == FileKind::Directory => todo.push(place),
                        Sight::Way | Sight::Hidden => {}
                    }
                }
            }
        }
        Ok(false)
    }

    /// Where a path leads that is to be read. Fails with `not-found` if that is hidden, and for what
    /// is not there.
    pub(super) async fn place_to_read(
        &self,
        path: WorkspacePath,
        follow_last: bool,
    ) -> Result<Place, ErrorCode> {
        if self.look(&Place::plain(path.clone())) == Sight::Hidden {
            return Err(ErrorCode::NotFound);
        }
        let resolved = self.inner.resolve(path.as_str(), follow_last).await;
        let place = match resolved {
            Ok(real) if real == path.as_str() => Place::plain(path),
            Err(ErrorCode::NotFound) => return Err(ErrorCode::NotFound),
            resolved => {
                let trail = follow(&*self.inner, &*self.strict, &path, follow_last).await?;
                for step in trail.steps {
                    let is_seen = match step {
                        Step::Link(link) => self.set.allows(Operation::Read, &link),
                        Step::Left(directory) => self.is_seen(&Place::plain(directory)).await?,
                    };
                    if !is_seen {
                        return Err(ErrorCode::NotFound);
                    }
                }
                let end = Place { named: path, real: trail.end };
                match resolved {
                    Ok(real) => Place { real: parse(&real)?, ..end },
                    // A way to something can be resolved.
                    Err(_) if self.look(&end) != Sight::Clear => return Err(ErrorCode::NotFound),
                    Err(error) => return Err(self.told(Operation::Read, &end, error).await),
                }
            }
        };
        if self.is_seen(&place).await? { Ok(place) } else { Err(ErrorCode::NotFound) }
    }

    /// Whether a place is seen, if something is there.
    async fn is_seen(&self, place: &Place) -> Result<bool, ErrorCode> {
        match self.look(place) {
            Sight::Clear => Ok(true),
            Sight::Way => self.leads_to_something(place).await,
            Sight::Hidden => Ok(false),
        }
    }

    /// Where a path leads that is to be changed. Fails with `not-permitted` if a part of that is
    /// denied, whether or not something is there.
    pub(super) async fn place_to_write(
        &self,
        path: WorkspacePath,
        follow_last: bool,
        allows: impl Fn(&WorkspacePath) -> bool + Send + Sync,
    ) -> Result<Place, ErrorCode> {
        if !allows(&path) {
            return Err(ErrorCode::NotPermitted);
        }
        let resolved = self.inner.resolve(path.as_str(), follow_last).await;
        if resolved.as_ref().is_ok_and(|real| real == path.as_str()) {
            return Ok(Place::plain(path));
        }
        let trail = follow(&*self.inner, &*self.strict, &path, follow_last).await?;
        for step in trail.steps {
            let may_pass = match step {
                Step::Link(link) => self.set.allows(Operation::Write, &link),
                Step::Left(directory) => self.is_seen(&Place::plain(directory)).await?,
            };
            if !may_pass {
                return Err(ErrorCode::NotPermitted);
            }
        }
        match resolved {
            _ if !allows(&trail.end) => Err(ErrorCode::NotPermitted),
            Ok(real) => {
                let real = parse(&real)?;
                if allows(&real) {
                    Ok(Place { named: path, real })
                } else {
                    Err(ErrorCode::NotPermitted)
                }
            }
            // A link leads nowhere. The backend says the same, unless it has more to say.
            Err(ErrorCode::NotFound) => Ok(Place::plain(path)),
            Err(error) => {
                let end = Place { named: path, real: trail.end };
                if !self.allows(Operation::Write, &end) {
                    return Err(ErrorCode::NotPermitted);
                }
                Err(self.told(Operation::Write, &end, error).await)
            }
        }
    }

    /// The error that a call is told: that a part of its path is a file is not told of a file that
    /// may not be seen.
    pub(super) async fn told(
        &self,
        operation: Operation,
        place: &Place,
        error: ErrorCode,
    ) -> ErrorCode {
        if error != ErrorCode::NotADirectory {
            return error;
        }
        let mut above = place.real.parent();
        while let Some(path) = above {
            let is_denied = !self.set.allows(Operation::Read, &path);
            let page = self.strict.ls_info(path.as_str(), 0, 1).await;
            if is_denied && page.is_ok_and(|page| !page.is_directory) {
                return match operation {
                    Operation::Read => ErrorCode::NotFound,
                    Operation::Write => ErrorCode::NotPermitted,
                };
            }
            above = path.parent();
        }
        error
    }
}

pub(super) fn looked_at_too_much() -> ErrorCode {
    ErrorCode::TooLarge(format!(
        "rules make it necessary to look at what is in there, and that is over {MAX_LOOKED_AT} entries"
    ))
}

pub(super) fn parse(path: &str) -> Result<WorkspacePath, ErrorCode> {
    WorkspacePath::parse(path).map_err(|error| ErrorCode::InvalidPath(error.to_string()))
}
