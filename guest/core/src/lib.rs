//! The rules of handhold's file tools.
//!
//! Everything that has to be the same on every backend and in every front end is here, and
//! nothing here touches a machine: no files, no clock but the search budget's, no environment.
//!
//! - [`tools`] holds one file for each tool: what it takes, what it does with a [`backend`], how
//!   its answer reads. [`toolbox`] puts them together.
//! - [`path`], [`globs`], [`edit`], [`diff`], [`encoding`] and [`arguments`] are the rules they
//!   share.
//! - `lines` and `search` (feature `backend`) are what a backend needs to agree with every other
//!   backend: line windows, and which files a search sees in which order.
//! - [`language`] holds what the built-in texts are made of: every one in each language.
//! - [`types`] are the records of the WIT, [`limits`] every number that bounds a call.

pub mod arguments;
pub mod backend;
pub mod diff;
pub mod edit;
pub mod encoding;
pub mod failure;
pub mod globs;
pub mod grep_pages;
pub mod language;
pub mod limits;
#[cfg(feature = "backend")]
pub mod lines;
pub mod media;
pub mod offload;
pub mod path;
mod prompt;
#[cfg(feature = "backend")]
pub mod search;
pub mod text;
pub mod toolbox;
pub mod tools;
pub mod types;
