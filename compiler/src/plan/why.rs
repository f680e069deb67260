//! Why a stage or an op is where it is: the plan, what others would be, and what would change it.

use haul_ir::cost::Nanos;
use haul_ir::graph::{Pin, Typed};
use haul_ir::id::{GroupId, NodeId, StageId};
use haul_ir::plan::{Plan, Side};
use haul_ir::target::Target;

use super::choice::{finish, machine};
use super::{Context, Refused, plan, tasks};
use crate::feasibility::homes;
use crate::place::{Machine, Refusal, StageGraph, divide};
use crate::places::Places;
use crate::render::{names, units};

/// Links are tried at so many times and so many parts of their speed at most.
const MOST_LINK: u64 = 64;

/// All that is known about one decision.
#[derive(Debug)]
pub struct Why {
    /// The plan.
    pub plan: Plan,
    /// The stage.
    pub stage: StageId,
    /// The group of ops; the whole stage where there is none.
    pub group: Option<GroupId>,
    /// Each request of the stage on each kind of node and device that could hold it.
    pub candidates: Vec<Candidate>,
    /// The plan with the group on the other side and the request as it was chosen, or why there is
    /// none; nothing for a whole stage.
    pub forced: Option<Result<Plan, String>>,
    /// Changes of the request or the machine that bring the group to the other side.
    pub flips: Vec<WhatIf>,
}

/// One way to place a stage.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Which of its requests.
    pub request: usize,
    /// The kind of node.
    pub node: Option<NodeId>,
    /// Which of the node's GPUs, by position.
    pub gpu: Option<usize>,
    /// What becomes of it.
    pub outcome: Result<Predicted, String>,
    /// Whether it was chosen.
    pub is_chosen: bool,
}

/// What is predicted of a candidate; unknown where there is nothing.
#[derive(Clone, Copy, Debug)]
pub struct Predicted {
    /// Of one task.
    pub time: Option<Nanos>,
    /// When its last task would end with the nodes of the kind to themselves.
    pub finish: Option<u128>,
}

/// Something that could be otherwise, and the side on which a group would then be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// What.
    pub change: Change,
    /// The side.
    pub side: Side,
    /// The time of a task.
    pub time: Option<Nanos>,
}

/// What could be otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// So many CPUs asked for.
    Cpus(u32),
    /// A link so many times as fast.
    FasterLink(u64),
    /// A link of so many parts of its speed.
    SlowerLink(u64),
}

/// Why there is nothing to tell.
#[derive(Debug)]
pub enum NoWhy {
    /// No stage or op has the name.
    Unknown,
    /// There is no plan.
    Refused(Refused),
}

/// Tells all about a stage, or about an op by the name that plans give it: `stage.op`.
///
/// # Errors
/// There is no plan, or nothing of that name.
pub fn why(
    typed: Typed,
    target: &Target,
    (pipeline, source): (&str, &str),
    places: &Places,
    name: &str,
) -> Result<Why, NoWhy> {
    let (stage, group) = find(&typed, name).ok_or(NoWhy::Unknown)?;
    let planned = |typed| plan(typed, target, pipeline, source, places);
    let plan = planned(typed.clone()).map_err(NoWhy::Refused)?.plan;
    let context = Context::new(&typed, target);
    let forced = group.map(|group| {
        let other = plan.groups[group].placement.side.other();
        let request = plan.stages[stage].request;
        let forced = forced(typed.clone(), stage, request, group, other)?;
        let planned = planned(forced);
        planned
            .map(|planned| planned.plan)
            .map_err(|refused| in_short(&refused))
    });
    Ok(Why {
        candidates: candidates(&context, stage, &plan),
        flips: group.map_or_else(Vec::new, |group| flips(&context, stage, group, &plan)),
        plan,
        stage,
        group,
        forced,
    })
}

/// What a name means; that of a stage is the stage's, also where an op has it too.
fn find(typed: &Typed, name: &str) -> Option<(StageId, Option<GroupId>)> {
    let graph = typed.graph();
    let stage = graph.stages.entries().find(|(_, stage)| stage.name == name);
    if let Some((stage, _)) = stage {
        return Some((stage, None));
    }
    let is_meant = |full: bool| {
        move |op: &haul_ir::id::OpId| {
            let node = &graph.ops[*op];
            match full {
                true => names::op(graph, *op) == name,
                false => name
                    .strip_prefix(graph.stages[node.stage].name.as_str())
                    .and_then(|rest| rest.strip_prefix('.'))
                    .is_some_and(|rest| rest == node.name),
            }
        }
    };
    let op = graph.ops.ids().find(is_meant(true));
    let op = op.or_else(|| graph.ops.ids().find(is_meant(false)))?;
    Some((graph.ops[op].stage, Some(typed.group_of(op))))
}

