//! Rules as they are configured.

use serde::Deserialize;

/// A rule about some paths.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is about; at least one.
    pub operations: Vec<Operation>,
    /// Which paths it is about: glob patterns from the root, as in `/secrets/**`; at least one.
    ///
    /// The forms are those of the tool `glob`, and `/x/**` is about `/x` itself too. Letter case
    /// matters, and a dot at the front of a name means nothing.
    pub paths: Vec<String>,
    /// What becomes of it.
    pub mode: Mode,
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// It is listed, found, searched or read.
    Read,
    /// It is made, changed, moved or removed.
    Write,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It allows.
    Allow,
    /// It denies.
    Deny,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {message}")]
pub struct RuleError {
    /// The field, as in `rules[2].paths[0]`; both count from 0.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}
