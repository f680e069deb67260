//! `haul diff`: what changed between two plans.

mod since;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use haul_compiler::diff::{Comparison, Diff, markdown, text};
use haul_compiler::measured::Measured;
use haul_compiler::policy::{self, Policies};
use haul_compiler::saved::SavedPlan;
use haul_ir::diagnostic::Diagnostic;
use haul_ir::target::Target;

use self::since::pairs_since;
use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::{self, File};
use crate::kept;
use crate::project::{self, Project};
use crate::revision::Revision;
use crate::{machine, messages, terminal};

/// Compares plans: what is computed, what was decided and why that changed, what is predicted.
///
/// Exits with 0 where nothing changed, 1 where something did or a pipeline does not compile, 2 where
/// it could not tell, and 3 where the new plan breaks a policy of `haul.ron`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The old plan: a plan file, a report of a run, a pipeline, or `REV:PATH`, one of these at a
    /// revision of git.
    #[arg(required_unless_present = "base")]
    old: Option<String>,
    /// The new plan, likewise.
    #[arg(required_unless_present = "base")]
    new: Option<String>,
    /// Compares all plans that `haul.ron` declares, as they were at REV, with those of now.
    #[arg(long, value_name = "REV", conflicts_with_all = ["old", "new", "targets", "params", "pins"])]
    base: Option<String>,
    /// The machines to plan pipelines for. Without, those of the other side if that is a plan file,
    /// or of `haul.ron`.
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    #[command(flatten)]
    set: Set,
    /// Shows what did not change as well, and the estimates of single ops.
    #[arg(long)]
    full: bool,
    /// How changes are printed: for people, for tools, or for a comment on a pull request, which is
    /// empty where nothing changed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Markdown,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let project = Project::find()?;
    let mut comparison = Comparison::default();
    let (pairs, unread) = match (&args.base, &args.old, &args.new) {
        (Some(base), ..) => pairs_since(base, project.as_ref(), &mut comparison)?,
        (None, Some(old), Some(new)) => match pairs_of(old, new, args, project.as_ref())? {
            Some(pairs) => (pairs, Exit::Fine),
            None => return Ok(Exit::Found),
        },
        _ => return Err(Trouble::new("name two plans, or --base REV")),
    };
    compare(&pairs, &mut comparison);
    print(&comparison, args)?;
    for before in &comparison.unplanned_before {
        terminal::tell(&format!("note: {before}\n"));
    }
    for failed in &comparison.failed {
        terminal::tell_error(&format!("policy: {failed}"));
    }
    for unplanned in &comparison.unplanned {
        terminal::tell_error(&format!("could not tell what changed: {unplanned}"));
    }
    if let (Some(_), Some(project), true) = (&args.base, &project, comparison.unplanned.is_empty())
    {
        let held = pairs
            .iter()
            .filter_map(|pair| Some((&pair.policies, pair.new.as_ref()?)));
        kept::check_names(project, &held.collect::<Vec<_>>())?;
    }
    let same = comparison.unplanned.is_empty()
        && comparison.unplanned_before.is_empty()
        && comparison.diffs.iter().all(Diff::is_empty);
    let exit = match same {
        _ if !comparison.failed.is_empty() => Exit::Policy,
        true => Exit::Fine,
        false => Exit::Found,
    };
    Ok(exit.max(unread))
}

/// Two plans to compare, either of which may not be there, and what the new one has to keep to.
struct Pair {
    old: Option<SavedPlan>,
    new: Option<SavedPlan>,
    policies: Policies,
    /// What their runs measured.
    measured: [Option<Measured>; 2],
    /// Whether the old one could not be made: then there is nothing to compare with.
    unplanned: bool,
}

