//! Where a group would change sides, in the one dim that its region depends on.

use std::collections::{BTreeMap, BTreeSet};

use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::Typed;
use haul_ir::op::Work;
use haul_ir::plan::{Flip, Side};

use super::cut::Region;
use super::{Division, Machine, Sizes, StageGraph};

/// The largest size that is tried where a dim has no `max`.
const FAR: u64 = 1 << 40;

/// So many sizes are tried for a stage; groups that would need more have no flip point.
const MOST_PROBES: usize = 400;

/// Divides the stage at other sizes, and remembers.
pub(super) struct Flips<'a> {
    typed: &'a Typed,
    stage: &'a StageGraph,
    machine: Machine<'a>,
    sizes: &'a Sizes,
    division: &'a Division,
    probes: BTreeMap<(Symbol, u64), Option<Vec<Side>>>,
}

impl<'a> Flips<'a> {
    pub(super) fn new(
        typed: &'a Typed,
        stage: &'a StageGraph,
        machine: Machine<'a>,
        sizes: &'a Sizes,
        division: &'a Division,
    ) -> Self {
        Self {
            typed,
            stage,
            machine,
            sizes,
            division,
            probes: BTreeMap::new(),
        }
    }

    /// The dim that all work and values of a region depend on, where it is a single one.
    pub(super) fn only_dim(&self, region: &Region) -> Option<Symbol> {
        let mut symbols = BTreeSet::new();
        let mut note = |expr: &Expr| {
            expr.symbols(&mut |symbol| {
                symbols.insert(symbol.clone());
            });
        };
        for group in &region.groups {
            if let Work::Known {
                flops,
                read,
                written,
            } = &self.stage.kernels[*group].work
            {
                [flops, read, written].into_iter().for_each(&mut note);
            }
            let values = self.stage.values_of(*group);
            values.for_each(|value| note(&self.stage.values[value].bytes));
        }
        let mut symbols = symbols.into_iter();
        symbols.next().filter(|_| symbols.next().is_none())
    }

    /// The size nearest to the planned one, in doublings, at which a group is on the other side:
    /// the first doubling or halving at whose end it is there, and in it the first size.
    pub(super) fn find(&mut self, dim: &Symbol, group: usize) -> Option<Flip> {
        let planned = self.sizes.planned.get(dim)?;
        let known = self.typed.graph().dims.get(dim).and_then(|facts| facts.max);
        let far = known.unwrap_or(FAR).max(planned);
        let (mut low, mut high) = (planned, planned);
        while low > 1 || high < far {
            let (lower, higher) = ((low / 2).max(1), high.saturating_mul(2).min(far));
            if lower < low && self.is_flipped(dim, lower, group)? {
                return self.first(dim, group, low, lower);
            }
            if higher > high && self.is_flipped(dim, higher, group)? {
                return self.first(dim, group, high, higher);
            }
            (low, high) = (lower.min(low), higher.max(high));
        }
        None
    }

    /// The flip between a size at which a group is on the planned side and one at which it is not.
    fn first(&mut self, dim: &Symbol, group: usize, planned: u64, flipped: u64) -> Option<Flip> {
        let (mut stays, mut flips) = (planned, flipped);
        while stays.abs_diff(flips) > 1 {
            let middle = stays.min(flips) + stays.abs_diff(flips) / 2;
            if self.is_flipped(dim, middle, group)? {
                flips = middle;
            } else {
                stays = middle;
            }
        }
        Some(Flip {
            dim: dim.clone(),
            to: self.division.solution.sides[group].other(),
            at: flips,
            below: flipped < planned,
        })
    }

    /// Whether a group is on the other side at a size; nothing where that is not known.
    fn is_flipped(&mut self, dim: &Symbol, size: u64, group: usize) -> Option<bool> {
        let key = (dim.clone(), size);
        if !self.probes.contains_key(&key) {
            if self.probes.len() == MOST_PROBES {
                return None;
            }
            let sides = self.sides_at(dim, size);
            self.probes.insert(key.clone(), sides);
        }
        let sides = self.probes[&key].as_ref()?;
        Some(sides[group] != self.division.solution.sides[group])
    }

    fn sides_at(&self, dim: &Symbol, size: u64) -> Option<Vec<Side>> {
        let at = self.sizes.planned.with(dim, size);
        let costs = self.stage.costs(self.machine, &at);
        let facts = self.division.facts.iter();
        let fixed: Vec<_> = facts
            .map(|fact| fact.as_ref().map(|(side, _)| *side))
            .collect();
        let is_known = |group: usize| {
            let mut values = self.stage.values_of(group);
            costs[group].cpu.is_some()
                && costs[group].gpu.is_some()
                && values.all(|value| at.eval(&self.stage.values[value].bytes).is_some())
        };
        let mut free = (0..fixed.len()).filter(|group| fixed[*group].is_none());
        if !free.all(is_known) {
            return None;
        }
        Some(
            self.stage
                .problem(self.machine, &at, &costs, &fixed)
                .solve()
                .sides,
        )
    }
}
