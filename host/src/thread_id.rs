//! Which thread a run is of: one place to look for its id, wherever a run carries it.

use serde_json::{Map, Value};

use crate::backends::IdError;

/// The key of a request's metadata that holds the thread id.
pub const THREAD_METADATA: &str = "handhold/thread";

/// The header of a request that holds the thread id.
pub const THREAD_HEADER: &str = "Handhold-Thread";

/// The places where a run can carry its thread id, by precedence.
///
/// The first place that has something decides, and what it has must be an id: a wrong id is never
/// passed over for the next place. There is a default only if the host has set one on purpose.
/// A tenant is not looked for here: it comes from the authenticated caller alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadPlaces<'a> {
    /// What the caller said in so many words.
    pub explicit: Option<&'a Value>,
    /// The metadata of the request, where [`THREAD_METADATA`] is the key.
    pub metadata: Option<&'a Map<String, Value>>,
    /// The values of the header [`THREAD_HEADER`], as bytes; there must not be two.
    pub headers: &'a [&'a [u8]],
    /// What the host is configured to use without any of these.
    pub default: Option<&'a str>,
}

/// Why a run has no thread.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadIdError {
    /// No place has an id, and there is no default.
    #[error("no thread id was given")]
    Missing,
    /// It is not text.
    #[error("the thread id must be a string, not {0}")]
    NotText(&'static str),
    /// The header is there more than once.
    #[error("there is more than one header {THREAD_HEADER}")]
    TwoHeaders,
    /// It cannot be an id.
    #[error(transparent)]
    Id(#[from] IdError),
}

impl ThreadPlaces<'_> {
    /// Finds the thread id.
    ///
    /// # Errors
    /// Fails if there is none, or if the one that is there cannot be one.
    pub fn find(&self) -> Result<String, ThreadIdError> {
        let metadata = self.metadata.and_then(|metadata| metadata.get(THREAD_METADATA));
        let id = if let Some(value) = self.explicit.or(metadata) {
            text(value)?.to_owned()
        } else if let Some(header) = self.headers.first() {
            if self.headers.len() > 1 {
                return Err(ThreadIdError::TwoHeaders);
            }
            let header = std::str::from_utf8(header);
            header.map_err(|_| ThreadIdError::NotText("bytes that are not UTF-8"))?.to_owned()
        } else {
            self.default.ok_or(ThreadIdError::Missing)?.to_owned()
        };
        IdError::check(&id)?;
        Ok(id)
    }
}

fn text(value: &Value) -> Result<&str, ThreadIdError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Err(ThreadIdError::NotText("null")),
        Value::Bool(_) => Err(ThreadIdError::NotText("a boolean")),
        Value::Number(_) => Err(ThreadIdError::NotText("a number")),
        Value::Array(_) => Err(ThreadIdError::NotText("an array")),
        Value::Object(_) => Err(ThreadIdError::NotText("an object")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_place_that_has_something_decides() {
        let metadata = json!({ "handhold/thread": "meta" });
        let (explicit, metadata) = (json!("said"), metadata.as_object());
        let all = ThreadPlaces {
            explicit: Some(&explicit),
            metadata,
            headers: &[b"head"],
            default: Some("set"),
        };
        assert_eq!(all.find().as_deref(), Ok("said"));
        assert_eq!(ThreadPlaces { explicit: None, ..all }.find().as_deref(), Ok("meta"));
        let header = ThreadPlaces { explicit: None, metadata: None, ..all };
        assert_eq!(header.find().as_deref(), Ok("head"));
        assert_eq!(ThreadPlaces { headers: &[], ..header }.find().as_deref(), Ok("set"));
        assert_eq!(ThreadPlaces::default().find(), Err(ThreadIdError::Missing));
    }

    #[test]
    fn what_is_no_id_is_not_passed_over() {
        for value in [json!(null), json!(7), json!(true), json!(["x"]), json!({})] {
            let places =
                ThreadPlaces { explicit: Some(&value), default: Some("x"), ..Default::default() };
            assert!(matches!(places.find(), Err(ThreadIdError::NotText(_))), "{value}");
        }
        for id in [String::new(), "a\0b".to_owned(), "x".repeat(513)] {
            let value = json!(id);
            let metadata = json!({ "handhold/thread": id });
            let places = [
                ThreadPlaces { explicit: Some(&value), default: Some("x"), ..Default::default() },
                ThreadPlaces {
                    metadata: metadata.as_object(),
                    default: Some("x"),
                    ..Default::default()
                },
                ThreadPlaces {
                    headers: &[id.as_bytes()],
                    default: Some("x"),
                    ..Default::default()
                },
                ThreadPlaces { default: Some(&id), ..Default::default() },
            ];
            for places in places {
                assert!(matches!(places.find(), Err(ThreadIdError::Id(_))), "{places:?}");
            }
        }
        let two = ThreadPlaces { headers: &[b"a", b"a"], ..Default::default() };
        assert_eq!(two.find(), Err(ThreadIdError::TwoHeaders));
        let bytes = ThreadPlaces { headers: &[b"\xff"], ..Default::default() };
        assert!(matches!(bytes.find(), Err(ThreadIdError::NotText(_))));
        assert_eq!(
            ThreadPlaces { default: Some("7"), ..Default::default() }.find().as_deref(),
            Ok("7")
        );
    }
}
