//! Values that leave the GPU for an op that has to be on CPUs, and what comes back from there.

use std::collections::{BTreeMap, BTreeSet};

use haul_ir::cost::Nanos;
use haul_ir::graph::Pin;
use haul_ir::id::{GroupId, ValueId};
use haul_ir::plan::{Reason, Side};

use super::{Division, StageGraph};

/// Data that goes from the GPU to CPUs and back for one group.
#[derive(Clone, Debug)]
pub(crate) struct Detour {
    /// The group that is on CPUs by a hard fact.
    pub(crate) group: GroupId,
    pub(crate) reason: Reason,
    /// What crosses to the host, and what crosses back, in order of their making.
    pub(crate) forth: Vec<ValueId>,
    pub(crate) back: Vec<ValueId>,
    /// Of all these crossings.
    pub(crate) time: Nanos,
}

/// Positions of the values that cross for a group.
#[derive(Default)]
struct Crossing {
    forth: BTreeSet<usize>,
    back: BTreeSet<usize>,
}

impl Division {
    /// The detours of a task, in order of the groups that they are for. A way over several groups
    /// counts for the first of them that a fact keeps on CPUs; where costs alone do, it is the
    /// cheapest.
    pub(crate) fn detours(&self, stage: &StageGraph) -> Vec<Detour> {
        let sides = &self.solution.sides;
        // The value that came from the GPU on the way to each group, and the group to blame.
        let mut ways: Vec<Option<(usize, Option<usize>)>> = vec![None; sides.len()];
        let mut crossings: BTreeMap<usize, Crossing> = BTreeMap::new();
        for group in 0..sides.len() {
            if sides[group] == Side::Gpu {
                continue;
            }
            let is_from_gpu = |value: &usize| {
                let maker = stage.values[*value].maker;
                maker.is_some_and(|maker| sides[maker] == Side::Gpu)
            };
            let reads = &stage.reads[group];
            let from_gpu = || reads.iter().copied().filter(is_from_gpu);
            let way = from_gpu().next().map(|value| (value, None));
            let way = way.or_else(|| {
                let mut makers = reads.iter().filter_map(|value| stage.values[*value].maker);
                makers.find_map(|maker| ways[maker])
            });
            let Some((forth, blamed)) = way else { continue };
            let blamed = blamed.or_else(|| self.facts[group].is_some().then_some(group));
            ways[group] = Some((forth, blamed));
            let Some(blamed) = blamed else { continue };
            let crossing = crossings.entry(blamed).or_default();
            crossing.forth.extend([forth].into_iter().chain(from_gpu()));
            let goes_back = |value: &usize| self.problem.values[*value].crosses(sides).0;
            let writes = stage.writes[group].iter().copied();
            crossing.back.extend(writes.filter(goes_back));
        }
        let detours = crossings.into_iter();
        detours
            .filter_map(|(blamed, crossing)| self.detour(stage, blamed, &crossing))
            .collect()
    }

    /// What crosses for a group, where something comes back.
    fn detour(&self, stage: &StageGraph, blamed: usize, crossing: &Crossing) -> Option<Detour> {
        let (_, reason) = self.facts[blamed].as_ref()?;
        let flow = |value: &usize| &self.problem.values[*value];
        let forth = crossing.forth.iter().map(|value| flow(value).d2h);
        let back = crossing.back.iter().map(|value| flow(value).h2d);
        let ids = |values: &BTreeSet<usize>| {
            let ids = values.iter().map(|value| stage.values[*value].id);
            ids.collect()
        };
        (!crossing.back.is_empty()).then(|| Detour {
            group: stage.groups[blamed],
            reason: reason.clone(),
            forth: ids(&crossing.forth),
            back: ids(&crossing.back),
            time: forth.chain(back).fold(0, Nanos::saturating_add),
        })
    }
}

impl StageGraph {
    /// The same without the author's wish for a group.
    pub(crate) fn without_wish(&self, group: GroupId) -> StageGraph {
        let mut stage = self.clone();
        if let Some(position) = self.groups.iter().position(|other| *other == group) {
            stage.pins[position] = Pin::Auto;
        }
        stage
    }
}
