//! Which nodes can hold a request, and what to say where none can.

mod fraction;
mod impossible;
mod names;
mod shortfall;

use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::NodeId;
use haul_ir::target::{Gpu, Node, Target};

pub(crate) use self::fraction::{fraction_fit, largest_size};
pub(crate) use self::impossible::{Asked, impossible};
pub(crate) use self::names::{known_devices, unknown_device};
pub(crate) use self::shortfall::Shortfall;

/// A kind of node that can hold a request, with the first of its GPUs that will do where one is
/// requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) node: NodeId,
    pub(crate) gpu: Option<usize>,
}

/// All kinds of nodes and devices that can hold a request, in the target's order.
pub(crate) fn homes(request: &Request, target: &Target) -> Vec<Home> {
    let mut homes = Vec::new();
    for (id, node) in target.nodes.entries() {
        if request.cpus > node.cpus || request.memory > node.memory {
            continue;
        }
        if request.gpus == GpuCount::NONE {
            homes.push(Home {
                node: id,
                gpu: None,
            });
            continue;
        }
        for (position, gpu) in node.gpus.iter().enumerate() {
            let is_first = node.gpus[..position]
                .iter()
                .all(|other| other.name != gpu.name);
            if is_first && devices(node, gpu).len() >= whole(request) && fits(request, gpu) {
                homes.push(Home {
                    node: id,
                    gpu: Some(position),
                });
            }
        }
    }
    homes
}

/// Positions of the devices of a node that are like one of them.
pub(crate) fn devices(node: &Node, gpu: &Gpu) -> Vec<usize> {
    let gpus = node.gpus.iter().enumerate();
    let alike = gpus.filter(|(_, other)| other.name == gpu.name);
    alike.map(|(position, _)| position).collect()
}

/// How many tasks with a request the nodes of a kind hold at once, each with some bytes of device
/// memory.
pub(crate) fn slots(request: &Request, node: &Node, gpu: Option<&Gpu>, vram: u64) -> u64 {
    slots_of_one(request, node, gpu, vram).saturating_mul(u64::from(node.count))
}

/// As [`slots`], of one node.
pub(crate) fn slots_of_one(request: &Request, node: &Node, gpu: Option<&Gpu>, vram: u64) -> u64 {
    let by_cpus = node
        .cpus
        .checked_div(request.cpus)
        .map_or(u64::MAX, u64::from);
    let by_memory = node.memory.checked_div(request.memory).unwrap_or(u64::MAX);
    let by_gpus = gpu.map_or(u64::MAX, |gpu| {
        let devices = devices(node, gpu).len() as u64;
        match u64::from(request.gpus.0) {
            share if share < u64::from(GpuCount::ONE.0) => {
                let by_share = u64::from(GpuCount::ONE.0)
                    .checked_div(share)
                    .unwrap_or(u64::MAX);
                let by_vram = gpu.vram.checked_div(vram).unwrap_or(u64::MAX);
                devices.saturating_mul(by_share.min(by_vram))
            }
            _ => devices / (whole(request) as u64),
        }
    });
    by_cpus.min(by_memory).min(by_gpus)
}

/// How many devices a request holds, shares rounded up.
fn whole(request: &Request) -> usize {
    request.gpus.0.div_ceil(GpuCount::ONE.0) as usize
}

/// Whether a device is of the requested type and has the requested memory.
fn fits(request: &Request, gpu: &Gpu) -> bool {
    is_type(request, gpu) && request.vram.is_none_or(|vram| vram <= gpu.vram)
}

fn is_type(request: &Request, gpu: &Gpu) -> bool {
    let name = request.gpu_type.as_ref();
    name.is_none_or(|name| *name == gpu.name)
}
