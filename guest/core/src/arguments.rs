//! The arguments of a call: what a tool takes, as one list that both the JSON Schema and the
//! checks are made from.

mod json;
mod schema;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::failure::{Code, Failure};
use crate::language::{Words, words};
use crate::limits::MAX_EDITS;
use crate::path::show;
use crate::types::Language;

/// The largest integer that JSON numbers hold exactly.
const MAX_INTEGER: i64 = 1 << 53;

/// How many characters of a caller's word an error repeats.
const SHOWN_CHARS: usize = 60;

/// An argument that a tool takes.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name.
    pub name: &'static str,
    /// Another name for it.
    pub alias: Option<&'static str>,
    /// What it can be.
    pub kind: Kind,
    /// Whether it must be given.
    pub required: bool,
    /// What it is for.
    pub description: Words,
}

/// What an argument can be.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number in a range.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// What it is if not given.
        default: Option<i64>,
    },
    /// Yes or no.
    Flag {
        /// What it is if not given.
        default: bool,
    },
    /// One of some words, the first of which is the default.
    Choice(&'static [&'static str]),
    /// A list of replacements.
    Edits,
}

impl Param {
    /// Text that must be given.
    #[must_use]
    pub const fn text(name: &'static str, description: Words) -> Self {
        Self { name, alias: None, kind: Kind::Text, required: true, description }
    }

    /// A whole number from `min` on.
    #[must_use]
    pub const fn integer(
        name: &'static str,
        min: i64,
        default: Option<i64>,
        description: Words,
    ) -> Self {
        let kind = Kind::Integer { min, max: MAX_INTEGER, default };
        Self { name, alias: None, kind, required: false, description }
    }

    /// Yes or no.
    #[must_use]
    pub const fn flag(name: &'static str, default: bool, description: Words) -> Self {
        Self { name, alias: None, kind: Kind::Flag { default }, required: false, description }
    }

    /// One of some words, the first of which is the default.
    #[must_use]
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        description: Words,
    ) -> Self {
        Self { name, alias: None, kind: Kind::Choice(words), required: false, description }
    }

    /// A path by the name `path`, or `file_path` as another name.
    #[must_use]
    pub const fn path(description: Words) -> Self {
        Self { alias: Some("file_path"), ..Self::text("path", description) }
    }

    /// A path by the name `file_path`, or `path` as another name.
    #[must_use]
    pub const fn file_path(description: Words) -> Self {
        Self { alias: Some("path"), ..Self::text("file_path", description) }
    }

    /// The same argument, which need not be given.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// The same number with an upper bound.
    #[must_use]
    pub const fn at_most(mut self, bound: i64) -> Self {
        if let Kind::Integer { min, default, .. } = self.kind {
            self.kind = Kind::Integer { min, max: bound, default };
        }
        self
    }
}

/// One replacement, as it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenEdit {
    /// The text to find.
    pub old: String,
    /// The text to put there.
    pub new: String,
    /// Whether every occurrence is replaced.
    pub replace_all: bool,
}

#[derive(Clone, Debug)]
enum Given {
    Text(String),
    Integer(i64),
    Flag(bool),
    Edits(Vec<GivenEdit>),
}

/// Checked arguments.
#[derive(Debug, Default)]
pub struct Arguments {
    values: BTreeMap<&'static str, Given>,
}

impl Arguments {
    /// Reads the arguments of a call and checks them against what the tool takes.
    ///
    /// # Errors
    /// Fails with a sentence that names the argument, what was wanted and what was given.
    pub fn read(text: &str, params: &[Param], max_bytes: u64) -> Result<Self, Failure> {
        let object = json::read_object(text, max_bytes)?;
        let mut values = BTreeMap::new();
        for (key, value) in object {
            let Some(param) = params.iter().find(|p| p.name == key || p.alias == Some(&key)) else {
                return Err(unknown_key(&key, params));
            };
            if value.is_null() {
                continue;
            }
            let given = check(&key, value, &param.kind)?;
            if values.insert(param.name, given).is_some() {
                return Err(Failure::invalid(format!(
                    "{} and {} are the same argument; give one of them",
                    param.name,
                    param.alias.unwrap_or(param.name)
                )));
            }
        }
        for param in params.iter().filter(|param| param.required) {
            if !values.contains_key(param.name) {
                return Err(wrong_type(param.name, &param.kind, "nothing"));
            }
        }
        for param in params {
            let default = match param.kind {
                Kind::Integer { default: Some(n), .. } => Given::Integer(n),
                Kind::Flag { default } => Given::Flag(default),
                Kind::Choice([first, ..]) => Given::Text((*first).to_owned()),
                _ => continue,
            };
            values.entry(param.name).or_insert(default);
        }
        Ok(Self { values })
    }

