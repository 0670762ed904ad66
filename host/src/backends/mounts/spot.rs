//! A place in a backend, checked and ready to be used.

use std::sync::Arc;

use handhold_core::path::WorkspacePath;
use handhold_core::types::{ErrorCode, FileKind};

use super::errors;
use super::layer::Layer;
use crate::backend::Backend;

/// A place in the backend of a layer.
pub(super) struct Spot<'a> {
    backend: &'a Arc<dyn Backend>,
    path: WorkspacePath,
    /// The path that was asked for, as it is shown.
    shown: WorkspacePath,
}

impl<'a> Spot<'a> {
    /// The place at `path`, which was asked for as `given`.
    pub(super) fn new(
        layer: &Layer,
        backend: &'a Arc<dyn Backend>,
        path: WorkspacePath,
        given: &WorkspacePath,
    ) -> Self {
        Self { backend, path, shown: layer.shown(given) }
    }

    pub(super) fn backend(&self) -> &'a Arc<dyn Backend> {
        self.backend
    }

    /// Its path in the backend.
    pub(super) fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// The same as text.
    pub(super) fn as_str(&self) -> &str {
        self.path.as_str()
    }

    /// The path that was asked for, as it is shown.
    pub(super) fn shown(&self) -> &WorkspacePath {
        &self.shown
    }

    /// An error of the backend as it is shown.
    pub(super) fn failed(&self, error: ErrorCode) -> ErrorCode {
        errors::shown(error, &[self])
    }

    /// What is there, a link at the end not followed; none if nothing is.
    pub(super) async fn kind(&self) -> Result<Option<FileKind>, ErrorCode> {
        if self.path.is_root() {
            return Ok(Some(FileKind::Directory));
        }
        match self.backend.resolve(self.as_str(), true).await {
            Ok(real) if real == self.as_str() => {}
            followed => {
                let here = self.backend.resolve(self.as_str(), false).await;
                let here = here.map_err(|error| self.failed(error))?;
                let is_link = match followed {
                    Ok(real) => real != here,
                    // Of what it points to: it is not there, leads out, or leads to itself.
                    Err(ErrorCode::NotFound | ErrorCode::NotADirectory) => true,
                    Err(ErrorCode::NotPermitted | ErrorCode::InvalidPath(_)) => true,
                    // It points to a name that is no text.
                    Err(ErrorCode::Unsupported) => true,
                    Err(error) => return Err(self.failed(error)),
                };
                if is_link {
                    return Ok(Some(FileKind::Link));
                }
            }
        }
        match self.backend.read_bytes(self.as_str(), 0, 0).await {
            // A directory is not opened, so that this is a file that may not be read.
            Ok(_) | Err(ErrorCode::NotPermitted) => Ok(Some(FileKind::File)),
            Err(ErrorCode::IsDirectory) => Ok(Some(FileKind::Directory)),
            Err(ErrorCode::NotAFile) => Ok(Some(FileKind::Other)),
            Err(ErrorCode::NotFound) => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }
}
