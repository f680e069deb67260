//! Times and prices of a whole run, by simulation.

use haul_ir::cost::Nanos;
use haul_ir::graph::{Producer, Typed};
use haul_ir::id::{Id, IdVec, StageId, ValueId};
use haul_ir::plan::{Batch, Estimates, Feasibility};

use super::Context;
use super::choice::{Choice, on_cpus};
use crate::feasibility::devices;
use crate::place::{Machine, divide};
use crate::simulate::{After, GpuShare, Schedule, Share, Tasks, price, simulate, utilisation};

/// What the simulated run of a plan tells.
pub(super) struct Estimated {
    /// Of the whole.
    pub(super) estimates: Estimates,
    /// Whether the tasks of each stage find room at once.
    pub(super) feasibility: IdVec<StageId, Feasibility>,
    /// How long the tasks of each stage wait for room, all of them together.
    pub(super) queueing: IdVec<StageId, Option<Nanos>>,
    pub(super) timeline: Vec<Batch>,
}

/// Simulates the run as it is planned, and with other sides.
pub(super) fn estimate(context: &Context<'_>, choices: &IdVec<StageId, Choice>) -> Estimated {
    let planned = planned_tasks(context, choices);
    let schedule = planned
        .as_ref()
        .map(|tasks| simulate(tasks, context.target));
    let run = planned.as_deref().zip(schedule.as_ref());
    let stages = || context.typed.graph().stages.ids();
    let unknown = unknown(choices);
    // That a time is at least nothing, says nothing.
    let bound = |total: Option<u64>| total.filter(|total| *total > 0 || unknown.is_empty());
    let queueing = |stage: StageId| Some(schedule.as_ref()?.queueing[stage.index()]);
    Estimated {
        estimates: Estimates {
            makespan: bound(schedule.as_ref().map(|schedule| schedule.makespan)),
            serial: bound(planned.as_deref().map(serial)),
            all_on_cpu: bound(all_on_cpu(context, choices)),
            all_on_gpu: bound(all_on_gpu(context, choices)),
            critical_path: schedule.as_ref().map_or_else(Vec::new, |schedule| {
                let path = schedule.critical_path.iter();
                path.map(|stage| StageId::from_index(*stage)).collect()
            }),
            utilisation: run.map_or_else(Vec::new, |(tasks, schedule)| {
                utilisation(tasks, schedule, context.target, &unknown)
            }),
            transferred: transferred(context, choices),
            nano_usd: bound(
                schedule
                    .as_ref()
                    .and_then(|schedule| price(context.target, schedule)),
            ),
            unknown,
        },
        feasibility: stages()
            .map(|stage| feasibility(context.typed, schedule.as_ref(), stage))
            .collect(),
        queueing: stages().map(queueing).collect(),
        timeline: schedule.map_or_else(Vec::new, |schedule| schedule.timeline),
    }
}

/// Whether the tasks of a stage find room at once in a simulated run; without one, there is room
/// for them some time.
pub(super) fn feasibility(
    typed: &Typed,
    schedule: Option<&Schedule>,
    stage: StageId,
) -> Feasibility {
    let waits = schedule.and_then(|schedule| schedule.waits[stage.index()]);
    waits.map_or(Feasibility::Fits, |(time, behind)| Feasibility::Waits {
        time,
        behind: typed.graph().stages[StageId::from_index(behind)]
            .name
            .clone(),
    })
}

/// The tasks of all stages as they are planned, where their numbers are known. An unknown time is
/// taken for none.
pub(super) fn planned_tasks(
    context: &Context<'_>,
    choices: &IdVec<StageId, Choice>,
) -> Option<Vec<Tasks>> {
    let tasks = choices.entries();
    tasks
        .map(|(stage, choice)| tasks_of(context, stage, choice))
        .collect()
}