/// Adds what changed, and the policies that the new plans break.
fn compare(pairs: &[Pair], comparison: &mut Comparison) {
    for pair in pairs {
        let (old, new) = (&pair.old, &pair.new);
        let empty = |other: &Option<SavedPlan>| other.as_ref().map(SavedPlan::emptied);
        let (was, is) = (
            old.clone().or_else(|| empty(new)),
            new.clone().or_else(|| empty(old)),
        );
        if let (Some(was), Some(is), false) = (was, is, pair.unplanned) {
            let [before, after] = pair.measured.each_ref().map(Option::as_ref);
            let diff = Diff::of(&was, &is).with_measured(before, after);
            comparison.diffs.push(diff);
        }
        if let Some(new) = new {
            tell_unbound(pair, new);
            let broken = policy::check(&pair.policies, old.as_ref(), new);
            comparison
                .failed
                .extend(broken.iter().map(ToString::to_string));
        }
    }
}

/// Says where limits on growth do not bind, because the old plan is for another target.
fn tell_unbound(pair: &Pair, new: &SavedPlan) {
    let Some(old) = &pair.old else { return };
    let (was, is) = (&old.target.name, &new.target.name);
    if was != is && pair.policies.limit_growth() {
        terminal::tell(&format!(
            "note: limits on growth do not bind between two targets, here {was} and {is}\n"
        ));
    }
}

fn print(comparison: &Comparison, args: &Args) -> Result<(), Trouble> {
    match args.format {
        Format::Json => terminal::print(&comparison.json()),
        Format::Markdown => terminal::print(&markdown(comparison)),
        Format::Text => {
            // Of a whole project only what changed: the rest is counted.
            let is_told = |diff: &&Diff| args.base.is_none() || args.full || !diff.is_empty();
            let told = comparison.diffs.iter().filter(is_told);
            let texts = told.map(|diff| text(diff, terminal::colour(), args.full));
            let mut texts: Vec<_> = texts.collect();
            if args.base.is_some() {
                let changed = comparison.diffs.iter().filter(|diff| !diff.is_empty());
                let (changed, all) = (changed.count(), comparison.diffs.len());
                texts.push(format!("{changed} of {all} plans changed\n"));
            }
            terminal::print(&texts.join("\n"))
        }
    }
}

/// One side that the command line names.
enum Named {
    /// What a run of it measured, where it is of a report.
    Plan(Box<SavedPlan>, Option<Box<Measured>>),
    Pipeline(File, Option<Revision>),
}

impl Named {
    fn measured(&self) -> Option<Measured> {
        match self {
            Named::Plan(_, measured) => measured.as_deref().cloned(),
            Named::Pipeline(..) => None,
        }
    }
}

/// The two sides that the command line names, once for each target; none where one of them does not
/// compile, which is told.
fn pairs_of(
    old: &str,
    new: &str,
    args: &Args,
    project: Option<&Project>,
) -> Result<Option<Vec<Pair>>, Trouble> {
    let (old, new) = (named(old)?, named(new)?);
    let measured = [&old, &new].map(Named::measured);
    if let (Named::Plan(old, _), Named::Plan(new, _)) = (&old, &new) {
        if !args.targets.is_empty() || !args.set.is_empty() {
            let message = "two plan files leave nothing to plan: --target, --set and --pin are for \
                pipelines";
            return Err(Trouble::new(message));
        }
        return Ok(Some(vec![Pair {
            policies: policies(project, None, &new.target.name)?,
            old: Some((**old).clone()),
            new: Some((**new).clone()),
            measured,
            unplanned: false,
        }]));
    }
    let targets: Vec<String> = match (&old, &new) {
        _ if !args.targets.is_empty() => args.targets.clone(),
        (Named::Plan(plan, _), Named::Pipeline(..))
        | (Named::Pipeline(..), Named::Plan(plan, _)) => {
            vec![plan.target.name.clone()]
        }
        _ => Vec::new(),
    };
    let targets = match targets.is_empty() {
        true => project::default_targets()?,
        false => {
            let found = targets.iter().map(|name| target(name, project));
            found.collect::<Result<Vec<_>, _>>()?
        }
    };
    let was = plans(&old, &targets, &args.set)?;
    let is = plans(&new, &targets, &args.set)?;
    let (Some(was), Some(is)) = (was, is) else {
        return Ok(None);
    };
    let path = match &new {
        Named::Pipeline(file, None) => Some(file.path.as_path()),
        _ => None,
    };
    let pairs = targets.iter().zip(was.into_iter().zip(is));
    let pair = |(target, (old, new)): (&Target, (SavedPlan, SavedPlan))| {
        Ok(Pair {
            policies: policies(project, path, &target.name)?,
            old: Some(old),
            new: Some(new),
            measured: measured.clone(),
            unplanned: false,
        })
    };
    pairs.map(pair).collect::<Result<_, _>>().map(Some)
}

