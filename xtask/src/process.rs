//! Running other programs, and naming them so that a reader can run them too.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, anyhow};

/// Runs `command` on this terminal; any end but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = describe(command);
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if status.success() { Ok(()) } else { Err(anyhow!("`{shown}` failed ({status})")) }
}

/// Runs `command` without input and collects what it prints, however it ends.
pub(crate) fn capture(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", describe(command)))
}

/// The same, with a file as its input.
pub(crate) fn capture_from(command: &mut Command, input: &Path) -> Result<Output> {
    let file = File::open(input).with_context(|| format!("cannot open {}", input.display()))?;
    command
        .stdin(Stdio::from(file))
        .output()
        .with_context(|| format!("cannot start `{}`", describe(command)))
}

/// All that a finished program printed, standard output first.
pub(crate) fn printed(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

/// `command` as a shell would take it, with the variables that were set for it.
pub(crate) fn describe(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), quote(&value?.to_string_lossy())))
    });
    let program = quote(&command.get_program().to_string_lossy());
    let arguments = command.get_args().map(|word| quote(&word.to_string_lossy()));
    variables.chain([program]).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// `word` quoted for a shell where that is needed.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{Command, describe, quote};

    #[test]
    fn only_words_that_need_it_are_quoted() {
        assert_eq!(quote("--root=a/b"), "--root=a/b");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("**/*.rs"), "'**/*.rs'");
        assert_eq!(quote("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_description_shows_what_was_set_and_not_what_was_removed() {
        let mut command = Command::new("cargo");
        command.args(["doc", "a b"]).env("RUSTDOCFLAGS", "-D warnings").env_remove("OTHER");
        assert_eq!(describe(&command), "RUSTDOCFLAGS='-D warnings' cargo doc 'a b'");
    }
}
