//! The export of the component.

use handhold_core::backend::Writer;
use handhold_core::toolbox::Toolbox as Tools;
use handhold_core::tools;
use handhold_core::types::{Config, ConfigError, ToolCall, ToolDefinition, ToolResult};

use crate::backend::Imports;
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

    fn call(&self, call: ToolCall) -> ToolResult {
        self.0.call(&Imports, WRITER, call)
    }
}