/// The graph with a group pinned to a side, and its stage left with one of its requests.
fn forced(
    typed: Typed,
    stage: StageId,
    request: usize,
    group: GroupId,
    side: Side,
) -> Result<Typed, String> {
    let groups = typed.groups().clone();
    let mut graph = typed.into_graph();
    let requests = &mut graph.stages[stage].requests;
    *requests = vec![requests.swap_remove(request)];
    let pin = match side {
        Side::Cpu => Pin::Cpu,
        Side::Gpu => Pin::Gpu,
    };
    for op in &groups[group].ops {
        graph.ops[*op].pin = pin;
    }
    Typed::check(graph, groups)
}

fn candidates(context: &Context<'_>, stage: StageId, plan: &Plan) -> Vec<Candidate> {
    let graph = StageGraph::of(context.typed, &context.usage, stage);
    let tasks = tasks(context.typed, stage);
    let chosen = &plan.stages[stage];
    let requests = &context.typed.graph().stages[stage].requests;
    let mut candidates = Vec::new();
    for (position, request) in requests.iter().enumerate() {
        let homes = homes(request, context.target);
        if homes.is_empty() {
            candidates.push(Candidate {
                request: position,
                node: None,
                gpu: None,
                outcome: Err("no node can ever hold it".to_owned()),
                is_chosen: false,
            });
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
                        finish: finish(context, &division, &tasks, machine),
                    }),
                    Err(refusal) => Err(refused(&refusal, machine)),
                },
            });
        }
    }
    candidates
}

fn in_short(refused: &Refused) -> String {
    let messages = refused
        .mistakes
        .iter()
        .map(|mistake| mistake.message.as_str());
    messages.collect::<Vec<_>>().join("; ")
}

fn refused(refusal: &Refusal, machine: Machine<'_>) -> String {
    let needs = |bytes: Option<u64>, what: &str, there: u64| {
        let needed = units::bytes(bytes.unwrap_or(0).into());
        format!(
            "needs {needed} of {what}, of which {} are there",
            units::bytes(there.into())
        )
    };
    match refusal {
        Refusal::Pin { why, .. } => why.clone(),
        Refusal::Memory(peak) => needs(peak.largest, "memory", machine.request.memory),
        Refusal::Vram { peak, available } => needs(peak.largest, "device memory", *available),
    }
}

/// The nearest changes, up and down, that bring a group to the other side.
fn flips(context: &Context<'_>, stage: StageId, group: GroupId, plan: &Plan) -> Vec<WhatIf> {
    let planned = &plan.stages[stage];
    let placement = &plan.groups[group].placement;
    let node = &plan.target.nodes[planned.node];
    let Some(gpu) = planned.gpu.and_then(|gpu| node.gpus.get(gpu)) else {
        return Vec::new();
    };
    let graph = StageGraph::of(context.typed, &context.usage, stage);
    let Some(position) = graph.groups.iter().position(|other| *other == group) else {
        return Vec::new();
    };
    let asked = planned.request(&context.typed.graph().stages[stage].requests);
    let tried = |change: Change| {
        let (mut request, mut gpu) = (asked.clone(), gpu.clone());
        match change {
            Change::Cpus(cpus) => request.cpus = cpus,
            Change::FasterLink(times) => {
                gpu.link.h2d = gpu.link.h2d.saturating_mul(times);
                gpu.link.d2h = gpu.link.d2h.saturating_mul(times);
            }
            Change::SlowerLink(parts) => {
                gpu.link.h2d = (gpu.link.h2d / parts).max(1);
                gpu.link.d2h = (gpu.link.d2h / parts).max(1);
            }
        }
        let machine = Machine {
            node,
            gpu: Some(&gpu),
            request: &request,
        };
        let division = divide(context.typed, &graph, machine, &context.sizes).ok()?;
        let side = division.side(position);
        (side != placement.side).then_some(WhatIf {
            change,
            side,
            time: division.time,
        })
    };
    let doubled = |from: u64, to: u64| {
        let next = move |n: &u64| n.checked_mul(2).filter(|n| *n <= to);
        std::iter::successors(Some(from), next).skip(1)
    };
    let more = doubled(asked.cpus.into(), node.cpus.into()).map(|n| Change::Cpus(n as u32));
    let fewer = std::iter::successors(Some(asked.cpus), |n| Some(n / 2)).skip(1);
    let fewer = fewer.take_while(|n| *n > 0).map(Change::Cpus);
    let faster = doubled(1, MOST_LINK).map(Change::FasterLink);
    let slower = doubled(1, MOST_LINK).map(Change::SlowerLink);
    let nearest = [
        more.into_iter().find_map(tried),
        fewer.into_iter().find_map(tried),
        faster.into_iter().find_map(tried),
        slower.into_iter().find_map(tried),
    ];
    nearest.into_iter().flatten().collect()
}
