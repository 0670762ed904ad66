//! Whether a tree may be removed or moved as a whole.

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};

use super::Rules;
use super::pages::{Pages, may_be_undecodable, name};
use super::place::{MAX_LOOKED_AT, Place, looked_at_too_much};
use super::rule::Operation;

/// What must be allowed of everything in a tree.
#[derive(Clone)]
pub(super) enum Claim {
    /// To take it from here.
    Take(Place),
    /// To make it here.
    Make(Place),
}

impl Claim {
    fn place(&self) -> &Place {
        match self {
            Self::Take(place) | Self::Make(place) => place,
        }
    }

    /// The same for the entry `name` of the directory here.
    fn child(&self, name: &str) -> Self {
        match self {
            Self::Take(place) => Self::Take(place.child(name)),
            Self::Make(place) => Self::Make(place.child(name)),
        }
    }

    /// What it needs.
    fn operations(&self) -> &'static [Operation] {
        match self {
            Self::Take(_) => &[Operation::Read, Operation::Write],
            Self::Make(_) => &[Operation::Write],
        }
    }
}

impl Rules {
    /// Whether what is at `path` may be removed or moved away. What may not be read may not be
    /// taken away either: moved, it could be read, and nobody should remove what he cannot see.
    pub(super) fn may_take(&self, path: &WorkspacePath) -> bool {
        self.set.allows(Operation::Read, path) && self.set.allows(Operation::Write, path)
    }

    /// Checks that what is claimed of a place is allowed of everything that is beneath it now; of
    /// itself it is. Fails with `not-permitted` if not.
    pub(super) async fn check_tree(
        &self,
        place: &Place,
        claims: &[Claim],
    ) -> Result<(), ErrorCode> {
        if !self.may_refuse_beneath(claims) {
            return Ok(());
        }
        // It may be a link, which is taken as it is.
        let end = self.inner.resolve(place.real.as_str(), true).await;
        if !end.is_ok_and(|end| end == place.real.as_str()) {
            return Ok(());
        }
        let mut todo = vec![(place.real.clone(), claims.to_vec())];
        let mut looked_at = 0;
        while let Some((directory, claims)) = todo.pop() {
            let mut pages = Pages::of(&*self.strict, &directory);
            loop {
                let page = match pages.next().await {
                    Ok(Some(page)) if page.is_directory => page,
                    // What is beneath a name that no path leads to cannot be looked at.
                    Err(ErrorCode::NotFound) if may_be_undecodable(directory.as_str()) => {
                        return Err(ErrorCode::NotPermitted);
                    }
                    Ok(_) | Err(ErrorCode::NotFound | ErrorCode::NotADirectory) => break,
                    // `not-permitted` for a directory that cannot be looked at is right as it is.
                    Err(error) => return Err(error),
                };
                looked_at += page.entries.len() as u64;
                if looked_at > MAX_LOOKED_AT {
                    return Err(looked_at_too_much());
                }
                for entry in &page.entries {
                    let claims: Vec<Claim> =
                        claims.iter().map(|claim| claim.child(name(entry))).collect();
                    if !claims.iter().all(|claim| self.grants(claim)) {
                        return Err(ErrorCode::NotPermitted);
                    }
                    if entry.kind == FileKind::Directory && self.may_refuse_beneath(&claims) {
                        todo.push((directory.child(name(entry)), claims));
                    }
                }
            }
        }
        Ok(())
    }

    fn grants(&self, claim: &Claim) -> bool {
        claim.operations().iter().all(|operation| self.allows(*operation, claim.place()))
    }

    /// Whether any of the claims may not be allowed of something beneath.
    fn may_refuse_beneath(&self, claims: &[Claim]) -> bool {
        claims.iter().any(|claim| {
            claim.operations().iter().any(|operation| {
                claim.place().paths().any(|path| self.set.may_deny_beneath(*operation, path))
            })
        })
    }
}
