//! The ledger of what a machine has and running tasks hold, in exact integers: cpus, bytes of
//! memory, ten-thousandths of GPUs, bytes of their memory.
//!
//! A request is granted whole or not at all. Several GPUs are devices of one node. A share divides
//! a device's time and not its memory: tasks share a device while the memory of all of them fits.

use std::collections::BTreeMap;

use haul_ir::expr::Symbol;
use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::StageId;
use haul_ir::plan::Plan;
use haul_ir::target::Gpu;

/// What nobody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ledger {
    cpus: u32,
    memory: u64,
    devices: Vec<Device>,
    /// Grants that are out.
    grants: usize,
}

/// A GPU, and what nobody holds of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Device {
    /// Which node it is of.
    node: usize,
    name: String,
    vram: u64,
    free: Share,
}

/// A part of a GPU: of its time, and bytes of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    gpu: GpuCount,
    vram: u64,
}

/// What a running task holds: all that it requested.
#[derive(Debug)]
#[must_use]
pub(crate) struct Grant {
    cpus: u32,
    memory: u64,
    devices: Vec<usize>,
    /// Of each of the devices.
    share: Share,
}

/// A resource of which there is too little now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    Cpus,
    Memory,
    /// Devices of the type, or shares of one.
    Gpus,
    /// Memory of a device that has the share.
    Vram,
}

impl Lack {
    /// The field of a request that asks for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Lack::Cpus => "cpus",
            Lack::Memory => "memory",
            Lack::Gpus => "gpus",
            Lack::Vram => "vram",
        }
    }
}

/// What a task of a stage holds while it runs: its request, with the type of GPU that the plan
/// chose and, where it requests no device memory, what it is predicted to need at the largest
/// sizes. Where nobody knows that, it holds all memory of its devices.
pub(crate) fn request(plan: &Plan, stage: StageId) -> Request {
    let graph = plan.typed.graph();
    let planned = &plan.stages[stage];
    let mut request = planned.request(&graph.stages[stage].requests).clone();
    let Some(position) = planned.gpu else {
        return request;
    };
    let gpu = &plan.target.nodes[planned.node].gpus[position];
    let largest = |symbol: &Symbol| {
        let dim = graph.dims.get(symbol)?;
        dim.max.or(dim.plan).map(i128::from)
    };
    let peak = planned.peak_vram.eval(&largest).ok();
    let predicted = peak.map(|peak| u64::try_from(peak).unwrap_or(u64::MAX).min(gpu.vram));
    request.vram = request.vram.or(predicted);
    request.gpu_type = Some(gpu.name.clone());
    request
}

impl Ledger {
    pub(crate) fn new(cpus: u32, memory: u64) -> Self {
        Self {
            cpus,
            memory,
            devices: Vec::new(),
            grants: 0,
        }
    }

    /// Adds GPUs, each with the number of the node that it is of.
    pub(crate) fn with_gpus<'a>(
        mut self,
        gpus: impl IntoIterator<Item = (usize, &'a Gpu)>,
    ) -> Self {
        let devices = gpus.into_iter().map(|(node, gpu)| Device {
            node,
            name: gpu.name.clone(),
            vram: gpu.vram,
            free: Share {
                gpu: GpuCount::ONE,
                vram: gpu.vram,
            },
        });
        self.devices.extend(devices);
        self
    }

