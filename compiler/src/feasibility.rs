//! Which nodes can hold a request, and what to say where none can.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::NodeId;
use haul_ir::target::{Gpu, Node, Target};

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

/// How many tasks with a request the nodes of a kind hold at once.
pub(crate) fn slots(request: &Request, node: &Node, gpu: Option<&Gpu>) -> u64 {
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
                let by_vram = request.vram.and_then(|vram| gpu.vram.checked_div(vram));
                devices.saturating_mul(by_share.min(by_vram.unwrap_or(u64::MAX)))
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
    let is_type = request
        .gpu_type
        .as_ref()
        .is_none_or(|name| *name == gpu.name);
    is_type && request.vram.is_none_or(|vram| vram <= gpu.vram)
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
    let Some(best) = nodes.min_by_key(|node| missing(request, node).len()) else {
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
        format!("{} cpus", request.cpus),
        format!("{} of memory", exact_bytes(request.memory)),
    ];
    if request.gpus > GpuCount::NONE {
        let name = request.gpu_type.as_deref().unwrap_or("of any type");
        parts.push(format!("{} GPUs {name}", request.gpus));
    }
    if let Some(vram) = request.vram {
        parts.push(format!("{} of device memory", exact_bytes(vram)));
    }
    parts.join(", ")
}

/// What a node lacks, each in a few words.
fn missing(request: &Request, node: &Node) -> Vec<String> {
    let mut missing = Vec::new();
    if request.cpus > node.cpus {
        missing.push(format!(
            "it has {} cpus, {} too few",
            node.cpus,
            request.cpus - node.cpus
        ));
    }
    if request.memory > node.memory {
        let lack = exact_bytes(request.memory - node.memory);
        missing.push(format!(
            "it has {} of memory, {lack} too little",
            exact_bytes(node.memory)
        ));
    }
    if request.gpus == GpuCount::NONE {
        return missing;
    }
    let wanted = request.gpu_type.as_deref();
    let of_type = |gpu: &&Gpu| wanted.is_none_or(|name| name == gpu.name);
    let count = node.gpus.iter().filter(of_type).count();
    let name = wanted.unwrap_or("of any type");
    if count < whole(request) {
        missing.push(format!("it has {count} GPUs {name}"));
    }
    let vram = node.gpus.iter().filter(of_type).map(|gpu| gpu.vram).max();
    if let (Some(asked), Some(most)) = (request.vram, vram)
        && asked > most
    {
        missing.push(format!(
            "its GPU {name} has {} of memory",
            exact_bytes(most)
        ));
    }
    missing
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
            let name = request.gpu_type.as_deref().unwrap_or("GPU");
            return format!(
                "choose a target that has one, ask for CPUs instead, or for either with `any_of: \
                 [(gpus: 1), (cpus: {})]`: no device here is related to {name}",
                node.cpus
            );
        };
        let count = devices(node, gpu).len();
        if request
            .gpu_type
            .as_ref()
            .is_some_and(|name| *name != gpu.name)
        {
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
