//! Attacks on workspaces in directories: what must not be reached is not, whatever happens when.
//!
//! Every link and path leads to files that the test itself has made.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod audit;
#[allow(dead_code, reason = "other tests use it too")]
mod cli;
mod concurrent;
mod deep;
mod killed;
mod links;
mod modes;
mod mounts;
mod names;
mod offload;
mod processes;
mod quota;
mod races;
mod removal;
mod rules;
mod site;
mod snapshots;
mod special;
mod stale;
mod threads;
mod versions;
