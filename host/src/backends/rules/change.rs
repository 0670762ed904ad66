//! Changes, where they are allowed.

use std::sync::Arc;

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, Removed, WriteRequest, Written};

use super::Rules;
use super::place::{Place, parse};
use super::rule::Operation;
use super::tree::Claim;

impl Rules {
    /// Where the path of a file leads that is to be written.
    pub(super) async fn place_to_write_file(
        &self,
        path: WorkspacePath,
    ) -> Result<Place, ErrorCode> {
        let set = Arc::clone(&self.set);
        self.place_to_write(path, true, move |path| set.allows(Operation::Write, path)).await
    }

    /// What a write tells: nothing of a file that may not be read.
    pub(super) fn without_unseen(&self, written: Written, place: &Place) -> Written {
        let is_seen = self.allows(Operation::Read, place);
        Written { previous_size: written.previous_size.filter(|_| is_seen), ..written }
    }

    pub(super) async fn put(
        &self,
        mut request: WriteRequest,
        append: bool,
    ) -> Result<Written, ErrorCode> {
        let place = self.place_to_write_file(parse(&request.path)?).await?;
        place.real.as_str().clone_into(&mut request.path);
        let written = match append {
            true => self.strict.append(request).await,
            false => self.strict.write(request).await,
        };
        match written {
            Ok(written) => Ok(self.without_unseen(written, &place)),
            Err(error) => Err(self.told(Operation::Write, &place, error).await),
        }
    }

    pub(super) async fn take_away(
        &self,
        path: &str,
        recursive: bool,
    ) -> Result<Removed, ErrorCode> {
        let place = self.place_to_write(parse(path)?, false, |path| self.may_take(path)).await?;
        self.check_tree(&place, &[Claim::Take(place.clone())]).await?;
        match self.strict.remove(place.real.as_str(), recursive).await {
            Ok(removed) => Ok(removed),
            Err(error) => Err(self.told(Operation::Write, &place, error).await),
        }
    }

    pub(super) async fn give_name(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        let (source, destination) = (parse(source)?, parse(destination)?);
        let may_take = |path: &WorkspacePath| self.may_take(path);
        let may_write = |path: &WorkspacePath| self.set.allows(Operation::Write, path);
        // What is wrong with the source must not come before that.
        if !may_write(&destination) {
            return Err(ErrorCode::NotPermitted);
        }
        let from = self.place_to_write(source, false, may_take).await?;
        let to = self.place_to_write(destination, false, may_write).await?;
        let claims = [Claim::Take(from.clone()), Claim::Make(to.clone())];
        self.check_tree(&from, &claims).await?;
        if let Err(error) =
            self.strict.rename(from.real.as_str(), to.real.as_str(), overwrite).await
        {
            let error = self.told(Operation::Write, &from, error).await;
            return Err(self.told(Operation::Write, &to, error).await);
        }
        // Something may have come into it after it was looked at.
        let Err(error) = self.check_tree(&to, &claims).await else { return Ok(()) };
        let back = self.strict.rename(to.real.as_str(), from.real.as_str(), false).await;
        Err(back.map_or_else(|_| not_moved_back(), |()| error))
    }
}

fn not_moved_back() -> ErrorCode {
    let why = "it was moved, with something in it that must not be, and cannot be moved back";
    ErrorCode::Unavailable(why.to_owned())
}
