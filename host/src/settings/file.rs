//! A configuration file as it is written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytesize::ByteSize;
use serde::Deserialize;

use super::SettingsError;
use crate::backends::Rule;

/// What is a table at the top of a file.
const TABLES: [&str; 7] = ["tools", "offload", "limits", "quota", "lifetime", "writes", "audit"];

/// The file as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) language: Option<LanguageName>,
    #[serde(default)]
    pub(super) tools: BTreeMap<String, Tool>,
    #[serde(default)]
    pub(super) offload: Offload,
    #[serde(default)]
    pub(super) limits: Limits,
    #[serde(default)]
    pub(super) quota: Quota,
    #[serde(default)]
    pub(super) lifetime: Life,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
    #[serde(default)]
    pub(super) mounts: Vec<MountEntry>,
    #[serde(default)]
    pub(super) writes: Writes,
    #[serde(default)]
    pub(super) audit: AuditFile,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LanguageName {
    En,
    Zh,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    pub(super) tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Offload {
    pub(super) enabled: Option<bool>,
    pub(super) tokens: Option<u64>,
    pub(super) path: Option<String>,
    pub(super) space: Option<ByteSize>,
    pub(super) age: Option<String>,
    #[serde(default)]
    pub(super) tools: BTreeMap<String, OtherTool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OtherTool {
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    pub(super) tokens: Option<u64>,
}

fn yes() -> bool {
    true
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    pub(super) memory: Option<ByteSize>,
    pub(super) time: Option<String>,
    pub(super) arguments: Option<ByteSize>,
    pub(super) result: Option<ByteSize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quota {
    pub(super) bytes: Option<ByteSize>,
    pub(super) files: Option<u64>,
    pub(super) file_bytes: Option<ByteSize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Life {
    pub(super) idle: Option<String>,
    pub(super) age: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MountEntry {
    pub(super) path: String,
    pub(super) dir: PathBuf,
    #[serde(default = "yes")]
    pub(super) read_only: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writes {
    #[serde(default)]
    pub(super) refuse_stale: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditFile {
    pub(super) file: Option<PathBuf>,
}

/// Checks that what has fields is written as a table: an array would be read as one too.
pub(super) fn check_tables(file: &toml::Table) -> Result<(), SettingsError> {
    let entries = |within: &'static str, table: Option<&toml::Table>| {
        let entries = table.into_iter().flatten();
        entries.map(|(key, value)| (format!("{within}{key}"), value.is_table())).collect()
    };
    let table = |value: Option<&'_ toml::Value>| value.and_then(toml::Value::as_table).cloned();
    let offload = table(file.get("offload"));
    let others = table(offload.as_ref().and_then(|offload| offload.get("tools")));
    let parts: [Vec<(String, bool)>; 3] = [
        entries("", Some(file)),
        entries("tools.", table(file.get("tools")).as_ref()),
        entries("offload.tools.", others.as_ref()),
    ];
    for (field, is_table) in parts.into_iter().flatten() {
        let is_known = field.contains('.') || TABLES.contains(&field.as_str());
        if !is_table && is_known {
            return Err(SettingsError(format!("`{field}` must be a table")));
        }
    }
    for field in ["rules", "mounts"] {
        let items = file.get(field).and_then(toml::Value::as_array).into_iter().flatten();
        if let Some(n) = items.map(toml::Value::is_table).position(|is_table| !is_table) {
            return Err(SettingsError(format!("`{field}[{n}]` must be a table")));
        }
    }
    Ok(())
}
