//! What a run leaves for tools: events on stdout, a report, a trace.

mod lines;
mod recorder;
mod trace;

use std::path::{Path, PathBuf};

use haul_compiler::measured::Measured;
use haul_compiler::measured::timeline::Timeline;
use haul_compiler::render;
use haul_executor::{Event, Observer, RunError};
use haul_ir::cost::Nanos;
use haul_ir::plan::Plan;
use haul_ir::report::Report;

use self::lines::Lines;
use self::recorder::Recorder;
use self::trace::trace;
use crate::exit::Trouble;
use crate::file::{plan_text, write_whole};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Prints events as JSON, one a line, the report as the last, and nothing else on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes what was measured beside what was predicted: as JSON, or as a page where PATH ends in
    /// `.html`.
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
    recorder: Option<Recorder>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(args: &'a Args, plan: &'a Plan) -> Self {
        let is_recorded = args.json || args.report.is_some() || args.trace.is_some();
        Self {
            args,
            plan,
            lines: args.json.then(|| Lines::new(plan)),
            recorder: is_recorded.then(|| Recorder::new(plan)),
        }
    }

    /// Joins what the run did to the plan, and writes what is written at the end: the trace also of a
    /// run that did not end well.
    pub(crate) fn end(
        self,
        outcome: Result<Report, RunError>,
    ) -> (Result<(Report, Measured), RunError>, Result<(), Trouble>) {
        let timeline = match self.recorder {
            Some(recorder) => recorder.timeline(),
            None => Timeline::new(self.plan.stages.len()),
        };
        let outcome = outcome.map(|report| {
            let measured = Measured::of(self.plan, &report, &timeline);
            (report, measured)
        });
        let measured = outcome.as_ref().map(|(_, measured)| measured);
        let written = write(self.args, self.plan, self.lines, &timeline, measured);
        (outcome, written)
    }
}

fn write(
    args: &Args,
    plan: &Plan,
    lines: Option<Lines<'_>>,
    timeline: &Timeline,
    measured: Result<&Measured, &RunError>,
) -> Result<(), Trouble> {
    let told = lines.map_or(Ok(()), |lines| lines.end(measured));
    if let Some(path) = &args.trace {
        write_whole(path, &trace(plan, timeline))?;
    }
    if let (Some(path), Ok(measured)) = (&args.report, measured) {
        let is_page = path.extension().is_some_and(|ending| ending == "html");
        let text = match is_page {
            true => render::html(plan, Some(measured)),
            false => measured.json(),
        };
        write_whole(path, &text)?;
    }
    told
}

impl Observer for Records<'_> {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        if let Some(lines) = &self.lines {
            lines.event(at, event);
        }
        if let Some(recorder) = &self.recorder {
            recorder.event(at, event);
        }
    }
}

/// Reads a report as `--report` writes it.
pub(crate) fn read(path: &Path) -> Result<Measured, Trouble> {
    let report = Measured::read(&plan_text(path)?);
    report.map_err(|error| Trouble::new(format!("{}:{error}", path.display())))
}
