//! From a checked graph and a target to a plan: everything decided, nothing run.

mod choice;
mod edits;
mod estimates;
mod lints;
mod refusals;

use std::collections::BTreeMap;

use haul_ir::diagnostic::Diagnostic;
use haul_ir::expr::Expr;
use haul_ir::graph::Typed;
use haul_ir::id::{GroupId, IdVec, StageId};
use haul_ir::plan::{GroupPlan, Plan, StagePlan};
use haul_ir::target::Target;

use self::choice::Choice;
use self::estimates::Estimated;
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
}

/// What choosing for a stage needs to know.
struct Context<'a> {
    typed: &'a Typed,
    target: &'a Target,
    usage: Usage,
    sizes: Sizes,
}

/// Plans a pipeline for a target: for each stage the request, the kind of node and the side of
/// every group that finish first, then times and prices of the whole.
///
/// `pipeline` and `source` are the names that the plan carries; `places` tells where the parts of
/// the graph are written.
///
/// # Errors
/// All that does not fit the target, sorted by place: a request that no node can ever hold, a
/// wish for the GPU that cannot be granted, memory that does not suffice at the largest sizes.
pub fn plan(
    typed: Typed,
    target: &Target,
    pipeline: &str,
    source: &str,
    places: &Places,
) -> Result<Planned, Vec<Diagnostic>> {
    let context = Context {
        typed: &typed,
        target,
        usage: Usage::of(&typed),
        sizes: Sizes {
            planned: Point::planned(typed.graph()),
            largest: Point::largest(typed.graph()),
        },
    };
    let choices = choose_all(&context, places)?;
    let estimated = estimates::estimate(&context, &choices);
    let groups = groups(&context, &choices);
    let warnings = lints::lints(&context, &choices, &estimated.estimates, places);
    let stages = choices.entries();
    let stages = stages
        .map(|(stage, choice)| stage_plan(&context, choice, stage, &estimated))
        .collect();
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
    Ok(Planned { plan, warnings })
}

/// The choice for each stage, or all that is wrong.
fn choose_all(
    context: &Context<'_>,
    places: &Places,
) -> Result<IdVec<StageId, Choice>, Vec<Diagnostic>> {
    let mut choices = IdVec::new();
    let mut errors = Vec::new();
    for stage in context.typed.graph().stages.ids() {
        match choice::choose(context, stage) {
            Ok(choice) => drop(choices.push(choice)),
            Err(refused) => errors.push(refusals::diagnostic(context, stage, refused, places)),
        }
    }
    if errors.is_empty() {
        return Ok(choices);
    }
    errors.sort_by_key(|error| (error.primary.span, error.code));
    Err(errors)
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
        tasks: choice.tasks.clone(),
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

/// How many tasks a stage has.
fn tasks(typed: &Typed, stage: StageId) -> Expr {
    let graph = typed.graph();
    let each = graph.stages[stage].each;
    each.map_or(Expr::ONE, |each| graph.collections[each].width.clone())
}
