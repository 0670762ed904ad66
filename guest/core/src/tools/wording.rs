//! Texts that several tools share.

use crate::language::{Words, words};

/// What searches leave out, and how it is looked at all the same.
pub(super) const LEFT_OUT: Words = words(
    "Version control directories, saved tool results, and what .gitignore and .ignore files \
     exclude are left out unless include_ignored is set, or path or a glob without wildcards names \
     them.",
    "默认略过版本控制目录、保存的工具结果，以及 .gitignore 和 .ignore 文件排除的内容；设置 \
     include_ignored，或由 path 或不含通配符的 glob 指明时除外。",
);

/// That a part never looks like the whole.
pub(super) const CUT: Words =
    words("A result that is cut says so at its end.", "结果不完整时，末尾会说明。");

/// The argument `include_ignored` of a search.
pub(super) const INCLUDE_IGNORED: Words =
    words("Look also at what is left out by default.", "也查找默认略过的内容。");

/// The argument `file_path`.
pub(super) const FILE: Words = words("The file.", "文件。");
