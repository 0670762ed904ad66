//! What is measured against what, and what it should reach.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::bench::check::Check;
use crate::bench::corpus::{BIG, BIG_FILE, Corpus, RARE, REGEX, TREE};
use crate::bench::peers;
use crate::bench::table::Target;
use crate::bench::words::FREQUENT;
use crate::project::Project;

/// The smallest call.
pub(crate) const LS: &str = "ls";
/// The first page of the large file.
pub(crate) const PAGE_FIRST: &str = "page-first";
/// The example of the host library.
pub(crate) const LATENCY: &str = "latency";
/// The memory of the pages, in the order of `Plan::pages`.
pub(crate) const MEMORY_NAMES: [&str; 3] = ["memory-first", "memory-middle", "memory-last"];
const TIMED_NAMES: [&str; 10] = [
    LS,
    "grep-rare-files",
    "grep-rare-content",
    "grep-frequent-files",
    "grep-regex-files",
    "grep-regex-content",
    "glob",
    PAGE_FIRST,
    "page-middle",
    "page-last",
];

/// Threads that ripgrep may use; it is the setting that the targets were set against.
const RIPGREP_THREADS: &str = "-j2";
/// Lines of the last page.
const LAST_LINES: i64 = 20;

const SEARCH: Target = Target::Ratio { now: 2.0, later: Some(1.25) };
const LISTING: Target = Target::Ratio { now: 1.25, later: None };
const FIRST_PAGE: Target = Target::Ratio { now: 3.0, later: None };
const LATER_PAGE: Target = Target::Ratio { now: 1.25, later: None };

/// All names but that of the example.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TIMED_NAMES.into_iter().chain(MEMORY_NAMES)
}

/// Whether `--only` with this text would measure anything.
pub(crate) fn is_start_of_a_name(text: &str) -> bool {
    names().chain([LATENCY]).any(|name| name.starts_with(text))
}

/// A command that can be made any number of times.
pub(crate) struct Recipe {
    program: PathBuf,
    directory: PathBuf,
    arguments: Vec<String>,
}

impl Recipe {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.directory);
        command
    }
}

/// Two programs that do the same work.
pub(crate) struct Comparison {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) peer: Recipe,
    /// The share of the peer's time that is compared with.
    pub(crate) peer_share: f64,
    pub(crate) ours: Recipe,
    pub(crate) check: Check,
    pub(crate) target: Target,
}

