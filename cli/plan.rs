//! `haul plan`: where each op of a pipeline would run, why, and what the other choice would cost.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use haul_compiler::diagnostics::Levels;
use haul_compiler::measured::Measured;
use haul_compiler::render;
use haul_compiler::saved::SavedPlan;
use haul_ir::plan::Plan;
use haul_ir::target::Target;

use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::File;
use crate::lints::{self, Lints};
use crate::{messages, project, records, terminal};

/// Plans pipelines for a target, without running or probing anything.
///
/// Reads the pipeline, the target, and the headers of inputs that declare no type.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pipeline files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The machines to plan for: a name of `haul targets`, a target file, or `local`. Several
    /// are compared. Without, those of `haul.ron`.
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    #[command(flatten)]
    set: Set,
    #[command(flatten)]
    lints: Lints,
    /// How the plan is printed: for people, for version control, for tools (several as one
    /// document a line), or drawn.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The report of a run, as `haul run --report` writes it: what was measured stands beside what is
    /// predicted for stages of the same names.
    #[arg(long, value_name = "REPORT")]
    actual: Option<PathBuf>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Snapshot,
    Json,
    Dot,
    Mermaid,
    Html,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let targets = project::targets(&args.targets)?;
    let levels = args.lints.levels()?;
    if args.format == Format::Html && args.files.len() * targets.len() > 1 {
        let message = "a page shows one plan: name one file and one --target";
        return Err(Trouble::new(message));
    }
    let actual = args.actual.as_deref();
    let actual = actual.map(|path| actual_of(path, args, targets.len()));
    let actual = actual.transpose()?;
    let mut exit = Exit::Fine;
    for path in &args.files {
        let file = File::read(path)?;
        exit = exit.max(plan_file(&file, args, &targets, &levels, actual.as_ref())?);
    }
    Ok(exit)
}

fn plan_file(
    file: &File,
    args: &Args,
    targets: &[Target],
    levels: &Levels,
    actual: Option<&Measured>,
) -> Result<Exit, Trouble> {
    let checked = facts::check(file, &args.set);
    facts::know_pins(&checked)?;
    let mut exit = messages::tell(file, &levels.apply(checked.diagnostics));
    let Some(typed) = checked.typed else {
        return Ok(exit);
    };
    let several = args.files.len() * targets.len() > 1;
    let gap = if several { "\n" } else { "" };
    let mut plans = Vec::new();
    for target in targets {
        let planned = file.plan(typed.clone(), target, &checked.places);
        exit = exit.max(lints::tell(file, levels, &planned));
        if let (Err(refused), Format::Text) = (&planned, args.format) {
            let (graph, colour) = (typed.graph(), terminal::colour());
            let table = render::verdicts(graph, target, &refused.verdicts, &file.text, colour);
            terminal::print(&(table + gap))?;
        }
        if let Ok(planned) = &planned {
            let measured = actual.map(|actual| beside(actual, &planned.plan));
            terminal::print(&match args.format {
                Format::Text => text(&planned.plan, measured.as_ref()) + gap,
                Format::Json if several => SavedPlan::of(&planned.plan).json_line(),
                Format::Json => SavedPlan::of(&planned.plan).json(),
                Format::Snapshot => SavedPlan::of(&planned.plan).snapshot(),
                Format::Dot => render::dot(&planned.plan),
                Format::Mermaid => render::mermaid(&planned.plan),
                Format::Html => render::html(&planned.plan, measured.as_ref()),
            })?;
        }
        plans.push((target.name.clone(), planned));
    }
    if targets.len() > 1 && args.format == Format::Text {
        let rows = plans.iter().map(|(name, planned)| {
            let plan = planned.as_ref().map(|planned| &planned.plan);
            (name.as_str(), plan.map_err(|refused| &refused.verdicts))
        });
        let rows: Vec<_> = rows.collect();
        terminal::print(&render::comparison(
            typed.graph(),
            &rows,
            terminal::colour(),
        ))?;
    }
    Ok(exit)
}

/// The report to show beside one plan.
fn actual_of(path: &Path, args: &Args, targets: usize) -> Result<Measured, Trouble> {
    if !matches!(args.format, Format::Text | Format::Html) {
        let message = "--actual is for plans as text and as a page: a report is JSON itself";
        return Err(Trouble::new(message));
    }
    if args.files.len() * targets > 1 {
        let message = "a report is of one run: name one file and one --target";
        return Err(Trouble::new(message));
    }
    records::read(path)
}

/// The report joined to a plan; says where it is of another.
fn beside(actual: &Measured, plan: &Plan) -> Measured {
    let saved = SavedPlan::of(plan);
    if saved.digest() != actual.plan.digest() {
        terminal::tell(
            "note: the run was of another plan: stages are joined by their names, and `haul diff` \
            tells what else differs\n",
        );
    }
    actual.clone().beside(&saved)
}

fn text(plan: &Plan, measured: Option<&Measured>) -> String {
    let colour = terminal::colour();
    let measured = measured.map(|measured| format!("\n{}", render::report(measured, colour)));
    render::text(plan, colour) + &measured.unwrap_or_default()
}
