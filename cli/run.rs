//! `haul run`: checks, plans on the sizes of the data, runs, and reports.

use std::path::PathBuf;
use std::process;
use std::thread;
use std::time::Duration;

use haul_compiler::diagnostics::Levels;
use haul_compiler::measured::{Measured, SkippedRows};
use haul_compiler::render::units;
use haul_compiler::{Checked, Places, render, target};
use haul_executor::{Cancel, ErrorKind, Machine, Options, Paths, RunError};
use haul_ir::plan::{Plan, Side};
use haul_ir::report::Report;
use haul_ir::target::Target;

use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::File;
use crate::lints::{self, Lints};
use crate::progress::Both;
use crate::records::{self, Records};
use crate::{caching, log, machine, messages, progress, terminal};

/// Runs a pipeline on this machine.
///
/// The plan, progress and messages go to stderr; the report to stdout.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The pipeline file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The machine to plan for: a name of `haul targets`, a target file, or `local`.
    #[arg(long, default_value = machine::LOCAL)]
    target: String,
    /// Emulates all GPUs of the target on this machine, for a rehearsal: CPUs compute in their
    /// stead. `--cpus` may then be more than this machine has.
    #[arg(long)]
    emulate: bool,
    /// Exits with status 5 unless a GPU itself reports that it did the work.
    #[arg(long)]
    require_gpu: bool,
    #[command(flatten)]
    set: Set,
    #[command(flatten)]
    lints: Lints,
    /// CPUs to use at most; all, if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cpus: Option<u32>,
    /// Memory to use at most, such as 4GiB; all, if left out.
    #[arg(long, value_name = "AMOUNT", value_parser = machine::memory)]
    memory: Option<u64>,
    /// The folder that outputs go to and stay in; that of the pipeline file, if left out.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    caching: caching::Args,
    #[command(flatten)]
    records: records::Args,
    /// Schedules the tasks on simulated time instead, each with its predicted time: nothing is
    /// computed or written.
    #[arg(long)]
    simulate: bool,
    /// Decides, when simulated, between workers that have nothing to do at one moment; the same
    /// gives the same schedule.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "simulate")]
    seed: u64,
    /// Goes on without what fails, as if every stage said `on_error: Skip`.
    #[arg(long)]
    keep_going: bool,
    /// Prints no plan, no progress and no report: only results, warnings and errors.
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    args.records.check()?;
    let file = File::read(&args.file)?;
    let mut machine = machine::limited(args.cpus, args.memory, args.emulate)?;
    let target = match args.target.as_str() {
        machine::LOCAL => target::local(machine.cpus, machine.memory),
        name => machine::target(name)?,
    };
    if args.emulate {
        let emulated = machine.emulate(&target);
        machine = emulated.map_err(|error| Trouble::new(error.to_string()))?;
    }
    let levels = args.lints.levels()?;
    let cancel = stop_on_ctrl_c()?;
    let paths = Paths::new(file.folder(), cancel.clone());
    let declared = facts::check_along(&file, &args.set, &paths.local());
    facts::know_pins(&declared)?;
    match plan(
        args,
        &file,
        &telling(args, &paths),
        declared,
        &target,
        &levels,
    ) {
        _ if cancel.is_cancelled() => Ok(interrupted()),
        Ok((plan, _)) if args.require_gpu => Ok(no_evidence(args, &plan)),
        Ok((plan, places)) => execute(args, &file, paths, machine, cancel, &plan, &places),
        Err(exit) => Ok(exit),
    }
}

/// The paths, which say what is fetched before the run begins.
fn telling(args: &Args, paths: &Paths) -> Paths {
    let paths = paths.clone();
    if args.quiet {
        return paths;
    }
    paths.telling(|url, bytes| {
        let bytes = bytes.map(|bytes| format!(" ({})", units::bytes(bytes.into())));
        terminal::tell(&format!("fetching {url}{}\n", bytes.unwrap_or_default()));
    })
}

/// Plans as `haul plan` does, and then on the sizes of the data.
fn plan(
    args: &Args,
    file: &File,
    paths: &Paths,
    declared: Checked,
    target: &Target,
    levels: &Levels,
) -> Result<(Plan, Places), Exit> {
    let Some(typed) = declared.typed else {
        return Err(messages::tell(file, &levels.apply(declared.diagnostics)));
    };
    let bound = facts::check_with_data(file, &args.set, paths, typed.graph());
    let exit = messages::tell(file, &levels.apply(bound.diagnostics));
    let bound_typed = bound.typed.ok_or(exit)?;
    let planned = file.plan(bound_typed, target, &bound.places);
    let exit = exit.max(lints::tell(file, levels, &planned));
    let plan = planned.map_err(|_| Exit::Found)?.plan;
    if exit != Exit::Fine {
        return Err(exit); // A warning that is denied.
    }
    if !args.quiet {
        let before = file.plan(typed, target, &declared.places);
        let changes = before.map_or_else(
            |_| String::new(),
            |before| render::changes(&before.plan, &plan),
        );
        let summary = render::summary(&plan, terminal::colour_of_messages());
        terminal::tell(&format!("{changes}{summary}\n"));
    }
    Ok((plan, bound.places))
}

