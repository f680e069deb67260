//! Which side each group of a stage runs on, and why.
//!
//! [`divide`] decides for one stage on one kind of machine; [`Division::explain`] adds reasons,
//! regrets and flip points to the division that was chosen. A stage's inputs and results are on
//! the host: values that go from one stage to another go through it.

mod cut;
mod detours;
mod facts;
mod flip;
mod flow;
mod memory;
mod reasons;
mod stage;

use haul_ir::cost::{Cost, Nanos};
use haul_ir::graph::{Request, Typed};
use haul_ir::id::{GroupId, ValueId};
use haul_ir::plan::{Direction, GroupPlan, Reason, Side, Transfer};
use haul_ir::target::{Gpu, Node};

use self::cut::{Problem, Solution};
pub(crate) use self::detours::Detour;
pub(crate) use self::facts::without_kernel;
pub(crate) use self::memory::{Peak, Peaks, peaks};
pub(crate) use self::stage::{StageGraph, tasks};
use crate::cost::{Point, transfer};

/// What a task of a stage gets.
#[derive(Clone, Copy)]
pub(crate) struct Machine<'a> {
    pub(crate) node: &'a Node,
    /// The device, where one is requested.
    pub(crate) gpu: Option<&'a Gpu>,
    pub(crate) request: &'a Request,
}

impl Machine<'_> {
    /// Bytes of device memory that a task may use.
    pub(crate) fn vram(&self) -> u64 {
        let device = self.gpu.map_or(0, |gpu| gpu.vram);
        self.request.vram.unwrap_or(device)
    }
}

/// The sizes that a plan is made at.
pub(crate) struct Sizes {
    /// Where times are predicted.
    pub(crate) planned: Point,
    /// Where memory has to suffice.
    pub(crate) largest: Point,
}

/// Why a stage cannot be placed on a machine.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// A group is to be on the GPU and cannot be.
    Pin { group: GroupId, why: String },
    /// A task needs more host memory than it asks for.
    Memory(Peak),
    /// A task needs more device memory than there is.
    Vram { peak: Peak, available: u64 },
}

/// Neither to the device nor to the host.
const NOWHERE: (bool, bool) = (false, false);

/// A stage divided between CPU and GPU.
pub(crate) struct Division {
    /// The side that a hard fact gives, with the fact; the cut decides where there is none.
    facts: Vec<Option<(Side, Reason)>>,
    costs: Vec<Costs>,
    problem: Problem,
    solution: Solution,
    pub(crate) peaks: Peaks,
    /// Of one task.
    pub(crate) time: Option<Nanos>,
    /// How much of that goes by on the GPU or on the way to it and back, where that is known.
    pub(crate) gpu_time: Option<Nanos>,
    /// Of one task with every group on CPUs.
    pub(crate) time_on_cpu: Option<Nanos>,
}

/// What a group takes on either side, where that is known.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    cpu: Option<Cost>,
    gpu: Option<Cost>,
}

impl Costs {
    fn on(&self, side: Side) -> Option<Nanos> {
        let cost = match side {
            Side::Cpu => self.cpu,
            Side::Gpu => self.gpu,
        };
        cost.as_ref().map(Cost::total)
    }
}

/// Divides a stage: hard facts first, for the rest the exact minimum of computing and moving.
///
/// # Errors
/// A wish of the author that cannot be granted, or memory that does not suffice.
pub(crate) fn divide(
    typed: &Typed,
    stage: &StageGraph,
    machine: Machine<'_>,
    sizes: &Sizes,
) -> Result<Division, Refusal> {
    let costs = stage.costs(machine, &sizes.planned);
    let facts = facts::facts(typed, stage, machine, sizes, &costs)?;
    let fixed: Vec<_> = facts
        .iter()
        .map(|f| f.as_ref().map(|(side, _)| *side))
        .collect();
    let problem = stage.problem(machine, &sizes.planned, &costs, &fixed);
    let solution = problem.solve();
    let peaks = peaks(stage, &solution.sides, sizes);
    check_memory(&peaks, machine)?;
    let time = time(stage, &costs, &problem, &solution.sides, sizes);
    let on_cpus = costs.iter().zip(&solution.sides);
    let cpu_time = on_cpus
        .filter(|(_, side)| **side == Side::Cpu)
        .fold(0, |sum: Nanos, (costs, side)| {
            sum.saturating_add(costs.on(*side).unwrap_or(0))
        });
    Ok(Division {
        time,
        gpu_time: time.map(|time| time.saturating_sub(cpu_time)),
        time_on_cpu: costs.iter().try_fold(0, |sum: Nanos, c| {
            Some(sum.saturating_add(c.on(Side::Cpu)?))
        }),
        facts,
        costs,
        problem,
        solution,
        peaks,
    })
}

impl Division {
    /// The facts about each group of the stage, in order.
    pub(crate) fn explain(
        &self,
        typed: &Typed,
        stage: &StageGraph,
        machine: Machine<'_>,
        sizes: &Sizes,
    ) -> Vec<GroupPlan> {
        let placements = reasons::placements(self, typed, stage, machine, sizes);
        let kernels = stage.kernels.iter().zip(&self.costs);
        let plans = kernels
            .zip(placements)
            .map(|((kernel, costs), placement)| GroupPlan {
                work: kernel.work.clone(),
                cpu: costs.cpu,
                gpu: costs.gpu,
                placement,
            });
        plans.collect()
    }

