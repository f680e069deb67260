//! Which of its requests a stage gets, and where.

use haul_ir::expr::Expr;
use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::StageId;
use haul_ir::target::Target;

use super::Context;
use crate::feasibility::{Home, homes, slots};
use crate::place::{Division, Machine, Refusal, StageGraph, divide};

/// A stage, placed.
pub(super) struct Choice {
    pub(super) graph: StageGraph,
    /// Which of its requests.
    pub(super) request: usize,
    /// What that request asks for.
    pub(super) asked: Request,
    pub(super) home: Home,
    pub(super) division: Division,
    /// When the last of its tasks would end with the nodes of its kind to themselves.
    pub(super) finish: Option<u128>,
}

/// Why a stage cannot be placed.
pub(super) enum NoChoice {
    /// No node can hold any of its requests.
    Impossible,
    /// On the first node that can hold a request.
    Here {
        request: usize,
        home: Home,
        why: Refusal,
    },
}

impl Choice {
    /// What a task gets.
    pub(super) fn machine<'a>(&'a self, context: &Context<'a>) -> Machine<'a> {
        machine(context, &self.asked, self.home)
    }
}

/// One way to place a stage.
struct Candidate {
    request: usize,
    home: Home,
    division: Division,
    finish: Option<u128>,
}

impl Candidate {
    fn taken(self, graph: StageGraph, requests: &[Request]) -> Choice {
        Choice {
            graph,
            request: self.request,
            asked: requests[self.request].clone(),
            home: self.home,
            division: self.division,
            finish: self.finish,
        }
    }
}

/// Places a stage with every request on every kind of node that can hold it, and takes the one
/// whose tasks finish first; among equals the one that holds no GPU in vain, then the one that
/// occupies none unasked, then the cheaper, then the first. Where a time is unknown, the first request that can be granted wins.
pub(super) fn choose(context: &Context<'_>, stage: StageId) -> Result<Choice, NoChoice> {
    let graph = StageGraph::of(context.typed, &context.usage, stage);
    let requests = &context.typed.graph().stages[stage].requests;
    choose_among(context, graph, requests)
}

/// As [`choose`], with other requests than those of the stage.
pub(super) fn choose_among(
    context: &Context<'_>,
    graph: StageGraph,
    requests: &[Request],
) -> Result<Choice, NoChoice> {
    let (candidates, refused) = candidates(context, &graph, requests);
    let best = best(context, candidates).ok_or(refused)?;
    Ok(best.taken(graph, requests))
}

/// All ways to place a stage of which the times are known.
pub(super) fn alternatives(context: &Context<'_>, stage: StageId) -> Vec<Choice> {
    let graph = StageGraph::of(context.typed, &context.usage, stage);
    let requests = &context.typed.graph().stages[stage].requests;
    let (candidates, _) = candidates(context, &graph, requests);
    let known = candidates
        .into_iter()
        .filter(|candidate| candidate.finish.is_some());
    known
        .map(|candidate| candidate.taken(graph.clone(), requests))
        .collect()
}

/// All ways to place a stage, and why the first that cannot be is refused.
fn candidates(
    context: &Context<'_>,
    graph: &StageGraph,
    requests: &[Request],
) -> (Vec<Candidate>, NoChoice) {
    let mut candidates = Vec::new();
    let mut refused = NoChoice::Impossible;
    for (position, request) in requests.iter().enumerate() {
        for home in homes(request, context.target) {
            let machine = machine(context, request, home);
            match divide(context.typed, graph, machine, &context.sizes) {
                Ok(division) => candidates.push(Candidate {
                    request: position,
                    home,
                    finish: finish(context, &division, &graph.tasks, machine),
                    division,
                }),
                Err(why) if matches!(refused, NoChoice::Impossible) => {
                    let request = position;
                    refused = NoChoice::Here { request, home, why };
                }
                Err(_) => {}
            }
        }
    }
    (candidates, refused)
}

/// What a task with a request gets somewhere.
pub(super) fn machine<'a>(context: &Context<'a>, request: &'a Request, home: Home) -> Machine<'a> {
    let node = &context.target.nodes[home.node];
    Machine {
        node,
        gpu: home.gpu.map(|gpu| &node.gpus[gpu]),
        request,
    }
}

/// When the last task ends with the nodes of a kind to themselves: the time of one, times the
/// waves it takes. Tasks whose number is unknown count as one wave.
pub(super) fn finish(
    context: &Context<'_>,
    division: &Division,
    tasks: &Expr,
    machine: Machine<'_>,
) -> Option<u128> {
    let time = u128::from(division.time?);
    let slots = at_once(division, machine);
    let waves = context
        .sizes
        .planned
        .eval(tasks)
        .map_or(1, |tasks| tasks.div_ceil(slots));
    Some(time * u128::from(waves))
}

/// How many tasks the nodes of a kind run at once, one at least.
pub(super) fn at_once(division: &Division, machine: Machine<'_>) -> u64 {
    let vram = division.vram(machine);
    slots(machine.request, machine.node, machine.gpu, vram).max(1)
}

/// What candidates are compared by, the least first: when they finish, the position of the request
/// where that is not known of all, GPUs that stay idle, and the price of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) finish: u128,
    pub(super) request: usize,
    pub(super) idle_gpus: usize,
    pub(super) price: u64,
}

impl Rank {
    /// Of a request somewhere; `finish` where that is known of all candidates.
    pub(super) fn of(target: &Target, request: usize, home: Home, finish: Option<u128>) -> Rank {
        let node = &target.nodes[home.node];
        let price = node.price.as_ref();
        Rank {
            finish: finish.unwrap_or(0),
            request: if finish.is_some() { 0 } else { request },
            idle_gpus: if home.gpu.is_some() {
                0
            } else {
                node.gpus.len()
            },
            price: price.map_or(u64::MAX, |price| price.milli_usd_per_hour),
        }
    }
}

fn best(context: &Context<'_>, candidates: Vec<Candidate>) -> Option<Candidate> {
    let all_known = candidates
        .iter()
        .all(|candidate| candidate.finish.is_some());
    let rank = |candidate: &Candidate| {
        let finish = candidate.finish.filter(|_| all_known);
        let rank = Rank::of(context.target, candidate.request, candidate.home, finish);
        let in_vain = candidate.home.gpu.is_some() && !candidate.division.uses_gpu();
        (rank.finish, rank.request, in_vain, rank)
    };
    // Of equals, `min_by_key` takes the first.
    candidates.into_iter().min_by_key(rank)
}

/// Whether a stage runs on a GPU that it asks for.
pub(super) fn asks_for_gpu(request: &Request) -> bool {
    request.gpus > GpuCount::NONE
}

/// The request of a stage without a GPU.
pub(super) fn on_cpus(request: &Request) -> Request {
    Request {
        gpus: GpuCount::NONE,
        gpu_type: None,
        vram: None,
        ..request.clone()
    }
}
