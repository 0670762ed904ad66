//! The JSON Schema of arguments.

use serde_json::{Map, Value, json};

use super::{EDIT_PARAMS, Kind, Param};
use crate::types::Language;

/// The schema of an object with these arguments.
pub(super) fn object(params: &[Param], language: Language) -> Value {
    let properties: Map<String, Value> =
        params.iter().map(|param| (param.name.to_owned(), property(param, language))).collect();
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

fn property(param: &Param, language: Language) -> Value {
    let mut schema = Map::new();
    let mut put = |key: &str, value: Value| schema.insert(key.to_owned(), value);
    match &param.kind {
        Kind::Text => {
            put("type", json!("string"));
        }
        Kind::Integer { min, max, default } => {
            put("type", json!("integer"));
            if *min > -super::MAX_INTEGER {
                put("minimum", json!(min));
            }
            if *max < super::MAX_INTEGER {
                put("maximum", json!(max));
            }
            if let Some(default) = default {
                put("default", json!(default));
            }
        }
        Kind::Flag { default } => {
            put("type", json!("boolean"));
            put("default", json!(default));
        }
        Kind::Choice(words) => {
            put("type", json!("string"));
            put("enum", json!(words));
            put("default", json!(words.first()));
        }
        Kind::Edits => {
            put("type", json!("array"));
            put("minItems", json!(1));
            put("items", object(&EDIT_PARAMS, language));
        }
    }
    put("description", json!(param.description.get(language)));
    Value::Object(schema)
}
