//! `haul check`: the mistakes in pipeline files.

use std::collections::HashSet;
use std::path::PathBuf;

use haul_compiler::diagnostics::Levels;
use haul_compiler::render;
use haul_ir::diagnostic::Diagnostic;
use haul_ir::target::Target;

use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::File;
use crate::fix::{self, fix};
use crate::lints::{Lints, not_simulated, told};
use crate::messages::{self, Format};
use crate::{project, terminal};

/// Checks pipeline files and reports every mistake at once.
///
/// Reads the pipelines, and the headers of inputs that declare no type.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pipeline files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Machines that the requests are checked against: a name of `haul targets`, a target file, or
    /// `local`. Without, those that `haul.ron` declares; where there are none, only the file is
    /// checked.
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    #[command(flatten)]
    set: Set,
    #[command(flatten)]
    lints: Lints,
    /// Makes the edits that need no judgement, in the files themselves: those of warnings about a
    /// target, and of mistakes that can only be mended one way.
    #[arg(long)]
    fix: bool,
    /// How mistakes are printed.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    message_format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    if args.fix && !args.set.is_empty() {
        let message = "--fix would write what --set and --pin only suppose into the file: leave \
            them out, or --fix";
        return Err(Trouble::new(message));
    }
    let levels = args.lints.levels()?;
    let targets = match args.targets.is_empty() {
        true => project::declared_targets()?,
        false => project::targets(&args.targets)?,
    };
    let mut exit = Exit::Fine;
    for path in &args.files {
        let mut file = File::read(path)?;
        facts::know_pins(&facts::check(&file, &args.set))?;
        let find = |file: &File| found(file, args, &targets, &levels);
        if args.fix {
            fix(&mut file, |file| {
                let Found {
                    diagnostics, runs, ..
                } = find(file);
                fix::Found { diagnostics, runs }
            })?;
        }
        let found = find(&file);
        match args.message_format {
            Format::Text => drop(messages::tell(&file, &found.diagnostics)),
            Format::Json => terminal::print(&messages::json(&file, &found.diagnostics))?,
        }
        terminal::tell(&found.not_simulated);
        terminal::print(&found.verdicts)?;
        exit = exit.max(messages::verdict(&found.diagnostics));
    }
    Ok(exit)
}

/// What is to be said about a file.
struct Found {
    diagnostics: Vec<Diagnostic>,
    /// What the run takes on each target.
    runs: Vec<fix::Run>,
    /// Lines about savings that nobody knows.
    not_simulated: String,
    /// The verdicts on its stages for each target, as they are printed.
    verdicts: String,
}

/// What is to be said about a file, and about its plan for each target; the same only once.
fn found(file: &File, args: &Args, targets: &[Target], levels: &Levels) -> Found {
    let checked = facts::check(file, &args.set);
    let mut found = Found {
        diagnostics: levels.apply(checked.diagnostics),
        runs: Vec::new(),
        not_simulated: String::new(),
        verdicts: String::new(),
    };
    let mut said = HashSet::new();
    for target in targets {
        let Some(typed) = &checked.typed else {
            break;
        };
        let planned = file.plan(typed.clone(), target, &checked.places);
        let mut new = told(levels, &planned);
        new.retain(|d| said.insert((d.primary.span, d.code, d.message.clone())));
        found.diagnostics.extend(new);
        let estimates = planned.as_ref().ok().map(|made| &made.plan.estimates);
        found.runs.push(fix::Run {
            target: target.name.clone(),
            makespan: estimates.and_then(|estimates| estimates.makespan),
            nano_usd: estimates.and_then(|estimates| estimates.nano_usd),
        });
        found.not_simulated += &not_simulated(file, &planned);
        let verdicts = match &planned {
            Ok(planned) => &planned.verdicts,
            Err(refused) => &refused.verdicts,
        };
        let (graph, text) = (typed.graph(), &file.text);
        found.verdicts += &match args.message_format {
            Format::Text => render::verdicts(graph, target, verdicts, text, terminal::colour()),
            Format::Json => render::verdicts_json(graph, target, verdicts, &file.shown, text),
        };
    }
    found
}
