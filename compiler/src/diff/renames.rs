//! Which dims, inputs, stages, lines and outputs of the old plan have another name in the new one.

mod declarations;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::names::{renamed as rename, replaced};
use super::{Renamed, RenamedKind};
use crate::saved::{SavedOp, SavedPlan, SavedStage};

/// New names by old ones.
type Names = HashMap<String, String>;

/// So many ops are compared to guess renames: chains of them take a pass for each link.
const MOST_COMPARED: usize = 20_000_000;

/// The old plan under the new names, and the renames.
pub(super) fn renamed(old: &SavedPlan, new: &SavedPlan) -> (SavedPlan, Vec<Renamed>) {
    let mut plan = old.clone();
    let mut renames = Vec::new();
    let mut take = |plan: &mut SavedPlan, found: Vec<Renamed>| {
        let is_any = !found.is_empty();
        if is_any {
            apply(plan, &found);
            renames.extend(found);
        }
        is_any
    };
    let declarations = declarations::declared(&plan, new);
    take(&mut plan, declarations);
    let stages = declared_stages(&plan, new);
    let lines = declared_lines(&plan, new, &stages);
    take(&mut plan, stages);
    take(&mut plan, lines);
    // Renaming one makes those that read it alike: once more until nothing is found.
    let ops: usize = new.stages.iter().map(|stage| stage.ops.len() + 1).sum();
    for _ in 0..MOST_COMPARED.div_ceil(ops.max(1)) {
        let declarations = declarations::guess(&plan, new);
        let mut is_any = take(&mut plan, declarations);
        let stages = guess_stages(&plan, new);
        is_any |= take(&mut plan, stages);
        let lines = guess_lines(&plan, new);
        is_any |= take(&mut plan, lines);
        if !is_any {
            break;
        }
    }
    (plan, renames)
}

/// Renames of stages that the new plan declares.
fn declared_stages(old: &SavedPlan, new: &SavedPlan) -> Vec<Renamed> {
    let (known, kept) = (stage_names(old), stage_names(new));
    declared(
        (new, RenamedKind::Stage),
        &|name| Some(name.to_owned()),
        &|name| known.contains(name),
        &|name| kept.contains(name),
    )
}

/// Renames of lines that the new plan declares, under the new names of their stages.
fn declared_lines(old: &SavedPlan, new: &SavedPlan, stages: &[Renamed]) -> Vec<Renamed> {
    if new.moved.iter().all(|moved| !moved.old.contains('.')) {
        return Vec::new();
    }
    let stages: HashMap<_, _> = stages
        .iter()
        .map(|r| (r.old.as_str(), r.new.as_str()))
        .collect();
    let under_new = |name: &str| {
        let (stage, line) = name.split_once('.')?;
        Some(format!("{}.{line}", stages.get(stage).unwrap_or(&stage)))
    };
    let lines = |plan: &SavedPlan| -> HashSet<String> {
        let names = plan.stages.iter().flat_map(|stage| {
            let ops = stage.ops.iter();
            ops.filter_map(|op| under_new(&format!("{}.{}", stage.name, op.name)))
        });
        names.collect()
    };
    let (known, kept) = (lines(old), lines(new));
    let kind = RenamedKind::Line;
    declared(
        (new, kind),
        &under_new,
        &|name| known.contains(name),
        &|name| kept.contains(name),
    )
}

/// Of the renames of a kind that the new plan declares those from what the old one has to what it lacks; of
/// one that was renamed once more the last name counts.
fn declared(
    (new, kind): (&SavedPlan, RenamedKind),
    as_it_is: &dyn Fn(&str) -> Option<String>,
    is_known: &dyn Fn(&str) -> bool,
    is_kept: &dyn Fn(&str) -> bool,
) -> Vec<Renamed> {
    let moved = new
        .moved
        .iter()
        .filter_map(|moved| Some((as_it_is(&moved.old)?, as_it_is(&moved.new)?)));
    let moved: HashMap<_, _> = moved.collect();
    let mut taken = HashSet::new();
    let last = |from: &String| {
        let mut to = moved.get(from)?;
        for _ in 0..moved.len() {
            match moved.get(to) {
                Some(next) if !is_kept(to) => to = next,
                _ => break,
            }
        }
        Some(to.clone())
    };
    let mut renames = Vec::new();
    for old in new.moved.iter().filter_map(|moved| as_it_is(&moved.old)) {
        let Some(to) = last(&old) else { continue };
        if is_known(&old) && !is_known(&to) && is_kept(&to) && taken.insert(to.clone()) {
            renames.push(told(kind, &old, &to, false));
        }
    }
    renames
}

