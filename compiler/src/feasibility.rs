//! Which nodes can hold a request, and what to say where none can.

mod fraction;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::NodeId;
use haul_ir::target::{Gpu, Node, Target};

pub(crate) use self::fraction::fraction_fit;
use crate::diagnostics::codes::IMPOSSIBLE;
use crate::render::units::exact_bytes;

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
    let each = by_cpus.min(by_memory).min(by_gpus);
    each.saturating_mul(u64::from(node.count))
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

/// No node can ever hold any of a stage's requests.
pub(crate) fn impossible(
    stage: &str,
    requests: &[Request],
    spans: &[Span],
    target: &Target,
) -> Diagnostic {
    let span = spans.first().copied().unwrap_or_default();
    let request = &requests[0];
    let asked = asked(request);
    let message = format!(
        "`{stage}` asks for {asked}, which no node of target `{}` can ever hold",
        target.name
    );
    let diagnostic = Diagnostic::error(IMPOSSIBLE, span, message);
    let nodes = target.nodes.iter();
    let Some(best) = nodes.min_by_key(|node| distance(request, node)) else {
        return diagnostic;
    };
    let missing = missing(request, best).join("; ");
    let mut diagnostic = diagnostic.at(format!("`{}` comes nearest: {missing}", best.name));
    for (other, span) in requests.iter().zip(spans).skip(1) {
        let text = format!("nor can one hold {}", self::asked(other));
        diagnostic = diagnostic.label(*span, text);
    }
    diagnostic.help(nearest(request, best))
}

/// A request in words.
fn asked(request: &Request) -> String {
    let mut parts = vec![
        several(request.cpus, "cpu"),
        format!("{} of memory", exact_bytes(request.memory)),
    ];
    let name = request.gpu_type.as_deref();
    if request.gpus == GpuCount::ONE {
        parts.push(format!("a GPU{}", called(name)));
    } else if request.gpus > GpuCount::NONE {
        parts.push(format!("{} GPUs{}", request.gpus, called(name)));
    }
    if let Some(vram) = request.vram {
        parts.push(format!("{} of device memory", exact_bytes(vram)));
    }
    parts.join(", ")
}

fn called(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" {name}"))
}

fn several(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What a node lacks, each in a few words.
fn missing(request: &Request, node: &Node) -> Vec<String> {
    let mut missing = Vec::new();
    if request.cpus > node.cpus {
        let (has, lacks) = (several(node.cpus, "cpu"), request.cpus - node.cpus);
        missing.push(format!("it has {has}, {lacks} too few"));
    }
    if request.memory > node.memory {
        let (has, lacks) = (node.memory, request.memory - node.memory);
        let (has, lacks) = (exact_bytes(has), exact_bytes(lacks));
        missing.push(format!("it has {has} of memory, {lacks} too little"));
    }
    if request.gpus == GpuCount::NONE {
        return missing;
    }
    let wanted = called(request.gpu_type.as_deref());
    let Some(gpu) = related(request, node).filter(|gpu| is_type(request, gpu)) else {
        let other = node.gpus.first().map(|gpu| format!(", but a {}", gpu.name));
        missing.push(format!(
            "it has no GPU{wanted}{}",
            other.unwrap_or_default()
        ));
        return missing;
    };
    let count = devices(node, gpu).len();
    if count < whole(request) {
        missing.push(format!(
            "it has {count} GPUs{wanted}, {} too few",
            whole(request) - count
        ));
    }
    if request.vram.is_some_and(|vram| vram > gpu.vram) {
        let has = exact_bytes(gpu.vram);
        missing.push(format!("its {} has {has} of memory", gpu.name));
    }
    missing
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

/// The request nearest to one that a node can hold.
fn nearest(request: &Request, node: &Node) -> String {
    let mut fields = Vec::new();
    if request.cpus > node.cpus {
        fields.push(format!("cpus: {}", node.cpus));
    }
    if request.memory > node.memory {
        fields.push(format!("memory: \"{}\"", exact_bytes(node.memory)));
    }
    if request.gpus > GpuCount::NONE {
        let Some(gpu) = related(request, node) else {
            return without_gpu(request, node);
        };
        let count = devices(node, gpu).len();
        if !is_type(request, gpu) {
            fields.push(format!("gpu_type: \"{}\"", gpu.name));
        }
        if count < whole(request) {
            fields.push(format!("gpus: {count}"));
        }
        if request.vram.is_some_and(|vram| vram > gpu.vram) {
            fields.push(format!("vram: \"{}\"", exact_bytes(gpu.vram)));
        }
    }
    format!(
        "all resources of a task are on one node; `{}` would hold it with `{}`",
        node.name,
        fields.join(", ")
    )
}

/// What to do where no node has a GPU like the one requested.
fn without_gpu(request: &Request, node: &Node) -> String {
    let (gpu, lack) = match &request.gpu_type {
        Some(name) => {
            let lack = format!("no device here is related to {name}");
            (format!("gpu_type: \"{name}\""), lack)
        }
        None => ("gpus: 1".to_owned(), "no node here has a GPU".to_owned()),
    };
    let cpus = node.cpus;
    format!("{lack}: choose another target, or allow CPUs with `any_of: [({gpu}), (cpus: {cpus})]`")
}

/// The device of a node that is most like the one requested: the same, or of the same model.
fn related<'a>(request: &Request, node: &'a Node) -> Option<&'a Gpu> {
    let Some(wanted) = &request.gpu_type else {
        return node.gpus.iter().max_by_key(|gpu| gpu.vram);
    };
    let model = |name: &str| name.split('-').next().map(str::to_ascii_lowercase);
    let same = node.gpus.iter().find(|gpu| gpu.name == *wanted);
    same.or_else(|| {
        node.gpus
            .iter()
            .find(|gpu| model(&gpu.name) == model(wanted))
    })
}