    /// Whether an argument was given or has a default.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Text; none if it was not given.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some(Given::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes text out without a copy; empty if it was not given.
    #[must_use]
    pub fn take_text(&mut self, name: &str) -> String {
        match self.values.remove(name) {
            Some(Given::Text(text)) => text,
            _ => String::new(),
        }
    }

    /// A whole number; none if it was not given and has no default.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.values.get(name) {
            Some(Given::Integer(n)) => Some(*n),
            _ => None,
        }
    }

    /// A whole number that is not negative; 0 if it was not given and has no default.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.integer(name).and_then(|n| u64::try_from(n).ok()).unwrap_or_default()
    }

    /// Whether a flag is set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(Given::Flag(true)))
    }

    /// A list of replacements; none if it was not given.
    #[must_use]
    pub fn edits(&self, name: &str) -> Option<&[GivenEdit]> {
        match self.values.get(name) {
            Some(Given::Edits(edits)) => Some(edits),
            _ => None,
        }
    }
}

/// Refuses arguments that are too long, before anything is done with them.
///
/// # Errors
/// Fails with a sentence that has both sizes.
pub fn check_size(text: &str, max_bytes: u64) -> Result<(), Failure> {
    json::check_size(text, max_bytes)
}

/// The JSON Schema of the arguments, described in `language`.
#[must_use]
pub fn schema(params: &[Param], language: Language) -> Value {
    schema::object(params, language)
}

/// A caller's word as an error repeats it.
fn repeat(word: &str) -> String {
    let start: String = word.chars().take(SHOWN_CHARS).collect();
    let cut = if start.len() < word.len() { "…" } else { "" };
    format!("`{}{cut}`", show(&start))
}

fn unknown_key(key: &str, params: &[Param]) -> Failure {
    let short: String = key.chars().take(SHOWN_CHARS).collect();
    let nearest = params
        .iter()
        .flat_map(|param| std::iter::once(param.name).chain(param.alias))
        .min_by_key(|name| strsim::damerau_levenshtein(name, &short));
    let hint = nearest.map_or_else(
        || "this tool takes none".to_owned(),
        |name| format!("the nearest one is `{name}`"),
    );
    let names: Vec<&str> = params.iter().map(|param| param.name).collect();
    Failure::invalid(format!("unknown argument {}; {hint}", repeat(key)))
        .with_detail(json!({ "argument": short, "known": names }))
}

fn wanted(kind: &Kind) -> String {
    match kind {
        Kind::Text => "a string".to_owned(),
        Kind::Integer { .. } => "an integer".to_owned(),
        Kind::Flag { .. } => "a boolean".to_owned(),
        Kind::Choice(words) => format!("one of {}", words.join(", ")),
        Kind::Edits => "an array of objects with old_string and new_string".to_owned(),
    }
}

fn wrong_type(key: &str, kind: &Kind, got: &str) -> Failure {
    let wanted = wanted(kind);
    let message = if got == "nothing" {
        format!("missing argument `{key}`: wanted {wanted}, got nothing")
    } else {
        format!("argument `{key}`: wanted {wanted}, got {got}")
    };
    Failure::invalid(message).with_detail(json!({ "argument": key }))
}

