//! What is seen of a directory.

use handhold_core::types::{ErrorCode, FileInfo, FileKind, LsPage};

use super::Rules;
use super::pages::{Pages, may_be_undecodable, name};
use super::place::{Place, Sight};

impl Rules {
    /// A page of what is seen of the directory at `place`, or the file there. Itself it is seen.
    pub(super) async fn list_seen(
        &self,
        place: &Place,
        offset: u64,
        limit: u64,
    ) -> Result<LsPage, ErrorCode> {
        if self.sees_all_beneath(place) {
            let mut page = self.strict.ls_info(place.real.as_str(), offset, limit).await?;
            for entry in &mut page.entries {
                show(entry, place, page.is_directory);
            }
            return Ok(page);
        }
        let mut seen = LsPage { entries: Vec::new(), total: 0, undecodable: 0, is_directory: true };
        let (mut odd_names, mut hides_odd) = (0, false);
        let mut pages = Pages::of(&*self.strict, &place.real);
        while let Some(page) = pages.next().await? {
            if !page.is_directory {
                return self.list_file(place, page, offset);
            }
            seen.undecodable = page.undecodable;
            for mut entry in page.entries {
                let odd = may_be_undecodable(name(&entry));
                if !self.shows(&place.child(name(&entry)), entry.kind).await? {
                    hides_odd |= odd;
                    continue;
                }
                odd_names += u64::from(odd);
                if seen.total >= offset && (seen.entries.len() as u64) < limit {
                    show(&mut entry, place, true);
                    seen.entries.push(entry);
                }
                seen.total += 1;
            }
        }
        if hides_odd {
            // Hidden names are not counted.
            seen.undecodable = seen.undecodable.min(odd_names);
        }
        Ok(seen)
    }

    /// The page of a file, which is no way to anything.
    fn list_file(&self, place: &Place, mut page: LsPage, offset: u64) -> Result<LsPage, ErrorCode> {
        if self.look(place) != Sight::Clear {
            return Err(ErrorCode::NotFound);
        }
        page.entries.iter_mut().for_each(|entry| show(entry, place, false));
        if offset > 0 {
            page.entries.clear();
        }
        Ok(page)
    }

    /// Whether a listing shows an entry, which is a `kind`.
    async fn shows(&self, entry: &Place, kind: FileKind) -> Result<bool, ErrorCode> {
        match self.look(entry) {
            Sight::Clear => Ok(true),
            Sight::Way if kind == FileKind::Directory => self.leads_to_something(entry).await,
            Sight::Way | Sight::Hidden => Ok(false),
        }
    }
}

/// Gives an entry the path that it is listed under.
fn show(entry: &mut FileInfo, place: &Place, is_directory: bool) {
    if place.named != place.real {
        let path = if is_directory { place.named.child(name(entry)) } else { place.named.clone() };
        entry.path = path.as_str().to_owned();
    }
}
