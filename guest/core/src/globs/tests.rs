use super::*;

#[test]
fn forms() {
    let form = |pattern| parse(pattern).map(|p| (p.text, p.scope, p.is_literal));
    assert_eq!(form("*.rs"), Ok(("*.rs".to_owned(), GlobScope::Name, false)));
    assert_eq!(form("./a/*.rs"), Ok(("a/*.rs".to_owned(), GlobScope::Relative, false)));
    assert_eq!(form("./a"), Ok(("a".to_owned(), GlobScope::Name, true)));
    assert_eq!(form("/a/b.rs"), Ok(("a/b.rs".to_owned(), GlobScope::Absolute, true)));
    assert_eq!(form("//a"), Ok(("a".to_owned(), GlobScope::Absolute, true)));
    assert_eq!(form("[...slug].tsx").map(|f| f.2), Ok(false));
    assert_eq!(form("a...b").map(|f| f.2), Ok(true));
}

#[test]
fn malformed_patterns_name_the_position() {
    for (pattern, at) in
        [("[foo", 1), ("a{b", 2), ("{a,b", 1), ("[z-a]", 3), ("a\\", 2), ("é}", 2), ("/x/[", 4)]
    {
        let error = parse(pattern).expect_err(pattern);
        assert!(error.contains(&format!("at character {at}:")), "{error}");
    }
    for pattern in ["", "a/", "/", ".", "./", "../*", "a/../b", "~/*", "a\0"] {
        assert!(parse(pattern).is_err(), "{pattern:?}");
    }
    for pattern in ["[]a]", "[!]]", "[a-]", "[-a]", "**a", "{a,{b,c}}", "{,a}", "[[]slug]"] {
        assert!(parse(pattern).is_ok(), "{pattern}");
    }
}

#[cfg(feature = "backend")]
mod rules {
    use super::super::GlobRule;

    fn matches(pattern: &str, base: &str, path: &str) -> bool {
        GlobRule::new(pattern, base).expect("a pattern").matches(path)
    }

    #[test]
    fn names_match_at_any_depth_and_paths_from_the_base() {
        assert!(matches("*.md", "", "a/b.md"));
        assert!(matches("**/*.md", "", "b.md") && matches("**/b", "", "b"));
        assert!(matches("a/*.md", "", "a/b.md"));
        assert!(!matches("a/*.md", "", "a/c/b.md"));
        assert!(matches("a/*.md", "x", "x/a/b.md"));
        assert!(!matches("a/*.md", "x", "a/b.md"));
        assert!(!matches("*.md", "x/y", "x/y/b.txt"));
        assert!(matches("/x/*.md", "x", "x/b.md"));
        assert!(matches("**a", "", "q/bca"));
        assert!(matches("app/[[]slug]/*.tsx", "", "app/[slug]/page.tsx"));
        assert!(matches(".env", "", "a/.env") && matches("*", "", ".env"));
        assert!(!matches("a*", "", "A1"));
        assert!(matches("{a,b c}/*", "", "b c/x"));
        assert!(matches("[!a]b", "", "cb") && !matches("[!a]b", "", "ab"));
        assert!(matches("a/**", "", "a/b/c") && !matches("a/**", "", "a"));
        assert!(matches("a/**/b", "", "a/b") && matches("a/**/b", "", "a/x/y/b"));
        assert!(matches("**/a/**/b", "", "a/x/b") && !matches("**/b", "", "ab"));
        assert!(matches("{**/x,y}/z", "", "a/x/z") && matches("{**/x,y}/z", "", "y/z"));
        assert!(matches("?", "", "é") && matches("[é]", "", "é") && !matches("?", "", "ab"));
        assert!(
            matches("[a-c-]", "", "-") && matches("[--/]x", "", ".x") && matches("[]a]", "", "]")
        );
        assert!(!matches("a[!b]c", "", "a/c") && !matches("a[/]c", "", "a/c"));
        assert!(matches("a\\*b", "", "a*b") && !matches("a\\*b", "", "axb"));
    }

    #[test]
    fn a_pattern_that_grows_out_of_bounds_is_an_error() {
        let pattern = "{a,b}".repeat(800);
        assert!(GlobRule::new(&pattern, "").is_ok_and(|rule| !rule.matches("x")));
    }
}
