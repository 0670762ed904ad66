//! The command line: what it takes, prints, leaves behind and exits with.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod batch;
mod call;
mod code_cache;
mod component;
mod offload;
mod policy;
mod process;
mod prompt;
mod threads;
mod tools;
mod workspaces;
