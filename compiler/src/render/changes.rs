//! What planning again on the sizes of the data changed.

use std::collections::HashMap;

use haul_ir::id::{GroupId, StageId};
use haul_ir::plan::Plan;

use super::table::wrapped;
use super::values::Values;
use super::{choices, names};

/// A line for each input whose type or number of items the data told, each group of ops that
/// went to another side, and each stage that got another of its requests; empty where the data
/// told nothing new.
pub fn changes(before: &Plan, after: &Plan) -> String {
    let lines = inputs(before, after)
        .into_iter()
        .chain(requests(before, after))
        .chain(sides(before, after));
    lines.map(|line| wrapped(0, 4, &line)).collect()
}

fn inputs(before: &Plan, after: &Plan) -> Vec<String> {
    let (old, new) = (before.typed.graph(), after.typed.graph());
    let (old_values, new_values) = (Values::of(before), Values::of(after));
    let mut lines = Vec::new();
    for (id, input) in new.inputs.entries() {
        let Some(earlier) = old.inputs.get(id) else {
            continue;
        };
        let (was, is) = (&old.values[earlier.value].ty, &new.values[input.value].ty);
        if was != is {
            lines.push(format!("data: `{}` is {is}", input.name));
        }
        let (Some(was), Some(is)) = (earlier.collection, input.collection) else {
            continue;
        };
        let was = old_values.eval(&old.collections[was].width);
        let is = new_values.eval(&new.collections[is].width);
        let planned = was.map_or_else(String::new, |was| format!(", planned for {was}"));
        if let Some(is) = is.filter(|_| was != is) {
            lines.push(format!("data: `{}` has {is} items{planned}", input.name));
        }
    }
    lines
}

fn requests(before: &Plan, after: &Plan) -> Vec<String> {
    let old: HashMap<_, _> = stages(before).collect();
    let changed = |(name, request): (&str, usize)| {
        let was = *old.get(name)?;
        let line = format!(
            "plan: stage `{name}` gets alternative {} of its requests, planned with {}",
            request + 1,
            was + 1
        );
        (was != request).then_some(line)
    };
    stages(after).filter_map(changed).collect()
}

fn sides(before: &Plan, after: &Plan) -> Vec<String> {
    let old: HashMap<_, _> = groups(before).collect();
    let changed = |(name, group): (String, GroupId)| {
        let was = before.groups[*old.get(&name)?].placement.side;
        let placement = &after.groups[group].placement;
        let (is, reason) = (placement.side, choices::reason(placement));
        (was != is)
            .then(|| format!("plan: `{name}` runs on the {is} ({reason}), planned for the {was}"))
    };
    groups(after).filter_map(changed).collect()
}

fn stages(plan: &Plan) -> impl Iterator<Item = (&str, usize)> {
    let stages = &plan.typed.graph().stages;
    let one = |id: StageId| (stages[id].name.as_str(), plan.stages[id].request);
    stages.ids().map(one)
}

fn groups(plan: &Plan) -> impl Iterator<Item = (String, GroupId)> {
    let name = |group| names::op(plan.typed.graph(), plan.typed.head(group));
    plan.groups.ids().map(move |group| (name(group), group))
}
