//! The definitions of the tools.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::process::*;

/// Checks a schema of arguments by hand.
fn check_schema(schema: &Value, tool: &str) {
    assert_eq!(schema["type"], "object", "{tool}");
    let properties = schema["properties"].as_object().unwrap();
    for (name, property) in properties {
        assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        assert!(property["type"].is_string() || property["enum"].is_array(), "{tool}: {name}");
    }
    let none = Vec::new();
    for required in schema.get("required").map_or(&none, |list| list.as_array().unwrap()) {
        assert!(properties.contains_key(required.as_str().unwrap()), "{tool}: {required}");
    }
    assert_eq!(schema["additionalProperties"], false, "{tool}");
}

/// The definitions in a format as name, description and schema.
fn definitions(dir: &Path, format: &str, args: &[&str]) -> Vec<(String, String, Value)> {
    let ran = run(dir, &[&["tools", "--format", format], args].concat());
    assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{ran:?}");
    let document = ran.json();
    let list = if format == "mcp" { &document["tools"] } else { &document };
    let tools = list.as_array().unwrap().iter().map(|tool| {
        let (named, schema) = match format {
            "mcp" => {
                assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{tool}");
                assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
                for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                    assert!(tool["annotations"][hint].is_boolean(), "{tool}");
                }
                (tool, "inputSchema")
            }
            "openai" => {
                assert_eq!(tool["type"], "function", "{tool}");
                (&tool["function"], "parameters")
            }
            _ => (tool, "input_schema"),
        };
        let text = |key: &str| named[key].as_str().unwrap().to_owned();
        assert!(!text("description").is_empty(), "{tool}");
        check_schema(&named[schema], &text("name"));
        (text("name"), text("description"), named[schema].clone())
    });
    tools.collect()
}

#[test]
fn definitions_have_the_form_of_their_format() {
    let dir = temp();
    let mcp = definitions(dir.path(), "mcp", &[]);
    let names: Vec<&str> = mcp.iter().map(|(name, ..)| name.as_str()).collect();
    let all =
        ["ls", "read_file", "write_file", "edit_file", "delete_file", "move_file", "glob", "grep"];
    assert_eq!(names, all);
    for format in ["openai", "anthropic"] {
        assert_eq!(definitions(dir.path(), format, &[]), mcp, "{format} says something else");
    }
    assert_eq!(run(dir.path(), &["tools"]).out, run(dir.path(), &["tools", "--format", "mcp"]).out);
    for tool in run(dir.path(), &["tools"]).json()["tools"].as_array().unwrap() {
        let reads = READ_TOOLS.contains(&tool["name"].as_str().unwrap());
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
    }
}

#[test]
fn definitions_are_those_of_the_tools_that_can_be_called() {
    let dir = temp();
    fs::write(
        dir.path().join("config.toml"),
        "[tools.grep]\nname = 'search'\ndescription = 'Finds it.'\n\
         [tools.delete_file]\nenabled = false\n[tools.glob]\nenabled = false\n",
    )
    .unwrap();
    let names = |format: &str, args: &[&str]| -> Vec<String> {
        definitions(dir.path(), format, args).into_iter().map(|(name, ..)| name).collect()
    };
    for format in ["mcp", "openai", "anthropic"] {
        assert_eq!(names(format, &["--read-only"]), READ_TOOLS);
        let all = ["ls", "read_file", "write_file", "edit_file", "move_file", "search"];
        assert_eq!(names(format, &["--config", "config.toml"]), all);
        let configured = ["--config", "config.toml", "--read-only"];
        assert_eq!(names(format, &configured), ["ls", "read_file", "search"]);
        let search = definitions(dir.path(), format, &configured).pop().unwrap();
        assert_eq!(search.1, "Finds it.");
    }
    let call = |tool: &str| {
        let args = ["call", "--json", "--memory", "--config", "config.toml", tool, "-"];
        feed(command(dir.path(), &args), br#"{"pattern": "x"}"#).json()
    };
    assert_eq!(code(&call("search")), "");
    for gone in ["grep", "glob", "delete_file"] {
        assert_eq!(code(&call(gone)), "unknown-tool");
    }
}
