//! What is free on each node of a target while a run is simulated.

use haul_ir::id::{IdVec, NodeId};
use haul_ir::target::{Node, Target};

/// A whole device, in ten-thousandths.
const DEVICE: u32 = 10_000;

/// What a task holds, all on one node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Share {
    pub(crate) node: NodeId,
    pub(crate) cpus: u32,
    pub(crate) memory: u64,
    pub(crate) gpu: Option<GpuShare>,
}

/// What a task holds of GPUs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GpuShare {
    /// The GPUs of the node that will do, by position.
    pub(crate) devices: Vec<usize>,
    /// GPUs in ten-thousandths: at most one whole, or several whole.
    pub(crate) gpus: u32,
    /// Bytes of memory of each.
    pub(crate) vram: u64,
}

/// Room that a number of tasks got on one node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    pub(super) tasks: u64,
    machine: usize,
    devices: Vec<usize>,
}

/// Free resources of the nodes that have been used so far.
pub(super) struct Machines<'a> {
    target: &'a Target,
    used: IdVec<NodeId, Vec<Free>>,
}

#[derive(Clone, Debug)]
struct Free {
    cpus: u32,
    memory: u64,
    /// Of each device: ten-thousandths and bytes.
    gpus: Vec<(u32, u64)>,
}

impl Free {
    fn all(node: &Node) -> Free {
        Free {
            cpus: node.cpus,
            memory: node.memory,
            gpus: node.gpus.iter().map(|gpu| (DEVICE, gpu.vram)).collect(),
        }
    }

    /// How many tasks have room, of at most `wanted`, and on which devices.
    fn room(&self, share: &Share, wanted: u64) -> Option<(u64, Vec<usize>)> {
        let by_memory = self.memory.checked_div(share.memory).unwrap_or(wanted);
        let by_cpus = self.cpus.checked_div(share.cpus).map_or(wanted, u64::from);
        let tasks = wanted.min(by_memory).min(by_cpus);
        let (tasks, devices) = match &share.gpu {
            Some(gpu) => self.room_on_gpus(gpu, tasks)?,
            None => (tasks, Vec::new()),
        };
        (tasks > 0).then_some((tasks, devices))
    }

    fn room_on_gpus(&self, gpu: &GpuShare, wanted: u64) -> Option<(u64, Vec<usize>)> {
        if gpu.gpus > DEVICE {
            let count = (gpu.gpus / DEVICE) as usize;
            let free = |device: &usize| self.gpus[*device].0 == DEVICE;
            let devices: Vec<_> = gpu
                .devices
                .iter()
                .copied()
                .filter(free)
                .take(count)
                .collect();
            return (devices.len() == count).then_some((wanted.min(1), devices));
        }
        let tasks_on = |device: usize| {
            let (share, vram) = self.gpus[device];
            let by_share = share.checked_div(gpu.gpus).map_or(wanted, u64::from);
            let by_vram = vram.checked_div(gpu.vram).unwrap_or(wanted);
            wanted.min(by_share).min(by_vram)
        };
        let mut devices = gpu
            .devices
            .iter()
            .map(|device| (tasks_on(*device), *device));
        let (tasks, device) = devices.find(|(tasks, _)| *tasks > 0)?;
        Some((tasks, vec![device]))
    }

    /// Takes the room of a grant, or gives it back.
    fn change(&mut self, share: &Share, grant: &Grant, takes: bool) {
        let tasks = grant.tasks;
        // Grants fit what is free, so that neither the products nor the sums leave their types.
        let (cpus, memory) = (share.cpus * tasks as u32, share.memory * tasks);
        if takes {
            self.cpus -= cpus;
            self.memory -= memory;
        } else {
            self.cpus += cpus;
            self.memory += memory;
        }
        let Some(gpu) = &share.gpu else { return };
        let (part, vram) = (gpu.gpus.min(DEVICE) * tasks as u32, gpu.vram * tasks);
        for device in &grant.devices {
            let free = &mut self.gpus[*device];
            *free = match takes {
                true => (free.0 - part, free.1 - vram),
                false => (free.0 + part, free.1 + vram),
            };
        }
    }
}

impl<'a> Machines<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self {
            used: target.nodes.iter().map(|_| Vec::new()).collect(),
            target,
        }
    }

    /// Room for one and at most `wanted` tasks on the first node of the kind that has any.
    pub(super) fn grant(&mut self, share: &Share, wanted: u64) -> Option<Grant> {
        let node = &self.target.nodes[share.node];
        let used = &mut self.used[share.node];
        let mut rooms = used.iter().enumerate();
        let found = rooms.find_map(|(machine, free)| Some((machine, free.room(share, wanted)?)));
        let (machine, (tasks, devices)) = match found {
            Some(found) => found,
            None if used.len() < node.count as usize => {
                let free = Free::all(node);
                let room = free.room(share, wanted)?;
                used.push(free);
                (used.len() - 1, room)
            }
            None => return None,
        };
        let grant = Grant {
            tasks,
            machine,
            devices,
        };
        used[machine].change(share, &grant, true);
        Some(grant)
    }

    pub(super) fn release(&mut self, share: &Share, grant: &Grant) {
        self.used[share.node][grant.machine].change(share, grant, false);
    }

    /// How many nodes of each kind were used.
    pub(super) fn used(&self) -> IdVec<NodeId, u32> {
        self.used.iter().map(|nodes| nodes.len() as u32).collect()
    }
}
