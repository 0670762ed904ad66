//! A set of tools with one configuration: which are offered, under which names, and how a call
//! finds its tool.

mod check;

use serde_json::json;

use crate::arguments::{self, Arguments};
use crate::backend::{Reader, Writer};
use crate::failure::{Code, Failure};
use crate::limits::{
    DEFAULT_ARGUMENT_BYTES, DEFAULT_OFFLOAD_PATH, DEFAULT_RESULT_BYTES, DEFAULT_TIME_MS,
    DEFAULT_TOKENS,
};
use crate::offload::{self, Output};
use crate::prompt;
use crate::text::{pattern as shorten, with_field};
use crate::tools::{Answer, Context, Offered, Tool};
use crate::types::{
    Config, ConfigError, Language, OffloadConfig, ToolCall, ToolDefinition, ToolResult,
};

pub use self::check::check;

/// How many characters of a call's tool name a result repeats.
const ECHOED_NAME_CHARS: usize = 128;

impl Default for Config {
    fn default() -> Self {
        Self {
            language: Language::En,
            tools: Vec::new(),
            offload: OffloadConfig {
                enabled: true,
                tokens: DEFAULT_TOKENS,
                path: DEFAULT_OFFLOAD_PATH.to_owned(),
                tools: Vec::new(),
            },
            time_ms: DEFAULT_TIME_MS,
            argument_bytes: DEFAULT_ARGUMENT_BYTES,
            result_bytes: DEFAULT_RESULT_BYTES,
        }
    }
}

/// The tools of one configuration.
pub struct Toolbox {
    config: Config,
    offered: Vec<Offered>,
    /// Whether there are tools that change files, offered or not.
    writable: bool,
}

impl Toolbox {
    /// Checks the configuration in full and makes a toolbox of `tools`.
    ///
    /// # Errors
    /// Fails with the first field that is wrong.
    pub fn open(tools: &[&'static dyn Tool], config: Config) -> Result<Self, ConfigError> {
        let config = check(config)?;
        let offered = tools.iter().filter_map(|tool| Offered::new(*tool, &config)).collect();
        let writable = tools.iter().any(|tool| !tool.effect().read_only);
        Ok(Self { config, offered, writable })
    }

    /// The tools that are offered, in a fixed order.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let language = self.config.language;
        self.offered
            .iter()
            .map(|offered| {
                let effect = offered.tool.effect();
                let description = offered.description.clone();
                ToolDefinition {
                    name: offered.name.clone(),
                    title: offered.tool.title().get(language).to_owned(),
                    description: description.unwrap_or_else(|| offered.tool.description(language)),
                    input_schema: arguments::schema(&offered.tool.params(), language).to_string(),
                    output_schema: offered.tool.output().to_owned(),
                    read_only: effect.read_only,
                    destructive: effect.destructive,
                    idempotent: effect.idempotent,
                }
            })
            .collect()
    }

    /// A section for a system prompt that says what the tools are for, as they are configured;
    /// empty if none is offered.
    #[must_use]
    pub fn prompt(&self) -> String {
        prompt::section(&self.config, &self.offered, self.writable)
    }

    /// Runs one call. A tool that fails is a result too.
    pub fn call(
        &self,
        reader: &dyn Reader,
        writer: Option<&dyn Writer>,
        call: ToolCall,
    ) -> ToolResult {
        let mut result = self.result(reader, writer, &call);
        let limit = offload::limit(&self.config, &self.offered, &call.tool);
        if limit.is_none_or(|limit| result.text.len() <= limit) {
            return result;
        }
        // A dry run leaves nothing, whatever the size of its result.
        if self.is_dry_run(&call) {
            return result;
        }
        let mut output = self.output(reader, writer, &call.tool, call.call_id.as_deref());
        output.push(result.text.as_bytes());
        if let Some(offloaded) = output.finish(result.is_error).offloaded {
            result.text = offloaded.text;
            if let Some(path) = offloaded.path {
                result.structured = with_field(result.structured, "saved_to", &path);
            }
        }
        result
    }

    /// Begins the result of a call of any tool, to keep what is too large out of a context.
    #[must_use]
    pub fn output<'a>(
        &self,
        reader: &'a dyn Reader,
        writer: Option<&'a dyn Writer>,
        tool: &str,
        call_id: Option<&str>,
    ) -> Output<'a> {
        Output::new(reader, writer, &self.config, &self.offered, tool, call_id)
    }

    fn result(
        &self,
        reader: &dyn Reader,
        writer: Option<&dyn Writer>,
        call: &ToolCall,
    ) -> ToolResult {
        let answer = self.answer(reader, writer, call);
        let tool = call.tool.chars().take(ECHOED_NAME_CHARS).collect();
        let call_id = call.call_id.clone();
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

    fn is_dry_run(&self, call: &ToolCall) -> bool {
        let offered = self.offered.iter().find(|offered| offered.name == call.tool);
        offered.is_some_and(|offered| {
            let params = offered.tool.params();
            Arguments::read(&call.arguments, &params, self.config.argument_bytes)
                .is_ok_and(|arguments| arguments.flag("dry_run"))
        })
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
        let context = Context::new(reader, writer, &self.config, &self.offered, offered);
        let answer = offered
            .tool
            .run(&context, &mut arguments)
            .map_err(|failure| self.with_hint_of_saved_results(failure))?;
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

    /// A saved result that is missing may have been there.
    fn with_hint_of_saved_results(&self, mut failure: Failure) -> Failure {
        let is_saved = failure
            .path
            .as_deref()
            .and_then(|path| path.strip_prefix(self.config.offload.path.as_str()))
            .is_some_and(|rest| rest.starts_with('/'));
        if is_saved && failure.code == Code::NotFound {
            failure
                .message
                .push_str("; saved results are removed when they are old or there is no room");
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{ALL_NAMES, ALL_TOOLS};
    use crate::types::ToolSetting;

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

    #[test]
    fn definitions_are_in_the_language_of_the_configuration() {
        let own = ToolSetting {
            tool: "ls".to_owned(),
            name: None,
            description: Some("Mine.".to_owned()),
            enabled: true,
            tokens: None,
        };
        for language in [Language::En, Language::Zh] {
            let config = Config { language, tools: vec![own.clone()], ..Config::default() };
            let toolbox = Toolbox::open(ALL_TOOLS, config).expect("a good one");
            for (definition, tool) in toolbox.definitions().into_iter().zip(ALL_TOOLS) {
                assert_eq!(definition.title, tool.title().get(language));
                let schema = arguments::schema(&tool.params(), language).to_string();
                assert_eq!(definition.input_schema, schema);
                let description = match tool.name() {
                    "ls" => "Mine.".to_owned(),
                    _ => tool.description(language),
                };
                assert_eq!(definition.description, description);
            }
        }
    }
}
