//! What a configuration must be; every error names the field.

use crate::limits::{MAX_TOKENS, MIN_RESULT_BYTES};
use crate::path::WorkspacePath;
use crate::tools::ALL_NAMES;
use crate::types::{Config, ConfigError, OffloadConfig, ToolSetting};

/// How long the name of a tool may be: what model providers accept.
const MAX_TOOL_NAME_BYTES: usize = 64;

/// Checks a configuration in full, and gives it with its paths normalised.
///
/// # Errors
/// Fails with the first field that is wrong.
pub fn check(mut config: Config) -> Result<Config, ConfigError> {
    check_limits(&config)?;
    for setting in &config.tools {
        check_setting(setting)?;
    }
    let names = config.tools.iter().map(|setting| setting.tool.as_str());
    if let Some(tool) = given_twice(names) {
        return Err(wrong(format!("tools.{tool}"), "given twice"));
    }
    check_names(&config)?;
    check_offload(&config.offload)?;
    config.offload.path = offload_path(&config.offload.path)?;
    Ok(config)
}

fn wrong(field: impl Into<String>, message: impl Into<String>) -> ConfigError {
    ConfigError { field: field.into(), message: message.into() }
}

fn check_limits(config: &Config) -> Result<(), ConfigError> {
    let positive = [("limits.time", config.time_ms), ("limits.arguments", config.argument_bytes)];
    for (field, value) in positive {
        if value == 0 {
            return Err(wrong(field, "must be more than 0"));
        }
    }
    check_tokens("offload.tokens", Some(config.offload.tokens))?;
    if config.result_bytes < MIN_RESULT_BYTES {
        return Err(wrong("limits.result", format!("must be at least {MIN_RESULT_BYTES} bytes")));
    }
    Ok(())
}

fn check_tokens(field: impl Into<String>, tokens: Option<u64>) -> Result<(), ConfigError> {
    match tokens {
        Some(0) => Err(wrong(field, "must be more than 0")),
        Some(tokens) if tokens > MAX_TOKENS => {
            Err(wrong(field, format!("must be at most {MAX_TOKENS}")))
        }
        _ => Ok(()),
    }
}

fn check_setting(setting: &ToolSetting) -> Result<(), ConfigError> {
    let field = |part: &str| format!("tools.{}{part}", setting.tool);
    if !ALL_NAMES.contains(&setting.tool.as_str()) {
        let names = ALL_NAMES.join(", ");
        return Err(wrong(field(""), format!("unknown tool; the tools are {names}")));
    }
    if let Some(name) = &setting.name {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > MAX_TOOL_NAME_BYTES || !name.chars().all(good) {
            return Err(wrong(
                field(".name"),
                format!("must be 1 to {MAX_TOOL_NAME_BYTES} of the characters A-Z a-z 0-9 _ -"),
            ));
        }
    }
    if setting.description.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err(wrong(field(".description"), "must not be empty"));
    }
    check_tokens(field(".tokens"), setting.tokens)
}

/// The first of some names that is there twice.
fn given_twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Some(name);
        }
        seen.push(name);
    }
    None
}

/// Checks that no two tools that are offered have one name.
fn check_names(config: &Config) -> Result<(), ConfigError> {
    let mut names: Vec<&str> = Vec::new();
    for tool in ALL_NAMES {
        let setting = config.tools.iter().find(|setting| setting.tool == tool);
        if setting.is_some_and(|setting| !setting.enabled) {
            continue;
        }
        let name = setting.and_then(|setting| setting.name.as_deref()).unwrap_or(tool);
        if names.contains(&name) {
            // The one with a name of its own is the one to change.
            let culprit = config.tools.iter().find(|s| s.name.as_deref() == Some(name));
            let culprit = culprit.map_or(tool, |setting| &setting.tool);
            return Err(wrong(
                format!("tools.{culprit}.name"),
                format!("two tools have the name {name}"),
            ));
        }
        names.push(name);
    }
    Ok(())
}

fn check_offload(offload: &OffloadConfig) -> Result<(), ConfigError> {
    for setting in &offload.tools {
        let field = format!("offload.tools.{}", setting.tool);
        if setting.tool.is_empty() {
            return Err(wrong("offload.tools", "the name of a tool must not be empty"));
        }
        if ALL_NAMES.contains(&setting.tool.as_str()) {
            let message = format!("is for tools of others; use tools.{}.tokens", setting.tool);
            return Err(wrong(field, message));
        }
        check_tokens(format!("{field}.tokens"), setting.tokens)?;
    }
    let names = offload.tools.iter().map(|setting| setting.tool.as_str());
    match given_twice(names) {
        Some(tool) => Err(wrong(format!("offload.tools.{tool}"), "given twice")),
        None => Ok(()),
    }
}

