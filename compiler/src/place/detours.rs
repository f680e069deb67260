//! Values that leave the GPU for an op that has to be on CPUs, and what comes back from there.

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
    /// What crosses to the host, and what crosses back.
    pub(crate) forth: ValueId,
    pub(crate) back: ValueId,
    /// Of both crossings.
    pub(crate) time: Nanos,
}

impl Division {
    /// The detours of a task, in order of the groups that they are for. A way over several groups
    /// counts for the first of them that a fact keeps on CPUs; where costs alone do, it is the
    /// cheapest.
    pub(crate) fn detours(&self, stage: &StageGraph) -> Vec<Detour> {
        let sides = &self.solution.sides;
        // The value that came from the GPU on the way to each group, and the group to blame.
        let mut ways: Vec<Option<(usize, Option<usize>)>> = vec![None; sides.len()];
        let mut detours: Vec<Detour> = Vec::new();
        for group in 0..sides.len() {
            if sides[group] == Side::Gpu {
                continue;
            }
            let way =
                stage.reads[group]
                    .iter()
                    .find_map(|value| match stage.values[*value].maker {
                        Some(maker) if sides[maker] == Side::Gpu => Some((*value, None)),
                        maker => ways[maker?],
                    });
            let Some((forth, blamed)) = way else { continue };
            let blamed = blamed.or_else(|| self.facts[group].is_some().then_some(group));
            ways[group] = Some((forth, blamed));
            let Some(blamed) = blamed else { continue };
            let goes_back = |value: &&usize| self.problem.values[**value].crosses(sides).0;
            let back = stage.writes[group].iter().find(goes_back);
            let is_new = detours
                .last()
                .is_none_or(|last| last.group != stage.groups[blamed]);
            if let (Some(back), Some((_, reason)), true) = (back, &self.facts[blamed], is_new) {
                let d2h = self.problem.values[forth].d2h;
                detours.push(Detour {
                    group: stage.groups[blamed],
                    reason: reason.clone(),
                    forth: stage.values[forth].id,
                    back: stage.values[*back].id,
                    time: d2h.saturating_add(self.problem.values[*back].h2d),
                });
            }
        }
        detours
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
