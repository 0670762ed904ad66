use super::*;

fn rule(mode: Mode, operations: &[Operation], paths: &[&str]) -> Rule {
    let paths = paths.iter().map(|&path| path.to_owned()).collect();
    Rule { operations: operations.to_vec(), paths, mode }
}

const READ: &[Operation] = &[Operation::Read];
const BOTH: &[Operation] = &[Operation::Read, Operation::Write];

fn allows(set: &RuleSet, operation: Operation, path: &str) -> bool {
    set.allows(operation, &WorkspacePath::parse(path).unwrap())
}

#[test]
fn the_first_rule_that_matches_wins() {
    let set = RuleSet::new(vec![
        rule(Mode::Allow, READ, &["/secrets/public/**"]),
        rule(Mode::Deny, BOTH, &["/secrets/**", "/**/.env"]),
        rule(Mode::Allow, BOTH, &["/secrets/late"]),
    ])
    .unwrap();
    for (path, reads, writes) in [
        ("/", true, true),
        ("/a", true, true),
        ("/secrets", false, false),
        ("/secrets/a", false, false),
        ("/secrets/late", false, false),
        ("/secrets/public", true, false),
        ("/secrets/public/a/b", true, false),
        ("/secrets/public/.env", true, false),
        ("/secrets2", true, true),
        ("/a/.env", false, false),
        ("/a/.env/b/c", false, false),
    ] {
        assert_eq!(allows(&set, Operation::Read, path), reads, "{path}");
        assert_eq!(allows(&set, Operation::Write, path), writes, "{path}");
    }
}

#[test]
fn what_no_rule_matches_is_what_its_directory_is() {
    let set = RuleSet::new(vec![
        rule(Mode::Deny, READ, &["/a"]),
        rule(Mode::Allow, READ, &["/a/b"]),
        rule(Mode::Deny, READ, &["/a/b/c"]),
    ])
    .unwrap();
    for (path, reads) in
        [("/a", false), ("/a/x", false), ("/a/b", true), ("/a/b/x/y", true), ("/a/b/c/x", false)]
    {
        assert_eq!(allows(&set, Operation::Read, path), reads, "{path}");
        assert!(allows(&set, Operation::Write, path));
    }
    let path = |path| WorkspacePath::parse(path).unwrap();
    assert!(set.may_allow_beneath(Operation::Read, &path("/a")));
    assert!(!set.may_allow_beneath(Operation::Read, &path("/a/b")));
    assert!(set.may_deny_beneath(Operation::Read, &path("/a/b")));
    assert!(!set.may_deny_beneath(Operation::Read, &path("/b")));
    assert!(!set.may_deny_beneath(Operation::Write, &path("/")));
    assert!(!set.denies_some(Operation::Write) && set.denies_some(Operation::Read));
    // A file is no way to anything.
    assert!(!set.hides("a", FileKind::Directory) && set.hides("a", FileKind::File));
    assert!(set.hides("a", FileKind::Link));
    assert!(set.hides("a/b/c", FileKind::Directory) && !set.hides("a/b", FileKind::File));
}

#[test]
fn what_is_wrong_is_named() {
    let good = || rule(Mode::Deny, BOTH, &["/a"]);
    for (bad, field) in [
        (rule(Mode::Deny, &[], &["/a"]), "rules[1].operations"),
        (rule(Mode::Deny, READ, &[]), "rules[1].paths"),
        (rule(Mode::Deny, READ, &["/a", "b"]), "rules[1].paths[1]"),
        (rule(Mode::Deny, READ, &["/[a"]), "rules[1].paths[0]"),
    ] {
        let error = RuleSet::new(vec![good(), bad]).expect_err(field);
        assert_eq!(error.field, field);
        assert!(error.to_string().starts_with(&format!("`{field}` ")), "{error}");
        assert!(!error.to_string().contains('\n'));
    }
}

#[test]
fn rules_are_read_as_they_are_configured() {
    #[derive(serde::Deserialize)]
    struct File {
        rules: Vec<Rule>,
    }
    let text =
        "[[rules]]\noperations = [\"read\", \"write\"]\npaths = [\"/s/**\"]\nmode = \"deny\"";
    let file: File = toml::from_str(text).unwrap();
    assert_eq!(file.rules, [rule(Mode::Deny, BOTH, &["/s/**"])]);
    assert!(toml::from_str::<File>(&text.replace("mode", "mod")).is_err());
    assert!(toml::from_str::<File>(&text.replace("\"deny\"", "\"Deny\"")).is_err());
}
