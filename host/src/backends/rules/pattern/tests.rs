use super::*;

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

#[test]
fn patterns_match_from_the_root() {
    for (text, path, matches) in [
        ("/secrets/**", "secrets", true),
        ("/secrets/**", "secrets/a/.b", true),
        ("/secrets/**", "secrets2", false),
        ("/secrets/**", "secrets2/a", false),
        ("/secrets/**", "a/secrets", false),
        ("/secrets/**", "Secrets", false),
        ("/secrets", "secrets", true),
        ("/secrets", "secrets/a", false),
        ("/secrets/*", "secrets", false),
        ("/secrets/**/*", "secrets", false),
        ("/**/.env", ".env", true),
        ("/**/.env", "a/b/.env", true),
        ("/*.pem", "a.pem", true),
        ("/*.pem", "a/a.pem", false),
        ("/**", "a", true),
        ("/**", ".a/b", true),
        ("/{a,b}/**", "a", true),
        ("/{a/**,b}", "a", true),
        ("/{a/**,b}", "a/x", true),
        ("/{a/**,b}", "b", true),
        ("/{a/**,b}/c", "a/c", false),
        ("/{a/**,b}/c", "a/x/c", true),
        ("/{x,{a/**,b}}", "a", true),
        ("/{x,{a/**,b}/c}", "a/c", false),
        ("/a/**/**", "a", true),
        ("/a/***", "a", true),
        ("/[a/]b/**", "ab", true),
        ("/a\\{/**", "a{", true),
        ("/[}]/**", "}", true),
        ("/é?/**", "éé", true),
    ] {
        assert_eq!(pattern(text).matches(path), matches, "{text} and {path}");
    }
}

#[test]
fn what_may_match_beneath_is_never_denied() {
    for (text, dir, may) in [
        ("/a/b", "", true),
        ("/a/b", "a", true),
        ("/a/b", "a/b", false),
        ("/a/b", "b", false),
        ("/a/**", "a", true),
        ("/a/**", "a/b/c", true),
        ("/a/**", "b", false),
        ("/**/x", "a/b", true),
        ("/*/x", "a", true),
        ("/*/x", "a/b", false),
        ("/a?/x", "ab", true),
        ("/a?/x", "b", false),
        ("/{a,b}/x", "c", false),
        ("/{a,b}/x", "b", true),
        // A brace over a slash cannot be told apart.
        ("/{a/b,c}/x", "q", true),
        ("/x{**,y}/z", "q", true),
        ("/a\\/b/c", "q", true),
        ("/a/{b/c,d}", "q", false),
    ] {
        assert_eq!(pattern(text).may_match_beneath(dir), may, "{text} beneath {dir:?}");
    }
}

#[test]
fn what_could_match_no_path_is_refused() {
    for (text, part) in [
        ("", "must start with /"),
        ("secrets/**", "must start with /, as in `/secrets/**`"),
        ("**", "must start with /"),
        ("./a", "must start with /"),
        ("/", "empty part"),
        ("//a", "empty part"),
        ("/a//b", "empty part"),
        ("/./a", "a . part"),
        ("/a/.", "a . part"),
        ("/a/", "use `/a/**`"),
        ("/a/../b", ".."),
        ("/[a", "malformed at character 2"),
        ("/{a", "malformed at character 2"),
        ("/a\0", "NUL"),
    ] {
        let why = Pattern::new(text).expect_err(text);
        assert!(why.contains(part), "{text}: {why}");
    }
}
