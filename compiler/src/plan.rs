//! From a checked graph and a target to a plan: everything decided, nothing run.

mod choice;
mod edits;
mod estimates;
mod lints;
mod refusals;
mod verdicts;
mod waiting;
pub mod why;

use std::collections::BTreeMap;

use haul_ir::diagnostic::Diagnostic;
use haul_ir::graph::Typed;
use haul_ir::id::{GroupId, IdVec, StageId};
use haul_ir::plan::{GroupPlan, Plan, StagePlan};
use haul_ir::target::Target;

use self::choice::{Choice, NoChoice};
use self::estimates::Estimated;
pub use self::verdicts::{Outcome, Refused, Verdict};
use crate::cost::Point;
use crate::place::Sizes;
use crate::places::Places;
use crate::usage::Usage;

/// A plan, and what is doubtful about it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Warnings, sorted by place.
    pub warnings: Vec<Diagnostic>,
    /// Of how many changes it was not simulated what they would save, since so many were before.
    pub not_simulated: u64,
    /// What becomes of each stage's request.
    pub verdicts: IdVec<StageId, Verdict>,
}

/// What choosing for a stage needs to know.
struct Context<'a> {
    typed: &'a Typed,
    target: &'a Target,
    usage: Usage,
    sizes: Sizes,
}

impl<'a> Context<'a> {
    fn new(typed: &'a Typed, target: &'a Target) -> Self {
        Self {
            typed,
            target,
            usage: Usage::of(typed),
            sizes: Sizes {
                planned: Point::planned(typed.graph()),
                largest: Point::largest(typed.graph()),
            },
        }
    }
}

/// Plans a pipeline for a target: for each stage the request, the kind of node and the side of
/// every group that finish first, then times and prices of the whole.
///
/// `pipeline` and `source` are the names that the plan carries; `places` tells where the parts of
/// the graph are written.
///
/// # Errors
/// All that does not fit the target: a request that no node can ever hold, a wish for the GPU that
/// cannot be granted, memory that does not suffice at the largest sizes; with what becomes of each
/// stage all the same.
pub fn plan(
    typed: Typed,
    target: &Target,
    pipeline: &str,
    source: &str,
    places: &Places,
) -> Result<Planned, Refused> {
    let context = Context::new(&typed, target);
    let stages = typed.graph().stages.ids();
    let placed = stages.map(|stage| choice::choose(&context, stage));
    let mut choices = all_placed(placed.collect())
        .map_err(|placed| verdicts::refused(&context, &placed, places))?;
    waiting::choose_again(&context, &mut choices);
    let estimated = estimates::estimate(&context, &choices);
    let groups = groups(&context, &choices);
    let (warnings, not_simulated) = lints::lints(&context, &choices, &estimated, places);
    let stages = choices.entries();
    let stages = stages
        .map(|(stage, choice)| stage_plan(&context, choice, stage, &estimated))
        .collect();
    let verdicts = verdicts::granted(&choices, &estimated.feasibility, places);
    let dims = typed.graph().dims.iter();
    let dims = dims
        .filter_map(|(symbol, dim)| Some((symbol.clone(), dim.plan?)))
        .collect();
    let plan = Plan {
        pipeline: pipeline.to_owned(),
        source: source.to_owned(),
        target: target.clone(),
        dims,
        groups,
        stages,
        estimates: estimated.estimates,
        timeline: estimated.timeline,
        typed,
    };
    Ok(Planned {
        plan,
        warnings,
        not_simulated,
        verdicts,
    })
}

/// The choice for each stage, where there is one for all.
fn all_placed(
    placed: IdVec<StageId, Result<Choice, NoChoice>>,
) -> Result<IdVec<StageId, Choice>, IdVec<StageId, Result<Choice, NoChoice>>> {
    if placed.iter().any(Result::is_err) {
        return Err(placed);
    }
    Ok(placed.into_iter().flatten().collect())
}

/// The facts about all groups.
fn groups(context: &Context<'_>, choices: &IdVec<StageId, Choice>) -> IdVec<GroupId, GroupPlan> {
    let mut groups = BTreeMap::new();
    for choice in choices.iter() {
        let machine = choice.machine(context);
        let plans = choice
            .division
            .explain(context.typed, &choice.graph, machine, &context.sizes);
        groups.extend(choice.graph.groups.iter().copied().zip(plans));
    }
    groups.into_values().collect()
}

fn stage_plan(
    context: &Context<'_>,
    choice: &Choice,
    stage: StageId,
    estimated: &Estimated,
) -> StagePlan {
    let machine = choice.machine(context);
    let Choice {
        graph, division, ..
    } = choice;
    StagePlan {
        request: choice.request,
        node: choice.home.node,
        gpu: choice.home.gpu,
        tasks: graph.tasks.clone(),
        transfers: division.transfers(graph, machine, &context.sizes),
        peak_memory: division.peaks.memory.bytes.clone(),
        peak_at: division.peaks.memory.at,
        peak_vram: division.peaks.vram.bytes.clone(),
        time: division.time,
        time_on_cpu: division.time_on_cpu,
        feasibility: estimated.feasibility[stage].clone(),
        queueing: estimated.queueing[stage],
    }
}
