//! The configuration file.

mod file;

use std::path::{Path, PathBuf};
use std::time::Duration;

use handhold_core::types::{Config, Language, OffloadConfig, ResultSetting, ToolSetting};

use self::file::{File, LanguageName, Limits, Offload, OtherTool};
use crate::backends::{Lifetime, QuotaLimits, Rule};
use crate::policy::{Policy, SharedDirectory};
use crate::retention::Retention;
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
    /// How much of off-loaded results a workspace keeps.
    pub retention: Retention,
    /// How many bytes of memory the instance of a call may have.
    pub memory_bytes: usize,
    /// How much each thread may take.
    pub quota: QuotaLimits,
    /// How long threads live.
    pub lifetime: Lifetime,
    /// What may be read and written.
    pub rules: Vec<Rule>,
    /// Directories that all threads share. Those that are relative are so to the file.
    pub mounts: Vec<SharedDirectory>,
    /// Whether a file that has changed since it was read is not overwritten.
    pub refuse_stale: bool,
    /// The file that changes are written down in; if it is relative, it is so to the file.
    pub audit_file: Option<PathBuf>,
}

impl Default for Settings {
    /// Everything as it is built in.
    fn default() -> Self {
        Self {
            config: Config::default(),
            retention: Retention::default(),
            memory_bytes: DEFAULT_MEMORY_BYTES,
            quota: QuotaLimits::default(),
            lifetime: Lifetime::default(),
            rules: Vec::new(),
            mounts: Vec::new(),
            refuse_stale: false,
            audit_file: None,
        }
    }
}

/// What is wrong with a configuration file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

/// The tables about threads.
struct ThreadTables {
    quota: file::Quota,
    lifetime: file::Life,
    rules: Vec<Rule>,
    mounts: Vec<file::MountEntry>,
    writes: file::Writes,
    audit: file::AuditFile,
}

impl Settings {
    /// Reads the text of a configuration file (TOML). What it does not name is as it is built in.
    ///
    /// # Errors
    /// Fails for a field that is unknown or wrong, naming it. Whether the values go together is
    /// checked when a toolbox is made of them.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| one_line(&error, text))?;
        file::check_tables(&table)?;
        let file = toml::Deserializer::parse(text).map_err(|error| one_line(&error, text))?;
        let file: File = serde_path_to_error::deserialize(file).map_err(|error| {
            let field = error.path().to_string();
            one_line_at(&field, error.inner(), text)
        })?;
        let mut settings = Self::default();
        if let Some(language) = file.language {
            settings.config.language = match language {
                LanguageName::En => Language::En,
                LanguageName::Zh => Language::Zh,
            };
        }
        settings.config.tools = file
            .tools
            .into_iter()
            .map(|(tool, setting)| ToolSetting {
                tool,
                name: setting.name,
                description: setting.description,
                enabled: setting.enabled,
                tokens: setting.tokens,
            })
            .collect();
        settings.take_offload(file.offload)?;
        settings.take_limits(file.limits)?;
        settings.take_threads(ThreadTables {
            quota: file.quota,
            lifetime: file.lifetime,
            rules: file.rules,
            mounts: file.mounts,
            writes: file.writes,
            audit: file.audit,
        })?;
        Ok(settings)
    }

    /// The same settings with the paths of the machine that are relative to `dir`, the directory of
    /// the file.
    #[must_use]
    pub fn relative_to(mut self, dir: &Path) -> Self {
        for mount in &mut self.mounts {
            mount.dir = dir.join(&mount.dir);
        }
        self.audit_file = self.audit_file.map(|file| dir.join(file));
        self
    }

    /// What holds for all threads, but for where changes are written down.
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy {
            mounts: self.mounts.clone(),
            rules: self.rules.clone(),
            quota: self.quota,
            audit: None,
            refuse_stale: self.refuse_stale,
        }
    }

    fn take_threads(&mut self, tables: ThreadTables) -> Result<(), SettingsError> {
        let ThreadTables { quota, lifetime, rules, mounts, writes, audit } = tables;
        self.quota = QuotaLimits {
            bytes: quota.bytes.map(|size| size.as_u64()),
            files: quota.files,
            file_bytes: quota.file_bytes.map(|size| size.as_u64()),
        };
        let life = |field: &str, text: Option<String>| {
            text.map(|text| duration(&format!("lifetime.{field}"), &text)).transpose()
        };
        self.lifetime =
            Lifetime { idle: life("idle", lifetime.idle)?, age: life("age", lifetime.age)? };
        let zeros = [
            ("quota.bytes", self.quota.bytes == Some(0)),
            ("quota.files", self.quota.files == Some(0)),
            ("quota.file_bytes", self.quota.file_bytes == Some(0)),
            ("lifetime.idle", self.lifetime.idle == Some(Duration::ZERO)),
            ("lifetime.age", self.lifetime.age == Some(Duration::ZERO)),
        ];
        refuse_zeros(&zeros)?;
        self.rules = rules;
        self.mounts = mounts
            .into_iter()
            .map(|mount| SharedDirectory {
                path: mount.path,
                dir: mount.dir,
                read_only: mount.read_only,
            })
            .collect();
        if let Some(n) = self.mounts.iter().position(|mount| mount.dir.as_os_str().is_empty()) {
            return Err(SettingsError(format!("`mounts[{n}].dir` must not be empty")));
        }
        self.refuse_stale = writes.refuse_stale;
        self.audit_file = audit.file;
        Ok(())
    }

    fn take_offload(&mut self, offload: Offload) -> Result<(), SettingsError> {
        let built_in = self.config.offload.clone();
        self.config.offload = OffloadConfig {
            enabled: offload.enabled.unwrap_or(built_in.enabled),
            tokens: offload.tokens.unwrap_or(built_in.tokens),
            path: offload.path.unwrap_or(built_in.path),
            tools: offload
                .tools
                .into_iter()
                .map(|(tool, OtherTool { enabled, tokens })| ResultSetting {
                    tool,
                    enabled,
                    tokens,
                })
                .collect(),
        };
        if let Some(space) = offload.space {
            self.retention.bytes = space.as_u64();
        }
        if let Some(age) = offload.age {
            self.retention.age = duration("offload.age", &age)?;
        }
        refuse_zeros(&[
            ("offload.space", self.retention.bytes == 0),
            ("offload.age", self.retention.age.is_zero()),
        ])
    }

    fn take_limits(&mut self, limits: Limits) -> Result<(), SettingsError> {
        if let Some(time) = limits.time {
            let time = duration("limits.time", &time)?;
            self.config.time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        }
        if let Some(size) = limits.arguments {
            self.config.argument_bytes = size.as_u64();
        }
        if let Some(size) = limits.result {
            self.config.result_bytes = size.as_u64();
        }
        if let Some(size) = limits.memory {
            let bounds = MIN_MEMORY_BYTES..=MAX_MEMORY_BYTES;
            let bytes = usize::try_from(size.as_u64()).ok();
            self.memory_bytes =
                bytes.filter(|_| bounds.contains(&size.as_u64())).ok_or_else(|| {
                    SettingsError("`limits.memory` must be between 16 MiB and 4 GiB".to_owned())
                })?;
        }
        Ok(())
    }
}

