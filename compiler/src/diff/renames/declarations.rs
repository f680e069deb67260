//! Renames of dims, inputs and outputs.

use std::collections::HashSet;

use super::{Names, Renamed, only_pairs, rename_name, told};
use crate::diff::RenamedKind;
use crate::diff::names::replaced;
use crate::saved::SavedPlan;
use crate::saved::expr::in_order;

/// Names of one kind, each after what it stands for.
type Things = (RenamedKind, Vec<(Vec<String>, String)>);

/// Renames that the new plan declares.
pub(super) fn declared(old: &SavedPlan, new: &SavedPlan) -> Vec<Renamed> {
    let mut renames = Vec::new();
    for ((kind, old), (_, now)) in things(old).iter().zip(things(new)) {
        let (known, kept) = (names(old), names(&now));
        renames.extend(super::declared(
            (new, *kind),
            &|name| Some(name.to_owned()),
            &|name| known.contains(name),
            &|name| kept.contains(name),
        ));
    }
    renames
}

/// What is gone and the only new one that is the same otherwise have been renamed; sizes before
/// what has them.
pub(super) fn guess(old: &SavedPlan, new: &SavedPlan) -> Vec<Renamed> {
    for ((kind, old), (_, new)) in things(old).iter().zip(things(new)) {
        let (known, kept) = (names(old), names(&new));
        let gone = old.iter().filter(|(_, name)| !kept.contains(name.as_str()));
        let come = new
            .iter()
            .filter(|(_, name)| !known.contains(name.as_str()));
        let pairs = only_pairs(gone.cloned(), come.cloned());
        if !pairs.is_empty() {
            let renames = pairs.iter().map(|(old, new)| told(*kind, old, new, true));
            return renames.collect();
        }
    }
    Vec::new()
}

/// Gives dims and inputs other names wherever the plan declares them, or counts in them.
pub(super) fn rename(plan: &mut SavedPlan, everywhere: &Names) {
    let has_size = plan
        .dims
        .iter()
        .any(|dim| everywhere.contains_key(&dim.name));
    for dim in &mut plan.dims {
        rename_name(&mut dim.name, everywhere);
        if let Some(each) = &mut dim.each {
            rename_name(each, everywhere);
        }
    }
    for input in &mut plan.inputs {
        rename_name(&mut input.name, everywhere);
        if let Some(split) = input.source.strip_prefix("split ") {
            let renamed = replaced(split, |name| everywhere.get(name).cloned());
            input.source = format!("split {renamed}");
        }
    }
    for stage in &mut plan.stages {
        if let Some(each) = &mut stage.each {
            rename_name(each, everywhere);
        }
    }
    if has_size {
        rename_sizes(plan, everywhere);
    }
}

/// Renames dims in types and amounts.
fn rename_sizes(plan: &mut SavedPlan, everywhere: &Names) {
    let size = |name: &str| everywhere.get(name).cloned();
    for input in &mut plan.inputs {
        input.ty = in_order(&replaced(&input.ty, size));
    }
    for stage in &mut plan.stages {
        for amount in stage.amounts_mut() {
            amount.rewrite(|text| replaced(text, size));
        }
        for op in &mut stage.ops {
            op.types = in_order(&replaced(&op.types, size));
            op.formula = in_order(&op.formula); // It has the new names.
            let flip = op.estimate.as_mut().and_then(|choice| choice.flip.as_mut());
            if let Some(flip) = flip {
                *flip = replaced(flip, size);
            }
        }
    }
}

/// Dims, inputs and outputs. What counts the items of a collection goes by the name of its input.
fn things(plan: &SavedPlan) -> [Things; 3] {
    let inputs: HashSet<&str> = plan
        .inputs
        .iter()
        .map(|input| input.name.as_str())
        .collect();
    let dims = plan.dims.iter().map(|dim| {
        let content = format!("{:?} {:?} {:?}", dim.each, dim.max, dim.plan);
        (vec![content], dim.name.clone())
    });
    let dims = dims.filter(|(_, name)| !inputs.contains(name.as_str()));
    let inputs = plan.inputs.iter().map(|input| {
        // An item of a collection may have a size of the collection's name.
        let is_own = |name: &str| (name == input.name).then(|| "=".to_owned());
        let ty = replaced(&input.ty, is_own);
        let content = vec![input.each.to_string(), ty, input.source.clone()];
        (content, input.name.clone())
    });
    let outputs = plan.outputs.iter().map(|output| {
        let content = [&output.format, &output.path, &output.from].map(String::clone);
        (content.to_vec(), output.name.clone())
    });
    [
        (RenamedKind::Dim, dims.collect()),
        (RenamedKind::Input, inputs.collect()),
        (RenamedKind::Output, outputs.collect()),
    ]
}

fn names(things: &[(Vec<String>, String)]) -> HashSet<&str> {
    things.iter().map(|(_, name)| name.as_str()).collect()
}