/// The tasks of one stage as they are planned.
pub(super) fn tasks_of(context: &Context<'_>, stage: StageId, choice: &Choice) -> Option<Tasks> {
    let machine = choice.machine(context);
    let time = choice.division.time;
    Some(Tasks {
        count: context.sizes.planned.eval(&choice.graph.tasks)?,
        time: time.unwrap_or(0),
        on_gpu: time.and(choice.division.gpu_time).unwrap_or(0),
        share: Share {
            node: choice.home.node,
            cpus: machine.request.cpus,
            memory: machine.request.memory,
            gpu: machine.gpu.map(|gpu| GpuShare {
                devices: devices(machine.node, gpu),
                gpus: machine.request.gpus.0,
                vram: choice.division.vram(machine),
            }),
        },
        after: after(context, stage),
    })
}

/// The stages whose results a stage reads.
pub(super) fn after(context: &Context<'_>, stage: StageId) -> Vec<After> {
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

fn made_by(typed: &Typed, value: ValueId) -> Option<StageId> {
    match typed.graph().values[value].producer {
        Producer::Op(op) => Some(typed.graph().ops[op].stage),
        Producer::Input(_) => None,
    }
}

/// The makespan with every op on CPUs, GPUs left free; nothing where that is impossible.
fn all_on_cpu(context: &Context<'_>, choices: &IdVec<StageId, Choice>) -> Option<Nanos> {
    let mut tasks = planned_tasks(context, choices)?;
    for (tasks, choice) in tasks.iter_mut().zip(choices.iter()) {
        tasks.time = time_on_cpus(context, choice)?;
        tasks.share.gpu = None;
    }
    Some(simulate(&tasks, context.target).makespan)
}

/// The time of a task with every op on CPUs beside as many others as there are where none holds a GPU,
/// an unknown one taken for none; nothing where it does not fit its memory then, or an op has to be on
/// a GPU.
fn time_on_cpus(context: &Context<'_>, choice: &Choice) -> Option<Nanos> {
    let machine = choice.machine(context);
    if machine.gpu.is_none() {
        return Some(choice.division.time_on_cpu.unwrap_or(0));
    }
    let request = on_cpus(machine.request);
    let without = Machine {
        gpu: None,
        request: &request,
        ..machine
    };
    let division = divide(context.typed, &choice.graph, without, &context.sizes).ok()?;
    Some(division.time.unwrap_or(0))
}

/// The makespan with every op on a GPU that can be there, in the stages that hold one; where that
/// does not fit the memory of a task, as planned.
fn all_on_gpu(context: &Context<'_>, choices: &IdVec<StageId, Choice>) -> Option<Nanos> {
    if choices.iter().all(|choice| choice.home.gpu.is_none()) {
        return None;
    }
    let mut tasks = planned_tasks(context, choices)?;
    for (tasks, choice) in tasks.iter_mut().zip(choices.iter()) {
        let machine = choice.machine(context);
        let time = choice
            .division
            .time_on_gpu(&choice.graph, machine, &context.sizes);
        tasks.time = time.unwrap_or(0);
    }
    Some(simulate(&tasks, context.target).makespan)
}

fn unknown(choices: &IdVec<StageId, Choice>) -> Vec<StageId> {
    let unknown = choices
        .entries()
        .filter(|(_, choice)| choice.division.time.is_none());
    unknown.map(|(stage, _)| stage).collect()
}

/// Bytes that cross between host and device, of all tasks together. Unknown sizes count nothing.
fn transferred(context: &Context<'_>, choices: &IdVec<StageId, Choice>) -> Option<u64> {
    let mut total = 0u64;
    for choice in choices.iter() {
        let tasks = context.sizes.planned.eval(&choice.graph.tasks)?;
        let bytes = choice.division.transferred(&choice.graph, &context.sizes);
        total = total.checked_add(bytes.checked_mul(tasks)?)?;
    }
    Some(total)
}

/// All tasks one after the other.
fn serial(tasks: &[Tasks]) -> Nanos {
    tasks.iter().fold(0, |sum, tasks| {
        sum.saturating_add(tasks.time.saturating_mul(tasks.count))
    })
}
