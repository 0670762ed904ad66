//! File tools for AI agents, in a WebAssembly component over a backend of your choice.
//!
//! A [`Toolbox`] holds the compiled components. A [`Workspace`] is a [`backend::Backend`] and what
//! calls may do with it. Every call gets a fresh instance whose imports are that backend and
//! nothing else: what the component cannot import, an agent cannot do.
//!
//! ```no_run
//! use handhold::{Toolbox, ToolCall, Workspace, backends::Memory};
//!
//! # async fn example(component: Vec<u8>) -> Result<(), handhold::BuildError> {
//! let toolbox = Toolbox::builder().file_tools(component).build()?;
//! let workspace = Workspace::new(Memory::new());
//! let result = toolbox
//!     .call(&workspace, ToolCall {
//!         tool: "write_file".to_owned(),
//!         arguments: r#"{"file_path": "notes.md", "content": "hello"}"#.to_owned(),
//!         call_id: None,
//!     })
//!     .await;
//! assert_eq!(result.text, "Created /notes.md (5 bytes).");
//! # Ok(())
//! # }
//! ```
//!
//! The library never prints, reads the environment, the current directory or the home. It runs on
//! tokio: backends that block do so on threads for blocking work.

pub mod backend;
pub mod backends;
mod bindings;
mod call_context;
mod code_cache;
mod engine;
mod error;
mod output;
mod policy;
mod retention;
mod settings;
mod state;
mod thread_id;
mod threads;
mod toolbox;
mod workspace;

pub use call_context::CallContext;
pub use error::BuildError;
pub use handhold_core::limits;
pub use handhold_core::path::show as show_path;
pub use handhold_core::types::{
    Config, Language, Media, OffloadConfig, Offloaded, OutputEnd, ResultSetting, ToolCall,
    ToolDefinition, ToolResult, ToolSetting,
};
pub use output::{Block, HandedResult, Output, OutputError};
pub use policy::{Layers, Policy, PolicyError, SharedDirectory};
pub use retention::{DEFAULT_RESULTS_AGE, DEFAULT_RESULTS_BYTES, KEPT_RESULTS, Retention};
pub use settings::{Settings, SettingsError};
pub use thread_id::{THREAD_HEADER, THREAD_METADATA, ThreadIdError, ThreadPlaces};
pub use threads::{BackendFactory, Threads};
pub use toolbox::{DEFAULT_CONCURRENT_CALLS, DEFAULT_MEMORY_BYTES, Toolbox, ToolboxBuilder};
pub use workspace::{Access, Workspace};
