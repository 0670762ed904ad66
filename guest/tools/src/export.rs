//! The exports of the component.

use std::cell::RefCell;

use handhold_core::backend::Writer;
use handhold_core::offload::Output as Rule;
use handhold_core::toolbox::Toolbox as Tools;
use handhold_core::tools;
use handhold_core::types::{
    Config, ConfigError, Media, OutputEnd, ToolCall, ToolDefinition, ToolResult,
};

use crate::backend::Imports;
use crate::bindings::exports::handhold::fs::results::{self, GuestOutput, Output};
use crate::bindings::exports::handhold::fs::tools::{Guest, GuestToolbox, Toolbox};

#[cfg(feature = "write")]
const TOOLS: &[&dyn tools::Tool] = tools::ALL_TOOLS;
#[cfg(not(feature = "write"))]
const TOOLS: &[&dyn tools::Tool] = tools::READ_TOOLS;

#[cfg(feature = "write")]
const WRITER: Option<&dyn Writer> = Some(&Imports);
#[cfg(not(feature = "write"))]
const WRITER: Option<&dyn Writer> = None;

/// The component.
pub(crate) struct Component;

impl Guest for Component {
    type Toolbox = OpenToolbox;
}

/// A toolbox in the component's table.
pub(crate) struct OpenToolbox(Tools);

impl GuestToolbox for OpenToolbox {
    fn open(config: Config) -> Result<Toolbox, ConfigError> {
        Tools::open(TOOLS, config).map(|tools| Toolbox::new(Self(tools)))
    }

    fn definitions(&self) -> Vec<ToolDefinition> {
        self.0.definitions()
    }

    fn prompt(&self) -> String {
        self.0.prompt()
    }

    fn call(&self, call: ToolCall) -> ToolResult {
        self.0.call(&Imports, WRITER, call)
    }
}

impl results::Guest for Component {
    type Output = OpenOutput;
}

/// A result in the component's table; none once it has ended.
pub(crate) struct OpenOutput(RefCell<Option<Rule<'static>>>);

impl GuestOutput for OpenOutput {
    fn open(config: Config, tool: String, call_id: Option<String>) -> Result<Output, ConfigError> {
        let tools = Tools::open(TOOLS, config)?;
        let rule = tools.output(&Imports, WRITER, &tool, call_id.as_deref());
        Ok(Output::new(Self(RefCell::new(Some(rule)))))
    }

    fn push(&self, text: Vec<u8>) -> Vec<u8> {
        self.0.borrow_mut().as_mut().map(|rule| rule.push(&text)).unwrap_or_default()
    }

    fn next_block(&self) {
        if let Some(rule) = self.0.borrow_mut().as_mut() {
            rule.next_block();
        }
    }

    fn media(&self, media: Media) -> Option<String> {
        self.0.borrow_mut().as_mut().and_then(|rule| rule.media(&media))
    }

    fn finish(&self, is_error: bool) -> OutputEnd {
        match self.0.take() {
            Some(rule) => rule.finish(is_error),
            None => OutputEnd { rest: Vec::new(), offloaded: None },
        }
    }
}
