//! Sizes, and numbers of tasks, with which another candidate of a stage would finish first.

use haul_ir::expr::{Expr, Symbol};

use super::super::Context;
use super::super::choice::{finish, machine};
use super::candidates::Candidate;
use super::{MOST_SIZE, doubled, halved};
use crate::place::{Sizes, StageGraph, divide};

/// Numbers of tasks are tried so many times the planned one at most.
const MOST_TASKS: u64 = 1 << 10;

/// With which sizes of a dim a candidate would finish before all others: the nearest to the planned
/// one on either side, by halving and doubling and then between the last two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// The dim.
    pub dim: Symbol,
    /// The nearest smaller size.
    pub below: Option<u64>,
    /// The nearest larger size.
    pub above: Option<u64>,
    /// The largest size that was tried.
    pub most: u64,
}

/// Of each candidate, for each dim with a planned size that the stage depends on.
pub(super) fn first(
    context: &Context<'_>,
    candidates: &[Candidate],
    graph: &StageGraph,
) -> Vec<Vec<First>> {
    let mut all = vec![Vec::new(); candidates.len()];
    for dim in graph.dims() {
        let Some(planned) = context.sizes.planned.get(&dim) else {
            continue;
        };
        let facts = context.typed.graph().dims.get(&dim);
        let most = facts.and_then(|facts| facts.max).unwrap_or(MOST_SIZE);
        let winner = |size| {
            let sizes = Sizes {
                planned: context.sizes.planned.with(&dim, size),
                largest: context.sizes.largest.clone(),
            };
            winner(context, candidates, graph, &sizes)
        };
        let last = (planned < most).then_some(most);
        let larger = doubled(planned, most).filter(|size| *size != most);
        let below = nearest(planned, halved(planned), candidates.len(), winner);
        let above = nearest(planned, larger.chain(last), candidates.len(), winner);
        for (own, (below, above)) in all.iter_mut().zip(below.into_iter().zip(above)) {
            let dim = dim.clone();
            own.push(First {
                dim,
                below,
                above,
                most,
            });
        }
    }
    all
}

/// Of each candidate the first of some sizes, ever farther from the planned one, with which it wins,
/// brought as near to the one before as it still does.
fn nearest(
    planned: u64,
    sizes: impl Iterator<Item = u64>,
    count: usize,
    winner: impl Fn(u64) -> Option<usize>,
) -> Vec<Option<u64>> {
    let mut found = vec![None; count];
    let mut before = planned;
    for size in sizes {
        if let Some(wins) = winner(size)
            && found[wins].is_none()
        {
            let (mut not, mut is) = (before, size);
            while not.abs_diff(is) > 1 {
                let middle = not.min(is) + not.abs_diff(is) / 2;
                match winner(middle) == Some(wins) {
                    true => is = middle,
                    false => not = middle,
                }
            }
            found[wins] = Some(is);
        }
        before = size;
    }
    found
}

/// Of each candidate the nearest number of tasks with which it would finish before all others, by
/// halving, or else by doubling.
pub(super) fn tasks(
    context: &Context<'_>,
    candidates: &[Candidate],
    graph: &StageGraph,
) -> Vec<Option<u64>> {
    let mut found = vec![None; candidates.len()];
    let Some(planned) = context.sizes.planned.eval(&graph.tasks) else {
        return found;
    };
    let mut graph = graph.clone();
    let more = doubled(planned, planned.saturating_mul(MOST_TASKS));
    for tasks in halved(planned).chain(more) {
        graph.tasks = Expr::from(tasks);
        if let Some(wins) = winner(context, candidates, &graph, &context.sizes) {
            found[wins].get_or_insert(tasks);
        }
    }
    found
}

/// The candidate that finishes before all others with some sizes; none where two are first, or a time is
/// unknown.
fn winner(
    context: &Context<'_>,
    candidates: &[Candidate],
    graph: &StageGraph,
    sizes: &Sizes,
) -> Option<usize> {
    let tasks = Expr::from(sizes.planned.eval(&graph.tasks)?);
    let requests = &context.typed.graph().stages[graph.stage].requests;
    let mut best: Option<(u128, Option<usize>)> = None;
    for (position, candidate) in candidates.iter().enumerate() {
        let Some(home) = candidate.home().filter(|_| candidate.outcome.is_ok()) else {
            continue;
        };
        let machine = machine(context, &requests[candidate.request], home);
        let division = divide(context.typed, graph, machine, sizes).ok()?;
        let finish = finish(context, &division, &tasks, machine)?;
        best = match best {
            Some((least, _)) if least < finish => best,
            Some((least, _)) if least == finish => Some((least, None)),
            _ => Some((finish, Some(position))),
        };
    }
    best?.1
}
