//! Which stages and ops of the old plan have another name in the new one.

use std::collections::{HashMap, HashSet};

use super::Renamed;
use super::names::{renamed as rename, replaced};
use crate::saved::{SavedOp, SavedPlan, SavedStage};

/// The old plan under the new names, and the renames.
pub(super) fn renamed(old: &SavedPlan, new: &SavedPlan) -> (SavedPlan, Vec<Renamed>) {
    let mut plan = old.clone();
    let mut renames = Vec::new();
    for moved in &new.moved {
        if has(&plan, &moved.old) && !has(&plan, &moved.new) && has(new, &moved.new) {
            apply(&mut plan, &moved.old, &moved.new);
            renames.push(told(&moved.old, &moved.new, false));
        }
    }
    guess_stages(&mut plan, new, &mut renames);
    guess_ops(&mut plan, new, &mut renames);
    (plan, renames)
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

/// Gives a stage, or an op `stage.op`, another name wherever the plan mentions it.
fn apply(plan: &mut SavedPlan, old: &str, new: &str) {
    let everywhere = HashMap::from([(old.to_owned(), new.to_owned())]);
    let within = match (old.split_once('.'), new.split_once('.')) {
        (Some((stage, old)), Some((_, new))) => (
            stage.to_owned(),
            HashMap::from([(old.to_owned(), new.to_owned())]),
        ),
        // The ops of a stage begin with its name where they have none of their own.
        _ => (old.to_owned(), everywhere.clone()),
    };
    for stage in &mut plan.stages {
        let is_within = stage.name == within.0;
        let names = if is_within { &within.1 } else { &everywhere };
        rename_in(stage, names);
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

fn rename_in(stage: &mut SavedStage, names: &HashMap<String, String>) {
    for op in &mut stage.ops {
        rename_name(&mut op.name, names);
        op.formula = replaced(&op.formula, |name| rename(name, names));
        if let Some((code, other)) = op.reason.split_once(' ')
            && !code.ends_with(':')
        {
            let mut other = other.to_owned();
            rename_name(&mut other, names);
            op.reason = format!("{code} {other}");
        }
    }
    for transfer in &mut stage.transfers {
        rename_name(&mut transfer.value, names);
        let readers = transfer.readers.iter_mut();
        readers.for_each(|reader| rename_name(reader, names));
    }
    if let Some(at) = &mut stage.memory_at {
        rename_name(at, names);
    }
}

fn rename_name(name: &mut String, names: &HashMap<String, String>) {
    if let Some(new) = rename(name, names) {
        *name = new;
    }
}

/// A stage that is gone and the only new one that does the same have been renamed.
fn guess_stages(plan: &mut SavedPlan, new: &SavedPlan, renames: &mut Vec<Renamed>) {
    let kept: HashSet<&str> = new.stages.iter().map(|stage| stage.name.as_str()).collect();
    let known: HashSet<&str> = plan
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    let gone = plan
        .stages
        .iter()
        .filter(|stage| !kept.contains(stage.name.as_str()));
    let come = new
        .stages
        .iter()
        .filter(|stage| !known.contains(stage.name.as_str()));
    let pairs = only_pairs(
        gone.map(|s| (content(s), s.name.clone())),
        come.map(|s| (content(s), s.name.clone())),
    );
    for (old, new) in pairs {
        apply(plan, &old, &new);
        renames.push(told(&old, &new, true));
    }
}

/// What a stage computes, whatever its own name is.
fn content(stage: &SavedStage) -> Vec<String> {
    let own = HashMap::from([(stage.name.clone(), "=".to_owned())]);
    let op = |op: &SavedOp| {
        let formula = replaced(&op.formula, |name| rename(name, &own));
        let name = rename(&op.name, &own).unwrap_or_else(|| op.name.clone());
        format!("{name} {formula} {}", op.types)
    };
    let each = stage.each.clone().unwrap_or_default();
    [each].into_iter().chain(stage.ops.iter().map(op)).collect()
}

/// In stages that both have, a line that is gone and the only new one that does the same.
fn guess_ops(plan: &mut SavedPlan, new: &SavedPlan, renames: &mut Vec<Renamed>) {
    for stage in &new.stages {
        let Some(old) = plan.stages.iter().find(|old| old.name == stage.name) else {
            continue;
        };
        let kept: HashSet<&str> = stage.ops.iter().map(|op| op.name.as_str()).collect();
        if old.ops.iter().all(|op| kept.contains(op.name.as_str())) {
            continue;
        }
        // Renaming one makes the formulas of its readers alike: once more until nothing is found.
        while let Some((from, to)) = guess_op(plan, stage) {
            let (old, new) = (
                format!("{}.{from}", stage.name),
                format!("{}.{to}", stage.name),
            );
            apply(plan, &old, &new);
            renames.push(told(&old, &new, true));
        }
    }
}

fn guess_op(plan: &SavedPlan, new: &SavedStage) -> Option<(String, String)> {
    let old = plan.stage(&new.name)?;
    let known: HashSet<&str> = old.ops.iter().map(|op| op.name.as_str()).collect();
    let kept: HashSet<&str> = new.ops.iter().map(|op| op.name.as_str()).collect();
    // An inner op is renamed with its line.
    let is_line = |op: &&SavedOp| !op.name.contains('.');
    let gone = old.ops.iter().filter(|op| !kept.contains(op.name.as_str()));
    let come = new
        .ops
        .iter()
        .filter(|op| !known.contains(op.name.as_str()));
    let pairs = only_pairs(
        gone.filter(is_line)
            .map(|op| (line(op, old), op.name.clone())),
        come.filter(is_line)
            .map(|op| (line(op, new), op.name.clone())),
    );
    pairs.into_iter().next()
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