fn refuse_zeros(fields: &[(&str, bool)]) -> Result<(), SettingsError> {
    match fields.iter().find(|(_, is_zero)| *is_zero) {
        Some((field, _)) => Err(SettingsError(format!("`{field}` must be more than 0"))),
        None => Ok(()),
    }
}

fn duration(field: &str, text: &str) -> Result<Duration, SettingsError> {
    humantime::parse_duration(text)
        .map_err(|error| SettingsError(format!("`{field}` {text:?}: {error}")))
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
    fn how_to_offload_is_read() {
        let text = "language = \"zh\"\n[tools.read_file]\ntokens = 5\n[offload]\nenabled = false\n\
            tokens = 7\npath = \"/r\"\nspace = \"1 MiB\"\nage = \"2 d\"\n\
            [offload.tools.web]\ntokens = 9\n[offload.tools.db]\nenabled = false";
        let Settings { config, retention, .. } = Settings::from_toml(text).expect("good settings");
        assert_eq!(config.language, Language::Zh);
        assert_eq!(config.tools.first().and_then(|tool| tool.tokens), Some(5));
        assert!(!config.offload.enabled);
        assert_eq!((config.offload.tokens, config.offload.path.as_str()), (7, "/r"));
        let tools: Vec<_> =
            config.offload.tools.iter().map(|t| (t.tool.as_str(), t.enabled, t.tokens)).collect();
        assert_eq!(tools, [("db", false, None), ("web", true, Some(9))]);
        let age = Duration::from_secs(2 * 24 * 60 * 60);
        assert_eq!(retention, Retention { bytes: 1 << 20, age });
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
            ("[quota]\nbytes = \"0 B\"", "`quota.bytes`"),
            ("[quota]\nfiles = -1", "`quota.files`"),
            ("[quota]\nsize = 1", "`quota.size`"),
            ("[lifetime]\nidle = \"0 s\"", "`lifetime.idle`"),
            ("[lifetime]\nage = 5", "`lifetime.age`"),
            ("[[rules]]\npaths = [\"/x\"]\nmode = \"deny\"", "operations"),
            (
                "[[rules]]\noperations = [\"run\"]\npaths = []\nmode = \"deny\"",
                "`rules[0].operations[0]`",
            ),
            ("[[rules]]\noperations = []\npaths = []\nmode = \"no\"", "`rules[0].mode`"),
            ("[rules]\nx = 1", "rules"),
            ("[[mounts]]\npath = \"/x\"", "dir"),
            ("[[mounts]]\npath = \"/x\"\ndir = \"x\"\nwritable = true", "`mounts[0].writable`"),
            ("[[mounts]]\npath = \"/x\"\ndir = \"\"", "`mounts[0].dir`"),
            ("rules = [[[\"read\"], [\"/x\"], \"deny\"]]", "`rules[0]` must be a table"),
            ("mounts = [{ path = \"/x\", dir = \"x\" }, [\"/y\", \"y\"]]", "`mounts[1]`"),
            ("[writes]\nrefuse = true", "`writes.refuse`"),
            ("[audit]\nfile = 5", "`audit.file`"),
            ("lang = \"en\"", "`lang` unknown field"),
            ("language = \"fr\"", "`language`"),
            ("[language]", "`language`"),
            ("[tools.ls]\ntokens = -1", "`tools.ls.tokens`"),
            ("[offload]\npaths = \"/x\"", "`offload.paths`"),
            ("[offload]\nspace = \"0 B\"", "`offload.space`"),
            ("[offload]\nage = \"soon\"", "`offload.age`"),
            ("[offload]\nage = \"0 s\"", "`offload.age`"),
            ("[offload.tools]\nweb = 5", "`offload.tools.web` must be a table"),
            ("[offload.tools.web]\nname = \"x\"", "`offload.tools.web.name`"),
        ] {
            let error = Settings::from_toml(text).expect_err(text).to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
