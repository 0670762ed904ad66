//! For whom a run is.

/// For whom a run is.
///
/// The tenant comes from the authenticated caller, never from the arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallContext {
    /// The tenant; none if there are none.
    pub tenant: Option<String>,
    /// The thread; [`ThreadPlaces`](crate::ThreadPlaces) finds it.
    pub thread: String,
    /// The agent that works on the thread, if several do; each has an eye of its own for
    /// [`Policy::refuse_stale`](crate::Policy::refuse_stale).
    pub session: Option<String>,
    /// The caller's own name for the call.
    pub call_id: Option<String>,
    /// The tool.
    pub tool: Option<String>,
}
