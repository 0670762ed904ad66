//! Files that have just been written: another write could leave their version as it is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use super::super::stat;

/// The longest tick of a system's clock: two writes within one can have the same time. A file is
/// not copied before it is as old as that, so that a later write gives it another version.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// Waits for files that have just been written, once for all of them.
#[derive(Default)]
pub(super) struct Settling {
    has_waited: bool,
}

impl Settling {
    /// Whether every later write of a file gives it another version. Waits once until that is so of
    /// all files that are not being written any more.
    pub(super) fn is_over(&mut self, found: &Stat) -> bool {
        if !is_young(found) {
            return true;
        }
        if !self.has_waited {
            self.has_waited = true;
            std::thread::sleep(TICK);
        }
        !is_young(found)
    }
}

/// Whether another write could still give a file the time that it has.
fn is_young(found: &Stat) -> bool {
    let changed = Duration::from_nanos(stat::changed(found));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // A time in the future comes from a clock that was put back.
    now < changed.saturating_add(TICK)
}
