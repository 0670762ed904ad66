//! `handhold component`: the component itself.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use handhold_artifact::{FILE_TOOLS, READ_TOOLS};

use crate::args::{ComponentArgs, World};
use crate::output;

pub(crate) fn run(args: ComponentArgs) -> Result<ExitCode> {
    let artifact = match args.world {
        World::ReadTools => READ_TOOLS,
        World::FileTools => FILE_TOOLS,
    };
    if args.imports {
        output::raw(artifact.imports.as_bytes())?;
    } else if let Some(path) = args.output {
        std::fs::write(&path, artifact.component)
            .with_context(|| format!("cannot write {}", path.display()))?;
    } else if std::io::stdout().is_terminal() {
        bail!("the component is binary, and standard output is a terminal; use -o FILE");
    } else {
        output::raw(artifact.component)?;
    }
    Ok(ExitCode::SUCCESS)
}