/// Builds the commands.
pub(crate) struct Plan<'a> {
    project: &'a Project,
    corpus: &'a Corpus,
    handhold: &'a Path,
    ripgrep: &'a Path,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(
        project: &'a Project,
        corpus: &'a Corpus,
        handhold: &'a Path,
        ripgrep: &'a Path,
    ) -> Self {
        Self { project, corpus, handhold, ripgrep }
    }

    /// What a reader of the table has to know.
    pub(crate) fn surroundings(&self, runs: usize) -> Result<String> {
        let ripgrep = peers::version(self.ripgrep).context("ripgrep cannot be run")?;
        let processors = thread::available_parallelism()?;
        Ok(format!(
            "{processors} processors; {ripgrep} with {RIPGREP_THREADS}; warm cache; medians of \
             {runs} whole processes, in turn; data in {}",
            self.project.shown(&self.corpus.threads)
        ))
    }

    /// The smallest call: what starting the program costs.
    pub(crate) fn smallest(&self) -> Recipe {
        self.call(TREE, "ls", &json!({}))
    }

    /// The first, the middle and the last page of the large file.
    pub(crate) fn pages(&self) -> [Recipe; 3] {
        let page = |arguments: Value| self.call(BIG, "read_file", &arguments);
        let path = format!("/{BIG_FILE}");
        [
            page(json!({"file_path": path})),
            page(json!({"file_path": path, "offset": self.middle_line()})),
            page(json!({"file_path": path, "offset": -LAST_LINES})),
        ]
    }

    /// Everything that has a peer.
    pub(crate) fn comparisons(&self) -> Vec<Comparison> {
        let mut all = self.searches();
        all.push(Comparison {
            name: "glob",
            what: "`**/*.rs` against `rg --files -g '**/*.rs'`",
            // Both sides heed the ignore files of the tree, and nothing outside of it.
            peer: self.rg(&[
                "--files",
                "--hidden",
                "--no-require-git",
                "--no-ignore-parent",
                "--no-ignore-global",
                "--no-ignore-exclude",
                "-g",
                "**/*.rs",
            ]),
            peer_share: 1.0,
            ours: self.call(TREE, "glob", &json!({"pattern": "**/*.rs", "limit": 100_000})),
            check: Check::Lines { what: "files", expected: Some(12_500) },
            target: LISTING,
        });
        all.extend(self.page_reads());
        all
    }

    fn searches(&self) -> Vec<Comparison> {
        let (files, content) = ("files_with_matches", "content");
        let search = |name, what, flags: &[&str], pattern: &str, literal, mode, expected| {
            let mut arguments = vec!["--no-ignore", "--hidden"];
            arguments.extend(flags);
            arguments.extend(["-e", pattern]);
            Comparison {
                name,
                what,
                peer: self.rg(&arguments),
                peer_share: 1.0,
                ours: self.call(
                    TREE,
                    "grep",
                    &json!({
                        "pattern": pattern,
                        "literal": literal,
                        "output_mode": mode,
                        "include_ignored": true,
                        "head_limit": 0,
                    }),
                ),
                check: Check::Lines {
                    what: if mode == content { "matches" } else { "files" },
                    expected,
                },
                target: SEARCH,
            }
        };
        vec![
            search(
                "grep-rare-files",
                "files with a rare literal, against `rg -l -F`",
                &["-l", "-F"],
                RARE,
                true,
                files,
                Some(3),
            ),
            search(
                "grep-rare-content",
                "lines with a rare literal, against `rg -n -F`",
                &["-n", "-F"],
                RARE,
                true,
                content,
                Some(3),
            ),
            search(
                "grep-frequent-files",
                "files with a frequent literal, against `rg -l -F`",
                &["-l", "-F"],
                FREQUENT,
                true,
                files,
                None,
            ),
            search(
                "grep-regex-files",
                "files with a regex, against `rg -l`",
                &["-l"],
                REGEX,
                false,
                files,
                Some(100),
            ),
            search(
                "grep-regex-content",
                "lines with a regex, against `rg -n`",
                &["-n"],
                REGEX,
                false,
                content,
                Some(100),
            ),
        ]
    }

    fn page_reads(&self) -> [Comparison; 3] {
        let [first, middle, last] = self.pages();
        let count_all = || self.peer("wc", &["-l", BIG_FILE]);
        [
            Comparison {
                name: PAGE_FIRST,
                what: "first page of 1 GB, against `head -n 2000`",
                peer: self.peer("head", &["-n", "2000", BIG_FILE]),
                peer_share: 1.0,
                ours: first,
                check: Check::PageFrom(1),
                target: FIRST_PAGE,
            },
            Comparison {
                name: "page-middle",
                what: "page in the middle of 1 GB, against half of `wc -l`",
                peer: count_all(),
                // Only what lies before the page has to be counted.
                peer_share: 0.5,
                ours: middle,
                check: Check::PageFrom(self.middle_line()),
                target: LATER_PAGE,
            },
            Comparison {
                name: "page-last",
                what: "last 20 lines of 1 GB, against `wc -l`",
                peer: count_all(),
                peer_share: 1.0,
                ours: last,
                check: Check::LastPage {
                    count: LAST_LINES.unsigned_abs(),
                    total: self.corpus.big_lines,
                },
                target: LATER_PAGE,
            },
        ]
    }

    fn middle_line(&self) -> u64 {
        self.corpus.big_lines / 2
    }

    fn rg(&self, arguments: &[&str]) -> Recipe {
        let always = ["--no-config", RIPGREP_THREADS, "--color=never", "--no-heading"];
        let arguments = always.iter().chain(arguments).chain(&["./"]);
        Recipe {
            program: self.ripgrep.to_path_buf(),
            directory: self.corpus.workspace(TREE),
            arguments: arguments.map(ToString::to_string).collect(),
        }
    }

    /// A program of the system, run beside the large file.
    fn peer(&self, program: &str, arguments: &[&str]) -> Recipe {
        Recipe {
            program: PathBuf::from(program),
            directory: self.corpus.workspace(BIG),
            arguments: arguments.iter().map(ToString::to_string).collect(),
        }
    }

    fn call(&self, thread: &str, tool: &str, arguments: &Value) -> Recipe {
        let root = self.project.shown(&self.corpus.threads);
        let words = ["call", "--root", &root, "--thread", thread, tool, &arguments.to_string()];
        Recipe {
            program: self.handhold.to_path_buf(),
            directory: self.project.root().to_path_buf(),
            arguments: words.map(str::to_owned).to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_start_of_a_name;

    #[test]
    fn only_takes_the_start_of_a_name() {
        assert!(is_start_of_a_name("grep") && is_start_of_a_name("latency"));
        assert!(!is_start_of_a_name("regex") && !is_start_of_a_name("lsx"));
    }
}
