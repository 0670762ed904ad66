//! The tools, one file each: what it takes, what it does, how its answer reads.

mod context;
mod delete_file;
mod edit_file;
mod glob;
mod grep;
mod ls;
mod move_file;
mod pages;
mod read_file;
mod wording;
mod write_file;

use crate::arguments::{Arguments, Param};
use crate::failure::Failure;
use crate::language::Words;
use crate::types::{Language, Media};
pub use context::{Context, Offered};

/// The tools that change nothing, in the order they are offered.
pub const READ_TOOLS: &[&dyn Tool] = &[&ls::Ls, &read_file::ReadFile, &glob::Glob, &grep::Grep];

/// All tools, in the order they are offered.
pub const ALL_TOOLS: &[&dyn Tool] = &[
    &ls::Ls,
    &read_file::ReadFile,
    &write_file::WriteFile,
    &edit_file::EditFile,
    &delete_file::DeleteFile,
    &move_file::MoveFile,
    &glob::Glob,
    &grep::Grep,
];

/// The names of all tools: what a configuration may speak of, also where only some are offered.
pub const ALL_NAMES: [&str; 8] =
    ["ls", "read_file", "write_file", "edit_file", "delete_file", "move_file", "glob", "grep"];

/// A tool.
pub trait Tool: Sync {
    /// Its built-in name.
    fn name(&self) -> &'static str;

    /// A short name for people.
    fn title(&self) -> Words;

    /// What it does, for the model. Names no other tool, since that may have another name.
    fn description(&self, language: Language) -> String;

    /// When to use it: one clause for a prompt, without a full stop.
    fn hint(&self) -> Words;

    /// The arguments it takes.
    fn params(&self) -> Vec<Param>;

    /// A JSON Schema of the structured result of a success.
    fn output(&self) -> &'static str;

    /// What a call can do.
    fn effect(&self) -> Effect;

    /// Whether its result is a page that says how to go on. Such a result is never off-loaded.
    fn shows_pages(&self) -> bool {
        false
    }

    /// Runs one call.
    ///
    /// # Errors
    /// Fails with what the model is to be told.
    fn run(&self, context: &Context<'_>, arguments: &mut Arguments) -> Result<Answer, Failure>;
}

/// What a call of a tool can do.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether it can destroy what was there.
    pub destructive: bool,
    /// Whether the same call twice has the effect of one.
    pub idempotent: bool,
}

impl Effect {
    /// A tool that changes nothing.
    const READS: Self = Self { read_only: true, destructive: false, idempotent: true };
}

/// The answer of a successful call.
#[derive(Debug)]
pub struct Answer {
    /// What the model reads.
    pub text: String,
    /// The same as a JSON object.
    pub structured: String,
    /// Images.
    pub content: Vec<Media>,
}

impl Answer {
    /// An answer without images.
    fn new(text: String, structured: String) -> Self {
        Self { text, structured, content: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
