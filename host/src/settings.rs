//! The configuration file.

use std::collections::BTreeMap;
use std::time::Duration;

use bytesize::ByteSize;
use handhold_core::types::{Config, ToolSetting};
use serde::Deserialize;

use crate::toolbox::DEFAULT_MEMORY_BYTES;

/// The least memory that a call must be allowed to have: 16 MiB, what a small call needs.
const MIN_MEMORY_BYTES: u64 = 16 << 20;

/// The most memory that a call can have: 4 GiB, what a component can address.
const MAX_MEMORY_BYTES: u64 = 4 << 30;

/// What a configuration file says.
///
/// ```
/// let settings = handhold::Settings::from_toml("[limits]\ntime = \"5 s\"")?;
/// assert_eq!(settings.config.time_ms, 5000);
/// # Ok::<(), handhold::SettingsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the tools behave.
    pub config: Config,
    /// How many bytes of memory the instance of a call may have.
    pub memory_bytes: usize,
}

impl Default for Settings {
    /// Everything as it is built in.
    fn default() -> Self {
        Self { config: Config::default(), memory_bytes: DEFAULT_MEMORY_BYTES }
    }
}

/// What is wrong with a configuration file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

/// The file as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tools: BTreeMap<String, Tool>,
    #[serde(default)]
    limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: Option<String>,
    description: Option<String>,
    #[serde(default = "yes")]
    enabled: bool,
}

fn yes() -> bool {
    true
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    memory: Option<ByteSize>,
    time: Option<String>,
    arguments: Option<ByteSize>,
    result: Option<ByteSize>,
}

impl Settings {
    /// Reads the text of a configuration file (TOML). What it does not name is as it is built in.
    ///
    /// # Errors
    /// Fails for a field that is unknown or wrong, naming it. Whether the values go together is
    /// checked when a toolbox is made of them.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| one_line(&error, text))?;
        check_tables(&table)?;
        let file = toml::Deserializer::parse(text).map_err(|error| one_line(&error, text))?;
        let file: File = serde_path_to_error::deserialize(file).map_err(|error| {
            let field = error.path().to_string();
            one_line_at(&field, error.inner(), text)
        })?;
        let mut settings = Self::default();
        settings.config.tools = file
            .tools
            .into_iter()
            .map(|(tool, setting)| ToolSetting {
                tool,
                name: setting.name,
                description: setting.description,
                enabled: setting.enabled,
            })
            .collect();
        if let Some(time) = file.limits.time {
            let time: Duration = humantime::parse_duration(&time)
                .map_err(|error| SettingsError(format!("`limits.time` {time:?}: {error}")))?;
            settings.config.time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        }
        if let Some(size) = file.limits.arguments {
            settings.config.argument_bytes = size.as_u64();
        }
        if let Some(size) = file.limits.result {
            settings.config.result_bytes = size.as_u64();
        }
        if let Some(size) = file.limits.memory {
            let bounds = MIN_MEMORY_BYTES..=MAX_MEMORY_BYTES;
            let bytes = usize::try_from(size.as_u64()).ok();
            settings.memory_bytes =
                bytes.filter(|_| bounds.contains(&size.as_u64())).ok_or_else(|| {
                    SettingsError("`limits.memory` must be between 16 MiB and 4 GiB".to_owned())
                })?;
        }
        Ok(settings)
    }
}

/// Checks that what has fields is written as a table: an array would be read as one too.
fn check_tables(file: &toml::Table) -> Result<(), SettingsError> {
    let parts = file.iter().map(|(key, value)| (key.clone(), value));
    let tools = file.get("tools").and_then(toml::Value::as_table);
    let tools = tools.into_iter().flatten().map(|(key, value)| (format!("tools.{key}"), value));
    for (field, value) in parts.chain(tools) {
        if !value.is_table() {
            return Err(SettingsError(format!("`{field}` must be a table")));
        }
    }
    Ok(())
}

/// An error of the parser, with its line, on one line.
fn one_line(error: &toml::de::Error, text: &str) -> SettingsError {
    one_line_at(".", error, text)
}

/// The same for a field; `.` is the whole file.
fn one_line_at(field: &str, error: &toml::de::Error, text: &str) -> SettingsError {
    let mut message = error.message().replace('\n', ", ");
    if field != "." {
        message = format!("`{field}` {message}");
    }
    SettingsError(match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or_default();
            format!("line {}: {message}", before.matches('\n').count() + 1)
        }
        None => message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        let text = "[limits]\nmemory = \"64 MiB\"\ntime = \"1500 ms\"\nresult = \"2 MiB\"";
        let settings = Settings::from_toml(text).expect("good settings");
        assert_eq!(settings.memory_bytes, 64 << 20);
        assert_eq!((settings.config.time_ms, settings.config.result_bytes), (1500, 2 << 20));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("[limit]", "limit"),
            ("\n[tools.grep]\nnam = \"x\"", "line 3: `tools.grep.nam` unknown field"),
            ("[tools.grep]\nenabled = \"yes\"", "`tools.grep.enabled`"),
            ("[tools]\nls = [\"x\", \"y\", true]", "`tools.ls` must be a table"),
            ("limits = 5", "`limits` must be a table"),
            ("[limits]\ntime = 5", "`limits.time`"),
            ("[limits]\nmemory = \"1 KiB\"", "limits.memory"),
            ("[limits]\ntime = \"soon\"", "limits.time"),
            ("[limits", "line 1"),
        ] {
            let error = Settings::from_toml(text).expect_err(text).to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