/// Says what a value is, and repeats it if it is short.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Number(n) => format!("the number {}", repeat(&n.to_string())),
        Value::String(text) => format!("the string {}", repeat(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn check(key: &str, value: Value, kind: &Kind) -> Result<Given, Failure> {
    match (kind, value) {
        (Kind::Text, Value::String(text)) => Ok(Given::Text(text)),
        (Kind::Integer { min, max, .. }, value) => {
            let n = integer(&value).ok_or_else(|| wrong_type(key, kind, &describe(&value)))?;
            let complain = |bound: String| {
                Err(Failure::invalid(format!("argument `{key}` must be {bound}, got {n}"))
                    .with_detail(json!({ "argument": key })))
            };
            if n < *min {
                return complain(format!("at least {min}"));
            }
            if n > *max {
                return complain(format!("at most {max}"));
            }
            Ok(Given::Integer(n))
        }
        (Kind::Flag { .. }, Value::Bool(b)) => Ok(Given::Flag(b)),
        (Kind::Flag { .. }, Value::String(text)) if text == "true" => Ok(Given::Flag(true)),
        (Kind::Flag { .. }, Value::String(text)) if text == "false" => Ok(Given::Flag(false)),
        (Kind::Choice(words), Value::String(text)) if words.contains(&text.as_str()) => {
            Ok(Given::Text(text))
        }
        (Kind::Edits, Value::Array(items)) => {
            if items.is_empty() || items.len() > MAX_EDITS {
                return Err(Failure::invalid(format!(
                    "argument `{key}` must have 1 to {MAX_EDITS} edits, got {}",
                    items.len()
                )));
            }
            let edits = items.into_iter().enumerate();
            edits
                .map(|(n, item)| edit(&format!("{key}[{n}]"), item))
                .collect::<Result<_, _>>()
                .map(Given::Edits)
        }
        // Some models give lists as text.
        (Kind::Edits, Value::String(text)) => match json::read_value(&text) {
            Some(list @ Value::Array(_)) => check(key, list, kind),
            _ => Err(wrong_type(key, kind, "a string")),
        },
        (kind, value) => Err(wrong_type(key, kind, &describe(&value))),
    }
}

/// What one of the `edits` takes.
const EDIT_PARAMS: [Param; 3] = [
    Param::text("old_string", OLD_STRING),
    Param::text("new_string", NEW_STRING),
    Param::flag("replace_all", false, REPLACE_ALL),
];

/// The text to find.
pub(crate) const OLD_STRING: Words = words(
    "The text to find, literally, without the line numbers of read results.",
    "要查找的文本，按字面匹配，不含读取结果中的行号。",
);

/// The text to put there.
pub(crate) const NEW_STRING: Words = words(
    "The text to put in its place, literally; may be empty.",
    "替换后的文本，按字面使用，可以为空。",
);

/// Whether every occurrence is replaced.
pub(crate) const REPLACE_ALL: Words =
    words("Replace every occurrence of old_string.", "替换 old_string 的所有匹配。");

fn edit(place: &str, item: Value) -> Result<GivenEdit, Failure> {
    let Value::Object(object) = item else {
        return Err(Failure::invalid(format!(
            "argument `{place}`: wanted an object, got {}",
            describe(&item)
        )));
    };
    let mut edit = GivenEdit { old: String::new(), new: String::new(), replace_all: false };
    let (mut has_old, mut has_new) = (false, false);
    for (key, value) in object {
        if value.is_null() {
            continue;
        }
        let Some(param) = EDIT_PARAMS.iter().find(|param| param.name == key) else {
            let mut failure = unknown_key(&key, &EDIT_PARAMS);
            failure.message = format!("argument `{place}`: {}", failure.message);
            return Err(failure);
        };
        match (param.name, check(&format!("{place}.{key}"), value, &param.kind)?) {
            ("old_string", Given::Text(text)) => (edit.old, has_old) = (text, true),
            ("new_string", Given::Text(text)) => (edit.new, has_new) = (text, true),
            (_, Given::Flag(flag)) => edit.replace_all = flag,
            _ => {}
        }
    }
    for (name, has) in [("old_string", has_old), ("new_string", has_new)] {
        if !has {
            return Err(wrong_type(&format!("{place}.{name}"), &Kind::Text, "nothing"));
        }
    }
    Ok(edit)
}

/// Reads an integer as it is, as text, or as a number without a fraction.
fn integer(value: &Value) -> Option<i64> {
    let n = match value {
        Value::Number(n) => match n.as_i64() {
            Some(n) => n,
            None => {
                let float = n.as_f64().filter(|f| f.fract() == 0.0)?;
                if float.abs() > MAX_INTEGER as f64 {
                    return None;
                }
                #[expect(clippy::cast_possible_truncation, reason = "the value is in range")]
                let n = float as i64;
                n
            }
        },
        Value::String(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            text.parse().ok()?
        }
        _ => return None,
    };
    (-MAX_INTEGER..=MAX_INTEGER).contains(&n).then_some(n)
}

impl From<crate::path::PathError> for Failure {
    fn from(error: crate::path::PathError) -> Self {
        Self::new(Code::InvalidPath, error.to_string())
    }
}

#[cfg(test)]
mod tests;
