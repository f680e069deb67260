//! What the node that comes nearest to a request lacks, and the nearest request that it can hold.

use std::cmp::Reverse;

use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::NodeId;
use haul_ir::target::{Gpu, Node, Target};

use super::names::is_same_model;
use super::{devices, is_type, whole};
use crate::render::amounts::{a, amount, at_most, several};

/// A request against the node that comes nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortfall {
    /// The node.
    pub(crate) node: NodeId,
    /// What it has and lacks, each in a few words; never empty.
    pub(crate) missing: Vec<String>,
    /// The fields with which it can hold the request; none where it has no device that is related.
    pub(crate) fields: Option<String>,
}

impl Shortfall {
    /// Of those requests of which no node can hold any, the one that a node comes nearest to, by
    /// position; none where the target has no node.
    pub(crate) fn least(requests: &[Request], target: &Target) -> Option<(usize, Shortfall)> {
        let distance = |request: &Request| {
            let nodes = target.nodes.iter();
            nodes.map(|node| distance(request, node)).min()
        };
        let requests = requests.iter().enumerate();
        let (position, request) = requests.min_by_key(|(_, request)| distance(request))?;
        Some((position, Shortfall::of(request, target)?))
    }

    /// Of a request that no node of the target can hold; none where the target has no node.
    pub(crate) fn of(request: &Request, target: &Target) -> Option<Shortfall> {
        let nodes = target.nodes.entries();
        let (id, node) = nodes.min_by_key(|(_, node)| distance(request, node))?;
        Some(Shortfall {
            node: id,
            missing: missing(request, node),
            fields: fields(request, node),
        })
    }
}

/// What a node lacks, each in a few words.
fn missing(request: &Request, node: &Node) -> Vec<String> {
    let mut missing = Vec::new();
    if request.cpus > node.cpus {
        let (has, lacks) = (several(node.cpus, "cpu"), request.cpus - node.cpus);
        missing.push(format!("it has {has}, {lacks} too few"));
    }
    if request.memory > node.memory {
        let (has, lacks) = has_and_lacks(node.memory, request.memory);
        missing.push(format!("it has {has} of memory, {lacks} too little"));
    }
    if request.gpus == GpuCount::NONE {
        return missing;
    }
    let wanted = request.gpu_type.as_deref();
    let wanted = wanted.map_or_else(String::new, |name| format!(" {name}"));
    let Some(gpu) = related(request, node).filter(|gpu| is_type(request, gpu)) else {
        let other = node.gpus.first();
        let other = other.map_or_else(String::new, |gpu| format!(", but {}", a(&gpu.name)));
        missing.push(format!("it has no GPU{wanted}{other}"));
        return missing;
    };
    let count = devices(node, gpu).len() as u32;
    if (count as usize) < whole(request) {
        let lacks = whole(request) - count as usize;
        let has = several(count, "GPU");
        let of_one_type = match wanted.is_empty() && node.gpus.len() > count as usize {
            true => format!(" of one type, {}", gpu.name),
            false => wanted,
        };
        missing.push(format!("it has {has}{of_one_type}, {lacks} too few"));
    }
    if let Some(vram) = request.vram.filter(|vram| *vram > gpu.vram) {
        let (has, lacks) = has_and_lacks(gpu.vram, vram);
        let name = &gpu.name;
        missing.push(format!(
            "its {name} has {has} of memory, {lacks} too little"
        ));
    }
    missing
}

/// Two amounts in the kind of unit that is asked in, the second in the first one's unit.
fn has_and_lacks(has: u64, asked: u64) -> (String, String) {
    let lacks = asked.saturating_sub(has);
    (amount(has, has, asked), amount(lacks, has, asked))
}

/// How far a node is from a request: the share that it lacks of each resource, in per mille, and
/// more where its devices are of another model.
fn distance(request: &Request, node: &Node) -> u64 {
    let lacks = |asked: u64, has: u64| match asked.saturating_sub(has) {
        0 => 0,
        lack => (u128::from(lack) * 1000 / u128::from(asked)) as u64,
    };
    let distance =
        lacks(request.cpus.into(), node.cpus.into()) + lacks(request.memory, node.memory);
    if request.gpus == GpuCount::NONE {
        return distance;
    }
    let Some(gpu) = related(request, node) else {
        return distance + if node.gpus.is_empty() { 10_000 } else { 9_000 };
    };
    let of_type = if is_type(request, gpu) { 0 } else { 1_000 };
    let count = lacks(whole(request) as u64, devices(node, gpu).len() as u64);
    let vram = request.vram.map_or(0, |vram| lacks(vram, gpu.vram));
    distance + of_type + count + vram
}

/// What to ask for instead, so that a node can hold it.
fn fields(request: &Request, node: &Node) -> Option<String> {
    let mut fields = Vec::new();
    if request.cpus > node.cpus {
        fields.push(format!("cpus: {}", node.cpus));
    }
    if request.memory > node.memory {
        fields.push(format!(
            "memory: \"{}\"",
            at_most(node.memory, request.memory)
        ));
    }
    if request.gpus > GpuCount::NONE {
        let gpu = related(request, node)?;
        let count = devices(node, gpu).len();
        if !is_type(request, gpu) {
            fields.push(format!("gpu_type: \"{}\"", gpu.name));
        }
        if count < whole(request) {
            fields.push(format!("gpus: {count}"));
        }
        if let Some(vram) = request.vram.filter(|vram| *vram > gpu.vram) {
            fields.push(format!("vram: \"{}\"", at_most(gpu.vram, vram)));
        }
    }
    Some(fields.join(", "))
}

/// The device of a node that is most like the one requested: the same, or of the same model.
/// Where no type is requested, the one of which least is missing, of equals the largest.
fn related<'a>(request: &Request, node: &'a Node) -> Option<&'a Gpu> {
    let Some(wanted) = &request.gpu_type else {
        let lacks = |gpu: &&Gpu| {
            let count = whole(request).saturating_sub(devices(node, gpu).len());
            let vram = request.vram.unwrap_or(0).saturating_sub(gpu.vram);
            (count, vram, Reverse(gpu.vram))
        };
        return node.gpus.iter().min_by_key(lacks);
    };
    let mut gpus = node.gpus.iter();
    let same = gpus.clone().find(|gpu| gpu.name == *wanted);
    same.or_else(|| gpus.find(|gpu| is_same_model(&gpu.name, wanted)))
}
