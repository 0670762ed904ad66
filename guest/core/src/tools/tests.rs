//! What the tools say about themselves.

use std::collections::BTreeSet;

use super::*;
use crate::arguments;
use crate::limits::{
    DEFAULT_ENTRIES, DEFAULT_MATCHES, DEFAULT_READ_LINES, DIFF_CHARS, GREP_LINE_CHARS,
    MAX_IMAGE_BYTES, READ_LINE_CHARS,
};
use crate::text::size;

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// The descriptions in a schema, however deep.
fn descriptions(schema: &serde_json::Value, found: &mut Vec<String>) {
    match schema {
        serde_json::Value::Object(object) => {
            if let Some(text) = object.get("description").and_then(|text| text.as_str()) {
                found.push(text.to_owned());
            }
            object.values().for_each(|value| descriptions(value, found));
        }
        serde_json::Value::Array(items) => {
            items.iter().for_each(|item| descriptions(item, found));
        }
        _ => {}
    }
}

/// Everything a tool says in a language.
fn texts(tool: &dyn Tool, language: Language) -> Vec<String> {
    let mut texts = vec![
        tool.title().get(language).to_owned(),
        tool.hint().get(language).to_owned(),
        tool.description(language),
    ];
    let before = texts.len();
    let params = tool.params();
    descriptions(&arguments::schema(&params, language), &mut texts);
    assert!(texts.len() >= before + params.len(), "an argument of {} is bare", tool.name());
    texts
}

/// The words of a text that are spelt as code is: they have an underscore.
fn code_words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.trim_matches('_').contains('_'))
        .collect()
}

fn numbers(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn everything_is_said_in_both_languages() {
    for tool in ALL_TOOLS {
        let (en, zh) = (texts(*tool, Language::En), texts(*tool, Language::Zh));
        assert_eq!(en.len(), zh.len(), "{}", tool.name());
        for (en, zh) in en.iter().zip(&zh) {
            assert!(!en.is_empty() && en.is_ascii(), "{en}");
            assert!(zh.chars().any(is_chinese), "{zh}");
            let tidy = |text: &str| text == text.trim() && !text.contains("  ");
            assert!(tidy(en) && tidy(zh) && !zh.contains('\n'), "{en}\n{zh}");
            let in_a_row = zh
                .split(|c: char| !c.is_ascii_lowercase() && c != ' ')
                .map(|run| run.split(' ').filter(|word| !word.is_empty()).count())
                .max();
            assert!(in_a_row < Some(3), "English in {zh}");
            assert_eq!(numbers(en), numbers(zh), "{en}\n{zh}");
            assert_eq!(code_words(en), code_words(zh), "{en}\n{zh}");
        }
    }
}

#[test]
fn hints_are_clauses_and_descriptions_are_sentences() {
    for tool in ALL_TOOLS {
        for language in [Language::En, Language::Zh] {
            let hint = tool.hint().get(language);
            assert!(!hint.ends_with(['.', '。']), "{hint}");
            let description = tool.description(language);
            assert!(description.ends_with(['.', '。']), "{description}");
        }
    }
}

#[test]
fn descriptions_state_the_numbers_that_hold() {
    let image = size(MAX_IMAGE_BYTES);
    let cases: [(&str, &[&str]); 5] = [
        ("ls", &[&DEFAULT_ENTRIES.to_string()]),
        ("read_file", &[&DEFAULT_READ_LINES.to_string(), &READ_LINE_CHARS.to_string(), &image]),
        ("edit_file", &[&DIFF_CHARS.to_string()]),
        ("glob", &[&DEFAULT_ENTRIES.to_string()]),
        ("grep", &[&DEFAULT_MATCHES.to_string(), &GREP_LINE_CHARS.to_string()]),
    ];
    for (name, wanted) in cases {
        let tool = ALL_TOOLS.iter().find(|tool| tool.name() == name).expect("it is there");
        for language in [Language::En, Language::Zh] {
            let description = tool.description(language);
            for number in wanted {
                let found = description.split(number).collect::<Vec<_>>();
                let whole = found.windows(2).any(|pair| {
                    !pair[0].ends_with(|c: char| c.is_ascii_digit())
                        && !pair[1].starts_with(|c: char| c.is_ascii_digit())
                });
                assert!(whole, "{name} does not say {number}: {description}");
            }
        }
    }
}

#[test]
fn texts_name_arguments_that_there_are_and_no_tool() {
    for tool in ALL_TOOLS {
        let schema = arguments::schema(&tool.params(), Language::En);
        let mut known = Vec::new();
        names(&schema, &mut known);
        for language in [Language::En, Language::Zh] {
            for text in texts(*tool, language) {
                for word in code_words(&text) {
                    assert!(known.iter().any(|name| name == word), "{word}: {text}");
                }
            }
        }
    }
}

/// The names of arguments and the words they take, however deep.
fn names(schema: &serde_json::Value, found: &mut Vec<String>) {
    match schema {
        serde_json::Value::Object(object) => {
            if let Some(properties) = object.get("properties").and_then(|value| value.as_object()) {
                found.extend(properties.keys().cloned());
            }
            if let Some(words) = object.get("enum").and_then(|value| value.as_array()) {
                found.extend(words.iter().filter_map(|word| word.as_str().map(str::to_owned)));
            }
            object.values().for_each(|value| names(value, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}
