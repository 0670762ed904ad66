//! Long runs of real processes on one root: some are killed at any moment, some hammer on all
//! threads at once.
//!
//! As a part of the tests they are short. `cargo xtask soak` makes them long.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and a long run tells what it did"
)]

mod area;
mod child;
mod hammer;
mod host;
mod killed;

use std::time::Duration;

/// Set for the long runs.
const LONG: &str = "HANDHOLD_SOAK";

/// How much is done.
struct Scale {
    /// How often a process is killed.
    kills: u64,
    /// How long two processes hammer.
    hammer: Duration,
}

fn scale() -> Scale {
    if std::env::var_os(LONG).is_some() {
        Scale { kills: 500, hammer: Duration::from_secs(60) }
    } else {
        Scale { kills: 25, hammer: Duration::from_secs(3) }
    }
}
