//! The plans that a project keeps: one beside each pipeline for each target that it declares.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use haul_compiler::policy::{self, Policies};
use haul_compiler::project::Snapshots;
use haul_compiler::saved::SavedPlan;
use haul_executor::Paths;
use haul_ir::diagnostic::{Diagnostic, Severity};
use haul_ir::target::Target;

use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::{File, plan_text};
use crate::project::{FILE, Project, shown};
use crate::{machine, messages};

/// What plan files begin with.
const PLAN: &[u8; 5] = b"plan ";

/// A plan that is kept.
pub(crate) struct Kept<'p> {
    /// The pipeline file.
    pub(crate) pipeline: PathBuf,
    /// The machines.
    pub(crate) target: Rc<Target>,
    /// Where the plan is kept: `NAME.TARGET.plan` beside the pipeline.
    pub(crate) path: PathBuf,
    /// The entry that declares it.
    pub(crate) entry: &'p Snapshots,
}

impl Kept<'_> {
    /// Its name: `NAME.TARGET`.
    pub(crate) fn name(&self) -> String {
        name(&self.path)
    }
}

/// The name of a plan file: without folders and ending.
pub(crate) fn name(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// All plans that a project keeps, by pipeline.
pub(crate) fn kept(project: &Project) -> Result<Vec<Kept<'_>>, Trouble> {
    let mut all: BTreeMap<(PathBuf, usize), Kept<'_>> = BTreeMap::new();
    let mut owners = BTreeMap::new();
    for entry in project.snapshots() {
        let targets = targets(project, entry)?;
        for pipeline in pipelines(project, entry)? {
            for target in &targets {
                let path = pipeline.with_extension(format!("{}.plan", target.name));
                let owner = format!("{} for {}", shown(&pipeline), target.name);
                if let Some(other) = owners.insert(path.clone(), owner.clone()) {
                    let what = match other == owner {
                        true => format!("{owner} is declared twice"),
                        false => format!("{owner} and {other} would be kept in one file"),
                    };
                    return Err(project.trouble(&entry.pipelines, what));
                }
                let kept = Kept {
                    pipeline: pipeline.clone(),
                    target: Rc::clone(target),
                    path,
                    entry,
                };
                all.insert((pipeline.clone(), all.len()), kept);
            }
        }
    }
    Ok(all.into_values().collect())
}

/// Plans beside pipelines, edited or not, that belong to no pipeline and target: one of them is gone.
/// Files that are no plan of the pipeline and target of their name are not ours.
pub(crate) fn orphans(project: &Project, kept: &[Kept<'_>]) -> Vec<PathBuf> {
    let mut orphans = Vec::new();
    for entry in project.snapshots() {
        let pattern = Path::new(&entry.pipelines.text).with_file_name("*.plan");
        // Nothing matches where nothing was kept; a folder that cannot be read was told.
        let found = haul_executor::files(&pattern.to_string_lossy(), &files_of(project));
        let paths = found.unwrap_or_default().into_iter();
        orphans.extend(paths.map(|path| project.folder.join(path)));
    }
    orphans.sort();
    orphans.dedup();
    let kept: HashSet<_> = kept.iter().map(|kept| &kept.path).collect();
    orphans.retain(|path| !kept.contains(path) && is_ours(path));
    orphans
}

/// Compiles a pipeline for the targets of its plans, and tells the mistakes. None for a target
/// that there is no plan for.
pub(crate) fn compile(
    project: &Project,
    file: &File,
    plans: &[Kept<'_>],
) -> (Vec<Option<SavedPlan>>, Exit) {
    let checked = facts::check(file, &Set::default());
    let tell = |diagnostics: Vec<Diagnostic>| {
        let mut diagnostics = project.lints().apply(diagnostics);
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        messages::tell(file, &diagnostics)
    };
    let mut exit = tell(checked.diagnostics);
    let mut made = Vec::new();
    for kept in plans {
        let typed = checked.typed.clone();
        let planned = typed.map(|typed| file.plan(typed, &kept.target, &checked.places));
        let (plan, diagnostics) = match planned {
            None => (None, Vec::new()),
            Some(Err(refused)) => (None, refused.mistakes),
            Some(Ok(planned)) => (Some(SavedPlan::of(&planned.plan)), planned.warnings),
        };
        exit = exit.max(tell(diagnostics));
        made.push(plan);
    }
    (made, exit)
}

/// Refuses names in policies that are in none of the plans: mistyped, or gone.
pub(crate) fn check_names(
    project: &Project,
    held: &[(&Policies, &SavedPlan)],
) -> Result<(), Trouble> {
    match policy::unmatched(held)[..] {
        [] => Ok(()),
        [name, ..] => {
            let text = &name.text;
            let message = format!("no stage or op of these pipelines is called `{text}`");
            Err(project.trouble(name, message))
        }
    }
}

/// Whether a file says that it is a plan of the pipeline and target that its name says.
fn is_ours(path: &Path) -> bool {
    let mut start = [0; PLAN.len()];
    let begins = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    if begins.is_err() || start != *PLAN {
        return false;
    }
    let names = plan_text(path)
        .ok()
        .and_then(|text| SavedPlan::names_of(&text));
    names.is_some_and(|(pipeline, target)| name(path) == format!("{pipeline}.{target}"))
}

/// The targets of an entry.
fn targets(project: &Project, entry: &Snapshots) -> Result<Vec<Rc<Target>>, Trouble> {
    let mut targets: Vec<Rc<Target>> = Vec::new();
    for name in &entry.targets {
        if name.text == machine::LOCAL {
            let message =
                "plans for this machine differ from those for the next one: name a target";
            return Err(project.trouble(name, message));
        }
        let target = project.target(name)?;
        if targets.iter().any(|other| other.name == target.name) {
            let message = format!("there are two targets of the name `{}` here", target.name);
            return Err(project.trouble(name, message));
        }
        targets.push(Rc::new(target));
    }
    Ok(targets)
}

/// The pipeline files of an entry.
fn pipelines(project: &Project, entry: &Snapshots) -> Result<Vec<PathBuf>, Trouble> {
    let pattern = &entry.pipelines;
    let found = haul_executor::files(&pattern.text, &files_of(project));
    let mut paths = found.map_err(|error| project.trouble(pattern, error.to_string()))?;
    paths.retain(|path| path != Path::new(FILE));
    if paths.is_empty() {
        return Err(project.trouble(pattern, "no pipeline matches this pattern"));
    }
    Ok(paths
        .into_iter()
        .map(|path| project.folder.join(path))
        .collect())
}

/// The files that patterns of a project name.
fn files_of(project: &Project) -> Paths {
    Paths::of_files(project.folder.clone())
}
