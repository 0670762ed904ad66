//! A change that is being tried.

use std::sync::Arc;
use std::time::SystemTime;

use handhold_core::types::ErrorCode;

use super::AuditSink;
use super::entry::{AuditContext, AuditEntry, ChangeKind, outcome};

/// A change that is being tried. It is told to the sink when it is dropped, so that there is an
/// entry also if nobody waits for its end.
pub(super) struct Attempt {
    sink: Arc<dyn AuditSink>,
    pub(super) entry: AuditEntry,
}

impl Attempt {
    pub(super) fn new(
        sink: Arc<dyn AuditSink>,
        who: AuditContext,
        operation: ChangeKind,
        path: String,
    ) -> Self {
        let entry = AuditEntry {
            time: SystemTime::now(),
            who,
            operation,
            path,
            destination: None,
            size: None,
            hash: None,
            removed: None,
            // What it is unless it comes to an end.
            outcome: outcome::<()>(&Err(ErrorCode::Cancelled)),
        };
        Self { sink, entry }
    }

    /// Writes down how it ended.
    pub(super) fn ended<T>(mut self, result: Result<T, ErrorCode>) -> Result<T, ErrorCode> {
        self.entry.outcome = outcome(&result);
        result
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.entry.time = SystemTime::now();
        self.sink.record(&self.entry);
    }
}
