//! Reads the JSON of arguments: size and depth are checked before anything is built, and a key
//! that is given twice is an error.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::failure::{Code, Failure};
use crate::limits::MAX_ARGUMENT_DEPTH;

/// Refuses arguments that are too long.
pub(super) fn check_size(text: &str, max_bytes: u64) -> Result<(), Failure> {
    let bytes = text.len() as u64;
    if bytes <= max_bytes {
        return Ok(());
    }
    Err(Failure::new(
        Code::TooLarge,
        format!("the arguments have {bytes} bytes, and {max_bytes} are allowed; send less at once"),
    ))
}

/// Reads an object, or a string that holds an object.
pub(super) fn read_object(text: &str, max_bytes: u64) -> Result<Map<String, Value>, Failure> {
    check_size(text, max_bytes)?;
    match read(text)? {
        Value::Object(object) => Ok(object),
        Value::String(inner) => match read(&inner)? {
            Value::Object(object) => Ok(object),
            other => Err(no_object(&other)),
        },
        other => Err(no_object(&other)),
    }
}

/// Reads a value within the bounds of arguments; none if it is malformed.
pub(super) fn read_value(text: &str) -> Option<Value> {
    read(text).ok()
}

fn no_object(value: &Value) -> Failure {
    Failure::invalid(format!("the arguments must be a JSON object, got {}", super::describe(value)))
}

fn read(text: &str) -> Result<Value, Failure> {
    if let Some(at) = too_deep(text) {
        return Err(Failure::invalid(format!(
            "the arguments nest deeper than {MAX_ARGUMENT_DEPTH} levels at byte {at}"
        )));
    }
    serde_json::from_str::<Strict>(text)
        .map(|value| value.0)
        .map_err(|error| Failure::invalid(format!("the arguments are not valid JSON: {error}")))
}

/// Where the text nests too deep; none if it does not.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_ARGUMENT_DEPTH {
                    return Some(at);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// A JSON value without a key that is given twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::from(n))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(Value::from(n))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
        Ok(Number::from_f64(n).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Strict>()? {
            list.push(item.0);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = entries.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!(
                    "the key {} is given twice",
                    super::repeat(&key)
                )));
            }
            object.insert(key, value.0);
        }
        Ok(Value::Object(object))
    }
}
