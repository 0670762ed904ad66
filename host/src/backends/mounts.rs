//! Other backends, shown at directories of a backend.
//!
//! Every backend is a [`Layer`](layer::Layer), the base among them. A path belongs to one layer, and
//! a layer knows which of its places others take.

mod copy;
mod draft;
mod errors;
mod find;
mod grep;
mod layer;
mod list;
mod mount;
mod paths;
mod rename;
mod search;
mod spot;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{
    BytesPage, ErrorCode, GlobPage, GlobRequest, GrepPage, GrepRequest, LsPage, ReadOutcome,
    ReadRequest, Removed, WriteRequest, Written,
};

use self::draft::MountDraft;
use self::layer::{Layer, Place};
use self::mount::mount_point;
pub use self::mount::{Mount, MountError};
use self::spot::Spot;
use crate::backend::{Backend, Draft, View};

/// A backend in which others are mounted.
///
/// What there is to see is one tree: that of the base, in which the root of each mount takes the
/// place of what the base has at its path.
///
/// - **Routing.** The mount with the longest path decides, name by name: `/skills` has nothing to
///   do with `/skills2`. A mount may lie in another one.
/// - **What a mount hides.** What the base has at a mount point and beneath it can neither be seen
///   nor changed, on whatever path. A link of the base is resolved in the base alone: if it leads
///   to what is hidden, that is `not-found`, for a write too. A link of a mount does not lead out
///   of it. Names are compared as they are: on a file system that folds case or normalises Unicode,
///   another spelling is another name.
/// - **On the way to a mount point** there are directories only. Where the base has none, an empty
///   one is shown. Where it has a file or a link, that is hidden, and nothing can be written
///   beneath it (`not-permitted`).
/// - **Listings** show mount points, and the directories that the base does not have, with size 0
///   and time 0.
/// - **Fixed places.** Mount points, and the directories on the way to them, are neither removed nor
///   moved nor replaced: `not-permitted`, before anything is touched.
/// - **Searches** go through the base and the mounts as through one tree, in the time of one search.
///   Ignore files do not reach over a border: those of the base say nothing about a mount, and those
///   of a mount nothing about the base. A directory of version control, or of off-loaded results,
///   is left out with the mounts in it. A mount that cannot be searched is reported as unreadable,
///   unless the search starts there. Files of several backends that were modified last come in the
///   order of milliseconds.
/// - **Drafts** belong where their directory is.
/// - **Moves** within one backend are its own. From one to another only files are moved: a directory
///   is `invalid-arguments`, a link or a special file `unsupported`. See below.
///
/// Where something is mounted in a backend, a path is resolved before it is used, and then used with
/// [`Backend::without_links`]: what somebody exchanges between the two steps makes the second fail.
/// A path by way of a link to a name that is not UTF-8 cannot be resolved and is `unsupported`
/// there, and a draft is not published through a link.
///
/// # Moving a file from one backend to another
/// It is read in pieces of 1 MiB into a draft, which is published; then the source is removed, if it
/// is still at the version that was read. If it is not, or cannot be removed, the copy is removed
/// again, or stays if it took the place of a file; the answer is `conflict`, or why it could not be
/// removed. Permission bits are not taken along. A call that is dropped in between leaves both.
pub struct Mounts {
    /// The base, then the mounts by path, so that what lies in another comes after it.
    layers: Arc<[Arc<Layer>]>,
    /// The same layers, in which no link is followed.
    strict: Arc<[Arc<Layer>]>,
}

impl Mounts {
    /// Shows `mounts` in `base`. Does no I/O.
    ///
    /// # Errors
    /// Fails if a path is not absolute and normalised, is the root, or is there twice.
    pub fn new(base: Arc<dyn Backend>, mounts: Vec<Mount>) -> Result<Self, MountError> {
        let mut layers = vec![Layer::new(WorkspacePath::root(), base)];
        for Mount { path, backend } in mounts {
            layers.push(Layer::new(mount_point(path)?, backend));
        }
        layers.sort_by(|a, b| a.at().cmp(b.at()));
        for (layer, next) in layers.iter().zip(layers.iter().skip(1)) {
            if layer.at() == next.at() {
                return Err(MountError::Twice { path: layer.at().as_str().to_owned() });
            }
        }
        let points: Vec<WorkspacePath> = layers.iter().map(|layer| layer.at().clone()).collect();
        for (n, point) in points.iter().enumerate().skip(1) {
            // The last one before it that it lies in is the innermost.
            let above = layers.iter_mut().take(n).rev();
            if let Some(layer) = above.into_iter().find(|layer| point.is_within(layer.at())) {
                layer.make_room(point);
            }
        }
        let layers: Arc<[Arc<Layer>]> = layers.into_iter().map(Arc::new).collect();
        let strict = layers.iter().map(strict).collect();
        Ok(Self { layers, strict })
    }

