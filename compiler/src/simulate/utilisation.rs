//! How much of the used nodes' time is held, and how much of it is used.

use std::collections::BTreeMap;

use haul_ir::cost::Nanos;
use haul_ir::graph::GpuCount;
use haul_ir::id::{Id, NodeId, StageId};
use haul_ir::plan::{Batch, Utilisation};
use haul_ir::target::Target;

use super::{Schedule, Tasks};

/// The CPUs and each type of GPU of every kind of node that runs tasks, in the target's order. The
/// shares of what a task of an `unknown` time holds are not known; of the rest, the makespan being at
/// least what it is, they are at most what they are.
pub(crate) fn utilisation(
    stages: &[Tasks],
    schedule: &Schedule,
    target: &Target,
    unknown: &[StageId],
) -> Vec<Utilisation> {
    let sums = sums(stages, target, unknown);
    let mut all = Vec::new();
    for (id, nodes) in schedule.nodes_used.entries() {
        if *nodes == 0 {
            continue;
        }
        let node = &target.nodes[id];
        let mut types = vec![(None, u128::from(node.cpus))];
        for gpu in &node.gpus {
            let name = Some(gpu.name.as_str());
            match types.iter_mut().find(|(other, _)| *other == name) {
                Some((_, units)) => *units += u128::from(GpuCount::ONE.0),
                None => types.push((name, u128::from(GpuCount::ONE.0))),
            }
        }
        for (gpu, units) in types {
            let sum = sums.get(&(id, gpu)).copied().unwrap_or_default();
            let there = units * u128::from(*nodes) * u128::from(schedule.makespan);
            all.push(Utilisation {
                node: id,
                nodes: *nodes,
                gpu: gpu.map(str::to_owned),
                held: (!sum.is_unknown).then(|| per_mille(sum.held, there)),
                busy: (!sum.is_unknown).then(|| per_mille(sum.busy, there)),
            });
        }
    }
    all
}

/// What a task does with each GPU that it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnGpu {
    /// Ten-thousandths of each.
    pub(crate) share: u32,
    /// How long it holds them.
    pub(crate) time: Nanos,
    /// How long it computes on the first of them, or moves data.
    pub(crate) busy: Nanos,
}

/// A GPU: the kind of node, which of its nodes, and which of that one's GPUs, by position.
pub(crate) type Place = (NodeId, usize, usize);

/// How much each GPU that tasks hold in a timeline is held and busy: nanoseconds times
/// ten-thousandths. `task` says what a task of a stage does.
pub(crate) fn of_each_gpu(
    timeline: &[Batch],
    task: impl Fn(StageId) -> OnGpu,
) -> BTreeMap<Place, (u128, u128)> {
    let mut sums: BTreeMap<Place, Sum> = BTreeMap::new();
    for batch in timeline.iter().filter(|batch| !batch.gpus.is_empty()) {
        let OnGpu { share, time, busy } = task(batch.stage);
        for (position, gpu) in batch.gpus.iter().enumerate() {
            let sum = sums.entry((batch.node, batch.machine, *gpu)).or_default();
            let busy = (if position == 0 { share } else { 0 }, busy);
            sum.add((batch.tasks, time), share, busy);
        }
    }
    let sums = sums.into_iter();
    sums.map(|(place, sum)| (place, (sum.held, sum.busy)))
        .collect()
}

/// Nanoseconds, times CPUs or ten-thousandths of GPUs.
#[derive(Clone, Copy, Default)]
struct Sum {
    held: u128,
    busy: u128,
    /// Whether the time of a task among them is unknown.
    is_unknown: bool,
}

impl Sum {
    /// So many tasks that each hold some units for a time, and keep some of them busy for another.
    fn add(&mut self, (count, time): (u64, Nanos), held: u32, (busy, busy_time): (u32, Nanos)) {
        let all = |units: u32, time: Nanos| {
            let each = u128::from(units) * u128::from(count);
            each.saturating_mul(time.into())
        };
        self.held = self.held.saturating_add(all(held, time));
        self.busy = self.busy.saturating_add(all(busy, busy_time));
    }
}

/// By kind of node and type of GPU, none for the CPUs.
fn sums<'a>(
    stages: &[Tasks],
    target: &'a Target,
    unknown: &[StageId],
) -> BTreeMap<(NodeId, Option<&'a str>), Sum> {
    let mut sums: BTreeMap<_, Sum> = BTreeMap::new();
    for (position, tasks) in stages.iter().enumerate() {
        let share = &tasks.share;
        let stage = StageId::from_index(position);
        let is_unknown = tasks.count > 0 && unknown.binary_search(&stage).is_ok();
        let on_cpu = tasks.time.saturating_sub(tasks.on_gpu);
        let cpus = sums.entry((share.node, None)).or_default();
        cpus.add((tasks.count, tasks.time), share.cpus, (share.cpus, on_cpu));
        cpus.is_unknown |= is_unknown;
        let Some(gpu) = &share.gpu else { continue };
        let devices = &target.nodes[share.node].gpus;
        let device = gpu.devices.first().and_then(|device| devices.get(*device));
        let Some(device) = device else { continue };
        let gpus = sums.entry((share.node, Some(device.name.as_str())));
        let gpus = gpus.or_default();
        // An op runs on one device, however many its task holds.
        let busy = gpu.gpus.min(GpuCount::ONE.0);
        let each = (tasks.count, tasks.time);
        gpus.add(each, gpu.gpus, (busy, tasks.on_gpu));
        gpus.is_unknown |= is_unknown;
    }
    sums
}

/// A part of what is there, rounded to the nearest; never more than all.
pub(crate) fn per_mille(part: u128, whole: u128) -> u32 {
    let rounded = part.saturating_mul(1000).saturating_add(whole / 2);
    rounded.checked_div(whole).unwrap_or(0).min(1000) as u32
}
