//! What is mounted, and where.

use std::sync::Arc;

use handhold_core::path::WorkspacePath;

use crate::backend::Backend;

/// A backend that is shown at a directory of another one.
#[derive(Clone)]
pub struct Mount {
    /// The directory: absolute and normalised, and not the root, as in `/skills`.
    pub path: String,
    /// What is shown there. To have it read only, put it into
    /// [`ReadOnly`](crate::backends::ReadOnly).
    pub backend: Arc<dyn Backend>,
}

/// Why mounts cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The path is not absolute and normalised.
    #[error("`{path}` is no absolute, normalised path: {reason}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The path is the root, which is the base's.
    #[error("nothing can be mounted at the root")]
    Root,
    /// Two mounts have one path.
    #[error("two mounts have the path `{path}`")]
    Twice {
        /// The path.
        path: String,
    },
}

/// Reads the path of a mount.
pub(super) fn mount_point(path: String) -> Result<WorkspacePath, MountError> {
    match WorkspacePath::parse(&path) {
        Ok(parsed) if parsed.is_root() => Err(MountError::Root),
        Ok(parsed) if parsed.as_str() == path => Ok(parsed),
        Ok(parsed) => Err(MountError::Path { path, reason: format!("write {parsed}") }),
        Err(error) => Err(MountError::Path { path, reason: error.to_string() }),
    }
}
