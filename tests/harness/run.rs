//! Runs one case on one front end.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use handhold::Media;

use crate::case::{After, Block, Case, Content, Step};
use crate::front_ends::{Answer, FrontEnd, Handed, HandedBlock};
use crate::world::{Item, Snapshot, World};

/// Runs a case.
///
/// # Errors
/// Fails with what differs from the case.
pub fn run(case: &Case, front_end: &dyn FrontEnd) -> Result<()> {
    let (world, mut session) = front_end.open(case)?;
    world.plant(case);
    let before = (world.snapshot(), world.directory().shared());
    let mut saved = BTreeMap::new();
    for (number, step) in case.steps.iter().enumerate() {
        let named = || format!("step {}: {}", number + 1, step.tool);
        let answer = match handed(step).with_context(named)? {
            Some(handed) => session.hand_over(&handed),
            None => {
                let call_id = step.call_id.as_deref().unwrap_or("call");
                arguments(step, &saved).and_then(|args| session.call(&step.tool, &args, call_id))
            }
        };
        let answer = answer.with_context(named)?;
        compare(step, &answer, &world)
            .with_context(|| format!("the answer was {}", describe(&answer)))
            .with_context(named)?;
        for (key, name) in &step.save {
            let value = answer.structured.get(key).context("no such key to save")?;
            saved.insert(format!("{{{name}}}"), value.clone());
        }
    }
    drop(session);
    world.directory().check_outside();
    let (after, shared) = (world.snapshot(), world.directory().shared());
    if case.unchanged {
        ensure!(after == before.0, "the workspace is not as it was planted: {after:?}");
        ensure!(shared == before.1, "what is shared is not as it was planted: {shared:?}");
    }
    if let Some(tree) = &case.tree {
        let mut tree = tree.clone();
        tree.sort();
        let paths: Vec<&String> = after.0.keys().collect();
        ensure!(paths == tree.iter().collect::<Vec<_>>(), "the files are {paths:?}");
    }
    check_files(&case.after, &after)?;
    check_files(&case.after_shared, &shared).context("in what is shared")?;
    for (path, mode) in &case.after_modes {
        match after.0.get(path) {
            Some(Item::File(_, found)) => {
                ensure!(found == mode, "{path} has the mode {found:o} and not {mode:o}");
            }
            other => bail!("{path} is {other:?}"),
        }
    }
    for (path, target) in &case.after_links {
        let target = world.expand(target);
        match after.0.get(path) {
            Some(Item::Link(found)) => ensure!(*found == target, "{path} holds {found}"),
            other => bail!("{path} is {other:?}"),
        }
    }
    Ok(())
}

/// Checks that files are as they must be.
fn check_files(wanted: &BTreeMap<String, After>, found: &Snapshot) -> Result<()> {
    for (path, expected) in wanted {
        let found = found.0.get(path.trim_start_matches('/'));
        match (expected, found) {
            (After::Absent { .. }, None) => {}
            (After::Absent { .. }, Some(_)) => bail!("{path} should not be there"),
            (After::Content(content), Some(Item::File(bytes, _))) => {
                let wanted = content.bytes();
                ensure!(
                    *bytes == wanted,
                    "{path} is {} and not {}",
                    shorten(bytes),
                    shorten(&wanted)
                );
            }
            (After::Content(_), other) => bail!("{path} is {other:?}"),
        }
    }
    Ok(())
}

/// What a step hands over; none if it is a call.
fn handed(step: &Step) -> Result<Option<Handed<'_>>> {
    let text = |content: &Content| HandedBlock::Text(content.bytes());
    let blocks = match (&step.result, &step.blocks) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => bail!("a step has a result or blocks, not both"),
        (Some(content), None) => vec![text(content)],
        (None, Some(blocks)) => blocks
            .iter()
            .map(|block| match block {
                Block::Text { text: content } => text(content),
                Block::Media { media, data } => {
                    HandedBlock::Media(Media { media_type: media.clone(), data: data.bytes() })
                }
            })
            .collect(),
    };
    Ok(Some(Handed {
        tool: &step.tool,
        call_id: step.call_id.as_deref(),
        is_error: step.failed,
        blocks,
        pieces: step.pieces,
    }))
}

