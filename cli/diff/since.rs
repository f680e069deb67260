//! The plans of a project, at a revision and now.

use std::collections::BTreeMap;
use std::path::PathBuf;

use haul_compiler::diff::Comparison;
use haul_compiler::policy::Policies;
use haul_compiler::saved::SavedPlan;

use super::Pair;
use crate::exit::{Exit, Trouble};
use crate::file::File;
use crate::kept::{self, Kept};
use crate::project::{FILE, Project, shown};
use crate::revision::Revision;
use crate::terminal;

/// All plans that the project declares, at a revision and now, joined by where they are kept. What
/// has no plan now, or had none, is told and noted; the status tells of files that cannot be read.
pub(super) fn pairs_since(
    base: &str,
    project: Option<&Project>,
    comparison: &mut Comparison,
) -> Result<(Vec<Pair>, Exit), Trouble> {
    let Some(project) = project else {
        let message = format!("there is no {FILE} that says which plans to compare");
        return Err(Trouble::new(message));
    };
    let mut before = plans_at(base, project)?;
    let mut pairs = Vec::new();
    let (plans, unread) = all_plans(project, kept::kept(project)?, None)?;
    for declared in plans {
        let Declared { path, plan, .. } = declared;
        let old = before.remove(&path);
        if plan.is_none() {
            let unplanned = format!("{path} cannot be made: `haul check` says why");
            comparison.unplanned.push(unplanned);
            continue;
        }
        let unplanned = matches!(old, Some(None));
        if unplanned {
            let before = format!("{path} had no plan at {base}");
            comparison.unplanned_before.push(before);
        }
        pairs.push(Pair {
            old: old.flatten(),
            new: plan,
            policies: declared.policies,
            measured: [None, None],
            unplanned,
        });
    }
    let gone = before.into_values().map(|old| Pair {
        old,
        new: None,
        policies: Policies::default(),
        measured: [None, None],
        unplanned: false,
    });
    pairs.extend(gone);
    Ok((pairs, unread))
}

/// All plans that the project declared at a revision, by where they are kept; none of a pipeline
/// that had a mistake. Where the project itself had one, that is told, and it declared nothing.
fn plans_at(base: &str, project: &Project) -> Result<BTreeMap<String, Option<SavedPlan>>, Trouble> {
    let revision = Revision::open(base)?;
    let folder = revision.folder().join(inside(project, &revision)?);
    let tell = |Trouble(message): Trouble| {
        let message = revision.renamed(&message);
        terminal::tell(&format!("note: all plans count as new: {message}\n"));
    };
    let mut plans = BTreeMap::new();
    let then = Project::at(&folder).map_err(tell).ok().flatten();
    if let Some(then) = &then
        && let Ok(kept) = kept::kept(then).map_err(tell)
    {
        for declared in all_plans(then, kept, Some(&revision))?.0 {
            plans.insert(declared.path, declared.plan);
        }
    }
    Ok(plans)
}

/// The path of a project in the repository.
fn inside(project: &Project, revision: &Revision) -> Result<PathBuf, Trouble> {
    let here = project.folder.join(".").canonicalize();
    let here = here.unwrap_or_else(|_| project.folder.clone());
    let inside = here.strip_prefix(revision.top()).map_err(|_| {
        let folder = shown(&project.folder);
        Trouble::new(format!("{folder} is not in the repository"))
    })?;
    Ok(inside.to_owned())
}

/// A plan that a project declares.
struct Declared {
    /// Where it is kept.
    path: String,
    /// The plan as its pipeline has it; none where that has a mistake.
    plan: Option<SavedPlan>,
    policies: Policies,
}

/// All plans that a project declares, and the status that unreadable pipelines end with.
fn all_plans(
    project: &Project,
    kept: Vec<Kept<'_>>,
    revision: Option<&Revision>,
) -> Result<(Vec<Declared>, Exit), Trouble> {
    let mut all = Vec::new();
    let mut exit = Exit::Fine;
    for plans in kept.chunk_by(|a, b| a.pipeline == b.pipeline) {
        let Some(Kept { pipeline, .. }) = plans.first() else {
            continue;
        };
        let made = match File::read(pipeline) {
            Ok(mut file) => {
                if let Some(revision) = revision {
                    revision.lay_out_data(&file)?;
                    file.shown = revision.renamed(&file.shown);
                }
                kept::compile(project, &file, plans).0
            }
            Err(Trouble(message)) => {
                terminal::tell_error(&message);
                exit = Exit::Trouble;
                plans.iter().map(|_| None).collect()
            }
        };
        for (kept, plan) in plans.iter().zip(made) {
            let path = kept.path.strip_prefix(&project.folder);
            all.push(Declared {
                path: shown(path.unwrap_or(&kept.path)),
                plan,
                policies: kept.entry.policies.clone(),
            });
        }
    }
    Ok((all, exit))
}
