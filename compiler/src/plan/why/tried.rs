//! What would change the side of a group: changes of the request, the machine and the sizes, each
//! tried by dividing the stage anew.

use haul_ir::cost::Nanos;
use haul_ir::expr::Symbol;
use haul_ir::graph::{GpuCount, Pin, Request};
use haul_ir::id::{GroupId, StageId};
use haul_ir::plan::{Plan, Reason, Side};
use haul_ir::target::{Gpu, Node};

use super::super::Context;
use super::super::choice::machine;
use super::candidates::no_node;
use super::{MOST_SIZE, doubled, halved, refused};
use crate::feasibility::{Shortfall, homes};
use crate::place::{Machine, Sizes, StageGraph, divide, without_kernel};

/// Links are tried at so many times and so many parts of their speed at most.
const MOST_LINK: u64 = 64;

/// Something that could be otherwise, and what would become of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// What. Amounts are halved and doubled: the nearest that moves the group, or else the last that
    /// was tried, the group staying with all of them.
    pub change: Change,
    /// What becomes of the group.
    pub outcome: Outcome,
}

/// What could be otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A dim as small as this.
    Smaller(Symbol, u64),
    /// A dim as large as this.
    Larger(Symbol, u64),
    /// So many CPUs asked for.
    Cpus(u32),
    /// A link so many times as fast.
    FasterLink(u64),
    /// A link of so many parts of its speed.
    SlowerLink(u64),
    /// A device of this type asked for, with all its memory; as many as before, or else one.
    Gpu(String),
    /// All memory of the device asked for.
    WholeVram,
    /// The author's `place` left out.
    NoPlace,
}

/// What becomes of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is on the other side.
    Moves {
        /// Which.
        side: Side,
        /// The time of a task.
        time: Option<Nanos>,
    },
    /// It is where it was.
    Stays {
        /// The reason then.
        reason: Reason,
        /// The time of a task.
        time: Option<Nanos>,
    },
    /// It cannot be tried, and why.
    Cannot(String),
}

/// The fact that alone decides where a group is, whatever times are; none where they decide, or
/// would if its stage requested a GPU.
pub(super) fn decides(context: &Context<'_>, group: GroupId, plan: &Plan) -> Option<Reason> {
    let typed = context.typed;
    if let Some(reason) = without_kernel(typed, group) {
        return Some(reason);
    }
    let pinned = |op: &_| typed.graph().ops[*op].pin != Pin::Auto;
    if typed.groups()[group].ops.iter().any(pinned) {
        return Some(Reason::PinnedByAuthor);
    }
    match &plan.groups[group].placement.reason {
        reason @ (Reason::UnknownWork | Reason::DoesNotFitVram { .. }) => Some(reason.clone()),
        _ => None,
    }
}

/// What was tried to bring a group to the other side.
pub(super) fn tried(
    context: &Context<'_>,
    stage: StageId,
    group: GroupId,
    plan: &Plan,
    decides: Option<&Reason>,
) -> Vec<WhatIf> {
    let graph = StageGraph::of(context.typed, &context.usage, stage);
    let Some(position) = graph.groups.iter().position(|other| *other == group) else {
        return Vec::new();
    };
    let planned = &plan.stages[stage];
    let node = &context.target.nodes[planned.node];
    let trial = Trial {
        context,
        graph,
        position,
        node,
        gpu: planned.gpu.and_then(|gpu| node.gpus.get(gpu)),
        asked: planned.request(&context.typed.graph().stages[stage].requests),
        side: plan.groups[group].placement.side,
    };
    match (decides, trial.gpu) {
        (Some(Reason::PinnedByAuthor), _) => trial.each([Change::NoPlace]),
        (Some(Reason::DoesNotFitVram { .. }), _) => {
            let whole = trial.asked.vram.map(|_| Change::WholeVram);
            trial.each(whole.into_iter().chain(trial.gpus()))
        }
        (Some(_), _) => Vec::new(),
        (None, None) => trial.each(trial.gpus()),
        (None, Some(_)) => {
            let mut tried = trial.sizes();
            tried.extend(trial.amounts());
            tried.extend(trial.each(trial.gpus()));
            tried
        }
    }
}

/// A group of a stage where it is planned.
struct Trial<'a> {
    context: &'a Context<'a>,
    graph: StageGraph,
    position: usize,
    node: &'a Node,
    gpu: Option<&'a Gpu>,
    asked: &'a Request,
    side: Side,
}

