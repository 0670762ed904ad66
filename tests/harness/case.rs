//! The form of a case; `cases/README.md` documents it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// A case: files, calls, and what must come of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What a front end must be able to do.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Whether the workspace is read only.
    #[serde(default)]
    pub read_only: bool,
    /// The text of a configuration file.
    pub config: Option<String>,
    /// Directories to make.
    #[serde(default)]
    pub dirs: Vec<String>,
    /// FIFOs to make.
    #[serde(default)]
    pub fifos: Vec<String>,
    /// Files to make.
    #[serde(default)]
    pub files: BTreeMap<String, Content>,
    /// Links to make.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Permission bits to set.
    #[serde(default)]
    pub modes: BTreeMap<String, u32>,
    /// Files to make beside the workspace, where the configuration finds shared directories.
    #[serde(default)]
    pub shared: BTreeMap<String, Content>,
    /// Links to make there.
    #[serde(default)]
    pub shared_links: BTreeMap<String, String>,
    /// The calls.
    pub steps: Vec<Step>,
    /// Whether the workspace, and what is shared, must be as it was planted.
    #[serde(default)]
    pub unchanged: bool,
    /// All files there must be afterwards.
    pub tree: Option<Vec<String>>,
    /// Files as they must be afterwards.
    #[serde(default)]
    pub after: BTreeMap<String, After>,
    /// Permission bits as they must be afterwards.
    #[serde(default)]
    pub after_modes: BTreeMap<String, u32>,
    /// Links as they must be afterwards.
    #[serde(default)]
    pub after_links: BTreeMap<String, String>,
    /// Files in shared directories as they must be afterwards.
    #[serde(default)]
    pub after_shared: BTreeMap<String, After>,
}

/// The content of a file, or a long argument.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Text as it is.
    Text(String),
    /// Parts, one after the other.
    Parts(Vec<Content>),
    /// Text with C escapes.
    Escaped {
        /// The text.
        c: String,
    },
    /// A text, many times.
    Repeated {
        /// The text.
        repeat: String,
        /// How many times.
        times: usize,
    },
    /// Lines with their number in the place of `{n}`.
    Lines {
        /// The line.
        lines: String,
        /// How many.
        count: usize,
    },
}

/// A block of another tool's result.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: Content,
    },
    /// An image or the like.
    Media {
        /// The media type.
        media: String,
        /// What it holds.
        data: Content,
    },
}

/// What a path must be afterwards.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum After {
    /// Nothing.
    Absent {
        /// Always true.
        absent: bool,
    },
    /// A file with this content.
    Content(Content),
}

/// A call and what must come of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Option<toml::Table>,
    /// The arguments as text, instead.
    pub raw_args: Option<String>,
    /// The caller's own name for the call.
    pub call_id: Option<String>,
    /// The text of a result of another tool, which is handed over instead of a call.
    pub result: Option<Content>,
    /// The same in several blocks.
    pub blocks: Option<Vec<Block>>,
    /// In pieces of how many bytes the text is handed over; what was passed on comes first then.
    pub pieces: Option<usize>,
    /// Whether the other tool failed.
    #[serde(default)]
    pub failed: bool,
    /// Long arguments, besides the others.
    #[serde(default)]
    pub make_arg: BTreeMap<String, Content>,
    /// The code of the failure; without it the call must succeed.
    pub error: Option<String>,
    /// The whole text.
    pub text: Option<String>,
    /// Parts of the text.
    #[serde(default)]
    pub contains: Vec<String>,
    /// What must not be in the text.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// What must be in the structured result.
    pub structured: Option<toml::Table>,
    /// Keys of the structured result.
    #[serde(default)]
    pub has_keys: Vec<String>,
    /// Keys that the structured result must not have.
    #[serde(default)]
    pub lacks_keys: Vec<String>,
    /// How many bytes the text may have.
    pub max_text_bytes: Option<usize>,
    /// Values of the structured result to keep for later steps.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// Fails if the file is no case.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let case: Self =
            toml::from_str(&text).with_context(|| format!("{} is no case", path.display()))?;
        if case.steps.is_empty() {
            bail!("{} has no steps", path.display());
        }
        Ok(case)
    }
}

impl Content {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Parts(parts) => parts.iter().flat_map(Self::bytes).collect(),
            Self::Escaped { c } => unescape(c),
            Self::Repeated { repeat, times } => repeat.repeat(*times).into_bytes(),
            Self::Lines { lines, count } => (1..=*count)
                .flat_map(|n| format!("{}\n", lines.replace("{n}", &n.to_string())).into_bytes())
                .collect(),
        }
    }
}

/// Reads C escapes.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match chars.next() {
            Some('n') => out.push(b'\n'),
            Some('r') => out.push(b'\r'),
            Some('t') => out.push(b'\t'),
            Some('0') => out.push(0),
            Some('\\') => out.push(b'\\'),
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                let byte = u8::from_str_radix(&digits, 16);
                out.push(byte.unwrap_or_else(|_| panic!("no byte: \\x{digits}")));
            }
            other => panic!("no escape: {other:?}"),
        }
    }
    out
}
