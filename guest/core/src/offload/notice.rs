//! What the model reads in the place of a large result.

use std::borrow::Cow;

use super::preview::Preview;
use crate::path::show;
use crate::text::{counted, size};
use crate::types::{ErrorCode, Language};

/// How many characters of a tool's name are repeated.
const NAME_CHARS: usize = 64;

/// How many lines the example of a call reads.
const EXAMPLE_LINES: u64 = 200;

/// What a notice needs of the configuration.
#[derive(Clone, Debug)]
pub(super) struct Guide {
    pub(super) language: Language,
    /// The directory that results are saved in.
    pub(super) directory: String,
    /// The name of `read_file`, if it is offered.
    pub(super) read: Option<String>,
    /// The name of `grep`, if it is offered.
    pub(super) grep: Option<String>,
}

/// What became of the text.
pub(super) enum Saved {
    /// All of it is in this file.
    All(String),
    /// So many bytes are in this file, and no more may be.
    Front(String, u64),
    /// It is in no file.
    Nothing(Reason),
}

/// Why something could not be saved.
#[derive(Clone, Debug)]
pub(super) enum Reason {
    /// There is nothing to write with.
    ReadOnly,
    /// Every name that could be its own is taken.
    NoName,
    /// The backend said so.
    Error(ErrorCode),
}

/// What is to be told of a result.
pub(super) struct Facts<'a> {
    pub(super) tool: &'a str,
    pub(super) is_error: bool,
    pub(super) size: u64,
    /// How many bytes were passed on before.
    pub(super) passed_on: u64,
    pub(super) is_binary: bool,
    pub(super) saved: &'a Saved,
}

impl Guide {
    /// What stands in the place of the whole text.
    pub(super) fn replacement(&self, facts: &Facts<'_>, preview: &Preview) -> String {
        let tool = self.tool(facts.tool);
        let amount = self.amount(facts.size, preview.lines());
        let what = match (self.language, facts.is_error) {
            (Language::En, false) => {
                format!("The result of {tool} is too large to show: {amount}.")
            }
            (Language::En, true) => {
                format!("Error: {tool} failed, and its result is too large to show: {amount}.")
            }
            (Language::Zh, false) => format!("{tool} 的结果过大，无法直接显示：{amount}。"),
            (Language::Zh, true) => {
                format!("Error: {tool} 执行失败，且其结果过大，无法直接显示：{amount}。")
            }
        };
        self.join(&what, facts, preview, true)
    }

    /// What follows the text that was passed on already.
    pub(super) fn continuation(&self, facts: &Facts<'_>, preview: &Preview) -> String {
        let tool = self.tool(facts.tool);
        let amount = self.amount(facts.size, preview.lines());
        let shown = facts.passed_on;
        let what = match (self.language, facts.is_error) {
            (Language::En, false) => {
                format!(
                    "[The result of {tool} is too large to show: {amount}, of which the first {shown} bytes are above.]"
                )
            }
            (Language::En, true) => {
                format!(
                    "[{tool} failed, and its result is too large to show: {amount}, of which the first {shown} bytes are above.]"
                )
            }
            (Language::Zh, false) => {
                format!("[{tool} 的结果过大，无法全部显示：{amount}，以上为前 {shown} 字节。]")
            }
            (Language::Zh, true) => {
                format!(
                    "[{tool} 执行失败，且其结果过大，无法全部显示：{amount}，以上为前 {shown} 字节。]"
                )
            }
        };
        format!("\n\n{}", self.join(&what, facts, preview, false))
    }

    /// What stands in the place of an image or the like.
    pub(super) fn media(
        &self,
        media_type: &str,
        bytes: u64,
        fault: Fault,
        saved: &Saved,
    ) -> String {
        let kind = name(media_type);
        let amount = format!("{bytes} bytes, {}", size(bytes));
        let what = match (self.language, fault) {
            (Language::En, Fault::TooLarge) => {
                format!("A part of the result ({kind}, {amount}) is too large to show.")
            }
            (Language::En, Fault::NotWhatItSays) => {
                format!("A part of the result ({kind}, {amount}) is damaged or of another kind.")
            }
            (Language::Zh, Fault::TooLarge) => {
                format!("结果的一部分（{kind}，{bytes} 字节，{}）过大，无法显示。", size(bytes))
            }
            (Language::Zh, Fault::NotWhatItSays) => {
                format!("结果的一部分（{kind}，{bytes} 字节，{}）已损坏或类型不符。", size(bytes))
            }
        };
        format!("[{what}{}{}]", self.space(), self.fate(saved))
    }

    fn join(&self, what: &str, facts: &Facts<'_>, preview: &Preview, first: bool) -> String {
        let mut text = format!("{what}{}{}", self.space(), self.fate(facts.saved));
        if let Saved::All(path) | Saved::Front(path, _) = facts.saved {
            text.push_str(&self.how_to_read(path, facts.is_binary));
        }
        text.push_str("\n\n");
        text.push_str(&preview.show(first, |hidden| self.gap(hidden)));
        text
    }

    /// A tool as a sentence names it.
    fn tool(&self, given: &str) -> String {
        match (given, self.language) {
            ("", Language::En) => "a tool".to_owned(),
            ("", Language::Zh) => "某个工具".to_owned(),
            (given, _) => name(given),
        }
    }

