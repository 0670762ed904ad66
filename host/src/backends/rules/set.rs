//! What rules say about a path.

use handhold_core::path::WorkspacePath;
use handhold_core::types::FileKind;

use super::pattern::Pattern;
use super::rule::{Mode, Operation, Rule, RuleError};

/// Rules, ready to be asked.
///
/// A path is what the first rule that matches it says. If none does, it is what its directory is,
/// and so on upwards; nothing matches the root, where everything is allowed. So a rule about a
/// directory holds for all that is beneath it, but for what an earlier rule or, of what the rule
/// itself does not match, any other rule says.
#[derive(Debug)]
pub(super) struct RuleSet {
    rules: Vec<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    operations: Vec<Operation>,
    patterns: Vec<Pattern>,
    mode: Mode,
}

impl RuleSet {
    pub(super) fn new(rules: Vec<Rule>) -> Result<Self, RuleError> {
        let rules = rules.into_iter().enumerate().map(|(n, rule)| compile(n, rule));
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }

    /// Whether an operation is denied anywhere.
    pub(super) fn denies_some(&self, operation: Operation) -> bool {
        self.about(operation).any(|rule| rule.mode == Mode::Deny)
    }

    /// Whether an operation is allowed on what is at `path`.
    pub(super) fn allows(&self, operation: Operation, path: &WorkspacePath) -> bool {
        self.allows_at(operation, path.relative())
    }

    /// Whether an operation may be allowed somewhere beneath `path`, though it may be denied there.
    pub(super) fn may_allow_beneath(&self, operation: Operation, path: &WorkspacePath) -> bool {
        self.may_match_beneath(operation, Mode::Allow, path.relative())
    }

    /// Whether an operation may be denied somewhere beneath `path`, though it is allowed there.
    pub(super) fn may_deny_beneath(&self, operation: Operation, path: &WorkspacePath) -> bool {
        self.may_match_beneath(operation, Mode::Deny, path.relative())
    }

    /// Whether a search does not see the entry at `path`, which has no leading slash. It goes
    /// through a directory that is denied if something may be allowed beneath.
    pub(super) fn hides(&self, path: &str, kind: FileKind) -> bool {
        let is_way = || {
            kind == FileKind::Directory
                && self.may_match_beneath(Operation::Read, Mode::Allow, path)
        };
        !self.allows_at(Operation::Read, path) && !is_way()
    }

    fn about(&self, operation: Operation) -> impl Iterator<Item = &Compiled> {
        self.rules.iter().filter(move |rule| rule.operations.contains(&operation))
    }

    fn allows_at(&self, operation: Operation, path: &str) -> bool {
        let mut here = path;
        while !here.is_empty() {
            let matches =
                |rule: &&Compiled| rule.patterns.iter().any(|pattern| pattern.matches(here));
            if let Some(rule) = self.about(operation).find(matches) {
                return rule.mode == Mode::Allow;
            }
            here = here.rsplit_once('/').map_or("", |(dir, _)| dir);
        }
        true
    }

    fn may_match_beneath(&self, operation: Operation, mode: Mode, dir: &str) -> bool {
        let mut rules = self.about(operation).filter(|rule| rule.mode == mode);
        rules.any(|rule| rule.patterns.iter().any(|pattern| pattern.may_match_beneath(dir)))
    }
}

fn compile(n: usize, rule: Rule) -> Result<Compiled, RuleError> {
    let Rule { operations, paths, mode } = rule;
    let wrong = |field: String, message: String| RuleError { field, message };
    if operations.is_empty() {
        let message = "must name read, write or both".to_owned();
        return Err(wrong(format!("rules[{n}].operations"), message));
    }
    if paths.is_empty() {
        let message = "must have at least one pattern".to_owned();
        return Err(wrong(format!("rules[{n}].paths"), message));
    }
    let patterns = paths.iter().enumerate().map(|(at, path)| {
        Pattern::new(path).map_err(|message| wrong(format!("rules[{n}].paths[{at}]"), message))
    });
    Ok(Compiled { operations, patterns: patterns.collect::<Result<_, _>>()?, mode })
}

#[cfg(test)]
mod tests;
