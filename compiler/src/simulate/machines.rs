//! What is free on each node of a target while a run is simulated.

use haul_ir::cost::Nanos;
use haul_ir::graph::GpuCount;
use haul_ir::id::{IdVec, NodeId};
use haul_ir::target::{Node, Target};

use super::room::Room;
use super::tree::{Amounts, Tree, larger};

/// A whole device, in ten-thousandths.
const DEVICE: u32 = GpuCount::ONE.0;

/// What a task holds, all on one node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Share {
    pub(crate) node: NodeId,
    pub(crate) cpus: u32,
    pub(crate) memory: u64,
    pub(crate) gpu: Option<GpuShare>,
}

impl Share {
    /// Of a node, nothing.
    pub(crate) fn nothing(node: NodeId) -> Share {
        Share {
            node,
            cpus: 0,
            memory: 0,
            gpu: None,
        }
    }

    /// What some node must have free of each resource.
    pub(super) fn least(&self) -> Amounts {
        let (gpus, vram) = self.gpu.as_ref().map_or((0, 0), |gpu| (gpu.gpus, gpu.vram));
        [self.cpus.into(), self.memory, gpus.into(), vram]
    }
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
    /// Which node of the kind, by position.
    pub(super) machine: usize,
    /// Which of its GPUs, by position.
    pub(super) devices: Vec<usize>,
}

impl Grant {
    /// What its tasks hold: of GPUs, of those in question.
    pub(super) fn amounts(&self, share: &Share, devices: &[usize]) -> Room {
        let tasks = i128::from(self.tasks);
        let mut room = vec![i128::from(share.cpus), i128::from(share.memory)];
        for device in devices {
            let gpu = share.gpu.as_ref().filter(|_| self.devices.contains(device));
            let (gpus, vram) = gpu.map_or((0, 0), |gpu| (gpu.gpus.min(DEVICE), gpu.vram));
            room.extend([i128::from(gpus), i128::from(vram)]);
        }
        room.into_iter().map(|amount| amount * tasks).collect()
    }
}

/// Free resources of the nodes that have been used so far.
pub(super) struct Machines<'a> {
    target: &'a Target,
    used: IdVec<NodeId, Used>,
}

/// The nodes of a kind that have been used so far.
#[derive(Clone, Default)]
struct Used {
    free: Vec<Free>,
    /// At most so much is free on each.
    room: Tree,
}

#[derive(Clone, Debug)]
struct Free {
    cpus: u32,
    memory: u64,
    /// Of each device: ten-thousandths and bytes.
    gpus: Vec<(u32, u64)>,
    /// The batches that ended here last, all at one time, and when.
    ended: Vec<usize>,
    ended_at: Nanos,
}

impl Free {
    fn all(node: &Node) -> Free {
        Free {
            cpus: node.cpus,
            memory: node.memory,
            gpus: node.gpus.iter().map(|gpu| (DEVICE, gpu.vram)).collect(),
            ended: Vec::new(),
            ended_at: 0,
        }
    }

    /// The most that is free of each resource: of a GPU the share of one or the number of whole
    /// ones.
    fn amounts(&self) -> Amounts {
        let whole = self.gpus.iter().filter(|gpu| gpu.0 == DEVICE).count() as u64;
        let share = self.gpus.iter().map(|gpu| u64::from(gpu.0)).max();
        let gpus = share.unwrap_or(0).max(whole * u64::from(DEVICE));
        let vram = self.gpus.iter().map(|gpu| gpu.1).max().unwrap_or(0);
        [self.cpus.into(), self.memory, gpus, vram]
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
            used: target.nodes.iter().map(|_| Used::default()).collect(),
            target,
        }
    }

    /// No node of the kind has more free of any resource.
    pub(super) fn room(&self, kind: NodeId) -> Amounts {
        let (node, used) = (&self.target.nodes[kind], &self.used[kind]);
        let room = used.room.largest();
        if used.free.len() < node.count as usize {
            return larger(room, Free::all(node).amounts());
        }
        room
    }

    /// Room for one and at most `wanted` tasks on the first node of the kind that has any.
    pub(super) fn grant(&mut self, share: &Share, wanted: u64) -> Option<Grant> {
        let node = &self.target.nodes[share.node];
        let used = &mut self.used[share.node];
        let (machine, (tasks, devices)) = match used.first(share, wanted) {
            Some(found) => found,
            None if used.free.len() < node.count as usize => {
                let free = Free::all(node);
                let room = free.room(share, wanted)?;
                used.room.push(free.amounts());
                used.free.push(free);
                (used.free.len() - 1, room)
            }
            None => return None,
        };
        let grant = Grant {
            tasks,
            machine,
            devices,
        };
        used.change(share, &grant, true);
        Some(grant)
    }

    /// Gives back the room of a batch that ends at a time.
    pub(super) fn release(&mut self, share: &Share, grant: &Grant, (batch, at): (usize, Nanos)) {
        let used = &mut self.used[share.node];
        used.change(share, grant, false);
        let free = &mut used.free[grant.machine];
        if free.ended_at != at {
            free.ended.clear();
            free.ended_at = at;
        }
        free.ended.push(batch);
    }

    /// What is left beside a grant on its node and its devices, and the batches that ended there now.
    pub(super) fn around(&self, kind: NodeId, grant: &Grant, now: Nanos) -> (Room, &[usize]) {
        let free = &self.used[kind].free[grant.machine];
        let mut left = vec![i128::from(free.cpus), i128::from(free.memory)];
        for device in &grant.devices {
            let (gpus, vram) = free.gpus[*device];
            left.extend([i128::from(gpus), i128::from(vram)]);
        }
        let ended = match free.ended_at == now {
            true => &free.ended[..],
            false => &[],
        };
        (left, ended)
    }

    /// How many nodes of each kind were used.
    pub(super) fn used(&self) -> IdVec<NodeId, u32> {
        let used = self.used.iter();
        used.map(|used| used.free.len() as u32).collect()
    }
}

impl Used {
    /// The first node with room for tasks, for how many of at most `wanted`, and on which devices.
    fn first(&self, share: &Share, wanted: u64) -> Option<(usize, (u64, Vec<usize>))> {
        let least = share.least();
        let mut from = 0;
        while let Some(machine) = self.room.first(from, &least) {
            if let Some(room) = self.free[machine].room(share, wanted) {
                return Some((machine, room));
            }
            from = machine + 1;
        }
        None
    }

    fn change(&mut self, share: &Share, grant: &Grant, takes: bool) {
        let free = &mut self.free[grant.machine];
        free.change(share, grant, takes);
        self.room.set(grant.machine, free.amounts());
    }
}
