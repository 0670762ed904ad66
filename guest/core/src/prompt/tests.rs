use super::*;
use crate::limits::DEFAULT_OFFLOAD_PATH;
use crate::toolbox::Toolbox;
use crate::tools::{ALL_NAMES, ALL_TOOLS, READ_TOOLS, Tool};
use crate::types::{OffloadConfig, ToolSetting};

const WORLDS: [&[&dyn Tool]; 2] = [ALL_TOOLS, READ_TOOLS];

const LANGUAGES: [Language; 2] = [Language::En, Language::Zh];

fn setting(tool: &str) -> ToolSetting {
    ToolSetting {
        tool: tool.to_owned(),
        name: None,
        description: None,
        enabled: true,
        tokens: None,
    }
}

fn disabled(tools: &[&str]) -> Vec<ToolSetting> {
    tools.iter().map(|tool| ToolSetting { enabled: false, ..setting(tool) }).collect()
}

/// A name that holds no built-in one in backticks.
fn renamed(tool: &str) -> ToolSetting {
    ToolSetting {
        name: Some(format!("my-{tool}")),
        description: Some("Mine.".to_owned()),
        ..setting(tool)
    }
}

/// Settings of tools: none, each tool disabled, each renamed, all renamed, nothing that writes,
/// nothing that searches, only one of each, nothing at all.
fn settings() -> Vec<Vec<ToolSetting>> {
    let mut settings = vec![
        Vec::new(),
        ALL_NAMES.iter().map(|tool| renamed(tool)).collect(),
        disabled(&["write_file", "edit_file", "delete_file", "move_file"]),
        disabled(&["glob", "grep"]),
        disabled(&ALL_NAMES),
    ];
    for tool in ALL_NAMES {
        settings.push(disabled(&[tool]));
        settings.push(vec![renamed(tool)]);
        let others: Vec<&str> = ALL_NAMES.into_iter().filter(|name| *name != tool).collect();
        settings.push(disabled(&others));
    }
    settings
}

fn offloads() -> [OffloadConfig; 3] {
    let standard = Config::default().offload;
    [
        OffloadConfig { enabled: false, ..standard.clone() },
        OffloadConfig { path: "/kept/here".to_owned(), tokens: 4321, ..standard.clone() },
        standard,
    ]
}

