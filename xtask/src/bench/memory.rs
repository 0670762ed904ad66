//! The most memory that a process held at once.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::plan::Recipe;
use crate::process;

/// GNU time, which learns the peak from the kernel when the process ends.
const TIME: &str = "/usr/bin/time";
/// How often a running process is looked at when there is no GNU time.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A way to learn the peak.
pub(crate) enum Gauge {
    Time,
    Proc,
}

impl Gauge {
    /// The best way that there is on this system.
    pub(crate) fn find() -> Self {
        if Path::new(TIME).exists() && with_time(Command::new("true")).is_ok() {
            Self::Time
        } else {
            eprintln!("there is no GNU time at {TIME}: reading /proc while the process runs");
            Self::Proc
        }
    }

    /// The peak in bytes; the median of `runs` runs.
    pub(crate) fn peak(&self, recipe: &Recipe, runs: usize) -> Result<u64> {
        let mut peaks = (0..runs)
            .map(|_| match self {
                Self::Time => with_time(recipe.command()),
                Self::Proc => with_proc(recipe.command()),
            })
            .collect::<Result<Vec<u64>>>()?;
        peaks.sort_unstable();
        peaks.get(runs / 2).copied().context("the memory was measured no time")
    }
}

fn with_time(command: Command) -> Result<u64> {
    let mut timed = Command::new(TIME);
    timed.args(["-f", "%M"]).arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        timed.current_dir(directory);
    }
    let output = process::capture(&mut timed)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    // What the command itself prints comes first.
    let kilobytes = errors.lines().last().and_then(|line| line.trim().parse::<u64>().ok());
    match kilobytes {
        Some(kilobytes) if output.status.success() => Ok(kilobytes * 1024),
        _ => bail!("`{}` failed ({})\n{errors}", process::describe(&timed), output.status),
    }
}

fn with_proc(mut command: Command) -> Result<u64> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let shown = process::describe(&command);
    let mut child = command.spawn().with_context(|| format!("cannot start `{shown}`"))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if let Ok(text) = fs::read_to_string(&status_file) {
            peak = peak.max(high_water_mark(&text).unwrap_or(0));
        }
        thread::sleep(LOOK_EVERY);
    };
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    if peak == 0 {
        bail!("cannot measure the memory of `{shown}`: there is no GNU time and no /proc here");
    }
    Ok(peak)
}

/// The peak in bytes, from the status file of a process.
fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::high_water_mark;

    #[test]
    fn the_high_water_mark_is_read_in_kilobytes() {
        let status = "Name:\tx\nVmPeak:\t  9999 kB\nVmHWM:\t    12 kB\nVmRSS:\t 10 kB\n";
        assert_eq!(high_water_mark(status), Some(12 * 1024));
        assert_eq!(high_water_mark("Name:\tx\n"), None);
    }
}