fn stage_names(plan: &SavedPlan) -> HashSet<&str> {
    plan.stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect()
}

fn told(kind: RenamedKind, old: &str, new: &str, guessed: bool) -> Renamed {
    Renamed {
        kind,
        old: old.to_owned(),
        new: new.to_owned(),
        guessed,
    }
}

/// Gives what is renamed its other name wherever the plan mentions it.
fn apply(plan: &mut SavedPlan, renames: &[Renamed]) {
    let of = |is_output: bool| {
        let is_of = move |r: &&Renamed| (r.kind == RenamedKind::Output) == is_output;
        let renames = renames.iter().filter(is_of);
        renames.map(|r| (r.old.as_str(), r.new.as_str()))
    };
    // Names of outputs are names of nothing else.
    let outputs: Names = of(true)
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
        .collect();
    for output in &mut plan.outputs {
        rename_name(&mut output.name, &outputs);
    }
    let pairs = || of(false);
    let everywhere: Names = pairs()
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
        .collect();
    let mut within: HashMap<&str, Names> = HashMap::new();
    for (old, new) in pairs() {
        // The ops of a stage begin with its name where they have none of their own.
        let (stage, old, new) = match (old.split_once('.'), new.split_once('.')) {
            (Some((stage, old)), Some((_, new))) => (stage, old, new),
            _ => (old, old, new),
        };
        let names = within.entry(stage).or_default();
        names.insert(old.to_owned(), new.to_owned());
    }
    for stage in &mut plan.stages {
        let own = within.get(stage.name.as_str());
        rename_in(stage, own, &everywhere);
        rename_name(&mut stage.name, &everywhere);
        if let Some(wait) = &mut stage.waits {
            rename_name(&mut wait.behind, &everywhere);
        }
    }
    declarations::rename(plan, &everywhere);
    for output in &mut plan.outputs {
        rename_name(&mut output.from, &everywhere);
    }
    let estimates = &mut plan.estimates;
    let stages = estimates.unknown.iter_mut();
    for name in stages.chain(&mut estimates.critical_path) {
        rename_name(name, &everywhere);
    }
}

/// Renames what a stage mentions: its own names first, then those of others.
fn rename_in(stage: &mut SavedStage, own: Option<&Names>, everywhere: &Names) {
    let lines: HashSet<String> = stage
        .ops
        .iter()
        .map(|op| first(&op.name).to_owned())
        .collect();
    let renamed = |name: &str| match lines.contains(first(name)) {
        true => own.and_then(|own| rename(name, own)),
        false => rename(name, everywhere),
    };
    let rename_name = |name: &mut String| {
        if let Some(new) = renamed(name) {
            *name = new;
        }
    };
    for op in &mut stage.ops {
        if let Some(new) = own.and_then(|own| rename(&op.name, own)) {
            op.name = new;
        }
        op.formula = replaced(&op.formula, renamed);
        if let Some((code, other)) = op.reason.split_once(' ')
            && !code.ends_with(':')
        {
            let mut other = other.to_owned();
            rename_name(&mut other);
            op.reason = format!("{code} {other}");
        }
    }
    for transfer in &mut stage.transfers {
        rename_name(&mut transfer.value);
        let readers = transfer.readers.iter_mut();
        readers.for_each(rename_name);
    }
    if let Some(at) = &mut stage.memory_at {
        rename_name(at);
    }
}

