//! The section of a system prompt that says what the tools are for, as they are configured.

use std::borrow::Cow;

use crate::language::{Words, words};
use crate::limits::TOKEN_BYTES;
use crate::path::show;
use crate::tools::Offered;
use crate::types::{Config, Language};

/// What the section begins with.
const START: Words = words(
    "## Files\n\nThese tools work on the files of a workspace and reach nothing outside of it. Paths \
     start at its root `/`, as in `/src/a.rs`.",
    "## 文件\n\n这些工具处理工作区中的文件，不会触及工作区以外的内容。路径从根目录 `/` 开始，如 \
     `/src/a.rs`。",
);

/// That a result may be a page.
const PAGES: Words = words(
    "Where a result says in brackets with which arguments to continue (such as `offset`), there is \
     more: call again with them.",
    "如果结果在方括号中给出了用于继续的参数（如 `offset`），说明还有更多内容：请用这些参数再次调用。",
);

/// That nothing can be changed where nothing could be.
const READ_ONLY: Words = words(
    "These tools are read-only: none of them changes anything.",
    "这些工具是只读的，不会更改任何内容。",
);

/// That nothing can be changed where a tool for it is not offered.
const NO_CHANGES: Words = words("None of these tools changes files.", "这些工具都不会更改文件。");

/// The section; empty if no tool is offered. `writable` says whether there are tools that change
/// files, offered or not.
pub(crate) fn section(config: &Config, offered: &[Offered], writable: bool) -> String {
    if offered.is_empty() {
        return String::new();
    }
    let prompt = Prompt { config, language: config.language, offered };
    let mut parts = vec![START.get(prompt.language).to_owned(), prompt.tools()];
    let hints = prompt.hints(writable);
    if !hints.is_empty() {
        parts.push(hints.join("\n"));
    }
    if config.offload.enabled {
        parts.push(if writable { prompt.saved_results() } else { prompt.lost_results() });
    }
    parts.join("\n\n")
}

/// What the section is made from.
struct Prompt<'a> {
    config: &'a Config,
    language: Language,
    offered: &'a [Offered],
}

impl Prompt<'_> {
    /// One line for each tool.
    fn tools(&self) -> String {
        let colon = words(": ", "：").get(self.language);
        let lines = self.offered.iter().map(|offered| {
            let hint = offered.tool.hint().get(self.language);
            format!("- {}{colon}{hint}", code(&offered.name))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What else helps to use the tools.
    fn hints(&self, writable: bool) -> Vec<String> {
        let mut hints = Vec::new();
        let edit = self.name("edit_file");
        if let (Some(edit), Some(read)) = (&edit, self.name("read_file")) {
            hints.push(match self.language {
                Language::En => format!(
                    "Read a file with {read} before you change it with {edit}, and give `old_string` \
                     without the line numbers."
                ),
                Language::Zh => {
                    format!("用 {edit} 修改文件前，先用 {read} 读取；`old_string` 中不要包含行号。")
                }
            });
        }
        if let (Some(edit), Some(write)) = (&edit, self.name("write_file")) {
            hints.push(match self.language {
                Language::En => format!("To change a part of a file, prefer {edit} to {write}."),
                Language::Zh => format!("只修改文件的一部分时，优先用 {edit} 而不是 {write}。"),
            });
        }
        if self.offered.iter().any(|offered| offered.tool.shows_pages()) {
            hints.push(PAGES.get(self.language).to_owned());
        }
        if let Some(searches) = self.searches() {
            hints.push(match self.language {
                Language::En => format!(
                    "Version control directories and what `.gitignore` and `.ignore` files exclude \
                     are left out by {searches} unless told otherwise, as with `include_ignored`."
                ),
                Language::Zh => format!(
                    "{searches} 默认略过版本控制目录，以及 `.gitignore` 和 `.ignore` 文件排除的内容；\
                     需要时设置 `include_ignored`。"
                ),
            });
        }
        if self.offered.iter().all(|offered| offered.tool.effect().read_only) {
            let nothing = if writable { NO_CHANGES } else { READ_ONLY };
            hints.push(nothing.get(self.language).to_owned());
        }
        hints
    }

    /// What becomes of large results where they can be saved.
    fn saved_results(&self) -> String {
        let path = show(&self.config.offload.path);
        let (tokens, path) = (self.config.offload.tokens, code(&path));
        let mut text = match self.language {
            Language::En => format!(
                "A tool result over {tokens} tokens ({TOKEN_BYTES} bytes each) may come as a preview \
                 that says how much of it was saved, and in which file under {path}."
            ),
            Language::Zh => format!(
                "超过 {tokens} 个 token（每个 {TOKEN_BYTES} 字节）的工具结果可能只显示预览；\
                 预览会说明保存了多少内容，以及保存在 {path} 下的哪个文件。"
            ),
        };
        let read = self.name("read_file").map(|read| match self.language {
            Language::En => {
                format!("read that file in parts with {read} (`offset`, `limit`, `column`)")
            }
            Language::Zh => format!("用 {read} 分段读取该文件（`offset`、`limit`、`column`）"),
        });
        let grep = self.name("grep").map(|grep| match self.language {
            Language::En => format!("search that file with {grep} (`path`)"),
            Language::Zh => format!("用 {grep} 搜索该文件（`path`）"),
        });
        let ways: Vec<String> = read.into_iter().chain(grep).collect();
        if !ways.is_empty() {
            let ways = ways.join(words(", or ", "，或").get(self.language));
            text.push_str(&match self.language {
                Language::En => format!(" Then {ways}."),
                Language::Zh => format!("然后{ways}。"),
            });
        }
        if let Some(searches) = self.searches() {
            text.push_str(&match self.language {
                Language::En => {
                    format!(
                        " {path} is left out by {searches} unless told otherwise, as with `path`."
                    )
                }
                Language::Zh => {
                    format!("{searches} 默认略过 {path}；需要时用 `path` 指明。")
                }
            });
        }
        text
    }

    /// What becomes of large results where nothing can be saved.
    fn lost_results(&self) -> String {
        let tokens = self.config.offload.tokens;
        match self.language {
            Language::En => format!(
                "A tool result over {tokens} tokens ({TOKEN_BYTES} bytes each) may be cut to a \
                 preview; the rest cannot be saved."
            ),
            Language::Zh => format!(
                "超过 {tokens} 个 token（每个 {TOKEN_BYTES} 字节）的工具结果可能只显示预览，其余内容无法保存。"
            ),
        }
    }

    /// The name under which a tool is offered, as it is shown; none if it is not.
    fn name(&self, tool: &str) -> Option<String> {
        let offered = self.offered.iter().find(|offered| offered.tool.name() == tool)?;
        Some(code(&offered.name))
    }

    /// The names of the tools that leave files out; none if there are none.
    fn searches(&self) -> Option<String> {
        let takes = |offered: &&Offered| {
            offered.tool.params().iter().any(|param| param.name == "include_ignored")
        };
        let names: Vec<String> =
            self.offered.iter().filter(takes).map(|offered| code(&offered.name)).collect();
        (!names.is_empty()).then(|| names.join(words(" and ", " 和 ").get(self.language)))
    }
}

/// Text as Markdown shows it unchanged.
fn code(text: &str) -> String {
    // A code span ends at as many backticks as it began with.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let (fence, space) = if longest == 0 {
        (Cow::Borrowed("`"), "")
    } else {
        (Cow::Owned("`".repeat(longest + 1)), " ")
    };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests;