impl Trial<'_> {
    fn each(&self, changes: impl IntoIterator<Item = Change>) -> Vec<WhatIf> {
        let changes = changes.into_iter();
        let each = changes.map(|change| WhatIf {
            outcome: self.outcome(&change),
            change,
        });
        each.collect()
    }

    /// The first of several changes that moves the group, or else the last.
    fn first(&self, changes: impl IntoIterator<Item = Change>) -> Option<WhatIf> {
        let mut last = None;
        for change in changes {
            let outcome = self.outcome(&change);
            let moves = matches!(outcome, Outcome::Moves { .. });
            last = Some(WhatIf { change, outcome });
            if moves {
                break;
            }
        }
        last
    }

    /// Each dim that the stage depends on, smaller and larger.
    fn sizes(&self) -> Vec<WhatIf> {
        let mut tried = Vec::new();
        let dims = &self.context.typed.graph().dims;
        for dim in &self.graph.dims() {
            let Some(planned) = self.context.sizes.planned.get(dim) else {
                continue;
            };
            let most = dims.get(dim).and_then(|facts| facts.max);
            let most = most.unwrap_or(MOST_SIZE);
            let last = (planned < most).then_some(most);
            let more = doubled(planned, most).filter(|size| *size != most);
            let smaller = halved(planned).map(|size| Change::Smaller(dim.clone(), size));
            let larger = more
                .chain(last)
                .map(|size| Change::Larger(dim.clone(), size));
            let ends = [self.first(smaller), self.first(larger)];
            tried.extend(
                ends.into_iter()
                    .flatten()
                    .map(|end| self.exact(planned, end)),
            );
        }
        tried
    }

    /// The size nearest to the planned one where a group moves between it and one where it did.
    fn exact(&self, planned: u64, end: WhatIf) -> WhatIf {
        let (dim, far, is_smaller) = match (&end.change, &end.outcome) {
            (Change::Smaller(dim, far), Outcome::Moves { .. }) => (dim, *far, true),
            (Change::Larger(dim, far), Outcome::Moves { .. }) => (dim, *far, false),
            _ => return end,
        };
        let of = |size| match is_smaller {
            true => Change::Smaller(dim.clone(), size),
            false => Change::Larger(dim.clone(), size),
        };
        // The last step but one, at which it stayed.
        let step = match is_smaller {
            true => planned.min(far.saturating_mul(2).saturating_add(1)),
            false => planned.max(far / 2),
        };
        let (mut stays, mut moves) = (step, far);
        let mut found = end.outcome.clone();
        while stays.abs_diff(moves) > 1 {
            let middle = stays.min(moves) + stays.abs_diff(moves) / 2;
            match self.outcome(&of(middle)) {
                outcome @ Outcome::Moves { .. } => (moves, found) = (middle, outcome),
                _ => stays = middle,
            }
        }
        WhatIf {
            change: of(moves),
            outcome: found,
        }
    }

    /// More and fewer CPUs, faster and slower links.
    fn amounts(&self) -> impl Iterator<Item = WhatIf> {
        let asked = u64::from(self.asked.cpus);
        let cpus = |n: u64| Change::Cpus(u32::try_from(n).unwrap_or(u32::MAX));
        let tried = [
            self.first(doubled(asked, self.node.cpus.into()).map(cpus)),
            self.first(halved(asked).map(cpus)),
            self.first(doubled(1, MOST_LINK).map(Change::FasterLink)),
            self.first(doubled(1, MOST_LINK).map(Change::SlowerLink)),
        ];
        tried.into_iter().flatten()
    }

    /// Each type of device of the target but the one that it has.
    fn gpus(&self) -> Vec<Change> {
        let mut names: Vec<&str> = Vec::new();
        for node in self.context.target.nodes.iter() {
            for gpu in &node.gpus {
                let is_here = self.gpu.is_some_and(|here| here.name == gpu.name);
                if !is_here && !names.contains(&gpu.name.as_str()) {
                    names.push(&gpu.name);
                }
            }
        }
        let changes = names.into_iter();
        changes.map(|name| Change::Gpu(name.to_owned())).collect()
    }

    fn outcome(&self, change: &Change) -> Outcome {
        let (mut request, mut gpu) = (self.asked.clone(), self.gpu.cloned());
        let speed = |gpu: &mut Option<Gpu>, of: &dyn Fn(u64) -> u64| {
            if let Some(gpu) = gpu {
                (gpu.link.h2d, gpu.link.d2h) = (of(gpu.link.h2d), of(gpu.link.d2h));
            }
        };
        match change {
            Change::Smaller(dim, size) | Change::Larger(dim, size) => {
                let sizes = Sizes {
                    planned: self.context.sizes.planned.with(dim, *size),
                    largest: self.context.sizes.largest.clone(),
                };
                return self.divided(&self.graph, self.here(&request, gpu.as_ref()), &sizes);
            }
            Change::NoPlace => {
                let graph = self.graph.without_wish(self.graph.groups[self.position]);
                let machine = self.here(&request, gpu.as_ref());
                return self.divided(&graph, machine, &self.context.sizes);
            }
            Change::Gpu(name) => return self.with_gpu(name, request),
            Change::Cpus(cpus) => request.cpus = *cpus,
            Change::FasterLink(times) => speed(&mut gpu, &|rate| rate.saturating_mul(*times)),
            Change::SlowerLink(parts) => speed(&mut gpu, &|rate| (rate / parts).max(1)),
            Change::WholeVram => request.vram = None,
        }
        let machine = self.here(&request, gpu.as_ref());
        self.divided(&self.graph, machine, &self.context.sizes)
    }

    fn here<'m>(&'m self, request: &'m Request, gpu: Option<&'m Gpu>) -> Machine<'m> {
        Machine {
            node: self.node,
            gpu,
            request,
        }
    }

    fn with_gpu(&self, name: &str, mut request: Request) -> Outcome {
        request.gpu_type = Some(name.to_owned());
        request.vram = None;
        if request.gpus == GpuCount::NONE {
            request.gpus = GpuCount::ONE;
        }
        let target = self.context.target;
        let homes = homes(&request, target);
        let Some(home) = homes.first() else {
            let shortfall = Shortfall::of(&request, target);
            let why = shortfall.map(|shortfall| no_node(self.context, &shortfall));
            return Outcome::Cannot(why.unwrap_or_default());
        };
        let machine = machine(self.context, &request, *home);
        self.divided(&self.graph, machine, &self.context.sizes)
    }

    fn divided(&self, graph: &StageGraph, machine: Machine<'_>, sizes: &Sizes) -> Outcome {
        let typed = self.context.typed;
        let division = match divide(typed, graph, machine, sizes) {
            Ok(division) => division,
            Err(refusal) => return Outcome::Cannot(refused(self.context, &refusal, machine)),
        };
        let (side, time) = (division.side(self.position), division.time);
        if side != self.side {
            return Outcome::Moves { side, time };
        }
        let reason = division.reason(typed, graph, machine, self.position);
        Outcome::Stays { reason, time }
    }
}
