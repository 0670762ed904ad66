//! The ways to make a call. All must give the same answers.

mod command_line;
mod component;
mod native;

pub use command_line::{Batch, CommandLine};
pub use component::{Component, toolbox};
pub use native::Native;

use anyhow::{Result, bail};
use handhold::Media;

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

/// The result of another tool, to be handed over.
#[derive(Debug)]
pub struct Handed<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The caller's own name for the call.
    pub call_id: Option<&'a str>,
    /// Whether it failed.
    pub is_error: bool,
    /// What it gave.
    pub blocks: Vec<HandedBlock>,
    /// In pieces of how many bytes text is handed over.
    pub pieces: Option<usize>,
}

/// A block of such a result.
#[derive(Debug)]
pub enum HandedBlock {
    /// Text.
    Text(Vec<u8>),
    /// An image or the like.
    Media(Media),
}

impl Handed<'_> {
    /// The text, of a result that has nothing else.
    ///
    /// # Errors
    /// Fails if there is something else.
    pub fn text(&self) -> Result<&[u8]> {
        match self.blocks.as_slice() {
            [HandedBlock::Text(text)] => Ok(text),
            _ => bail!("the result has not exactly one block of text"),
        }
    }
}

/// What stands in the answer for a block that is not text.
#[must_use]
pub fn show_media(media: &Media) -> String {
    format!("[{} {}]", media.media_type, media.data.len())
}

/// Calls on one workspace.
pub trait Session {
    /// Makes one call.
    ///
    /// # Errors
    /// Fails if there was no answer.
    fn call(&mut self, tool: &str, arguments: &str, call_id: &str) -> Result<Answer>;

    /// Hands over the result of another tool. The text of the answer is what a model sees, with
    /// [`show_media`] for what is not text, on lines of their own.
    ///
    /// # Errors
    /// Fails if there was no answer.
    fn hand_over(&mut self, handed: &Handed<'_>) -> Result<Answer>;
}

/// All front ends.
pub const ALL: &[&dyn FrontEnd] =
    &[&Native, &Component::Memory, &Component::Strict, &Component::Directory, &CommandLine, &Batch];

/// Whether this process may do what permissions forbid.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
