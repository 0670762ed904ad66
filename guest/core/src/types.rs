//! The records of `wit/types.wit`, written once for both sides of the boundary.
//!
//! The guest's bindings take these types as they are, and with the feature `component` a Wasmtime
//! host does so too: there is no second copy and nothing to convert. What each field means is said
//! in the WIT.

/// Defines records whose fields may have another name in the WIT (`field as "wit-name": Type`).
macro_rules! records {
    ($( $(#[$meta:meta])* $name:ident { $( $field:ident $(as $wit:literal)? : $type:ty, )* } )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[cfg_attr(
                feature = "component",
                derive(
                    wasmtime::component::ComponentType,
                    wasmtime::component::Lift,
                    wasmtime::component::Lower
                ),
                component(record)
            )]
            #[expect(missing_docs, reason = "the WIT describes every field")]
            pub struct $name {
                $( $( #[cfg_attr(feature = "component", component(name = $wit))] )? pub $field: $type, )*
            }
        )*
    };
}

/// Defines enumerations (`enum`) and variants (`variant`) of the WIT.
macro_rules! choices {
    ($( $(#[$meta:meta])* $kind:ident $name:ident { $( $case:ident $(($type:ty))? as $wit:literal, )* } )*) => {
        $( choices!(@ $kind [$(#[$meta])*] $name { $( $case $(($type))? as $wit, )* }); )*
    };
    (@ enumeration [$(#[$meta:meta])*] $name:ident { $( $case:ident as $wit:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(
            feature = "component",
            derive(
                wasmtime::component::ComponentType,
                wasmtime::component::Lift,
                wasmtime::component::Lower
            ),
            component(enum)
        )]
        #[expect(missing_docs, reason = "the WIT describes every case")]
        #[repr(u8)]
        pub enum $name {
            $( #[cfg_attr(feature = "component", component(name = $wit))] $case, )*
        }

        impl $name {
            /// The case of a number that crossed the boundary, for generated bindings.
            ///
            /// # Panics
            /// Panics for a number that is no case, which no host can send.
            #[doc(hidden)]
            #[must_use]
            pub fn _lift(number: u8) -> Self {
                $( if number == Self::$case as u8 { return Self::$case; } )*
                unreachable!("a host sends only cases of the enumeration")
            }
        }
    };
    (@ variant [$(#[$meta:meta])*] $name:ident { $( $case:ident $(($type:ty))? as $wit:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(
            feature = "component",
            derive(
                wasmtime::component::ComponentType,
                wasmtime::component::Lift,
                wasmtime::component::Lower
            ),
            component(variant)
        )]
        #[expect(missing_docs, reason = "the WIT describes every case")]
        pub enum $name {
            $( #[cfg_attr(feature = "component", component(name = $wit))] $case $(($type))?, )*
        }
    };
}

/// A size or a position in a file, in bytes.
pub type Filesize = u64;

/// An opaque token of a file's content.
pub type Version = String;

choices! {
    /// Why an operation on files failed.
    variant ErrorCode {
        NotFound as "not-found",
        AlreadyExists as "already-exists",
        IsDirectory as "is-directory",
        NotADirectory as "not-a-directory",
        NotAFile as "not-a-file",
        NotEmpty as "not-empty",
        InvalidPath(String) as "invalid-path",
        InvalidArguments(String) as "invalid-arguments",
        NotPermitted as "not-permitted",
        Conflict as "conflict",
        TooLarge(String) as "too-large",
        QuotaExceeded as "quota-exceeded",
        TimedOut as "timed-out",
        Cancelled as "cancelled",
        Unsupported as "unsupported",
        Unavailable(String) as "unavailable",
        Other(Option<String>) as "other",
    }

    /// A language for people and models.
    enumeration Language {
        En as "en",
        Zh as "zh",
    }

    /// What an entry of a directory is.
    enumeration FileKind {
        File as "file",
        Directory as "directory",
        Link as "link",
        Other as "other",
    }

    /// What reading lines led to.
    variant ReadOutcome {
        Lines(LinePage) as "lines",
        Binary(BinaryInfo) as "binary",
        Unchanged(Version) as "unchanged",
    }

    /// The order of found files.
    enumeration FileOrder {
        Path as "path",
        Modified as "modified",
    }

    /// What a search is to find out.
    enumeration GrepMode {
        Files as "files",
        Content as "content",
        Count as "count",
    }

    /// What a line of a search result is.
    enumeration GrepLineKind {
        Match as "match",
        Continuation as "continuation",
        Context as "context",
    }

    /// What a file must be for a write to happen.
    variant Condition {
        Always as "always",
        Absent as "absent",
        Matches(Version) as "matches",
    }
}

records! {
    /// One entry of a directory.
    FileInfo {
        path: String,
        kind: FileKind,
        size: Filesize,
        modified: u64,
        link_target as "link-target": Option<String>,
    }

    /// A part of a directory's entries.
    LsPage {
        entries: Vec<FileInfo>,
        total: u64,
        undecodable: u64,
        is_directory as "is-directory": bool,
    }

    /// Which lines of a file to read.
    ReadRequest {
        path: String,
        offset: i64,
        limit: u64,
        column: u64,
        line_chars as "line-chars": u64,
        max_bytes as "max-bytes": u64,
        if_version as "if-version": Option<Version>,
    }

    /// A line of which a page holds only a part.
    LongLine {
        line: u64,
        chars: u64,
    }

    /// Some lines of a text file, decoded.
    LinePage {
        text: String,
        start_line as "start-line": u64,
        line_count as "line-count": u64,
        total_lines as "total-lines": Option<u64>,
        more: bool,
        long_lines as "long-lines": Vec<LongLine>,
        lossy: bool,
        size: Filesize,
        version: Version,
    }

    /// What a file is whose content is not text.
    BinaryInfo {
        media_type as "media-type": String,
        size: Filesize,
        version: Version,
    }

    /// Some bytes of a file.
    BytesPage {
        data: Vec<u8>,
        size: Filesize,
        version: Version,
    }

    /// Which files to find.
    GlobRequest {
        path: String,
        pattern: String,
        include_ignored as "include-ignored": bool,
        offload_path as "offload-path": String,
        order: FileOrder,
        offset: u64,
        limit: u64,
        max_bytes as "max-bytes": u64,
        time_ms as "time-ms": u64,
    }

    /// What a walk through a tree met besides results.
    #[derive(Default)]
    WalkReport {
        files: u64,
        ignored: bool,
        binary: u64,
        unreadable: Vec<String>,
        unreadable_count as "unreadable-count": u64,
        undecodable: u64,
        stopped: bool,
    }

    /// A part of the files that were found.
    #[derive(Default)]
    GlobPage {
        files: Vec<String>,
        total: u64,
        report: WalkReport,
    }

    /// What to search for, and where.
    GrepRequest {
        path: String,
        pattern: String,
        literal: bool,
        ignore_case as "ignore-case": bool,
        multiline: bool,
        glob: Option<String>,
        file_type as "file-type": Option<String>,
        include_ignored as "include-ignored": bool,
        offload_path as "offload-path": String,
        mode: GrepMode,
        before: u32,
        after: u32,
        offset: u64,
        limit: u64,
        max_bytes as "max-bytes": u64,
        line_chars as "line-chars": u64,
        time_ms as "time-ms": u64,
    }

    /// One line of a search result.
    GrepLine {
        number: u64,
        text: String,
        kind: GrepLineKind,
    }

    /// The results in one file.
    GrepFile {
        path: String,
        count: u64,
        lines: Vec<GrepLine>,
    }

    /// A part of what a search found.
    #[derive(Default)]
    GrepPage {
        files: Vec<GrepFile>,
        total: u64,
        complete: bool,
        report: WalkReport,
    }

    /// A write of a whole file.
    WriteRequest {
        path: String,
        content: Vec<u8>,
        condition: Condition,
        dry_run as "dry-run": bool,
    }

    /// What a write led to.
    Written {
        size: Filesize,
        previous_size as "previous-size": Option<Filesize>,
        version: Version,
    }

    /// What a removal took away.
    #[derive(Default)]
    Removed {
        files: u64,
        directories: u64,
        bytes: Filesize,
    }

    /// How a tool is offered, where that differs from what is built in.
    ToolSetting {
        tool: String,
        name: Option<String>,
        description: Option<String>,
        enabled: bool,
        tokens: Option<u64>,
    }

    /// How the results of a tool of others are treated, where that differs from other tools.
    ResultSetting {
        tool: String,
        enabled: bool,
        tokens: Option<u64>,
    }

    /// What happens to results that are too large to show.
    OffloadConfig {
        enabled: bool,
        tokens: u64,
        path: String,
        tools: Vec<ResultSetting>,
    }

    /// How a toolbox behaves.
    Config {
        language: Language,
        tools: Vec<ToolSetting>,
        offload: OffloadConfig,
        time_ms as "time-ms": u64,
        argument_bytes as "argument-bytes": u64,
        result_bytes as "result-bytes": u64,
    }

    /// What is wrong with a configuration.
    ConfigError {
        field: String,
        message: String,
    }

    /// A tool as it is offered to a model.
    ToolDefinition {
        name: String,
        title: String,
        description: String,
        input_schema as "input-schema": String,
        output_schema as "output-schema": String,
        read_only as "read-only": bool,
        destructive: bool,
        idempotent: bool,
    }

    /// A call of a tool, as a model makes it.
    ToolCall {
        tool: String,
        arguments: String,
        call_id as "call-id": Option<String>,
    }

    /// An image, or another part of a result that is not text.
    Media {
        media_type as "media-type": String,
        data: Vec<u8>,
    }

    /// What a tool answers.
    ToolResult {
        tool: String,
        call_id as "call-id": Option<String>,
        is_error as "is-error": bool,
        text: String,
        structured: String,
        content: Vec<Media>,
    }

    /// A result whose text was too large to show.
    Offloaded {
        text: String,
        notice: String,
        path: Option<String>,
        size: Filesize,
        saved: Filesize,
    }

    /// How a result ended.
    OutputEnd {
        rest: Vec<u8>,
        offloaded: Option<Offloaded>,
    }
}

impl Condition {
    /// Checks what must hold for a write, given the version of the file that is there, if any.
    ///
    /// # Errors
    /// Fails with the error that the WIT names for the case.
    pub fn check(&self, version: Option<&str>) -> Result<(), ErrorCode> {
        match self {
            Self::Absent if version.is_some() => Err(ErrorCode::AlreadyExists),
            Self::Matches(wanted) if version != Some(wanted.as_str()) => Err(ErrorCode::Conflict),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => f.write_str("not found"),
            Self::AlreadyExists => f.write_str("already exists"),
            Self::IsDirectory => f.write_str("is a directory"),
            Self::NotADirectory => f.write_str("a part of the path is not a directory"),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::NotEmpty => f.write_str("the directory is not empty"),
            Self::InvalidPath(why) | Self::InvalidArguments(why) | Self::TooLarge(why) => {
                f.write_str(why)
            }
            Self::NotPermitted => f.write_str("not permitted"),
            Self::Conflict => f.write_str("the file has changed"),
            Self::QuotaExceeded => f.write_str("no space is left"),
            Self::TimedOut => f.write_str("the time budget ran out"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Unsupported => f.write_str("not supported"),
            Self::Unavailable(why) => write!(f, "the storage is unavailable: {why}"),
            Self::Other(why) => f.write_str(why.as_deref().unwrap_or("unknown failure")),
        }
    }
}

impl std::error::Error for ErrorCode {}
