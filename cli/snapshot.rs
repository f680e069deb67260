//! `haul snapshot`: the plans that the project keeps beside its pipelines.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use haul_compiler::diff::{Diff, text};
use haul_compiler::policy;
use haul_compiler::saved::SavedPlan;

use crate::exit::{Exit, Trouble};
use crate::file::{self, File, write_whole};
use crate::kept::{self, Kept};
use crate::project::{FILE, Project, shown};
use crate::terminal;

/// Holds the plans that are kept in the repository against those that its pipelines have now.
///
/// `haul.ron` declares which pipelines are planned for which targets, and the policies that plans
/// keep to. Without --accept nothing is written: each plan that differs, is missing, or belongs to
/// no pipeline is told. A plan that is written in another form, or order, does not differ.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compares, which is what happens without it too.
    #[arg(long, conflicts_with = "accept")]
    check: bool,
    /// Writes the plans anew and removes those that belong to no pipeline: all of them, or those
    /// of NAME, which is `pipeline` or `pipeline.target`.
    #[arg(long, value_name = "NAME", num_args = 0..)]
    accept: Option<Vec<String>>,
}

/// A plan as it is now.
struct Fresh<'a> {
    kept: &'a Kept<'a>,
    plan: SavedPlan,
    text: String,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let project = Project::find()?.ok_or_else(|| {
        let message = format!(
            "there is no {FILE} here or in a folder above: it declares the plans to keep, such as\n\
            Project(version: 1, snapshots: [(pipelines: \"pipelines/*.ron\", targets: [\"cpu\"])])"
        );
        Trouble::new(message)
    })?;
    let kept = kept::kept(&project)?;
    let orphans = kept::orphans(&project, &kept);
    match &args.accept {
        None => check(&project, &kept, &orphans),
        Some(names) if names.is_empty() => accept(&project, &kept, &orphans),
        Some(names) => {
            know(names, &kept, &orphans)?;
            let chosen = |plan: String| names.iter().any(|name| is_of(&plan, name));
            let kept: Vec<_> = kept
                .into_iter()
                .filter(|kept| chosen(kept.name()))
                .collect();
            let orphans: Vec<_> = orphans
                .into_iter()
                .filter(|path| chosen(kept::name(path)))
                .collect();
            accept(&project, &kept, &orphans)
        }
    }
}