/// Calls `check` with every world, configuration, names that are offered, and prompt.
fn for_each(check: impl Fn(&[&'static dyn Tool], &Config, &[String], &str)) {
    for world in WORLDS {
        for language in LANGUAGES {
            for tools in settings() {
                for offload in offloads() {
                    let config =
                        Config { language, tools: tools.clone(), offload, ..Config::default() };
                    let toolbox = Toolbox::open(world, config.clone()).expect("a good one");
                    let names: Vec<String> =
                        toolbox.definitions().into_iter().map(|tool| tool.name).collect();
                    check(world, &config, &names, &toolbox.prompt());
                }
            }
        }
    }
}

/// What stands in backticks, and what stands outside of them.
fn parts(prompt: &str) -> (Vec<&str>, String) {
    let pieces: Vec<&str> = prompt.split('`').collect();
    let code = pieces.iter().skip(1).step_by(2).copied().collect();
    let prose: Vec<&str> = pieces.into_iter().step_by(2).collect();
    (code, prose.join("_"))
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// Which of the built-in tools has this name now.
fn built_in<'a>(config: &'a Config, name: &'a str) -> &'a str {
    let setting = config.tools.iter().find(|setting| setting.name.as_deref() == Some(name));
    setting.map_or(name, |setting| &setting.tool)
}

#[test]
fn exactly_the_tools_that_are_offered_are_named() {
    for_each(|_, config, names, prompt| {
        let (code, prose) = parts(prompt);
        for name in names {
            let line = format!("- `{name}`");
            assert_eq!(prompt.matches(&line).count(), 1, "{name}: {prompt}");
        }
        assert_eq!(prompt.lines().filter(|line| line.starts_with("- ")).count(), names.len());
        for tool in ALL_NAMES.into_iter().filter(|tool| !names.iter().any(|name| name == tool)) {
            assert!(!code.contains(&tool), "{tool}: {prompt}");
        }
        for tool in ALL_NAMES.into_iter().filter(|tool| tool.contains('_')) {
            assert!(!prose.contains(tool), "{tool}: {prompt}");
        }
        assert_eq!(prompt.is_empty(), names.is_empty());
        assert!(!prompt.contains("Mine."), "{:?}", config.tools);
    });
}

#[test]
fn hints_are_there_for_what_is_offered() {
    for_each(|_, config, names, prompt| {
        let offers = |tool: &str| names.iter().any(|name| built_in(config, name) == tool);
        let (code, _) = parts(prompt);
        let says = |word: &str| code.contains(&word);
        assert_eq!(says("include_ignored"), offers("glob") || offers("grep"), "{prompt}");
        assert_eq!(says("old_string"), offers("edit_file") && offers("read_file"), "{prompt}");
        let pages = ["ls", "read_file", "glob", "grep"].into_iter().any(offers);
        assert_eq!(prompt.contains(PAGES.get(config.language)), pages, "{prompt}");
    });
}

#[test]
fn nothing_promises_changes_that_no_tool_makes() {
    for_each(|world, config, names, prompt| {
        let writable = world.len() == ALL_TOOLS.len();
        let reads =
            |name: &String| READ_TOOLS.iter().any(|tool| tool.name() == built_in(config, name));
        let only_reads = !names.is_empty() && names.iter().all(reads);
        let says = |words: Words| prompt.contains(words.get(config.language));
        assert_eq!(says(READ_ONLY), only_reads && !writable, "{prompt}");
        assert_eq!(says(NO_CHANGES), only_reads && writable, "{prompt}");
        let read_only = prompt.contains("read-only") || prompt.contains("只读");
        assert_eq!(read_only, only_reads && !writable, "{prompt}");
    });
}

#[test]
fn large_results_are_explained_as_they_are_treated() {
    for_each(|world, config, names, prompt| {
        let OffloadConfig { enabled, tokens, path, .. } = &config.offload;
        let writable = world.len() == ALL_TOOLS.len();
        let offers = |tool: &str| names.iter().any(|name| built_in(config, name) == tool);
        let (code, prose) = parts(prompt);
        let any = !names.is_empty();
        let says = |word: &str| code.contains(&word);
        assert_eq!(says(path), any && *enabled && writable, "{prompt}");
        assert_eq!(says(DEFAULT_OFFLOAD_PATH), says(path) && path == DEFAULT_OFFLOAD_PATH);
        assert_eq!(prose.contains(&format!(" {tokens} ")), any && *enabled, "{prompt}");
        assert_eq!(prose.contains("token"), any && *enabled, "{prompt}");
        assert_eq!(says("column"), says(path) && offers("read_file"), "{prompt}");
        let searched = offers("grep") || offers("glob");
        assert_eq!(says("path"), says(path) && searched, "{prompt}");
    });
}

#[test]
fn each_language_is_whole() {
    for_each(|_, config, _, prompt| {
        let (_, prose) = parts(prompt);
        if config.language == Language::En {
            assert!(prompt.is_ascii(), "{prompt}");
            return;
        }
        for line in prompt.lines().filter(|line| !line.is_empty()) {
            assert!(line.chars().any(is_chinese), "{line}");
        }
        let words: Vec<&str> = prose
            .split(|c: char| !c.is_ascii_alphabetic())
            .filter(|word| !word.is_empty() && *word != "token")
            .collect();
        assert!(words.is_empty(), "{words:?}: {prompt}");
    });
}

#[test]
fn the_section_is_short() {
    let section = |language| {
        let config = Config { language, ..Config::default() };
        Toolbox::open(ALL_TOOLS, config).expect("the default is valid").prompt()
    };
    for language in LANGUAGES {
        let section = section(language);
        assert!(section.len() < 2500, "{}: {section}", section.len());
        assert!(section.starts_with("## ") && !section.ends_with('\n'), "{section}");
    }
}

#[test]
fn a_path_stays_one_piece_of_code() {
    for (path, shown) in
        [("/a", "`/a`"), ("/a b", "`/a b`"), ("/a`b", "`` /a`b ``"), ("/``", "``` /`` ```")]
    {
        assert_eq!(code(path), shown);
    }
    let mut config = Config::default();
    config.offload.path = "/a\nb".to_owned();
    let prompt = Toolbox::open(ALL_TOOLS, config).expect("a good one").prompt();
    assert!(prompt.contains(r#"`"/a\u000ab"`"#), "{prompt}");
}