    /// The same mounts in another base.
    #[must_use]
    pub fn over(&self, base: Arc<dyn Backend>) -> Self {
        let mut layers = self.layers.to_vec();
        let mut all_strict = self.strict.to_vec();
        if let Some((first, without_links)) = layers.first_mut().zip(all_strict.first_mut()) {
            *first = Arc::new(first.over(base));
            *without_links = strict(first);
        }
        Self { layers: layers.into(), strict: all_strict.into() }
    }

    /// The layer that a path belongs to, and the path there.
    fn route(&self, path: &WorkspacePath) -> Result<(&Arc<Layer>, WorkspacePath), ErrorCode> {
        self.layers
            .iter()
            .rev()
            .find_map(|layer| layer.inner(path).map(|inner| (layer, inner)))
            // The base has every path.
            .ok_or(ErrorCode::NotFound)
    }

    /// The place of a file that is to be read.
    async fn to_read(&self, path: &str) -> Result<Spot<'_>, ErrorCode> {
        let (layer, inner) = self.route(&parse(path)?)?;
        layer.to_read(&inner).await
    }

    /// The place of a file that is to be written.
    async fn to_write(&self, path: &str) -> Result<Spot<'_>, ErrorCode> {
        let (layer, inner) = self.route(&parse(path)?)?;
        layer.to_write(&inner).await
    }
}

/// The same layer in which no link is followed; itself if it can have none.
fn strict(layer: &Arc<Layer>) -> Arc<Layer> {
    layer.without_links().map_or_else(|| Arc::clone(layer), Arc::new)
}

fn parse(path: &str) -> Result<WorkspacePath, ErrorCode> {
    WorkspacePath::parse(path).map_err(|error| ErrorCode::InvalidPath(error.to_string()))
}

#[async_trait]
impl Backend for Mounts {
    async fn ls_info(&self, path: &str, offset: u64, limit: u64) -> Result<LsPage, ErrorCode> {
        let (layer, inner) = self.route(&parse(path)?)?;
        list::list(layer, &inner, offset, limit).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadOutcome, ErrorCode> {
        let spot = self.to_read(&request.path).await?;
        let request = ReadRequest { path: spot.as_str().to_owned(), ..request };
        spot.backend().read(request).await.map_err(|error| spot.failed(error))
    }

    async fn read_bytes(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<BytesPage, ErrorCode> {
        let spot = self.to_read(path).await?;
        let page = spot.backend().read_bytes(spot.as_str(), offset, length).await;
        page.map_err(|error| spot.failed(error))
    }

    async fn glob_info(&self, request: GlobRequest, view: &View) -> Result<GlobPage, ErrorCode> {
        self.find(request, view).await
    }

    async fn grep_raw(&self, request: GrepRequest, view: &View) -> Result<GrepPage, ErrorCode> {
        self.grep(request, view).await
    }

    async fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ErrorCode> {
        let (layer, inner) = self.route(&parse(path)?)?;
        let real = match layer.place(&inner, follow_last).await? {
            // A layer that is whole has not been asked.
            Place::Here(spot) if layer.is_whole() => {
                let real = spot.backend().resolve(spot.as_str(), follow_last).await;
                parse(&real.map_err(|error| spot.failed(error))?)?
            }
            Place::Here(spot) => spot.path().clone(),
            Place::InTheWay => inner,
        };
        Ok(layer.shown(&real).as_str().to_owned())
    }

    fn without_links(&self) -> Option<Arc<dyn Backend>> {
        if self.layers.iter().zip(&*self.strict).all(|(layer, strict)| Arc::ptr_eq(layer, strict)) {
            return None;
        }
        let strict = Arc::clone(&self.strict);
        Some(Arc::new(Self { layers: Arc::clone(&strict), strict }))
    }

    async fn write(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        let spot = self.to_write(&request.path).await?;
        let request = WriteRequest { path: spot.as_str().to_owned(), ..request };
        spot.backend().write(request).await.map_err(|error| spot.failed(error))
    }

    async fn append(&self, request: WriteRequest) -> Result<Written, ErrorCode> {
        let spot = self.to_write(&request.path).await?;
        let request = WriteRequest { path: spot.as_str().to_owned(), ..request };
        spot.backend().append(request).await.map_err(|error| spot.failed(error))
    }

    async fn draft(&self, directory: &str) -> Result<Box<dyn Draft>, ErrorCode> {
        let shown = parse(directory)?;
        let (layer, inner) = self.route(&shown)?;
        Ok(Box::new(MountDraft::open(Arc::clone(layer), shown, inner).await?))
    }

    async fn remove(&self, path: &str, recursive: bool) -> Result<Removed, ErrorCode> {
        let (layer, inner) = self.route(&parse(path)?)?;
        let spot = layer.to_take(&inner).await?;
        let removed = spot.backend().remove(spot.as_str(), recursive).await;
        removed.map_err(|error| spot.failed(error))
    }

    async fn rename(
        &self,
        source: &str,
        destination: &str,
        overwrite: bool,
    ) -> Result<(), ErrorCode> {
        self.move_entry(&parse(source)?, &parse(destination)?, overwrite).await
    }
}
