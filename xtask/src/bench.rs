//! `bench`: the command line against the tools that people use for the same work.
//!
//! Everything is measured in one run, alternating, with a warm cache, as the
//! median of whole-process wall times, and shown as ratios: times from two
//! machines say little to each other, ratios do.

mod check;
mod corpus;
mod measure;
mod memory;
mod peers;
mod plan;
mod table;
mod words;

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::bench::corpus::Corpus;
use crate::bench::measure::Pair;
use crate::bench::plan::{Comparison, MEMORY_NAMES, Plan};
use crate::bench::table::{Row, Table, Target};
use crate::project::Project;
use crate::{Usage, process, setup};

/// Runs for each median, if not told otherwise.
const DEFAULT_RUNS: usize = 7;
/// Runs for the peak of the memory, which hardly varies.
const MEMORY_RUNS: usize = 3;
/// What a page of a large file may take above an idle call.
const PAGE_MEMORY: u64 = 32 << 20;
/// What the smallest call may take as a whole process.
const SMALLEST_CALL_MS: f64 = 20.0;

/// The options of `bench`.
pub(crate) struct Options {
    runs: usize,
    only: Option<String>,
    prepare: bool,
}

impl Options {
    pub(crate) fn parse(words: &[String]) -> Result<Self, Usage> {
        let mut options = Self { runs: DEFAULT_RUNS, only: None, prepare: false };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--prepare" => options.prepare = true,
                "--runs" => {
                    let runs = words.next().and_then(|number| number.parse().ok());
                    options.runs = runs
                        .filter(|runs| *runs > 0)
                        .ok_or_else(|| Usage("`--runs` takes a number from 1".to_owned()))?;
                }
                "--only" => {
                    let name = words.next().filter(|name| plan::is_start_of_a_name(name));
                    options.only = Some(
                        name.ok_or_else(|| {
                            Usage("`--only` takes the start of a measurement's name".to_owned())
                        })?
                        .clone(),
                    );
                }
                other => return Err(Usage(format!("`bench` has no option `{other}`"))),
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|start| name.starts_with(start.as_str()))
    }
}

pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    setup::run(project)?;
    let data = project.target("bench");
    if options.prepare {
        Corpus::prepare(&data).map(drop)?;
        println!("The data is in {}", project.shown(&data));
        return Ok(());
    }
    if plan::names().any(|name| options.wants(name)) {
        let handhold = project.build_command_line()?;
        let ripgrep = peers::ripgrep(project)?;
        let corpus = Corpus::prepare(&data)?;
        compare(&Plan::new(project, &corpus, &handhold, &ripgrep), options)?;
    }
    if options.wants(plan::LATENCY) {
        latency(project)?;
    }
    Ok(())
}

/// Measures all that is wanted and prints the table.
fn compare(plan: &Plan<'_>, options: &Options) -> Result<()> {
    println!("\n{}", plan.surroundings(options.runs)?);
    let mut table = Table::default();
    let mut findings = Vec::new();

    let smallest = options.wants(plan::LS).then(|| measure_smallest(plan, options, &mut table));
    let smallest = smallest.transpose()?;
    for comparison in plan.comparisons() {
        if !options.wants(comparison.name) {
            continue;
        }
        eprintln!("measuring {} …", comparison.name);
        let (pair, finding) = measure(&comparison, options.runs)?;
        findings.push(format!("{}: {finding}", comparison.name));
        table.push(Row::times(comparison.name, comparison.what, &pair, comparison.target));
        if let (plan::PAGE_FIRST, Some(start)) = (comparison.name, smallest) {
            let pair = Pair { ours_ms: (pair.ours_ms - start).max(0.0), ..pair };
            table.push(Row::times(
                "page-first-net",
                "the same, less the whole of `call ls`",
                &pair,
                comparison.target,
            ));
        }
    }
    measure_memory(plan, options, &mut table)?;

    println!("\n{}", table.render());
    if !findings.is_empty() {
        println!("Found by both, and equal:");
        for finding in findings {
            println!("- {finding}");
        }
    }
    println!("{}", table.summary());
    Ok(())
}

/// Runs both sides once to warm up and to compare what they find, then takes times.
fn measure(comparison: &Comparison, runs: usize) -> Result<(Pair, String)> {
    let mut peer = comparison.peer.command();
    let mut ours = comparison.ours.command();
    let peer_found = measure::answer(&mut peer)?;
    let ours_found = measure::answer(&mut ours)?;
    let finding = comparison.check.compare(&peer_found, &ours_found).map_err(|difference| {
        difference.context(format!(
            "{}: the results differ\n  {}\n  {}",
            comparison.name,
            process::describe(&peer),
            process::describe(&ours)
        ))
    })?;
    let mut pair = measure::alternating(&mut peer, &mut ours, runs)?;
    pair.peer_ms *= comparison.peer_share;
    Ok((pair, finding))
}

fn measure_smallest(plan: &Plan<'_>, options: &Options, table: &mut Table) -> Result<f64> {
    eprintln!("measuring {} …", plan::LS);
    let mut command: Command = plan.smallest().command();
    measure::answer(&mut command)?;
    let median = measure::median_ms(&mut command, options.runs)?;
    table.push(Row::time(
        plan::LS,
        "`call ls`, whole process",
        median,
        Target::Milliseconds(SMALLEST_CALL_MS),
    ));
    Ok(median)
}

/// Compares the memory of reading pages with that of the smallest call.
fn measure_memory(plan: &Plan<'_>, options: &Options, table: &mut Table) -> Result<()> {
    if !MEMORY_NAMES.iter().any(|name| options.wants(name)) {
        return Ok(());
    }
    let gauge = memory::Gauge::find();
    let idle = gauge.peak(&plan.smallest(), MEMORY_RUNS)?;
    for (name, page) in MEMORY_NAMES.iter().zip(plan.pages()) {
        if options.wants(name) {
            eprintln!("measuring {name} …");
            let peak = gauge.peak(&page, MEMORY_RUNS)?;
            let what = "peak memory of the page, against `call ls`";
            table.push(Row::memory(name, what, idle, peak, PAGE_MEMORY));
        }
    }
    Ok(())
}

/// The calls inside one process, which the host library's own example measures.
fn latency(project: &Project) -> Result<()> {
    let example = Path::new("host/examples/latency.rs");
    if !project.root().join(example).exists() {
        println!("\nlatency: left out ({} does not exist)", example.display());
        return Ok(());
    }
    println!();
    process::run(&mut project.cargo(&["run", "-p", "handhold", "--example", "latency"]))
}
