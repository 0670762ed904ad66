//! What sessions have seen, for as many as there is room for.

use std::collections::HashMap;
use std::sync::Arc;

use crate::backends::Seen;
use crate::call_context::CallContext;

/// How many sessions are remembered. Those that have not been used for longest are forgotten for
/// others.
const MAX_SESSIONS: usize = 10_000;

/// A tenant, a thread and a session, in one piece: many are held.
fn key(context: &CallContext) -> Box<str> {
    let part = |id: Option<&str>| id.map_or("-".to_owned(), |id| format!("{}:{id}", id.len()));
    let parts = [context.tenant.as_deref(), Some(&context.thread), context.session.as_deref()];
    parts.map(part).concat().into()
}

/// The sessions that are remembered.
#[derive(Default)]
pub(super) struct Sessions {
    all: HashMap<Box<str>, Session>,
    /// How often one was used.
    uses: u64,
    /// With how many sessions the next look is made for some to forget.
    next_look: usize,
}

#[derive(Default)]
struct Session {
    seen: Arc<Seen>,
    last_use: u64,
}

impl Sessions {
    /// What a session has seen so far.
    pub(super) fn seen(&mut self, context: &CallContext) -> Arc<Seen> {
        let key = key(context);
        if self.all.len() >= self.next_look.max(MAX_SESSIONS) && !self.all.contains_key(&key) {
            self.make_room();
        }
        self.uses += 1;
        let session = self.all.entry(key).or_default();
        session.last_use = self.uses;
        Arc::clone(&session.seen)
    }

    /// Forgets the half that has not been used for longer, but for what is in use.
    fn make_room(&mut self) {
        let mut uses: Vec<u64> = self.all.values().map(|session| session.last_use).collect();
        let half = uses.len() / 2;
        if half < uses.len() {
            let middle = *uses.select_nth_unstable(half).1;
            self.all.retain(|_, session| {
                session.last_use >= middle || Arc::strong_count(&session.seen) > 1
            });
        }
        // If all of them are in use, looking again soon would be in vain.
        self.next_look = 2 * self.all.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(n: usize) -> CallContext {
        CallContext { thread: format!("{n}"), ..CallContext::default() }
    }

    #[test]
    fn those_that_are_used_are_not_forgotten() {
        let mut sessions = Sessions::default();
        let held = sessions.seen(&context(0));
        let [idle, busy] = [1, 2].map(|n| Arc::downgrade(&sessions.seen(&context(n))));
        for n in 3..=MAX_SESSIONS {
            drop(sessions.seen(&context(n)));
            drop(sessions.seen(&context(2)));
        }
        assert!(sessions.all.len() <= MAX_SESSIONS);
        assert!(Arc::ptr_eq(&held, &sessions.seen(&context(0))));
        assert!(idle.upgrade().is_none() && busy.upgrade().is_some());
    }

    #[test]
    fn there_is_a_session_for_each_name_of_each_thread_of_each_tenant() {
        let mut sessions = Sessions::default();
        let mut all = Vec::new();
        for tenant in [None, Some("a"), Some("b")] {
            for (thread, session) in [("a", None), ("a", Some("a")), ("b", None), ("b", Some("a"))]
            {
                let context = CallContext {
                    tenant: tenant.map(str::to_owned),
                    thread: thread.to_owned(),
                    session: session.map(str::to_owned),
                    ..CallContext::default()
                };
                let seen = sessions.seen(&context);
                assert!(Arc::ptr_eq(&seen, &sessions.seen(&context)));
                assert!(all.iter().all(|other| !Arc::ptr_eq(other, &seen)));
                all.push(seen);
            }
        }
    }
}