    /// What stands between two sentences.
    fn space(&self) -> &'static str {
        match self.language {
            Language::En => " ",
            Language::Zh => "",
        }
    }

    fn amount(&self, bytes: u64, lines: u64) -> String {
        match self.language {
            Language::En => {
                format!("{bytes} bytes ({}), {}", size(bytes), counted(lines, "line", "lines"))
            }
            Language::Zh => format!("{bytes} 字节（{}），{lines} 行", size(bytes)),
        }
    }

    fn gap(&self, hidden: u64) -> String {
        match self.language {
            Language::En => format!("… [{} not shown] …", counted(hidden, "line", "lines")),
            Language::Zh => format!("… [{hidden} 行未显示] …"),
        }
    }

    /// Where it is now.
    fn fate(&self, saved: &Saved) -> String {
        match (self.language, saved) {
            (Language::En, Saved::All(path)) => format!("All of it is saved in {}.", show(path)),
            (Language::Zh, Saved::All(path)) => format!("完整内容已保存到 {}。", show(path)),
            (Language::En, Saved::Front(path, bytes)) => format!(
                "Only its first {bytes} bytes are saved, in {}, because saved results may take no \
                 more space; the rest is lost.",
                show(path)
            ),
            (Language::Zh, Saved::Front(path, bytes)) => format!(
                "由于已保存的结果不能再占用更多空间，仅前 {bytes} 字节保存到 {}，其余内容已丢失。",
                show(path)
            ),
            (Language::En, Saved::Nothing(reason)) => format!(
                "It could not be saved, because {}; what is not shown here is lost.",
                self.why(reason)
            ),
            (Language::Zh, Saved::Nothing(reason)) => {
                format!("无法保存（{}），此处未显示的内容已丢失。", self.why(reason))
            }
        }
    }

    fn why(&self, reason: &Reason) -> String {
        let directory = show(&self.directory);
        let en = self.language == Language::En;
        match reason {
            Reason::ReadOnly if en => "this workspace is read-only".to_owned(),
            Reason::ReadOnly => "此工作区为只读".to_owned(),
            Reason::NoName if en => {
                format!("{directory} has something else under every name for it")
            }
            Reason::NoName => format!("{directory} 中可用的名称均已被占用"),
            Reason::Error(ErrorCode::QuotaExceeded) if en => "no space is left".to_owned(),
            Reason::Error(ErrorCode::QuotaExceeded) => "空间不足".to_owned(),
            Reason::Error(ErrorCode::TooLarge(_)) if en => {
                "saved results may take no more space".to_owned()
            }
            Reason::Error(ErrorCode::TooLarge(_)) => "已保存的结果不能再占用更多空间".to_owned(),
            Reason::Error(ErrorCode::NotPermitted) if en => {
                format!("writing to {directory} is not permitted")
            }
            Reason::Error(ErrorCode::NotPermitted) => format!("不允许写入 {directory}"),
            Reason::Error(ErrorCode::NotADirectory) if en => {
                format!("{directory} is not a directory")
            }
            Reason::Error(ErrorCode::NotADirectory) => format!("{directory} 不是目录"),
            Reason::Error(error) => format!("{directory}: {error}"),
        }
    }

    /// The calls that show the file.
    fn how_to_read(&self, path: &str, is_binary: bool) -> String {
        let read = self.read.as_ref().map(|name| {
            let path = literal(path);
            format!(r#"{name} {{"file_path":{path},"offset":1,"limit":{EXAMPLE_LINES}}}"#)
        });
        let grep = self.grep.as_ref().map(|name| {
            let path = literal(path);
            format!(r#"{name} {{"pattern":"…","path":{path},"output_mode":"content"}}"#)
        });
        let tools: Vec<&str> =
            [&self.read, &self.grep].into_iter().filter_map(Option::as_deref).collect();
        if tools.is_empty() {
            return String::new();
        }
        let en = self.language == Language::En;
        if is_binary {
            return if en {
                format!(
                    " It has NUL bytes, so that {} will treat it as binary.",
                    tools.join(" and ")
                )
            } else {
                format!("其中含有 NUL 字节，{} 会将其视为二进制文件。", tools.join(" 和 "))
            };
        }
        let read = read.map(|call| {
            if en {
                format!("Read it in parts: {call} (a long line goes on with column).")
            } else {
                format!("分段读取：{call}（长行用 column 继续）。")
            }
        });
        let grep = grep
            .map(|call| if en { format!("Search it: {call}.") } else { format!("搜索：{call}。") });
        read.into_iter().chain(grep).map(|line| format!("\n{line}")).collect()
    }
}

/// Why a part that is not text cannot stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is larger than a model takes.
    TooLarge,
    /// Its first bytes are not those of its media type.
    NotWhatItSays,
}

/// A path as a JSON string, in which nothing is unseen.
fn literal(path: &str) -> String {
    match show(path) {
        Cow::Owned(literal) => literal,
        Cow::Borrowed(plain) => serde_json::Value::from(plain).to_string(),
    }
}

/// A caller's word as a sentence repeats it: short, and on one line.
fn name(text: &str) -> String {
    let start: String = text.chars().take(NAME_CHARS).collect();
    let cut = if start.len() < text.len() { "…" } else { "" };
    format!("{}{cut}", show(&start))
}
