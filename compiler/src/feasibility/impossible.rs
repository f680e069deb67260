//! What to say where no node can hold a stage.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{GpuCount, Request};
use haul_ir::target::{Node, Target};

use super::names::unknown_device;
use super::shortfall::Shortfall;
use super::{is_type, whole};
use crate::diagnostics::codes::IMPOSSIBLE;
use crate::render::amounts::{amount, own_amount, several};

/// No node can ever hold any of a stage's requests. The shortfall is that of the first one.
pub(crate) fn impossible(
    stage: &str,
    requests: &[Request],
    spans: &[Span],
    target: &Target,
    shortfall: Option<&Shortfall>,
) -> Diagnostic {
    let span = spans.first().copied().unwrap_or_default();
    let request = &requests[0];
    let asked = asked(request);
    let message = format!(
        "`{stage}` asks for {asked}, which no node of target `{}` can ever hold",
        target.name
    );
    let diagnostic = Diagnostic::error(IMPOSSIBLE, span, message);
    let Some(shortfall) = shortfall else {
        return diagnostic;
    };
    let best = &target.nodes[shortfall.node];
    let missing = shortfall.missing.join("; ");
    let mut diagnostic = diagnostic.at(format!("`{}` comes nearest: {missing}", best.name));
    for (other, span) in requests.iter().zip(spans).skip(1) {
        let text = format!("nor can one hold {}", self::asked(other));
        diagnostic = diagnostic.label(*span, text);
    }
    if let Some(unknown) = unknown_device(request, target) {
        return diagnostic.help(unknown);
    }
    diagnostic.help(match &shortfall.fields {
        Some(fields) => format!(
            "{}; `{}` would hold it with `{fields}`",
            one_node(request, target),
            best.name
        ),
        None => without_gpu(request, best),
    })
}

/// Why the nodes together do not help, where they would.
fn one_node(request: &Request, target: &Target) -> String {
    match together(request, target) {
        Some(all) => format!(
            "the nodes of `{}` together have {all}, but all resources of a task are on one node",
            target.name
        ),
        None => "all resources of a task are on one node".to_owned(),
    }
}

/// What all nodes together have of what no node has enough of, where together they have it all.
fn together(request: &Request, target: &Target) -> Option<String> {
    let of_type = |node: &Node| node.gpus.iter().filter(|gpu| is_type(request, gpu)).count();
    let cpus = All::of(target, |node| node.cpus.into());
    let memory = All::of(target, |node| node.memory);
    let gpus = All::of(target, |node| of_type(node) as u64);
    let bytes = amount(memory.sum, memory.sum, request.memory);
    let resources = [
        (u64::from(request.cpus), &cpus, format!("{} cpus", cpus.sum)),
        (request.memory, &memory, format!("{bytes} of memory")),
        (whole(request) as u64, &gpus, format!("{} GPUs", gpus.sum)),
    ];
    if resources.iter().any(|(asked, all, _)| all.sum < *asked) {
        return None;
    }
    let lacking = resources
        .into_iter()
        .filter(|(asked, all, _)| all.most < *asked);
    let lacking: Vec<_> = lacking.map(|(_, _, words)| words).collect();
    (!lacking.is_empty()).then(|| lacking.join(", "))
}

/// A resource of all nodes.
struct All {
    /// Of the node with the most.
    most: u64,
    sum: u64,
}

impl All {
    fn of(target: &Target, each: impl Fn(&Node) -> u64) -> All {
        let nodes = || target.nodes.iter();
        let all = nodes().map(|node| each(node).saturating_mul(node.count.into()));
        All {
            most: nodes().map(&each).max().unwrap_or(0),
            sum: all.fold(0, u64::saturating_add),
        }
    }
}

/// A request in words.
fn asked(request: &Request) -> String {
    let mut parts = vec![
        several(request.cpus, "cpu"),
        format!("{} of memory", own_amount(request.memory)),
    ];
    let name = request.gpu_type.as_deref();
    let name = name.map_or_else(String::new, |name| format!(" {name}"));
    if request.gpus == GpuCount::ONE {
        parts.push(format!("a GPU{name}"));
    } else if request.gpus > GpuCount::NONE {
        parts.push(format!("{} GPUs{name}", request.gpus));
    }
    if let Some(vram) = request.vram {
        parts.push(format!("{} of device memory", own_amount(vram)));
    }
    parts.join(", ")
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
