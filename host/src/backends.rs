//! The backends that come with the library.

mod blocking;
mod memory;
#[cfg(target_os = "linux")]
mod thread_dir;

pub use memory::Memory;
#[cfg(target_os = "linux")]
pub use thread_dir::{AgentFiles, IdError, ThreadDir};

/// How many bytes one `read_bytes` gives at most: 1 MiB, so that no caller can make the host hold
/// more than that at once.
const MAX_READ_BYTES: u64 = 1 << 20;
