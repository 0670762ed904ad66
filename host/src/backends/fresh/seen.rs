//! What a session has seen.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many files a session remembers. The one that was read first is forgotten for another.
const MAX_SEEN: usize = 10_000;

/// What a session has seen: the version of each file that it read or wrote last.
///
/// Keep one for each agent, so that what another one writes is foreign to it.
#[derive(Debug, Default)]
pub struct Seen {
    /// Made when something is seen: a host keeps many sessions that look at nothing.
    state: Mutex<Option<Box<State>>>,
}

#[derive(Debug, Default)]
struct State {
    versions: HashMap<String, String>,
    /// The paths as they came.
    order: VecDeque<String>,
}

impl Seen {
    pub(super) fn version(&self, path: &str) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.as_ref()?.versions.get(path).cloned()
    }

    pub(super) fn note(&self, path: &str, version: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state.get_or_insert_default();
        if state.versions.insert(path.to_owned(), version.to_owned()).is_some() {
            return;
        }
        state.order.push_back(path.to_owned());
        if state.order.len() > MAX_SEEN
            && let Some(oldest) = state.order.pop_front()
        {
            state.versions.remove(&oldest);
        }
    }

    /// Forgets what is at `path` and beneath it.
    pub(super) fn forget(&self, path: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = state.as_mut() else { return };
        let is_beneath = |seen: &str| {
            seen.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        state.versions.retain(|seen, _| !is_beneath(seen));
        state.order.retain(|seen| !is_beneath(seen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_remembers_so_many_files_and_no_more() {
        let seen = Seen::default();
        for n in 0..=MAX_SEEN {
            seen.note(&format!("/{n}"), "v");
        }
        assert_eq!(seen.version("/0"), None);
        assert_eq!(seen.version("/1").as_deref(), Some("v"));
        seen.forget("/1");
        assert_eq!(seen.version("/1"), None);
        assert_eq!(seen.version("/10").as_deref(), Some("v"));
    }
}
