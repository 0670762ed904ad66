//! `soak`: the long runs of `tests/soak`.

use anyhow::{Context, Result, ensure};

use crate::project::Project;
use crate::{process, setup};

pub(crate) fn run(project: &Project) -> Result<()> {
    setup::run(project)?;
    // The same packages as in `test`, so that nothing is compiled for this alone.
    let mut command =
        project.cargo(&["test", "--workspace", "--test", "soak", "--", "--nocapture"]);
    command.env("HANDHOLD_SOAK", "1");
    println!("{}", process::describe(&command));
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "a long run failed ({status})");
    Ok(())
}
