//! `handhold tools`: the definitions for a model.

use std::process::ExitCode;

use anyhow::Result;
use handhold::ToolDefinition;
use serde_json::{Value, json};

use crate::args::{Format, ToolsArgs};
use crate::output;
use crate::workspace::Hands;

pub(crate) fn run(args: ToolsArgs) -> Result<ExitCode> {
    let hands = Hands::new(&args.workspace, 0)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let definitions = runtime.block_on(hands.toolbox.definitions(hands.access()))?;
    let tools: Vec<Value> = definitions
        .iter()
        .map(|definition| match args.format {
            Format::Mcp => mcp(definition),
            Format::Openai => openai(definition),
            Format::Anthropic => anthropic(definition),
        })
        .collect::<Result<_>>()?;
    let document = match args.format {
        Format::Mcp => json!({ "tools": tools }),
        Format::Openai | Format::Anthropic => Value::Array(tools),
    };
    output::line(&serde_json::to_string_pretty(&document)?)?;
    Ok(ExitCode::SUCCESS)
}

fn schema(text: &str) -> Result<Value> {
    Ok(serde_json::from_str(text)?)
}

fn mcp(tool: &ToolDefinition) -> Result<Value> {
    Ok(json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": schema(&tool.input_schema)?,
        "outputSchema": schema(&tool.output_schema)?,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": false,
        },
    }))
}

fn openai(tool: &ToolDefinition) -> Result<Value> {
    Ok(json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": schema(&tool.input_schema)?,
        },
    }))
}

fn anthropic(tool: &ToolDefinition) -> Result<Value> {
    Ok(json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": schema(&tool.input_schema)?,
    }))
}
