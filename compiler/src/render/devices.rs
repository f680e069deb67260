//! How much single GPUs are held and busy.

use haul_ir::cost::Nanos;
use haul_ir::graph::GpuCount;
use haul_ir::id::StageId;
use haul_ir::plan::{Plan, Side, Utilisation};

use crate::simulate::{OnGpu, of_each_gpu, per_mille};

/// So many GPUs of one type on nodes of one kind are told apart.
const MOST: usize = 1024;

/// One GPU over the makespan; its shares are at most so much where a time is unknown.
pub(crate) struct Device {
    /// Which of the used nodes of its kind, from 0.
    pub(crate) machine: usize,
    /// Which of its node's GPUs, from 0.
    pub(crate) gpu: usize,
    /// Share of the time that tasks hold it, in per mille.
    pub(crate) held: u32,
    /// Share of the time that it computes or moves data, in per mille.
    pub(crate) busy: u32,
}

/// The GPUs of the type and kind of node; none where there are too many, the timeline does not tell
/// them apart, or their use is unknown.
pub(crate) fn of(plan: &Plan, utilisation: &Utilisation) -> Vec<Device> {
    let (Some(name), Some(makespan), Some(mean)) =
        (&utilisation.gpu, plan.estimates.makespan, utilisation.held)
    else {
        return Vec::new();
    };
    let gpus = plan.target.nodes[utilisation.node].gpus.iter().enumerate();
    let alike: Vec<_> = gpus.filter(|(_, gpu)| gpu.name == *name).collect();
    let machines = utilisation.nodes as usize;
    if machines.saturating_mul(alike.len()) > MOST {
        return Vec::new();
    }
    let sums = of_each_gpu(&plan.timeline, |stage| on_gpu(plan, stage));
    let all = u128::from(makespan) * u128::from(GpuCount::ONE.0);
    let places =
        (0..machines).flat_map(|machine| alike.iter().map(move |(gpu, _)| (machine, *gpu)));
    let device = |(machine, gpu)| {
        let sum = sums.get(&(utilisation.node, machine, gpu));
        let (held, busy) = sum.copied().unwrap_or_default();
        Device {
            machine,
            gpu,
            held: per_mille(held, all),
            busy: per_mille(busy, all),
        }
    };
    let devices: Vec<Device> = places.map(device).collect();
    // Where the timeline is shortened, its batches do not add up.
    let held = devices.iter().map(|device| device.held).sum::<u32>();
    let of_timeline = held.checked_div(devices.len() as u32).unwrap_or_default();
    match of_timeline.abs_diff(mean) <= 1 {
        true => devices,
        false => Vec::new(),
    }
}

/// What a task of a stage does with each GPU that it holds.
fn on_gpu(plan: &Plan, stage: StageId) -> OnGpu {
    let planned = &plan.stages[stage];
    let asked = planned.request(&plan.typed.graph().stages[stage].requests);
    let groups = plan.typed.groups_of(stage).into_iter();
    let groups = groups.map(|group| &plan.groups[group]);
    let on_cpu = groups.filter(|group| group.placement.side == Side::Cpu);
    let on_cpu = on_cpu.filter_map(|group| Some(group.cpu?.total()));
    let time = planned.time.unwrap_or(0);
    OnGpu {
        share: asked.gpus.0.min(GpuCount::ONE.0),
        time,
        busy: time.saturating_sub(on_cpu.fold(0, Nanos::saturating_add)),
    }
}
