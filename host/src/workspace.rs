//! What calls work on.

use std::sync::Arc;

use crate::backend::Backend;

/// What a call may do to the files of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Look: the component of the world `read-tools` runs, which has nothing to write with.
    ReadOnly,
    /// Look and change: the component of the world `file-tools` runs.
    ReadWrite,
}

/// A backend, and what calls may do with it.
#[derive(Clone)]
pub struct Workspace {
    pub(crate) backend: Arc<dyn Backend>,
    access: Access,
}

impl Workspace {
    /// A workspace that may be changed.
    #[must_use]
    pub fn new(backend: impl Backend + 'static) -> Self {
        Self::shared(Arc::new(backend))
    }

    /// A workspace over a backend that others use too.
    #[must_use]
    pub fn shared(backend: Arc<dyn Backend>) -> Self {
        Self { backend, access: Access::ReadWrite }
    }

    /// The same workspace, which may not be changed.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.access = Access::ReadOnly;
        self
    }

    /// What calls may do.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }
}