/// A target by its name; that of a plan file may be one that the project has a file for.
fn target(name: &str, project: Option<&Project>) -> Result<Target, Trouble> {
    let declared = project.and_then(|project| project.target_called(name));
    declared.map_or_else(|| machine::target(name), Ok)
}

fn named(argument: &str) -> Result<Named, Trouble> {
    let (path, revision) = match argument.split_once(':') {
        Some((name, path)) if !Path::new(argument).exists() => {
            let revision = Revision::open(name)?;
            (revision.path(path)?, Some(revision))
        }
        _ => (PathBuf::from(argument), None),
    };
    let text = file::plan_text(&path)?;
    // A pipeline begins with a comment or a bracket.
    if !text.starts_with("plan ") && !text.trim_start().starts_with('{') {
        let shown = argument.to_owned();
        let file = File { path, shown, text };
        if let Some(revision) = &revision {
            revision.lay_out_data(&file)?;
        }
        return Ok(Named::Pipeline(file, revision));
    }
    let trouble = |error| Trouble::new(format!("{argument}:{error}"));
    if Measured::is_report(&text) {
        let measured = Measured::read(&text).map_err(trouble)?;
        let plan = Box::new(measured.plan.clone());
        return Ok(Named::Plan(plan, Some(Box::new(measured))));
    }
    let plan = SavedPlan::read(&text).map_err(trouble)?;
    Ok(Named::Plan(Box::new(plan), None))
}

/// The plans of one side for all targets; none where it does not compile, which is told.
fn plans(named: &Named, targets: &[Target], set: &Set) -> Result<Option<Vec<SavedPlan>>, Trouble> {
    let file = match named {
        Named::Plan(plan, _) => return Ok(Some(vec![(**plan).clone(); targets.len()])),
        Named::Pipeline(file, _) => file,
    };
    let checked = facts::check(file, set);
    facts::know_pins(&checked)?;
    let Some(typed) = checked.typed else {
        tell_unplanned(file, &checked.diagnostics);
        return Ok(None);
    };
    let mut plans = Vec::new();
    for target in targets {
        match file.plan(typed.clone(), target, &checked.places) {
            Ok(planned) => plans.push(SavedPlan::of(&planned.plan)),
            Err(refused) => {
                tell_unplanned(file, &refused.mistakes);
                return Ok(None);
            }
        }
    }
    Ok(Some(plans))
}

fn tell_unplanned(file: &File, mistakes: &[Diagnostic]) {
    messages::tell(file, mistakes);
    let message = format!("could not tell what changed: {} has no plan", file.shown);
    terminal::tell_error(&message);
}

/// What a plan has to keep to: as its entry in `haul.ron` says, or the project for all.
fn policies(
    project: Option<&Project>,
    pipeline: Option<&Path>,
    target: &str,
) -> Result<Policies, Trouble> {
    let Some(project) = project else {
        return Ok(Policies::default());
    };
    let pipeline = pipeline.and_then(|path| path.canonicalize().ok());
    let kept = kept::kept(project)?;
    let own = kept.iter().find(|kept| {
        kept.target.name == target
            && pipeline.is_some()
            && kept.pipeline.canonicalize().ok() == pipeline
    });
    Ok(own.map_or_else(
        || project.policies().clone(),
        |kept| kept.entry.policies.clone(),
    ))
}