fn execute(
    args: &Args,
    file: &File,
    paths: Paths,
    machine: Machine,
    cancel: Cancel,
    plan: &Plan,
    places: &Places,
) -> Result<Exit, Trouble> {
    let options = Options {
        paths,
        out: args.out.clone().unwrap_or_else(|| file.folder()),
        machine,
        keep_going: args.keep_going,
        cancel,
        caching: args.caching.of(file)?,
    };
    let alone = !args.records.json && !log::is_on();
    let observer = progress::observer(plan, options.machine.cpus, args.quiet, alone);
    let records = Records::new(&args.records, plan);
    let both = Both(&*observer, &records);
    let outcome = match args.simulate {
        true => haul_executor::simulated(plan, &options, args.seed, &both),
        false => haul_executor::run(plan, &options, &both),
    };
    let outcome = outcome.map_err(|error| located(file, plan, places, error));
    drop(observer);
    let (outcome, written) = records.end(outcome);
    let exit = match outcome {
        Ok((report, measured)) => tell(args, plan, &report, &measured)?,
        Err(error) if error.kind == ErrorKind::Cancelled => interrupted(),
        Err(error) => {
            terminal::tell_error(&error.to_string());
            Exit::Found
        }
    };
    written.map(|()| exit)
}

/// Tells people what a run that ended well did.
fn tell(args: &Args, plan: &Plan, report: &Report, measured: &Measured) -> Result<Exit, Trouble> {
    for SkippedRows { input, path, rows } in &measured.skipped {
        terminal::tell(&format!(
            "warning: input `{input}`: {rows} rows of `{path}` cannot be read and are skipped\n"
        ));
    }
    for task in &measured.skipped_tasks {
        terminal::tell(&format!("warning: {}\n", render::skipped(task)));
    }
    let exit = match measured.skipped_tasks.is_empty() {
        true => Exit::Fine,
        false => Exit::Skipped,
    };
    if args.records.json {
        return Ok(exit); // The report is the last line.
    }
    args.caching.tell(report);
    let preview = report.preview.as_ref();
    let preview = preview.map_or_else(String::new, |p| render::preview(plan, p));
    let table = match args.quiet {
        true => String::new(),
        false => render::report(measured, terminal::colour()),
    };
    terminal::print(&(preview + &table))?;
    Ok(exit)
}

/// An error with the file and line of the op or stage that it is about.
fn located(file: &File, plan: &Plan, places: &Places, mut error: RunError) -> RunError {
    let (graph, op) = (plan.typed.graph(), error.place.op.as_deref());
    let stage = error.place.stage.as_deref();
    let line = stage.and_then(|stage| places.line(graph, &file.text, stage, op));
    error.place.line = line.map(|line| format!("{}:{line}", file.shown));
    error
}

/// Says why a run of this plan could give no evidence of a GPU at work: no build has a device that
/// gives any.
fn no_evidence(args: &Args, plan: &Plan) -> Exit {
    let mut sides = plan.groups.iter().map(|group| group.placement.side);
    let reason = match sides.any(|side| side == Side::Gpu) {
        false => "the plan has nothing on a GPU",
        true if args.emulate => "GPUs that are emulated give no evidence",
        true => "this build has no CUDA device",
    };
    terminal::tell_error(&format!("--require-gpu: {reason}; nothing was run"));
    Exit::NoEvidence
}

fn interrupted() -> Exit {
    terminal::tell("interrupted: no output is left half written; `--resume` goes on from here\n");
    Exit::Interrupted
}

/// How long running tasks have to end after Ctrl-C.
const GRACE: Duration = Duration::from_millis(900);

/// A flag that Ctrl-C sets. A task that does not end soon after is left: outputs are renamed to
/// their names when they are whole, so leaving at any time is safe.
fn stop_on_ctrl_c() -> Result<Cancel, Trouble> {
    let cancel = Cancel::new();
    let flag = cancel.clone();
    let leave = move || {
        flag.cancel();
        thread::sleep(GRACE);
        process::exit(130);
    };
    ctrlc::set_handler(leave)
        .map_err(|error| Trouble::new(format!("could not watch for Ctrl-C: {error}")))?;
    Ok(cancel)
}