/// The directory for off-loaded results as it is printed.
fn offload_path(given: &str) -> Result<String, ConfigError> {
    let field = "offload.path";
    let path = WorkspacePath::parse(given).map_err(|error| wrong(field, error.to_string()))?;
    if path.is_root() {
        return Err(wrong(field, "must be a directory of its own, not the root"));
    }
    if path.as_str().len() > MAX_OFFLOAD_PATH_BYTES {
        return Err(wrong(field, format!("must be at most {MAX_OFFLOAD_PATH_BYTES} bytes")));
    }
    Ok(path.as_str().to_owned())
}

/// The longest path of the directory for off-loaded results, in bytes: a notice repeats it.
const MAX_OFFLOAD_PATH_BYTES: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ResultSetting;

    fn setting(tool: &str) -> ToolSetting {
        ToolSetting {
            tool: tool.to_owned(),
            name: None,
            description: None,
            enabled: true,
            tokens: None,
        }
    }

    fn field(config: Config) -> String {
        check(config).err().map(|error| error.field).unwrap_or_default()
    }

    #[test]
    fn wrong_configurations_name_the_field() {
        let tools = |tools| Config { tools, ..Config::default() };
        let named = |tool, name: &str| ToolSetting { name: Some(name.to_owned()), ..setting(tool) };
        assert_eq!(field(Config::default()), "");
        assert_eq!(field(tools(vec![setting("shell")])), "tools.shell");
        assert_eq!(field(tools(vec![named("ls", "")])), "tools.ls.name");
        assert_eq!(field(tools(vec![named("ls", "a b")])), "tools.ls.name");
        assert_eq!(field(tools(vec![named("ls", "grep")])), "tools.ls.name");
        assert_eq!(field(tools(vec![named("ls", "x"), named("glob", "x")])), "tools.ls.name");
        assert_eq!(field(tools(vec![setting("ls"), setting("ls")])), "tools.ls");
        let limited = ToolSetting { tokens: Some(0), ..setting("ls") };
        assert_eq!(field(tools(vec![limited])), "tools.ls.tokens");
        let blank = ToolSetting { description: Some(" ".to_owned()), ..setting("ls") };
        assert_eq!(field(tools(vec![blank])), "tools.ls.description");
        assert_eq!(field(Config { time_ms: 0, ..Config::default() }), "limits.time");
        assert_eq!(field(Config { result_bytes: 1, ..Config::default() }), "limits.result");
        let disabled = ToolSetting { enabled: false, ..setting("grep") };
        assert_eq!(field(tools(vec![disabled, named("ls", "grep")])), "");
    }

    #[test]
    fn wrong_ways_to_offload_name_the_field() {
        let with = |change: &dyn Fn(&mut OffloadConfig)| {
            let mut config = Config::default();
            change(&mut config.offload);
            field(config)
        };
        let result =
            |tool: &str, tokens| ResultSetting { tool: tool.to_owned(), enabled: true, tokens };
        assert_eq!(with(&|offload| offload.tokens = 0), "offload.tokens");
        assert_eq!(with(&|offload| offload.tokens = MAX_TOKENS), "");
        assert_eq!(with(&|offload| offload.tokens = MAX_TOKENS + 1), "offload.tokens");
        for path in ["", "/", "..", "/a/../..", "a\0b", "~/x", &"x/".repeat(200)] {
            assert_eq!(with(&|offload| offload.path = path.to_owned()), "offload.path", "{path}");
        }
        assert_eq!(with(&|offload| offload.path = "results".to_owned()), "");
        let cases = [
            (vec![result("", None)], "offload.tools"),
            (vec![result("grep", None)], "offload.tools.grep"),
            (vec![result("web", Some(0))], "offload.tools.web.tokens"),
            (vec![result("web", None), result("web", None)], "offload.tools.web"),
            (vec![result("web", Some(1)), result("db", None)], ""),
        ];
        for (tools, wanted) in cases {
            assert_eq!(with(&|offload| offload.tools.clone_from(&tools)), wanted);
        }
    }
}
