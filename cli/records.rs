//! What a run leaves for tools: events on stdout, a report, a trace.

mod lines;
mod trace;

use std::path::{Path, PathBuf};

use haul_compiler::measured::Measured;
use haul_executor::{Event, Observer, RunError};
use haul_ir::cost::Nanos;
use haul_ir::plan::Plan;
use haul_ir::report::Report;

use self::lines::Lines;
use self::trace::Trace;
use crate::exit::Trouble;
use crate::file::write_whole;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Prints events as JSON, one a line, the report as the last, and nothing else on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes what was measured beside what was predicted, as JSON.
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Writes when which thread ran which task, and what waited, for Perfetto or Chrome.
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,
}

impl Args {
    /// Whether the files can be written at all, so that no run is in vain.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        for path in self.report.iter().chain(&self.trace) {
            let folder = path.parent().unwrap_or(Path::new(""));
            if path.is_dir() || !Path::new(".").join(folder).is_dir() {
                let what = match path.is_dir() {
                    true => "it is a folder",
                    false => "its folder is not there",
                };
                let message = format!("could not write {}: {what}", path.display());
                return Err(Trouble::new(message));
            }
        }
        Ok(())
    }
}

/// Watches a run for those who asked.
pub(crate) struct Records<'a> {
    args: &'a Args,
    plan: &'a Plan,
    lines: Option<Lines<'a>>,
    trace: Option<Trace<'a>>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(args: &'a Args, plan: &'a Plan) -> Self {
        Self {
            args,
            plan,
            lines: args.json.then(|| Lines::new(plan)),
            trace: args.trace.is_some().then(|| Trace::new(plan)),
        }
    }

    /// Writes what is written at the end: the trace also of a run that did not end well.
    pub(crate) fn end(self, outcome: &Result<Report, RunError>) -> Result<(), Trouble> {
        if let (Some(path), Some(trace)) = (&self.args.trace, self.trace) {
            write_whole(path, &trace.json())?;
        }
        let report = outcome.as_ref();
        let report = report.map(|report| Measured::of(self.plan, report));
        if let (Some(path), Ok(report)) = (&self.args.report, &report) {
            write_whole(path, &report.json())?;
        }
        self.lines.map_or(Ok(()), |lines| lines.end(report))
    }
}

impl Observer for Records<'_> {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        if let Some(lines) = &self.lines {
            lines.event(at, event);
        }
        if let Some(trace) = &self.trace {
            trace.event(at, event);
        }
    }
}
