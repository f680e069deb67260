//! Which stages and ops of the old plan have another name in the new one.

use std::collections::{HashMap, HashSet};

use super::Renamed;
use super::names::{renamed as rename, replaced};
use crate::saved::{SavedOp, SavedPlan, SavedStage};

/// New names by old ones.
type Names = HashMap<String, String>;

/// The old plan under the new names, and the renames.
pub(super) fn renamed(old: &SavedPlan, new: &SavedPlan) -> (SavedPlan, Vec<Renamed>) {
    let mut plan = old.clone();
    let mut renames = Vec::new();
    for moved in &new.moved {
        if has(&plan, &moved.old) && !has(&plan, &moved.new) && has(new, &moved.new) {
            let rename = told(&moved.old, &moved.new, false);
            apply(&mut plan, std::slice::from_ref(&rename));
            renames.push(rename);
        }
    }
    let stages = guess_stages(&plan, new);
    apply(&mut plan, &stages);
    renames.extend(stages);
    // Renaming one line makes those that read it alike: once more until nothing is found.
    loop {
        let lines = guess_lines(&plan, new);
        if lines.is_empty() {
            return (plan, renames);
        }
        apply(&mut plan, &lines);
        renames.extend(lines);
    }
}

fn told(old: &str, new: &str, guessed: bool) -> Renamed {
    Renamed {
        old: old.to_owned(),
        new: new.to_owned(),
        guessed,
    }
}

/// Whether a plan has a stage, or an op `stage.op`, of that name.
fn has(plan: &SavedPlan, name: &str) -> bool {
    match name.split_once('.') {
        None => plan.stage(name).is_some(),
        Some((stage, op)) => plan.stage(stage).is_some_and(|stage| has_op(stage, op)),
    }
}

fn has_op(stage: &SavedStage, op: &str) -> bool {
    stage.ops.iter().any(|other| other.name == op)
}

/// Gives stages, and ops `stage.op`, other names wherever the plan mentions them.
fn apply(plan: &mut SavedPlan, renames: &[Renamed]) {
    let pairs = || renames.iter().map(|r| (r.old.as_str(), r.new.as_str()));
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
    let renamed = |name: &str| {
        let own = own.and_then(|own| rename(name, own));
        own.or_else(|| rename(name, everywhere))
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

fn rename_name(name: &mut String, names: &Names) {
    if let Some(new) = rename(name, names) {
        *name = new;
    }
}

/// A stage that is gone and the only new one that does the same have been renamed.
fn guess_stages(plan: &SavedPlan, new: &SavedPlan) -> Vec<Renamed> {
    let names = |plan: &SavedPlan| -> HashSet<String> {
        plan.stages.iter().map(|stage| stage.name.clone()).collect()
    };
    let (known, kept) = (names(plan), names(new));
    let content = |stage: &SavedStage| (content(stage), stage.name.clone());
    let gone = plan
        .stages
        .iter()
        .filter(|stage| !kept.contains(&stage.name));
    let come = new
        .stages
        .iter()
        .filter(|stage| !known.contains(&stage.name));
    let pairs = only_pairs(gone.map(content), come.map(content));
    let renames = pairs.into_iter().map(|(old, new)| told(&old, &new, true));
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
        renames.extend(pairs.map(|(old, new)| told(&full(&old), &full(&new), true)));
    }
    renames
}

fn renamed_lines(old: &SavedStage, new: &SavedStage) -> Vec<(String, String)> {
    let known: HashSet<&str> = old.ops.iter().map(|op| op.name.as_str()).collect();
    let kept: HashSet<&str> = new.ops.iter().map(|op| op.name.as_str()).collect();
    // An inner op is renamed with its line.
    let is_line = |op: &&SavedOp| !op.name.contains('.');
    let gone = old.ops.iter().filter(|op| !kept.contains(op.name.as_str()));
    let come = new
        .ops
        .iter()
        .filter(|op| !known.contains(op.name.as_str()));
    only_pairs(
        gone.filter(is_line)
            .map(|op| (line(op, old), op.name.clone())),
        come.filter(is_line)
            .map(|op| (line(op, new), op.name.clone())),
    )
}

/// What a line computes with its inner ops, whatever its own name is.
fn line(op: &SavedOp, stage: &SavedStage) -> Vec<String> {
    let own = HashMap::from([(op.name.clone(), "=".to_owned())]);
    let inner = format!("{}.", op.name);
    let ops = stage.ops.iter();
    let ops = ops.filter(|other| other.name == op.name || other.name.starts_with(&inner));
    let text = |other: &SavedOp| {
        let formula = replaced(&other.formula, |name| rename(name, &own));
        format!("{formula} {}", other.types)
    };
    ops.map(text).collect()
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
