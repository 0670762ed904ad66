//! Every number that bounds a call, with its reason.

/// The longest path that is accepted, in bytes as given: Linux's `PATH_MAX`.
pub const MAX_PATH_BYTES: usize = 4096;

/// The longest part of a path, in bytes: what common file systems can store.
pub const MAX_NAME_BYTES: usize = 255;

/// How deep JSON arguments may nest.
pub const MAX_ARGUMENT_DEPTH: usize = 64;

/// How many bytes of arguments a call may have unless the configuration says otherwise: 32 MiB.
pub const DEFAULT_ARGUMENT_BYTES: u64 = 32 << 20;

/// How many bytes the text and the structured form of a result may have together unless the
/// configuration says otherwise: 8 MiB.
pub const DEFAULT_RESULT_BYTES: u64 = 8 << 20;

/// The least that a result must be allowed to have: 16 KiB, room for a page of anything and its
/// notices.
pub const MIN_RESULT_BYTES: u64 = 16 << 10;

/// The time budget of one search in milliseconds unless the configuration says otherwise: 30 s.
pub const DEFAULT_TIME_MS: u64 = 30_000;

/// How long hidden matches are counted at most, in milliseconds: 10 s. With the search before it
/// that stays within the time of a call.
pub const HIDDEN_TIME_MS: u64 = 10_000;

/// How many tokens a result, and a page of `read_file`, may have unless the configuration says
/// otherwise: what eino and deepagents allow.
pub const DEFAULT_TOKENS: u64 = 20_000;

/// How many bytes of UTF-8 one token is counted as.
pub const TOKEN_BYTES: u64 = 4;

/// How many lines `read_file` shows by default.
pub const DEFAULT_READ_LINES: u64 = 2000;

/// How many characters of a line `read_file` shows.
pub const READ_LINE_CHARS: u64 = 2000;

/// How many entries `ls` and `glob` show by default.
pub const DEFAULT_ENTRIES: u64 = 1000;

/// How many matches or files `grep` shows by default.
pub const DEFAULT_MATCHES: u64 = 1000;

/// How many characters of a line `grep` shows.
pub const GREP_LINE_CHARS: u64 = 500;

/// The largest number of context lines that `grep` takes.
pub const MAX_CONTEXT_LINES: u64 = 1000;

/// The largest file that `edit_file` takes, and the largest it makes: 32 MiB. An edit holds the
/// file a few times in the memory of the component.
pub const MAX_EDIT_BYTES: u64 = 32 << 20;

/// How many edits one call may have.
pub const MAX_EDITS: usize = 1000;

/// How many characters of a diff are shown.
pub const DIFF_CHARS: usize = 4000;

/// How much work, in compared lines, a diff may cost before only the first changes are shown.
pub const DIFF_WORK: u64 = 50_000_000;

/// How many lines around the first change are compared when a whole comparison is too much work.
pub const DIFF_WINDOW_LINES: usize = 2000;

/// The largest image that comes back as an image: 5 MiB, what model providers take.
pub const MAX_IMAGE_BYTES: u64 = 5 << 20;

/// How much of a file is read at once: 1 MiB, far below what a host copies per call.
pub const READ_CHUNK_BYTES: u64 = 1 << 20;

/// In how many bytes at the front of a file a NUL makes it binary: 8 KiB, as git and others do.
pub const BINARY_PROBE_BYTES: usize = 8 << 10;

/// Up to which size the lines of a file are always counted: 16 MiB.
pub const COUNT_LINES_BYTES: u64 = 16 << 20;

/// How many unreadable paths a walk names.
pub const MAX_UNREADABLE_NAMED: usize = 10;

/// How many bytes the unreadable paths that a walk names may have together: 1 KiB.
pub const MAX_UNREADABLE_BYTES: usize = 1 << 10;

/// The longest `glob` pattern, in bytes.
pub const MAX_GLOB_BYTES: usize = 4096;

/// The longest `grep` pattern, in bytes: 64 KiB.
pub const MAX_PATTERN_BYTES: usize = 64 << 10;

/// How large a compiled pattern may become, in bytes: 10 MiB, the `regex` crate's own default.
pub const MAX_PROGRAM_BYTES: usize = 10 << 20;

/// The largest file that a search reads as one piece, for matches that span lines or in one go
/// because it is quicker: 4 MiB for each thread.
pub const SEARCH_WHOLE_BYTES: u64 = 4 << 20;

/// The longest line that a search takes, and the largest file that it searches for matches that
/// span lines: 32 MiB. What is over it is reported as unreadable.
pub const MAX_SEARCH_BUFFER_BYTES: usize = 32 << 20;

/// The largest ignore file that is read, in bytes: 1 MiB. A larger one is reported as unreadable.
pub const MAX_IGNORE_FILE_BYTES: u64 = 1 << 20;

/// How many tokens a result may be allowed to have: 2 Mi, or 8 MiB. What is passed on is held until
/// it is known to be all.
pub const MAX_TOKENS: u64 = (8 << 20) / TOKEN_BYTES;

/// The directory that off-loaded results are saved in unless the configuration says otherwise;
/// walks leave it out.
pub const DEFAULT_OFFLOAD_PATH: &str = "/large_tool_result";

/// How many lines at each end of an off-loaded result its preview shows.
pub const PREVIEW_LINES: usize = 5;

/// How many characters of a line a preview shows.
pub const PREVIEW_LINE_CHARS: usize = 1000;

/// How many bytes a preview may have: 8 KiB.
pub const PREVIEW_BYTES: usize = 8 << 10;

/// Directories of version control, which walks leave out.
pub const VCS_DIRECTORIES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];
