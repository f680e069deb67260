//! Each request of a stage on each kind of node, and what stands between it and being chosen.

use haul_ir::cost::Nanos;
use haul_ir::id::{NodeId, StageId};
use haul_ir::plan::Plan;

use super::super::Context;
use super::super::choice::{Rank, at_once, finish, machine};
use super::refused;
use super::sizes::{self, First};
use crate::feasibility::{Home, Shortfall, homes};
use crate::place::{StageGraph, divide};

/// One way to place a stage.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Which of its requests.
    pub request: usize,
    /// The kind of node; nothing where none can hold the request.
    pub node: Option<NodeId>,
    /// Which of the node's GPUs, by position.
    pub gpu: Option<usize>,
    /// What becomes of it, or what is missing.
    pub outcome: Result<Predicted, String>,
    /// Whether it was chosen.
    pub is_chosen: bool,
    /// With which sizes of each dim it would finish first; none of one that finishes as early.
    pub first: Vec<First>,
    /// With how many tasks it would, the nearest by halving, or else by doubling; none of one that
    /// finishes as early.
    pub tasks: Option<u64>,
}

impl Candidate {
    pub(super) fn home(&self) -> Option<Home> {
        let gpu = self.gpu;
        self.node.map(|node| Home { node, gpu })
    }
}

/// What is predicted of a candidate; unknown where there is nothing.
#[derive(Clone, Copy, Debug)]
pub struct Predicted {
    /// Of one task.
    pub time: Option<Nanos>,
    /// When its last task would end with the nodes of the kind to themselves.
    pub finish: Option<u128>,
    /// How many tasks the nodes of the kind run at once.
    pub at_once: u64,
    /// Why another was chosen.
    pub behind: Option<Behind>,
}

/// Why another candidate was chosen: the first of these in which they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// It finishes later.
    Finish {
        /// By so many nanoseconds.
        by: u128,
    },
    /// It would finish sooner with the nodes to itself, but it or others would wait in the run.
    Waits,
    /// Not all times are known, and its request comes later.
    Request,
    /// It keeps GPUs idle that it does not ask for.
    IdleGpus,
    /// Its nodes are dearer.
    Price,
    /// Nothing but its place in the target.
    Order,
}

/// All candidates, by request and then in the target's order.
pub(super) fn candidates(context: &Context<'_>, stage: StageId, plan: &Plan) -> Vec<Candidate> {
    let graph = StageGraph::of(context.typed, &context.usage, stage);
    let chosen = &plan.stages[stage];
    let requests = &context.typed.graph().stages[stage].requests;
    let mut candidates = Vec::new();
    for (position, request) in requests.iter().enumerate() {
        let homes = homes(request, context.target);
        if homes.is_empty() {
            candidates.push(nowhere(context, stage, position));
        }
        for home in homes {
            let machine = machine(context, request, home);
            let divided = divide(context.typed, &graph, machine, &context.sizes);
            candidates.push(Candidate {
                request: position,
                node: Some(home.node),
                gpu: home.gpu,
                is_chosen: (position, home.node, home.gpu)
                    == (chosen.request, chosen.node, chosen.gpu),
                outcome: match divided {
                    Ok(division) => Ok(Predicted {
                        time: division.time,
                        finish: finish(context, &division, &graph.tasks, machine),
                        at_once: at_once(&division, machine),
                        behind: None,
                    }),
                    Err(refusal) => Err(refused(context, &refusal, machine)),
                },
                first: Vec::new(),
                tasks: None,
            });
        }
    }
    compare(context, &mut candidates);
    let is_later = |candidate: &Candidate| {
        let predicted = candidate.outcome.as_ref().ok();
        let behind = predicted.and_then(|predicted| predicted.behind);
        matches!(behind, Some(Behind::Finish { .. }))
    };
    if candidates.iter().any(is_later) {
        let first = sizes::first(context, &candidates, &graph).into_iter();
        let first = first.zip(sizes::tasks(context, &candidates, &graph));
        let later = candidates.iter_mut().zip(first);
        for (candidate, first) in later.filter(|(candidate, _)| is_later(candidate)) {
            (candidate.first, candidate.tasks) = first;
        }
    }
    candidates
}

/// A request that no node can hold, with what the nearest one lacks.
fn nowhere(context: &Context<'_>, stage: StageId, request: usize) -> Candidate {
    let asked = &context.typed.graph().stages[stage].requests[request];
    let shortfall = Shortfall::of(asked, context.target);
    Candidate {
        request,
        node: None,
        gpu: None,
        outcome: Err(shortfall.map_or_else(
            || "no node can ever hold it".to_owned(),
            |shortfall| no_node(context, &shortfall),
        )),
        is_chosen: false,
        first: Vec::new(),
        tasks: None,
    }
}

/// What the node that comes nearest lacks, and what to ask for instead.
pub(super) fn no_node(context: &Context<'_>, shortfall: &Shortfall) -> String {
    let node = &context.target.nodes[shortfall.node].name;
    let missing = shortfall.missing.join("; ");
    let instead = shortfall
        .fields
        .as_ref()
        .map_or_else(String::new, |fields| {
            format!("; with `{fields}` it would hold it")
        });
    format!("no node can ever hold it; `{node}` comes nearest: {missing}{instead}")
}

/// Says of each candidate why it is not the one that was chosen.
fn compare(context: &Context<'_>, candidates: &mut [Candidate]) {
    let Some((chosen, best)) = candidates.iter().find_map(|candidate| {
        let predicted = candidate.outcome.as_ref().ok()?;
        candidate.is_chosen.then(|| (candidate.clone(), *predicted))
    }) else {
        return;
    };
    let predicted = candidates.iter().filter_map(|c| c.outcome.as_ref().ok());
    let all_known = predicted.clone().all(|p| p.finish.is_some());
    let rank = |candidate: &Candidate, predicted: &Predicted| {
        let finish = predicted.finish.filter(|_| all_known);
        let home = candidate.home()?;
        Some(Rank::of(context.target, candidate.request, home, finish))
    };
    let Some(first) = rank(&chosen, &best) else {
        return;
    };
    for candidate in candidates.iter_mut().filter(|c| !c.is_chosen) {
        let Ok(mut predicted) = candidate.outcome.clone() else {
            continue;
        };
        predicted.behind = rank(candidate, &predicted).map(|second| match () {
            () if second.finish < first.finish => Behind::Waits,
            () if second.finish != first.finish => Behind::Finish {
                by: second.finish.saturating_sub(first.finish),
            },
            () if second.request != first.request => Behind::Request,
            () if second.idle_gpus != first.idle_gpus => Behind::IdleGpus,
            () if second.price != first.price => Behind::Price,
            () => Behind::Order,
        });
        candidate.outcome = Ok(predicted);
    }
}
