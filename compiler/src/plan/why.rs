//! Why a stage or an op is where it is: the plan, what others would be, and what would change it.

mod candidates;
mod sizes;
mod task;
mod tried;

use haul_ir::graph::{Pin, Typed};
use haul_ir::id::{GroupId, StageId};
use haul_ir::plan::{Plan, Reason, Side};
use haul_ir::target::Target;

pub use self::candidates::{Behind, Candidate, Predicted};
pub use self::sizes::First;
pub use self::task::{Held, Sum, Task};
pub use self::tried::{Change, Outcome, WhatIf};
use super::{Context, Refused, plan};
use crate::place::{Machine, Peak, Refusal, value_name};
use crate::places::Places;
use crate::render::amounts::{amount, own_amount};
use crate::render::names;

/// The largest size that is tried where a dim has no `max`.
const MOST_SIZE: u64 = 1 << 40;

/// All that is known about one decision.
#[derive(Debug)]
pub struct Why {
    /// The plan.
    pub plan: Plan,
    /// The stage.
    pub stage: StageId,
    /// The group of ops; the whole stage where there is none.
    pub group: Option<GroupId>,
    /// What a task of the stage takes and holds.
    pub task: Task,
    /// Each request of the stage on each kind of node and device that could hold it.
    pub candidates: Vec<Candidate>,
    /// The group on the other side, or why it cannot be there; nothing for a whole stage.
    pub forced: Option<Result<Forced, String>>,
    /// The fact that alone decides the side of the group, whatever times are.
    pub decides: Option<Reason>,
    /// What was tried to bring the group to the other side.
    pub tried: Vec<WhatIf>,
}

/// A group on the side where it is not planned.
#[derive(Debug)]
pub struct Forced {
    /// The plan, with the request of the stage as it was chosen.
    pub plan: Plan,
    /// What a task of the stage then takes and holds.
    pub task: Task,
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
        let plan = planned(forced).map_err(|refused| in_short(&refused))?.plan;
        let context = Context::new(&plan.typed, target);
        let task = Task::of(&context, stage, &plan);
        Ok(Forced { plan, task })
    });
    let decides = group.and_then(|group| tried::decides(&context, group, &plan));
    let tried = group.map_or_else(Vec::new, |group| {
        tried::tried(&context, stage, group, &plan, decides.as_ref())
    });
    Ok(Why {
        task: Task::of(&context, stage, &plan),
        candidates: candidates::candidates(&context, stage, &plan),
        plan,
        stage,
        group,
        forced,
        decides,
        tried,
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

fn in_short(refused: &Refused) -> String {
    let messages = refused
        .mistakes
        .iter()
        .map(|mistake| mistake.message.as_str());
    messages.collect::<Vec<_>>().join("; ")
}

/// Why a machine cannot have a stage, in numbers.
fn refused(context: &Context<'_>, refusal: &Refusal, machine: Machine<'_>) -> String {
    let needs = |peak: &Peak, what: &str, has: u64| {
        let needed = peak.largest.unwrap_or(0);
        let at = peak.at.map_or_else(String::new, |value| {
            format!(" when `{}` is made", value_name(context.typed, value))
        });
        format!(
            "needs {} of {what}{at} and has {}, {} too little",
            own_amount(needed),
            own_amount(has),
            amount(needed.saturating_sub(has), has, has)
        )
    };
    match refusal {
        Refusal::Pin { why, .. } => why.clone(),
        Refusal::Memory(peak) => needs(peak, "memory", machine.request.memory),
        Refusal::Vram { peak, available } => needs(peak, "device memory", *available),
    }
}

/// The doubles of a number that are not above another.
fn doubled(from: u64, to: u64) -> impl Iterator<Item = u64> {
    let next = move |n: &u64| n.checked_mul(2).filter(|n| *n <= to && *n > 0);
    std::iter::successors(Some(from), next).skip(1)
}

/// Halves of a number, down to one.
fn halved(from: u64) -> impl Iterator<Item = u64> {
    let next = |n: &u64| Some(n / 2).filter(|n| *n > 0);
    std::iter::successors(Some(from), next).skip(1)
}
