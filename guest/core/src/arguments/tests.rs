use super::*;

const PARAMS: [Param; 5] = [
    Param::file_path(words("a path", "路径")),
    Param::integer("limit", 1, Some(10), words("a limit", "上限")),
    Param::flag("all", false, words("a flag", "开关")),
    Param::choice("mode", &["one", "two"], words("a mode", "模式")),
    Param { kind: Kind::Edits, ..Param::text("edits", words("edits", "编辑")).optional() },
];

fn read(text: &str) -> Result<Arguments, String> {
    Arguments::read(text, &PARAMS, 1 << 20).map_err(|failure| failure.message)
}

#[test]
fn defaults_and_aliases() {
    let args = read(r#"{"path":"a"}"#).expect("good arguments");
    assert_eq!(args.text("file_path"), Some("a"));
    assert_eq!((args.integer("limit"), args.flag("all")), (Some(10), false));
    assert_eq!(args.text("mode"), Some("one"));
    assert!(read(r#"{"path":"a","file_path":"a"}"#).unwrap_err().contains("same argument"));
}

#[test]
fn values_in_other_clothes_are_accepted() {
    for limit in ["12", "\"12\"", "12.0", "1.2e1"] {
        let args = read(&format!(r#"{{"path":"a","limit":{limit}}}"#)).expect(limit);
        assert_eq!(args.integer("limit"), Some(12));
    }
    assert!(read(r#"{"path":"a","all":"true"}"#).unwrap().flag("all"));
    assert!(!read(r#"{"path":"a","all":"false"}"#).unwrap().flag("all"));
    assert_eq!(read(r#""{\"path\":\"a\"}""#).unwrap().text("file_path"), Some("a"));
    assert_eq!(read(r#"{"path":"a","limit":null}"#).unwrap().integer("limit"), Some(10));
    let edits = r#"{"path":"a","edits":"[{\"old_string\":\"x\",\"new_string\":\"y\"}]"}"#;
    assert_eq!(read(edits).unwrap().edits("edits").map(<[_]>::len), Some(1));
}

#[test]
fn everything_else_is_refused_by_name() {
    for (text, part) in [
        ("{}", "missing argument `file_path`"),
        (r#"{"path":null}"#, "missing argument `file_path`"),
        (r#"{"path":["a"]}"#, "wanted a string, got an array"),
        (r#"{"path":"a","limit":12.5}"#, "`limit`"),
        (r#"{"path":"a","limit":true}"#, "the boolean true"),
        (r#"{"path":"a","limit":"abc"}"#, "the string `abc`"),
        (r#"{"path":"a","limit":""}"#, "`limit`"),
        (r#"{"path":"a","limit":9007199254740993}"#, "`limit`"),
        (r#"{"path":"a","limit":1e17}"#, "`limit`"),
        (r#"{"path":"a","limit":1e400}"#, "not valid JSON"),
        (r#"{"path":"a","limit":0}"#, "at least 1, got 0"),
        (r#"{"path":"a","all":1}"#, "wanted a boolean"),
        (r#"{"path":"a","all":"yes"}"#, "wanted a boolean"),
        (r#"{"path":"a","mode":"three"}"#, "one of one, two"),
        (r#"{"path":"a","limt":1}"#, "nearest one is `limit`"),
        (r#"{"path":"a","path":"b"}"#, "given twice"),
        (r#"{"path":"\ud800"}"#, "not valid JSON"),
        (r#"{"path":"#, "line 1 column"),
        ("[1]", "must be a JSON object"),
        (r#""x""#, "not valid JSON"),
        (r#"{"path":"a","edits":[]}"#, "1 to 1000"),
        (r#"{"path":"a","edits":[{"old_string":"x"}]}"#, "`edits[0].new_string`"),
        (r#"{"path":"a","edits":[{"old":"x"}]}"#, "nearest one is `old_string`"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn size_and_depth_are_checked_before_parsing() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    assert!(read(&deep).unwrap_err().contains("deeper than 64"));
    let long = format!(r#"{{"path":"{}"}}"#, "x".repeat(2 << 20));
    let failure = Arguments::read(&long, &PARAMS, 1 << 20).unwrap_err();
    assert_eq!(failure.code, Code::TooLarge);
    assert!(read(r#"{"path":"[[[[{{{{"}"#).is_ok());
}

#[test]
fn the_schema_names_what_is_required() {
    let schema = schema(&PARAMS, Language::En);
    assert_eq!(schema["required"], json!(["file_path"]));
    assert_eq!(schema["properties"]["limit"]["default"], json!(10));
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn the_schema_is_described_in_the_language() {
    for (language, flag, old) in
        [(Language::En, "a flag", OLD_STRING.en), (Language::Zh, "开关", OLD_STRING.zh)]
    {
        let properties = &schema(&PARAMS, language)["properties"];
        assert_eq!(properties["all"]["description"], json!(flag));
        let edit = &properties["edits"]["items"]["properties"];
        assert_eq!(edit["old_string"]["description"], json!(old));
    }
}
