//! A draft that may only be published where that is allowed.

use std::sync::Arc;

use async_trait::async_trait;
use handhold_core::path::WorkspacePath;
use handhold_core::types::{Condition, ErrorCode, Written};

use super::Rules;
use super::place::Place;
use super::rule::Operation;
use crate::backend::Draft;

/// A draft of a workspace with rules.
pub(super) struct RuledDraft {
    inner: Box<dyn Draft>,
    rules: Rules,
    directory: Place,
}

impl RuledDraft {
    /// Begins a draft for a directory, in which at least some file may be written.
    pub(super) async fn open(rules: Rules, directory: WorkspacePath) -> Result<Self, ErrorCode> {
        let set = Arc::clone(&rules.set);
        let may_write = move |path: &WorkspacePath| {
            set.allows(Operation::Write, path) || set.may_allow_beneath(Operation::Write, path)
        };
        let directory = rules.place_to_write(directory, true, may_write).await?;
        let inner = rules.strict.draft(directory.real.as_str()).await?;
        Ok(Self { inner, rules, directory })
    }
}

#[async_trait]
impl Draft for RuledDraft {
    async fn push(&mut self, content: Vec<u8>) -> Result<(), ErrorCode> {
        self.inner.push(content).await
    }

    async fn publish(&mut self, name: &str, condition: Condition) -> Result<Written, ErrorCode> {
        let wanted = Place {
            named: self.directory.named.entry(name)?,
            real: self.directory.real.entry(name)?,
        };
        let rules = &self.rules;
        let place = rules.place_to_write_file(wanted.named.clone()).await?;
        // A draft has its place in the directory it was opened for, and nowhere a link leads to.
        if place.real != wanted.real && place.real != wanted.named {
            return Err(ErrorCode::NotPermitted);
        }
        match self.inner.publish(name, condition).await {
            Ok(written) => Ok(rules.without_unseen(written, &wanted)),
            Err(error) => Err(rules.told(Operation::Write, &wanted, error).await),
        }
    }
}
