//! `haul why`: everything known about one decision.

use std::path::{Path, PathBuf};

use haul_compiler::render;
use haul_compiler::why::{NoWhy, why};

use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::File;
use crate::{messages, project, records, terminal};

/// Tells why a stage gets its request and node, or why an op is on its side: both candidates with
/// every term, what crosses, what the other choice would cost, and what would change the answer.
#[derive(clap::Args)]
#[command(
    override_usage = "haul why [OPTIONS] <FILE> <NAME>\n       haul why --run <REPORT> <STAGE>"
)]
pub(crate) struct Args {
    /// The pipeline file, and a stage, or an op as `haul plan` prints it: `stage.op`; with --run the
    /// stage alone.
    #[arg(required = true, num_args = 1..=2, value_names = ["FILE", "NAME"])]
    names: Vec<String>,
    /// Tells of a run instead: how long a stage took beside what was predicted, and what it waited
    /// for, from the report that `haul run --report` wrote.
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["targets", "params", "pins"])]
    run: Option<PathBuf>,
    /// The machines to plan for; several are told one after the other. Without, those of `haul.ron`.
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    #[command(flatten)]
    set: Set,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    match (&args.run, &args.names[..]) {
        (Some(report), [stage]) => of_run(report, stage),
        (None, [file, name]) => of_plan(args, Path::new(file), name),
        (Some(_), _) => Err(Trouble::new("a report knows its plan: name only the stage")),
        (None, _) => Err(Trouble::new(
            "name a pipeline file, and a stage or an op of it",
        )),
    }
}

/// Why a stage took as long as it did in a run.
fn of_run(report: &Path, name: &str) -> Result<Exit, Trouble> {
    let run = records::read(report)?;
    let stage = run.stage(name).ok_or_else(|| {
        let names = run.stages.iter().map(|stage| stage.stage.as_str());
        let all: Vec<_> = names.clone().collect();
        let all = format!("the stages of the run: {}", all.join(", "));
        Trouble::unknown("stage", name, names, &all)
    })?;
    terminal::print(&render::why_run(&run, stage, terminal::colour()))?;
    Ok(Exit::Fine)
}

/// Why a stage or an op is where it is in plans.
fn of_plan(args: &Args, file: &Path, name: &str) -> Result<Exit, Trouble> {
    let targets = project::targets(&args.targets)?;
    let file = File::read(file)?;
    let checked = facts::check(&file, &args.set);
    facts::know_pins(&checked)?;
    let Some(typed) = checked.typed else {
        return Ok(messages::tell(&file, &checked.diagnostics));
    };
    let mut exit = Exit::Fine;
    for (position, target) in targets.iter().enumerate() {
        let (pipeline, source) = file.names();
        let why = why(
            typed.clone(),
            target,
            (&pipeline, &source),
            &checked.places,
            name,
        );
        match why {
            Ok(why) => {
                let gap = if position == 0 { "" } else { "\n" };
                let text = render::why(&why, terminal::colour());
                terminal::print(&format!("{gap}{text}"))?;
            }
            Err(NoWhy::Unknown) => return Err(facts::unknown_name(typed.graph(), name)),
            Err(NoWhy::Refused(refused)) => {
                exit = exit.max(messages::tell(&file, &refused.mistakes));
            }
        }
    }
    Ok(exit)
}
