//! A set of tools with one configuration: which are offered, under which names, and how a call
//! finds its tool.

use serde_json::json;

use crate::arguments::{self, Arguments};
use crate::backend::{Reader, Writer};
use crate::failure::{Code, Failure};
use crate::limits::{
    DEFAULT_ARGUMENT_BYTES, DEFAULT_PAGE_TOKENS, DEFAULT_RESULT_BYTES, DEFAULT_TIME_MS,
    MIN_RESULT_BYTES,
};
use crate::text::pattern as shorten;
use crate::tools::{ALL_NAMES, Answer, Context, Offered, Tool};
use crate::types::{Config, ConfigError, ToolCall, ToolDefinition, ToolResult, ToolSetting};

/// How long the name of a tool may be: what model providers accept.
const MAX_TOOL_NAME_BYTES: usize = 64;

/// How many characters of a call's tool name a result repeats.
const ECHOED_NAME_CHARS: usize = 128;

impl Default for Config {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            time_ms: DEFAULT_TIME_MS,
            argument_bytes: DEFAULT_ARGUMENT_BYTES,
            result_bytes: DEFAULT_RESULT_BYTES,
            page_tokens: DEFAULT_PAGE_TOKENS,
        }
    }
}

/// The tools of one configuration.
pub struct Toolbox {
    config: Config,
    offered: Vec<Offered>,
}

impl Toolbox {
    /// Checks the configuration in full and makes a toolbox of `tools`.
    ///
    /// # Errors
    /// Fails with the first field that is wrong.
    pub fn open(tools: &[&'static dyn Tool], config: Config) -> Result<Self, ConfigError> {
        check_limits(&config)?;
        for setting in &config.tools {
            check_setting(setting)?;
        }
        let mut seen: Vec<&str> = Vec::new();
        for setting in &config.tools {
            if seen.contains(&setting.tool.as_str()) {
                return Err(wrong(format!("tools.{}", setting.tool), "given twice"));
            }
            seen.push(&setting.tool);
        }
        check_names(&config)?;
        let setting = |tool: &dyn Tool| config.tools.iter().find(|s| s.tool == tool.name());
        let offered = tools
            .iter()
            .filter(|tool| setting(**tool).is_none_or(|setting| setting.enabled))
            .map(|tool| {
                let name = setting(*tool).and_then(|setting| setting.name.clone());
                Offered { tool: *tool, name: name.unwrap_or_else(|| tool.name().to_owned()) }
            })
            .collect();
        Ok(Self { config, offered })
    }

    /// The tools that are offered, in a fixed order.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.offered
            .iter()
            .map(|offered| {
                let effect = offered.tool.effect();
                let setting = self.config.tools.iter().find(|s| s.tool == offered.tool.name());
                let description = setting.and_then(|setting| setting.description.clone());
                ToolDefinition {
                    name: offered.name.clone(),
                    title: offered.tool.title().to_owned(),
                    description: description.unwrap_or_else(|| offered.tool.description()),
                    input_schema: arguments::schema(&offered.tool.params()).to_string(),
                    output_schema: offered.tool.output().to_owned(),
                    read_only: effect.read_only,
                    destructive: effect.destructive,
                    idempotent: effect.idempotent,
                }
            })
            .collect()
    }

    /// Runs one call. A tool that fails is a result too.
    pub fn call(
        &self,
        reader: &dyn Reader,
        writer: Option<&dyn Writer>,
        call: ToolCall,
    ) -> ToolResult {
        let answer = self.answer(reader, writer, &call);
        let tool = call.tool.chars().take(ECHOED_NAME_CHARS).collect();
        let call_id = call.call_id;
        match answer {
            Ok(Answer { text, structured, content }) => {
                ToolResult { tool, call_id, is_error: false, text, structured, content }
            }
            Err(failure) => ToolResult {
                tool,
                call_id,
                is_error: true,
                text: failure.text(),
                structured: failure.structured(),
                content: Vec::new(),
            },
        }
    }

    fn answer(
        &self,
        reader: &dyn Reader,
        writer: Option<&dyn Writer>,
        call: &ToolCall,
    ) -> Result<Answer, Failure> {
        let Some(offered) = self.offered.iter().find(|offered| offered.name == call.tool) else {
            let names: Vec<&str> =
                self.offered.iter().map(|offered| offered.name.as_str()).collect();
            return Err(Failure::new(
                Code::UnknownTool,
                format!("unknown tool {}; the tools are {}", shorten(&call.tool), names.join(", ")),
            )
            .with_detail(json!({ "known": names })));
        };
        let params = offered.tool.params();
        let mut arguments = Arguments::read(&call.arguments, &params, self.config.argument_bytes)?;
        let context = Context::new(reader, writer, &self.config, &self.offered);
        let answer = offered.tool.run(&context, &mut arguments)?;
        let bytes = (answer.text.len() + answer.structured.len()) as u64;
        if bytes > self.config.result_bytes {
            return Err(Failure::new(
                Code::TooLarge,
                format!(
                    "the result has {bytes} bytes, and {} are allowed; ask for less at once",
                    self.config.result_bytes
                ),
            ));
        }
        Ok(answer)
    }
}

fn wrong(field: impl Into<String>, message: impl Into<String>) -> ConfigError {
    ConfigError { field: field.into(), message: message.into() }
}

fn check_limits(config: &Config) -> Result<(), ConfigError> {
    let positive = [
        ("limits.time", config.time_ms),
        ("limits.arguments", config.argument_bytes),
        ("limits.page_tokens", config.page_tokens),
    ];
    for (field, value) in positive {
        if value == 0 {
            return Err(wrong(field, "must be more than 0"));
        }
    }
    if config.result_bytes < MIN_RESULT_BYTES {
        return Err(wrong("limits.result", format!("must be at least {MIN_RESULT_BYTES} bytes")));
    }
    Ok(())
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
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::ALL_TOOLS;

    fn setting(tool: &str) -> ToolSetting {
        ToolSetting { tool: tool.to_owned(), name: None, description: None, enabled: true }
    }

    fn field(config: Config) -> String {
        Toolbox::open(ALL_TOOLS, config).err().map(|error| error.field).unwrap_or_default()
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
        assert_eq!(field(Config { time_ms: 0, ..Config::default() }), "limits.time");
        assert_eq!(field(Config { result_bytes: 1, ..Config::default() }), "limits.result");
        assert_eq!(field(Config { page_tokens: 0, ..Config::default() }), "limits.page_tokens");
        let disabled = ToolSetting { enabled: false, ..setting("grep") };
        assert_eq!(field(tools(vec![disabled, named("ls", "grep")])), "");
    }

    #[test]
    fn definitions_are_in_order_and_have_schemas() {
        let toolbox = Toolbox::open(ALL_TOOLS, Config::default()).expect("the default is valid");
        let names: Vec<String> = toolbox.definitions().into_iter().map(|d| d.name).collect();
        assert_eq!(names, ALL_NAMES);
        for definition in toolbox.definitions() {
            for schema in [&definition.input_schema, &definition.output_schema] {
                let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
                assert_eq!(schema["type"], "object");
            }
            assert!(!definition.description.is_empty());
        }
    }
}