    /// Bytes of memory that nobody holds.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Hands out a whole request, or tells the first resource that is lacking. Stored values
    /// take room as well, except that a task which would run alone may have what it requests.
    /// Shares go to the fullest device that has room, whole devices to the node with the fewest.
    pub(crate) fn grant(&mut self, request: &Request, stored: u64) -> Result<Grant, Lack> {
        let stored = if self.grants == 0 { 0 } else { stored };
        if request.cpus > self.cpus {
            return Err(Lack::Cpus);
        }
        if request
            .memory
            .checked_add(stored)
            .is_none_or(|needed| needed > self.memory)
        {
            return Err(Lack::Memory);
        }
        let devices = match request.gpus {
            GpuCount::NONE => Vec::new(),
            share if share < GpuCount::ONE => vec![self.device_for(request)?],
            _ => self.whole_devices_for(request)?,
        };
        let share = devices
            .first()
            .map(|first| self.devices[*first].share_for(request));
        let grant = Grant {
            cpus: request.cpus,
            memory: request.memory,
            devices,
            share: share.unwrap_or(Share {
                gpu: GpuCount::NONE,
                vram: 0,
            }),
        };
        self.take(&grant);
        Ok(grant)
    }

    /// How many tasks with a request have room at once, of at most so many.
    pub(crate) fn at_once(&self, request: &Request, most: usize) -> usize {
        let mut ledger = self.clone();
        let tasks = (0..most).take_while(|_| ledger.grant(request, 0).is_ok());
        tasks.count()
    }

    pub(crate) fn give_back(&mut self, grant: Grant) {
        self.cpus += grant.cpus;
        self.memory += grant.memory;
        for device in grant.devices {
            let free = &mut self.devices[device].free;
            free.gpu.0 += grant.share.gpu.0;
            free.vram += grant.share.vram;
        }
        self.grants -= 1;
    }

    fn take(&mut self, grant: &Grant) {
        self.cpus -= grant.cpus;
        self.memory -= grant.memory;
        for device in &grant.devices {
            let free = &mut self.devices[*device].free;
            free.gpu.0 -= grant.share.gpu.0;
            free.vram -= grant.share.vram;
        }
        self.grants += 1;
    }

    /// The device that has the least left of those with room for a share.
    fn device_for(&self, request: &Request) -> Result<usize, Lack> {
        let candidates = self.candidates(request);
        let with_share = candidates.filter(|(_, device)| device.free.gpu >= request.gpus);
        let mut lack = Lack::Gpus;
        let with_room = with_share.filter(|(_, device)| {
            lack = Lack::Vram;
            device.free.vram >= device.share_for(request).vram
        });
        let fullest = with_room.min_by_key(|(position, device)| (device.free, *position));
        fullest.map(|(position, _)| position).ok_or(lack)
    }

    /// Devices that nobody uses, all of one node and type: of the one that has the fewest to give.
    fn whole_devices_for(&self, request: &Request) -> Result<Vec<usize>, Lack> {
        let count = (request.gpus.0 / GpuCount::ONE.0) as usize;
        let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (position, device) in self.candidates(request) {
            let is_large_enough = device.vram >= device.share_for(request).vram;
            if device.free.gpu == GpuCount::ONE && is_large_enough {
                let kind = (device.node, &device.name, device.vram);
                alike.entry(kind).or_default().push(position);
            }
        }
        let enough = alike.into_values().filter(|devices| devices.len() >= count);
        let mut devices = enough.min_by_key(Vec::len).ok_or(Lack::Gpus)?;
        devices.truncate(count);
        Ok(devices)
    }

    /// The devices of the type that a request asks for.
    fn candidates(&self, request: &Request) -> impl Iterator<Item = (usize, &Device)> {
        let is_of_type = |device: &Device| {
            let name = request.gpu_type.as_ref();
            name.is_none_or(|name| *name == device.name)
        };
        let devices = self.devices.iter().enumerate();
        devices.filter(move |(_, device)| is_of_type(device))
    }
}

impl Device {
    /// What a task with a request holds of it.
    fn share_for(&self, request: &Request) -> Share {
        Share {
            gpu: request.gpus.min(GpuCount::ONE),
            vram: request.vram.unwrap_or(self.vram),
        }
    }
}

impl Grant {
    /// The GPUs of the machine, by position.
    pub(crate) fn devices(&self) -> &[usize] {
        &self.devices
    }
}

#[cfg(test)]
mod tests;
