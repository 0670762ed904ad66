//! The ways to make a call. All must give the same answers.

mod command_line;
mod component;
mod native;

pub use command_line::{Batch, CommandLine};
pub use component::{Component, toolbox};
pub use native::Native;

use anyhow::Result;

use crate::case::Case;
use crate::world::World;

/// What a call answers.
#[derive(Debug)]
pub struct Answer {
    /// Whether it failed.
    pub is_error: bool,
    /// What the model reads.
    pub text: String,
    /// The same as JSON.
    pub structured: serde_json::Value,
}

/// A way to make calls.
pub trait FrontEnd: Sync {
    /// Its name, as in `component+memory`.
    fn name(&self) -> &'static str;

    /// Whether it can do what a case needs.
    fn can(&self, need: &str) -> bool;

    /// Starts a case: where it takes place, and how to call.
    ///
    /// # Errors
    /// Fails if it cannot be started, for example for a wrong configuration.
    fn open(&self, case: &Case) -> Result<(World, Box<dyn Session>)>;
}

/// Calls on one workspace.
pub trait Session {
    /// Makes one call.
    ///
    /// # Errors
    /// Fails if there was no answer.
    fn call(&mut self, tool: &str, arguments: &str) -> Result<Answer>;
}

/// All front ends.
pub const ALL: &[&dyn FrontEnd] =
    &[&Native, &Component::Memory, &Component::Strict, &Component::Directory, &CommandLine, &Batch];

/// Whether this process may do what permissions forbid.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
