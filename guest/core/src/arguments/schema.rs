//! The JSON Schema of arguments.

use serde_json::{Map, Value, json};

use super::{EDIT_PARAMS, Kind, Param};

/// The schema of an object with these arguments.
pub(super) fn object(params: &[Param]) -> Value {
    let properties: Map<String, Value> =
        params.iter().map(|param| (param.name.to_owned(), property(param))).collect();
    let required: Vec<&str> =
        params.iter().filter(|param| param.required).map(|param| param.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(schema)
}

fn property(param: &Param) -> Value {
    let mut schema = match &param.kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Integer { min, max, default } => {
            let mut schema = json!({ "type": "integer" });
            if *min > -super::MAX_INTEGER {
                schema["minimum"] = json!(min);
            }
            if *max < super::MAX_INTEGER {
                schema["maximum"] = json!(max);
            }
            if let Some(default) = default {
                schema["default"] = json!(default);
            }
            schema
        }
        Kind::Flag { default } => json!({ "type": "boolean", "default": default }),
        Kind::Choice(words) => {
            json!({ "type": "string", "enum": words, "default": words.first() })
        }
        Kind::Edits => json!({ "type": "array", "minItems": 1, "items": object(&EDIT_PARAMS) }),
    };
    schema["description"] = json!(param.description);
    schema
}