    /// What crosses between host and device, in order of the values' making.
    pub(crate) fn transfers(
        &self,
        stage: &StageGraph,
        machine: Machine<'_>,
        sizes: &Sizes,
    ) -> Vec<Transfer> {
        let Some(gpu) = machine.gpu else {
            return Vec::new();
        };
        let sides = &self.solution.sides;
        let mut transfers = Vec::new();
        for (value, flow) in stage.values.iter().zip(&self.problem.values) {
            let (direction, side) = match flow.crosses(sides) {
                (true, _) => (Direction::HostToDevice, Side::Gpu),
                (_, true) => (Direction::DeviceToHost, Side::Cpu),
                _ => continue,
            };
            let readers = flow.readers.iter().filter(|reader| sides[**reader] == side);
            let bytes = sizes.planned.eval(&value.bytes);
            transfers.push(Transfer {
                value: value.id,
                direction,
                bytes: value.bytes.clone(),
                time: bytes.map(|bytes| transfer(bytes, gpu, machine.request.gpus, direction)),
                readers: readers.map(|reader| stage.groups[*reader]).collect(),
            });
        }
        transfers
    }

    /// Bytes that cross between host and device for one task. Unknown sizes count nothing.
    pub(crate) fn transferred(&self, stage: &StageGraph, sizes: &Sizes) -> u64 {
        let values = stage.values.iter().zip(&self.problem.values);
        let crossing = values.filter(|(_, flow)| flow.crosses(&self.solution.sides) != NOWHERE);
        let bytes = crossing.map(|(value, _)| sizes.planned.eval(&value.bytes).unwrap_or(0));
        bytes.fold(0, u64::saturating_add)
    }

    /// The time of one task with every group on the GPU that can be there; as it is divided, where
    /// there is none or that does not fit its memory.
    pub(crate) fn time_on_gpu(
        &self,
        stage: &StageGraph,
        machine: Machine<'_>,
        sizes: &Sizes,
    ) -> Option<Nanos> {
        let facts = self.facts.iter();
        let sides: Vec<_> = facts
            .map(|fact| fact.as_ref().map_or(Side::Gpu, |(side, _)| *side))
            .collect();
        if sides == self.solution.sides {
            return self.time;
        }
        match check_memory(&peaks(stage, &sides, sizes), machine) {
            Ok(()) => time(stage, &self.costs, &self.problem, &sides, sizes),
            Err(_) => self.time,
        }
    }

    /// Bytes of device memory that a task holds: what it asks for or else is found to need, or all
    /// of a device where neither is known.
    pub(crate) fn vram(&self, machine: Machine<'_>) -> u64 {
        let device = machine.gpu.map_or(0, |gpu| gpu.vram);
        let held = machine.request.vram.or(self.peaks.vram.largest);
        held.map_or(device, |held| held.min(device))
    }

    /// For each group of the stage the hard fact that gives its side; none where costs do.
    pub(crate) fn hard_reasons(&self) -> impl Iterator<Item = Option<&Reason>> {
        let facts = self.facts.iter();
        facts.map(|fact| fact.as_ref().map(|(_, reason)| reason))
    }

    /// Why the group at a position of the stage is on its side.
    pub(crate) fn reason(
        &self,
        typed: &Typed,
        stage: &StageGraph,
        machine: Machine<'_>,
        position: usize,
    ) -> Reason {
        reasons::reason(self, typed, stage, machine, position)
    }

    /// The side of the group at a position of the stage.
    pub(crate) fn side(&self, position: usize) -> Side {
        self.solution.sides[position]
    }

    /// Whether a group is on the GPU.
    pub(crate) fn uses_gpu(&self) -> bool {
        self.solution.sides.contains(&Side::Gpu)
    }
}

/// The time of a task, where all that runs and crosses has a known one.
fn time(
    stage: &StageGraph,
    costs: &[Costs],
    problem: &Problem,
    sides: &[Side],
    sizes: &Sizes,
) -> Option<Nanos> {
    let is_known = |position: usize| {
        let crosses = problem.values[position].crosses(sides);
        crosses == NOWHERE || sizes.planned.eval(&stage.values[position].bytes).is_some()
    };
    let groups = costs
        .iter()
        .zip(sides)
        .all(|(cost, side)| cost.on(*side).is_some());
    let known = groups && (0..problem.values.len()).all(is_known);
    known.then(|| problem.total(sides))
}

fn check_memory(peaks: &Peaks, machine: Machine<'_>) -> Result<(), Refusal> {
    let is_over = |peak: &Peak, limit| peak.largest.is_some_and(|bytes| bytes > limit);
    if is_over(&peaks.memory, machine.request.memory) {
        return Err(Refusal::Memory(peaks.memory.clone()));
    }
    let available = machine.vram();
    if machine.gpu.is_some() && is_over(&peaks.vram, available) {
        let peak = peaks.vram.clone();
        return Err(Refusal::Vram { peak, available });
    }
    Ok(())
}

/// The name of a value, for people.
pub(crate) fn value_name(typed: &Typed, value: ValueId) -> &str {
    &typed.graph().values[value].name
}

/// The name of a group: that of its last op.
pub(crate) fn group_name(typed: &Typed, group: GroupId) -> &str {
    &typed.graph().ops[typed.head(group)].name
}
