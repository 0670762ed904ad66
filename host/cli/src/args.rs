//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const ABOUT: &str = "File tools for AI agents: list, read, write, edit, find and search files in a \
workspace that they cannot leave.";

const EXAMPLES: &str = "\
Examples:
  handhold call ls
      List the workspace of the thread `default` under ./agent_files.
  handhold call --root /srv/agents --thread alice read_file '{\"file_path\": \"notes.md\"}'
      Read a file of the thread `alice`.
  handhold call grep '{\"pattern\": \"TODO\", \"output_mode\": \"content\"}'
      Search all files.
  echo '{\"file_path\": \"a.txt\", \"content\": \"hi\"}' | handhold call write_file -
      Take the arguments from standard input.
  handhold batch --memory < calls.jsonl
      Run many calls on a workspace that exists only meanwhile.
  curl -s https://example.com | handhold offload --call-id call_7 --tool web_fetch
      Print what a model should see of a large result: it is saved, and a preview names the file.
  handhold tools --format openai
      Print the definitions for a model.
  handhold prompt
      Print a section for a system prompt that says what the tools are for.
  handhold component file-tools --imports
      Show what the component can reach: its imports are its authority.

Exit codes: 0 the tool succeeded, 1 the tool answered with an error, 2 the call could not be made.";

#[derive(Parser)]
#[command(name = "handhold", version, about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run one call and print what the model reads
    Call(CallArgs),
    /// Run calls from standard input, one JSON object a line, and print their results in order
    Batch(BatchArgs),
    /// Take any tool's result from standard input and print what the model should see of it
    Offload(OffloadArgs),
    /// Print the definitions of the tools
    Tools(ToolsArgs),
    /// Print a section for a system prompt
    Prompt(PromptArgs),
    /// List, measure, delete and collect the workspaces of threads, and take snapshots of them
    Threads(ThreadsArgs),
    /// Write a component to a file, or show what it imports
    Component(ComponentArgs),
}

/// Which files the tools work on.
#[derive(Args)]
pub(crate) struct WorkspaceArgs {
    /// The directory that holds the workspaces of all threads [default: ./agent_files]
    #[arg(long, value_name = "DIR", conflicts_with = "memory")]
    pub(crate) root: Option<PathBuf>,

    /// Work in memory: the workspace is empty at first, and gone afterwards
    #[arg(long)]
    pub(crate) memory: bool,

    /// The thread whose workspace it is
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) thread: String,

    /// The tenant whose thread it is [default: none]
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,

    /// Offer only tools that change nothing
    #[arg(long)]
    pub(crate) read_only: bool,

    /// A configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,

    /// Print the whole result as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Your own name for this call
    #[arg(long, value_name = "ID")]
    pub(crate) call_id: Option<String>,

    /// The tool, as in ls, read_file, write_file, edit_file, delete_file, move_file, glob, grep
    pub(crate) tool: String,

    /// The arguments as a JSON object; - takes them from standard input
    #[arg(value_name = "ARGS", default_value = "{}", allow_hyphen_values = true)]
    pub(crate) arguments: String,
}

#[derive(Args)]
#[command(after_help = "\
A line in:  {\"tool\": \"ls\", \"arguments\": {\"path\": \"/\"}, \"call_id\": \"1\", \"thread\": \"alice\", \"tenant\": \"acme\"}
            Only tool is required. thread and tenant default to those of the options.
A line out: {\"tool\", \"call_id\", \"is_error\", \"text\", \"structured\", \"content\"}")]
pub(crate) struct BatchArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,

    /// How many calls run at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,
}

#[derive(Args)]
#[command(after_help = "\
A result within the limit is printed as it is, byte for byte. A larger one is saved in the workspace
and replaced by a notice with its size, its path, how to read it, and its first and last lines. If
it cannot be saved, the notice says why.")]
pub(crate) struct OffloadArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,

    /// Your own name for the call, which names the file [default: the content does]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) call_id: Option<String>,

    /// The tool that gave the result
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) tool: String,

    /// The tool failed, and a notice has to say so
    #[arg(long)]
    pub(crate) is_error: bool,
}

#[derive(Args)]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

#[derive(Args)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,

    /// For whom the definitions are
    #[arg(long, value_enum, default_value_t = Format::Mcp)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// The result of MCP's tools/list
    Mcp,
    /// The tools of OpenAI's chat completions
    Openai,
    /// The tools of Anthropic's messages
    Anthropic,
}

#[derive(Args)]
pub(crate) struct ThreadsArgs {
    #[command(subcommand)]
    pub(crate) command: ThreadsCommand,
}

#[derive(Subcommand)]
pub(crate) enum ThreadsCommand {
    /// List the threads that have files, of all tenants or of one
    List(RootArgs),
    /// Show what one thread takes
    Usage(OneThreadArgs),
    /// Delete a thread with all that is kept of it
    Delete(OneThreadArgs),
    /// Delete the threads whose time is over, as `[lifetime]` of the configuration says
    Gc {
        #[command(flatten)]
        root: RootArgs,

        /// Only say which they are
        #[arg(long)]
        dry_run: bool,
    },
    /// Take a snapshot of a thread, within `[quota]` of the configuration
    Snapshot(SnapshotArgs),
    /// List the snapshots of a thread, the oldest first
    Snapshots(OneThreadArgs),
    /// Show how a thread, or another snapshot of it, differs from a snapshot
    #[command(after_help = "\
One line for each difference, by path: A added, M changed, D removed since the snapshot.")]
    Diff {
        #[command(flatten)]
        snapshot: SnapshotArgs,

        /// Another snapshot [default: the thread as it is now]
        #[arg(value_name = "OTHER")]
        other: Option<String>,
    },
    /// Make a thread what it was; what the snapshot does not have is gone
    Restore(SnapshotArgs),
    /// Remove a snapshot
    Forget(SnapshotArgs),
}

/// Whose threads.
#[derive(Args)]
pub(crate) struct RootArgs {
    /// The directory that holds the workspaces of all threads [default: ./agent_files]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// The tenant [default: for list and gc all, else none]
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,

    /// A configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct OneThreadArgs {
    #[command(flatten)]
    pub(crate) root: RootArgs,

    /// The thread
    #[arg(long, value_name = "ID")]
    pub(crate) thread: String,
}

#[derive(Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    pub(crate) thread: OneThreadArgs,

    /// The name of the snapshot
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Args)]
pub(crate) struct ComponentArgs {
    /// The world of the component
    #[arg(value_enum)]
    pub(crate) world: World,

    /// The file to write; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Show the interfaces that the component imports, one a line
    #[arg(long, conflicts_with = "output")]
    pub(crate) imports: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum World {
    /// Tools that can look and not touch
    ReadTools,
    /// All file tools
    FileTools,
}
