//! Why a toolbox could not be made.

/// Why a toolbox could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The configuration is wrong.
    #[error("`{field}` {message}")]
    Config {
        /// The field, as in `tools.grep.name`.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// The engine could not be started.
    #[error("the WebAssembly engine could not be started")]
    Engine {
        /// What Wasmtime says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A component does not compile, or imports what it is not granted.
    #[error("the component cannot be used")]
    Component {
        /// What Wasmtime says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No component for this access was given.
    #[error("no component for this access was given")]
    NoComponent,
}

impl BuildError {
    pub(crate) fn engine(error: wasmtime::Error) -> Self {
        Self::Engine { source: error.into() }
    }

    pub(crate) fn component(error: wasmtime::Error) -> Self {
        Self::Component { source: error.into() }
    }
}