/// The line that a name begins with.
fn first(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn rename_name(name: &mut String, names: &Names) {
    if let Some(new) = rename(name, names) {
        *name = new;
    }
}

/// A stage that is gone and the only new one that does the same have been renamed.
fn guess_stages(plan: &SavedPlan, new: &SavedPlan) -> Vec<Renamed> {
    let (known, kept) = (stage_names(plan), stage_names(new));
    let content = |stage: &SavedStage| (content(stage), stage.name.clone());
    let gone = plan
        .stages
        .iter()
        .filter(|stage| !kept.contains(stage.name.as_str()));
    let come = new
        .stages
        .iter()
        .filter(|stage| !known.contains(stage.name.as_str()));
    let pairs = only_pairs(gone.map(content), come.map(content));
    let renames = pairs.into_iter();
    let renames = renames.map(|(old, new)| told(RenamedKind::Stage, &old, &new, true));
    renames.collect()
}

/// What a stage computes, whatever its name and those of its ops are.
fn content(stage: &SavedStage) -> Vec<String> {
    let ops = stage.ops.iter().enumerate();
    let own: Names = ops
        .map(|(at, op)| (op.name.clone(), format!("#{at}")))
        .collect();
    let op = |op: &SavedOp| {
        let formula = replaced(&op.formula, |name| own.get(name).cloned());
        format!("{formula} {}", op.types)
    };
    let each = stage.each.clone().unwrap_or_default();
    [each].into_iter().chain(stage.ops.iter().map(op)).collect()
}

/// In stages that both have, a line that is gone and the only new one that does the same.
fn guess_lines(plan: &SavedPlan, new: &SavedPlan) -> Vec<Renamed> {
    let before: HashMap<_, _> = plan.stages.iter().map(|s| (s.name.as_str(), s)).collect();
    let mut renames = Vec::new();
    for stage in &new.stages {
        let Some(old) = before.get(stage.name.as_str()) else {
            continue;
        };
        let full = |line: &str| format!("{}.{line}", stage.name);
        let pairs = renamed_lines(old, stage).into_iter();
        let told =
            |(old, new): (String, String)| told(RenamedKind::Line, &full(&old), &full(&new), true);
        renames.extend(pairs.map(told));
    }
    renames
}

fn renamed_lines(old: &SavedStage, new: &SavedStage) -> Vec<(String, String)> {
    let (before, after) = (lines(old), lines(new));
    let only = |here: &BTreeMap<&str, Vec<&SavedOp>>, there: &BTreeMap<&str, Vec<&SavedOp>>| {
        let only = here.iter().filter(|(line, _)| !there.contains_key(*line));
        let only = only.map(|(line, ops)| (line_content(line, ops), (*line).to_owned()));
        only.collect::<Vec<_>>().into_iter()
    };
    only_pairs(only(&before, &after), only(&after, &before))
}

/// The ops of each line.
fn lines(stage: &SavedStage) -> BTreeMap<&str, Vec<&SavedOp>> {
    let mut lines: BTreeMap<&str, Vec<&SavedOp>> = BTreeMap::new();
    for op in &stage.ops {
        lines.entry(first(&op.name)).or_default().push(op);
    }
    lines
}

/// What a line computes, whatever its own name is.
fn line_content(line: &str, ops: &[&SavedOp]) -> Vec<String> {
    let own = Names::from([(line.to_owned(), "=".to_owned())]);
    let text = |op: &&SavedOp| {
        let formula = replaced(&op.formula, |name| rename(name, &own));
        format!("{formula} {}", op.types)
    };
    ops.iter().map(text).collect()
}

/// The names of contents that are once on either side.
fn only_pairs(
    old: impl Iterator<Item = (Vec<String>, String)>,
    new: impl Iterator<Item = (Vec<String>, String)>,
) -> Vec<(String, String)> {
    let mut by_content: HashMap<Vec<String>, (Vec<String>, Vec<String>)> = HashMap::new();
    let mut order = Vec::new();
    for (content, name) in old {
        let names = &mut by_content.entry(content.clone()).or_default().0;
        names.push(name);
        order.push(content);
    }
    for (content, name) in new {
        by_content.entry(content).or_default().1.push(name);
    }
    let pair = |content| match by_content.get(&content)? {
        (old, new) if old.len() == 1 && new.len() == 1 => Some((old[0].clone(), new[0].clone())),
        _ => None,
    };
    order.into_iter().filter_map(pair).collect()
}