fn check(project: &Project, kept: &[Kept<'_>], orphans: &[PathBuf]) -> Result<Exit, Trouble> {
    let (fresh, mut exit) = compile(project, kept)?;
    let compiled = fresh.len() == kept.len();
    let mut differ = 0;
    let mut broken = Vec::new();
    for made in &fresh {
        let before = committed(&made.kept.path)?;
        if let Some(difference) = difference(made, before.as_deref()) {
            terminal::print(&difference)?;
            differ += 1;
        }
        let before = before.and_then(|text| SavedPlan::read(&text).ok());
        broken.extend(policy::check(
            &made.kept.entry.policies,
            before.as_ref(),
            &made.plan,
        ));
    }
    for orphan in orphans {
        let edited = match SavedPlan::read(&file::plan_text(orphan)?) {
            Ok(_) => "",
            Err(_) => ", and was edited after haul wrote it",
        };
        let path = shown(orphan);
        terminal::print(&format!(
            "{path} belongs to no pipeline and target{edited}\n"
        ))?;
        differ += 1;
    }
    if differ > 0 {
        let all = kept.len() + orphans.len();
        terminal::tell_error(&format!(
            "{differ} of {all} plans are not as they are kept\n\
            `haul snapshot --accept` keeps them as they are now, if that is meant"
        ));
        exit = exit.max(Exit::Found);
    }
    for violation in &broken {
        terminal::tell_error(&format!("policy: {violation}"));
        exit = exit.max(Exit::Policy);
    }
    if compiled {
        let held = fresh
            .iter()
            .map(|made| (&made.kept.entry.policies, &made.plan));
        kept::check_names(project, &held.collect::<Vec<_>>())?;
    }
    Ok(exit)
}

fn accept(project: &Project, kept: &[Kept<'_>], orphans: &[PathBuf]) -> Result<Exit, Trouble> {
    let (fresh, exit) = compile(project, kept)?;
    for made in &fresh {
        let path = &made.kept.path;
        let before = committed(path)?;
        if before.as_ref() == Some(&made.text) {
            continue;
        }
        write_whole(path, &made.text)?;
        let what = if before.is_some() { "changed" } else { "added" };
        terminal::print(&format!("{what} {}\n", shown(path)))?;
        let before = before.and_then(|text| SavedPlan::read(&text).ok());
        for violation in policy::check(&made.kept.entry.policies, before.as_ref(), &made.plan) {
            terminal::tell(&format!("accepted in spite of the policy: {violation}\n"));
        }
    }
    for orphan in orphans {
        let trouble = |error| Trouble::new(format!("could not remove {}: {error}", shown(orphan)));
        fs::remove_file(orphan).map_err(trouble)?;
        terminal::print(&format!("removed {}\n", shown(orphan)))?;
    }
    Ok(exit)
}

/// Refuses names that no plan has.
fn know(names: &[String], kept: &[Kept<'_>], orphans: &[PathBuf]) -> Result<(), Trouble> {
    let kept = kept.iter().map(Kept::name);
    let plans: Vec<_> = kept
        .chain(orphans.iter().map(|path| kept::name(path)))
        .collect();
    let pipelines = plans
        .iter()
        .filter_map(|plan| Some(plan.rsplit_once('.')?.0));
    let known: Vec<_> = plans.iter().map(String::as_str).chain(pipelines).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let all = format!("plans are {}", plans.join(", "));
            Err(Trouble::unknown("plan", name, known.iter().copied(), &all))
        }
    }
}

/// The plans as they are now; tells the mistakes of pipelines that have none.
fn compile<'a>(project: &Project, kept: &'a [Kept<'a>]) -> Result<(Vec<Fresh<'a>>, Exit), Trouble> {
    let mut fresh = Vec::new();
    let mut exit = Exit::Fine;
    for plans in kept.chunk_by(|a, b| a.pipeline == b.pipeline) {
        let Some(first) = plans.first() else { continue };
        let file = match File::read(&first.pipeline) {
            Ok(file) => file,
            Err(Trouble(message)) => {
                terminal::tell_error(&message);
                exit = Exit::Trouble;
                continue;
            }
        };
        let (made, found) = kept::compile(project, &file, plans);
        exit = exit.max(found);
        for (kept, plan) in plans.iter().zip(made) {
            let Some(plan) = plan else { continue };
            let text = plan.snapshot();
            // Rounded as the kept plan is, which it is held against.
            let plan = SavedPlan::read(&text).map_err(|error| {
                Trouble::new(format!(
                    "{}: cannot be read back: {error}",
                    shown(&kept.path)
                ))
            })?;
            fresh.push(Fresh { kept, plan, text });
        }
    }
    Ok((fresh, exit))
}

/// How a plan differs from the one that is kept, where it does.
fn difference(made: &Fresh<'_>, before: Option<&str>) -> Option<String> {
    let path = shown(&made.kept.path);
    let Some(before) = before else {
        return Some(format!("{path} is missing\n"));
    };
    if before == made.text {
        return None;
    }
    let changes = match SavedPlan::read(before) {
        Err(error) => format!("it is no plan that this haul reads: line {error}\n"),
        Ok(before) => match Diff::of(&before, &made.plan) {
            diff if diff.is_empty() => otherwise(&before.snapshot(), &made.text)?,
            diff => text(&diff, terminal::colour(), false),
        },
    };
    Some(format!("{path} differs\n{changes}\n"))
}

/// The first lines that only one of two plans has, where they have more than another order and so
/// another digest.
fn otherwise(before: &str, now: &str) -> Option<String> {
    let (was, is) = (only_in(before, now), only_in(now, before));
    let line = |what: &str, line: Option<&str>| {
        line.map_or_else(String::new, |line| {
            format!("{what} {}\n", line.trim_start())
        })
    };
    match (was, is) {
        (None, None) => None,
        (was, is) => Some(line("-", was) + &line("+", is)),
    }
}

/// The first line that a text has more often than another.
fn only_in<'t>(text: &'t str, other: &str) -> Option<&'t str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for line in other.lines() {
        *counts.entry(line).or_default() += 1;
    }
    let mut lines = text.lines().filter(|line| !line.starts_with("digest "));
    lines.find(|line| match counts.get_mut(line) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    })
}

/// The text of a plan that is kept, where there is one. Line ends are those of this system.
fn committed(path: &Path) -> Result<Option<String>, Trouble> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => Ok(Some(file::plan_text(path)?.replace("\r\n", "\n"))),
    }
}

/// Whether a plan is meant by a name: that of the pipeline, or its own.
fn is_of(plan: &str, name: &str) -> bool {
    plan == name
        || plan
            .rsplit_once('.')
            .is_some_and(|(pipeline, _)| pipeline == name)
}
