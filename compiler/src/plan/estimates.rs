//! Times and prices of a whole run, by simulation.

use haul_ir::cost::Nanos;
use haul_ir::graph::{Producer, Typed};
use haul_ir::id::{Id, IdVec, StageId};
use haul_ir::plan::{Estimates, Feasibility};
use haul_ir::target::Target;

use super::Context;
use super::choice::Choice;
use crate::feasibility::devices;
use crate::simulate::{After, GpuShare, Schedule, Share, Tasks, simulate};

const NANOS_PER_HOUR: u128 = 3_600_000_000_000;

/// The estimates of a plan, and of each stage whether its tasks find room at once.
pub(super) fn estimate(
    context: &Context<'_>,
    choices: &IdVec<StageId, Choice>,
) -> (Estimates, Vec<Feasibility>) {
    let planned = all_tasks(context, choices, |choice| choice.division.time);
    let schedule = planned
        .as_ref()
        .map(|tasks| simulate(tasks, context.target));
    let on_cpu = all_tasks(context, choices, |choice| choice.division.time_on_cpu);
    let on_cpu = on_cpu.map(|tasks| simulate(&without_gpus(tasks), context.target));
    let estimates = Estimates {
        makespan: schedule.as_ref().map(|schedule| schedule.makespan),
        serial: planned.as_deref().map(serial),
        all_on_cpu: on_cpu.map(|schedule| schedule.makespan),
        all_on_gpu: None,
        critical_path: Vec::new(),
        utilisation: Vec::new(),
        transferred: None,
        nano_usd: schedule
            .as_ref()
            .and_then(|schedule| price(context.target, schedule)),
        unknown: unknown(choices),
    };
    let feasibility = context.typed.graph().stages.ids().map(|stage| {
        let waits = schedule
            .as_ref()
            .and_then(|schedule| schedule.waits[stage.index()]);
        waits.map_or(Feasibility::Fits, |(time, behind)| Feasibility::Waits {
            time,
            behind: context.typed.graph().stages[StageId::from_index(behind)]
                .name
                .clone(),
        })
    });
    (estimates, feasibility.collect())
}

fn unknown(choices: &IdVec<StageId, Choice>) -> Vec<StageId> {
    let unknown = choices
        .entries()
        .filter(|(_, choice)| choice.division.time.is_none());
    unknown.map(|(stage, _)| stage).collect()
}

/// The tasks of all stages, where their numbers are known. An unknown time is taken for none.
fn all_tasks(
    context: &Context<'_>,
    choices: &IdVec<StageId, Choice>,
    time: impl Fn(&Choice) -> Option<Nanos>,
) -> Option<Vec<Tasks>> {
    let tasks = choices.entries().map(|(stage, choice)| {
        Some(Tasks {
            count: context.sizes.planned.eval(&choice.tasks)?,
            time: time(choice).unwrap_or(0),
            share: share(context, choice),
            after: after(context, stage),
        })
    });
    tasks.collect()
}

/// What a task holds.
fn share(context: &Context<'_>, choice: &Choice) -> Share {
    let machine = choice.machine(context);
    Share {
        node: choice.home.node,
        cpus: machine.request.cpus,
        memory: machine.request.memory,
        gpu: machine.gpu.map(|gpu| GpuShare {
            devices: devices(machine.node, gpu),
            gpus: machine.request.gpus.0,
            vram: choice.division.vram(machine),
        }),
    }
}

/// The stages whose results a stage reads.
fn after(context: &Context<'_>, stage: StageId) -> Vec<After> {
    let graph = context.typed.graph();
    let groups = context.typed.groups_of(stage).into_iter();
    let reads = groups.flat_map(|group| context.usage.reads[group].iter());
    let mut after: Vec<_> = reads
        .filter_map(|value| {
            let from = made_by(context.typed, *value).filter(|from| *from != stage)?;
            let by_item = graph.values[*value]
                .over
                .is_some_and(|over| graph.stages[stage].each == Some(over));
            Some((from.index(), by_item))
        })
        .collect();
    after.sort_unstable();
    after.dedup();
    let after = after.into_iter();
    after
        .map(|(stage, by_item)| After { stage, by_item })
        .collect()
}

fn made_by(typed: &Typed, value: haul_ir::id::ValueId) -> Option<StageId> {
    match typed.graph().values[value].producer {
        Producer::Op(op) => Some(typed.graph().ops[op].stage),
        Producer::Input(_) => None,
    }
}

fn without_gpus(mut tasks: Vec<Tasks>) -> Vec<Tasks> {
    tasks.iter_mut().for_each(|tasks| tasks.share.gpu = None);
    tasks
}

/// All tasks one after the other.
fn serial(tasks: &[Tasks]) -> Nanos {
    tasks.iter().fold(0, |sum, tasks| {
        sum.saturating_add(tasks.time.saturating_mul(tasks.count))
    })
}

/// Billionths of a US dollar for the nodes used, over the whole run, rounded to the nearest.
fn price(target: &Target, schedule: &Schedule) -> Option<u64> {
    let mut nano_usd_per_hour = 0u128;
    for (node, used) in schedule.nodes_used.entries().filter(|(_, used)| **used > 0) {
        let price = target.nodes[node].price.as_ref()?;
        nano_usd_per_hour += u128::from(price.milli_usd_per_hour) * 1_000_000 * u128::from(*used);
    }
    let total = nano_usd_per_hour.checked_mul(schedule.makespan.into())?;
    u64::try_from((total + NANOS_PER_HOUR / 2) / NANOS_PER_HOUR).ok()
}
