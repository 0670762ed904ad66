//! Wall times of whole processes.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::process;

/// The medians of two programs that did the same work.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) peer_ms: f64,
    pub(crate) ours_ms: f64,
}

/// Runs `command`, which must succeed; returns its standard output.
///
/// The output is always read to its end, as whoever asked would: a program
/// that writes to nowhere may skip the work.
pub(crate) fn answer(command: &mut Command) -> Result<String> {
    let output = process::capture(command)?;
    if !output.status.success() {
        let printed = process::printed(&output);
        let shown: String = printed.trim_end().chars().take(2000).collect();
        bail!("`{}` failed ({})\n{shown}", process::describe(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs the two in turn, so that what disturbs the machine disturbs both.
pub(crate) fn alternating(peer: &mut Command, ours: &mut Command, runs: usize) -> Result<Pair> {
    let mut peer_times = Vec::with_capacity(runs);
    let mut our_times = Vec::with_capacity(runs);
    for _ in 0..runs {
        peer_times.push(once_ms(peer)?);
        our_times.push(once_ms(ours)?);
    }
    Ok(Pair { peer_ms: median(peer_times), ours_ms: median(our_times) })
}

/// The median of `runs` runs of one program.
pub(crate) fn median_ms(command: &mut Command, runs: usize) -> Result<f64> {
    Ok(median((0..runs).map(|_| once_ms(command)).collect::<Result<_>>()?))
}

fn once_ms(command: &mut Command) -> Result<f64> {
    let started = Instant::now();
    let output = process::capture(command)?;
    let elapsed = started.elapsed().as_secs_f64() * 1e3;
    if !output.status.success() {
        bail!("`{}` failed ({})", process::describe(command), output.status);
    }
    Ok(elapsed)
}

/// The middle value, or the mean of the two middle ones.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    if values.len() % 2 == 1 {
        at(middle)
    } else {
        f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middle_values() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]).to_string(), "2");
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]).to_string(), "3");
        assert!(median(Vec::new()).is_nan());
    }
}