fn arguments(step: &Step, saved: &BTreeMap<String, Value>) -> Result<String> {
    if let Some(raw) = &step.raw_args {
        return Ok(raw.clone());
    }
    let mut arguments = match &step.args {
        Some(args) => serde_json::to_value(args)?,
        None => Value::Object(serde_json::Map::new()),
    };
    let object = arguments.as_object_mut().context("args is a table")?;
    for value in object.values_mut() {
        if let Some(known) = value.as_str().and_then(|text| saved.get(text)) {
            *value = known.clone();
        }
    }
    for (key, content) in &step.make_arg {
        object.insert(key.clone(), Value::String(String::from_utf8(content.bytes())?));
    }
    Ok(arguments.to_string())
}

fn compare(step: &Step, answer: &Answer, world: &World) -> Result<()> {
    if step.result.is_some() || step.blocks.is_some() {
        ensure!(answer.is_error == step.failed, "is_error is {}", answer.is_error);
    } else {
        let code = answer.structured.pointer("/error/code").and_then(Value::as_str);
        ensure!(
            answer.is_error == code.is_some(),
            "is_error is {} and the code {code:?}",
            answer.is_error
        );
        ensure!(code == step.error.as_deref(), "the code is {code:?}, not {:?}", step.error);
        ensure!(!answer.text.is_empty(), "the text is empty");
        if answer.is_error {
            ensure!(answer.text.starts_with("Error: "), "the text does not start with `Error: `");
        }
    }
    // A link's own target is content of the workspace, and shown.
    if !step.text.as_deref().is_some_and(|text| text.contains("{outside}")) {
        let base = world.directory().base().to_string_lossy().into_owned();
        let shown = answer.text.contains(&base) || answer.structured.to_string().contains(&base);
        let links = matches!(step.tool.as_str(), "ls");
        ensure!(links || !shown, "a path of the host is shown");
    }
    if let Some(text) = &step.text {
        let text = world.expand(text);
        ensure!(answer.text == text, "the text is not the expected one:\n{text}\n");
    }
    for part in &step.contains {
        let part = world.expand(part);
        ensure!(answer.text.contains(&part), "the text does not contain {part:?}");
    }
    for part in &step.lacks {
        let part = world.expand(part);
        ensure!(!answer.text.contains(&part), "the text contains {part:?}");
    }
    if let Some(max) = step.max_text_bytes {
        ensure!(answer.text.len() <= max, "the text has {} bytes", answer.text.len());
    }
    if let Some(wanted) = &step.structured {
        let wanted = serde_json::to_value(wanted)?;
        contained(&wanted, &answer.structured, "structured")?;
    }
    for key in &step.has_keys {
        ensure!(answer.structured.get(key).is_some(), "the structured result has no {key}");
    }
    for key in &step.lacks_keys {
        ensure!(answer.structured.get(key).is_none(), "the structured result has {key}");
    }
    Ok(())
}

/// Checks that tables hold at least what is wanted, and everything else is equal.
fn contained(wanted: &Value, found: &Value, place: &str) -> Result<()> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                let place = format!("{place}.{key}");
                let Some(found) = found.get(key) else { bail!("{place} is missing") };
                contained(value, found, &place)?;
            }
            Ok(())
        }
        _ => {
            ensure!(wanted == found, "{place} is {found} and not {wanted}");
            Ok(())
        }
    }
}

fn describe(answer: &Answer) -> String {
    format!(
        "{}\n--- and as JSON ---\n{}",
        shorten(answer.text.as_bytes()),
        shorten(answer.structured.to_string().as_bytes())
    )
}

fn shorten(bytes: &[u8]) -> String {
    const SHOWN: usize = 1500;
    let text = String::from_utf8_lossy(bytes);
    if bytes.len() <= SHOWN {
        return text.into_owned();
    }
    let front: String = text.chars().take(SHOWN / 2).collect();
    let back: Vec<char> = text.chars().rev().take(SHOWN / 2).collect();
    let back: String = back.into_iter().rev().collect();
    format!("{front} … [{} bytes in all] … {back}", bytes.len())
}
