//! A pattern of a rule.

use handhold_core::globs::GlobRule;

/// A pattern of paths, from the root.
#[derive(Debug)]
pub(super) struct Pattern {
    whole: GlobRule,
    /// What a pattern that ends with `/**` is without that: it is about the directory itself too.
    itself: Vec<GlobRule>,
    /// The pattern of each name of a path, as far as they can be told apart.
    names: Vec<Name>,
}

/// What a part of a pattern between two slashes matches.
#[derive(Debug)]
enum Name {
    /// One name.
    One(GlobRule),
    /// Any number of names, or a part that cannot be told apart from those behind it.
    Many,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// Fails with what is wrong with it.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let Some(relative) = text.strip_prefix('/') else {
            return Err(format!("must start with /, as in `/{}`", text.escape_debug()));
        };
        if let Some(directory) = relative.strip_suffix('/').filter(|text| !text.is_empty()) {
            let directory = directory.escape_debug();
            return Err(format!("must not end with /; use `/{directory}/**` for all beneath"));
        }
        if relative.split('/').any(|part| matches!(part, "" | ".")) {
            return Err("has an empty part or a . part, so that no path matches it".to_owned());
        }
        let whole = GlobRule::new(text, "").map_err(|why| format!("is no pattern: {why}"))?;
        let mut itself = Vec::new();
        let mut form = relative.to_owned();
        while let Some(shorter) = without_last_stars(&form) {
            let rule = GlobRule::new(&format!("/{shorter}"), "");
            itself.push(rule.map_err(|why| format!("is no pattern: {why}"))?);
            form = shorter;
        }
        let names = relative.split('/').map(|part| match GlobRule::new(part, "") {
            Ok(rule) if !part.contains("**") => Name::One(rule),
            // A part with one half of a pair of braces, say.
            _ => Name::Many,
        });
        Ok(Self { whole, itself, names: names.collect() })
    }

    /// Whether the pattern matches a path, which has no leading slash and is not the root.
    pub(super) fn matches(&self, path: &str) -> bool {
        self.whole.matches(path) || self.itself.iter().any(|rule| rule.matches(path))
    }

    /// Whether the pattern can match any path beneath the directory `dir`, itself not among them.
    /// It may be said that it can where it cannot, never the other way round.
    pub(super) fn may_match_beneath(&self, dir: &str) -> bool {
        let mut names = self.names.iter();
        for name in dir.split('/').filter(|name| !name.is_empty()) {
            match names.next() {
                None => return false,
                Some(Name::Many) => return true,
                Some(Name::One(rule)) if !rule.matches(name) => return false,
                Some(Name::One(_)) => {}
            }
        }
        names.next().is_some()
    }
}

/// A pattern without each `/**` that it may end with; none if there is none, or nothing remains.
fn without_last_stars(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len());
    let mut depth = 0_usize;
    let mut rest = pattern;
    while let Some(token) = token(rest) {
        let behind = rest.get(token.len()..).unwrap_or_default();
        match token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "/" => {
                let after = behind.trim_start_matches('*');
                if behind.len() - after.len() >= 2 && is_end(after, depth) {
                    rest = after;
                    continue;
                }
            }
            _ => {}
        }
        out.push_str(token);
        rest = behind;
    }
    (out.len() < pattern.len() && !out.is_empty()).then_some(out)
}

/// Whether a path may end before `rest`, which stands within `depth` pairs of braces.
fn is_end(mut rest: &str, depth: usize) -> bool {
    for _ in 0..depth {
        // What remains of the pair: its other alternatives.
        let mut inner = 0_usize;
        if !rest.starts_with([',', '}']) {
            return false;
        }
        while let Some(token) = token(rest) {
            rest = rest.get(token.len()..).unwrap_or_default();
            match token {
                "{" => inner += 1,
                "}" if inner == 0 => break,
                "}" => inner -= 1,
                _ => {}
            }
        }
    }
    rest.is_empty()
}

/// What a pattern begins with that stands together: a character, one that is escaped, or a class.
/// The pattern has the right form.
fn token(pattern: &str) -> Option<&str> {
    let first = pattern.chars().next()?;
    let length = match first {
        '\\' => pattern.chars().take(2).map(char::len_utf8).sum(),
        '[' => {
            let members = pattern.get(1..)?;
            let negation = usize::from(members.starts_with(['!', '^']));
            // The first member can be a bracket.
            let first = members.get(negation..)?.chars().next()?.len_utf8();
            let start = 1 + negation + first;
            start + pattern.get(start..)?.find(']')? + 1
        }
        _ => first.len_utf8(),
    };
    pattern.get(..length)
}

#[cfg(test)]
mod tests;
