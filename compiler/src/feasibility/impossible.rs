//! What to say where no node can hold a stage.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{GpuCount, Request};
use haul_ir::target::{Node, Target};

use super::names::{known_devices, unknown_device};
use super::shortfall::Shortfall;
use super::{is_type, whole};
use crate::diagnostics::codes::IMPOSSIBLE;
use crate::places::RequestFields;
use crate::render::amounts::{amount, at_most, own_amount, several};

/// The requests of a stage, and where they are written.
pub(crate) struct Asked<'a> {
    pub(crate) stage: &'a str,
    pub(crate) requests: &'a [Request],
    pub(crate) spans: &'a [Span],
    pub(crate) fields: &'a [RequestFields],
}

/// No node can ever hold any of a stage's requests. The shortfall is that of the request at the
/// position beside it.
pub(crate) fn impossible(
    asked: &Asked<'_>,
    target: &Target,
    shortfall: Option<&(usize, Shortfall)>,
) -> Diagnostic {
    let position = shortfall.map_or(0, |(position, _)| *position);
    let span = |position: usize| asked.spans.get(position).copied().unwrap_or_default();
    let request = &asked.requests[position];
    let message = format!(
        "`{}` asks for {}, which no node of target `{}` can ever hold",
        asked.stage,
        words(request),
        target.name
    );
    let diagnostic = Diagnostic::error(IMPOSSIBLE, span(position), message);
    let Some((_, shortfall)) = shortfall else {
        return diagnostic;
    };
    let best = &target.nodes[shortfall.node];
    let missing = shortfall.missing.join("; ");
    let mut diagnostic = diagnostic.at(format!("`{}` comes nearest: {missing}", best.name));
    let known = known_devices(target);
    let unknown = |request: &Request| unknown_device(request.gpu_type.as_deref()?, &known);
    for (other, request) in asked.requests.iter().enumerate() {
        if other != position {
            let unknown = unknown(request).map(|unknown| format!(": {}", unknown.words));
            let text = format!(
                "nor can one hold {}{}",
                words(request),
                unknown.unwrap_or_default()
            );
            diagnostic = diagnostic.label(span(other), text);
        }
    }
    let fields = asked.fields.get(position);
    if let Some(unknown) = unknown(request) {
        let at = fields.and_then(|fields| fields.gpu_type);
        let diagnostic = diagnostic.help(unknown.words);
        return match (at, unknown.meant) {
            (Some(at), Some(meant)) => diagnostic.fix(at, format!("\"{meant}\"")),
            _ => diagnostic,
        };
    }
    diagnostic.help(match &shortfall.fields {
        Some(instead) => format!(
            "{}; `{}` would hold it with `{instead}`",
            one_node(request, target),
            best.name
        ),
        None => without_gpu(request, fields, best),
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
fn words(request: &Request) -> String {
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
fn without_gpu(request: &Request, fields: Option<&RequestFields>, node: &Node) -> String {
    let lack = match &request.gpu_type {
        Some(name) => format!("no device here is related to {name}"),
        None => "no node here has a GPU".to_owned(),
    };
    let is_alternative = fields.is_some_and(|fields| fields.is_alternative);
    let on_cpus = on_cpus(request, fields, node);
    let allowed = match is_alternative {
        true => format!("with another alternative, `{on_cpus}`"),
        false => format!("with `any_of: [(gpus: {}), {on_cpus}]`", request.gpus),
    };
    format!("{lack}: choose another target, or allow CPUs {allowed}")
}

/// An alternative without a GPU that a node can hold. It takes over what the stage asks for.
fn on_cpus(request: &Request, fields: Option<&RequestFields>, node: &Node) -> String {
    let mut parts = Vec::new();
    let is_alternative = fields.is_some_and(|fields| fields.is_alternative);
    if !is_alternative || fields.is_some_and(|fields| fields.inherits_gpu) {
        parts.push("gpus: 0".to_owned());
    }
    parts.push(format!("cpus: {}", request.cpus.min(node.cpus)));
    if request.memory > node.memory {
        parts.push(format!(
            "memory: \"{}\"",
            at_most(node.memory, request.memory)
        ));
    }
    format!("({})", parts.join(", "))
}
