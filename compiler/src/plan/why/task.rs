//! What a task takes and holds, as sums that can be added up.

use haul_ir::cost::Nanos;
use haul_ir::id::{StageId, ValueId};
use haul_ir::plan::{Direction, Plan, Side};

use super::super::Context;
use super::super::choice::machine;
use crate::feasibility::Home;
use crate::place::{Peak, StageGraph, peaks};

/// What one task of a stage takes and holds.
#[derive(Clone, Debug)]
pub struct Task {
    /// The parts of its time; nothing where that is unknown.
    pub sum: Option<Sum>,
    /// In host memory.
    pub memory: Held,
    /// In device memory, where a GPU is requested.
    pub vram: Option<Held>,
}

/// The parts of a task's time, in nanoseconds: what runs on either side of the cut, and what crosses
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// All that runs on CPUs.
    pub cpu: Nanos,
    /// All that runs on the GPU.
    pub gpu: Nanos,
    /// All that crosses to the device.
    pub to_device: Nanos,
    /// All that crosses to the host.
    pub to_host: Nanos,
}

/// The most that a task holds of one memory at once.
#[derive(Clone, Debug)]
pub struct Held {
    /// The value at whose making that is.
    pub at: Option<ValueId>,
    /// Bytes at the largest sizes, where these are known: what has to fit.
    pub largest: Option<u64>,
    /// Bytes that a task may hold.
    pub of: u64,
}

impl Sum {
    /// Of a task of a planned stage; nothing where the time of a part is unknown.
    pub fn of(plan: &Plan, stage: StageId) -> Option<Sum> {
        let mut sum = Sum::default();
        for group in plan.typed.groups_of(stage) {
            let facts = &plan.groups[group];
            let (part, cost) = match facts.placement.side {
                Side::Cpu => (&mut sum.cpu, facts.cpu),
                Side::Gpu => (&mut sum.gpu, facts.gpu),
            };
            *part = part.saturating_add(cost?.total());
        }
        for transfer in &plan.stages[stage].transfers {
            let part = match transfer.direction {
                Direction::HostToDevice => &mut sum.to_device,
                Direction::DeviceToHost => &mut sum.to_host,
            };
            *part = part.saturating_add(transfer.time?);
        }
        Some(sum)
    }

    /// All parts: the time of the task.
    pub fn total(&self) -> Nanos {
        let parts = [self.cpu, self.gpu, self.to_device, self.to_host];
        parts.into_iter().fold(0, Nanos::saturating_add)
    }
}

impl Task {
    /// Of a planned stage.
    pub(super) fn of(context: &Context<'_>, stage: StageId, plan: &Plan) -> Task {
        let graph = StageGraph::of(context.typed, &context.usage, stage);
        let sides = graph.groups.iter();
        let sides: Vec<_> = sides
            .map(|group| plan.groups[*group].placement.side)
            .collect();
        let peaks = peaks(&graph, &sides, &context.sizes);
        let planned = &plan.stages[stage];
        let home = Home {
            node: planned.node,
            gpu: planned.gpu,
        };
        let request = planned.request(&context.typed.graph().stages[stage].requests);
        let machine = machine(context, request, home);
        let held = |peak: &Peak, of| Held {
            at: peak.at,
            largest: peak.largest,
            of,
        };
        Task {
            sum: Sum::of(plan, stage),
            memory: held(&peaks.memory, request.memory),
            vram: planned.gpu.map(|_| held(&peaks.vram, machine.vram())),
        }
    }
}
