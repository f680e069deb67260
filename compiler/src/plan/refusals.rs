//! Stages that cannot be placed, told to the author.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::expr::Symbol;
use haul_ir::graph::{Producer, Request};
use haul_ir::id::{GroupId, StageId, ValueId};
use haul_ir::target::Gpu;

use super::Context;
use super::choice::{NoChoice, machine};
use super::edits::set;
use super::verdicts::{Outcome, Verdict};
use crate::diagnostics::codes::{MEMORY, PLACE, VRAM};
use crate::feasibility::{Asked, Shortfall, homes, impossible, largest_size};
use crate::place::{Machine, Peak, Refusal, group_name, value_name};
use crate::places::{Places, RequestFields};
use crate::render::amounts::{amount, own_amount};
use crate::render::units::exact_bytes;

const MIB: u64 = 1 << 20;

/// What to tell about a stage that cannot be placed, and the verdict on it.
pub(super) fn told(
    context: &Context<'_>,
    stage: StageId,
    none: &NoChoice,
    places: &Places,
) -> (Diagnostic, Verdict) {
    let facts = &context.typed.graph().stages[stage];
    let spans = places.requests.get(stage).map_or(&[][..], Vec::as_slice);
    let NoChoice::Here { request, home, why } = none else {
        return no_node(context, stage, places);
    };
    let span = spans.get(*request).copied().unwrap_or_default();
    let machine = machine(context, &facts.requests[*request], *home);
    let teller = Teller {
        context,
        places,
        stage: &facts.name,
        span,
        fields: places
            .fields
            .get(stage)
            .and_then(|fields| fields.get(*request)),
    };
    let (diagnostic, missing, nearest) = match why {
        Refusal::Pin { group, why } => {
            let (diagnostic, missing) = teller.pin(*group, why);
            (diagnostic, missing, None)
        }
        Refusal::Memory(peak) => teller.memory(peak, machine.request),
        Refusal::Vram { peak, available } => teller.vram(peak, *available, machine),
    };
    let verdict = Verdict {
        request: *request,
        span,
        node: Some(home.node),
        outcome: Outcome::Impossible {
            missing: vec![missing],
            nearest,
        },
    };
    (diagnostic, verdict)
}

/// No node can hold any of a stage's requests.
fn no_node(context: &Context<'_>, stage: StageId, places: &Places) -> (Diagnostic, Verdict) {
    let target = context.target;
    let facts = &context.typed.graph().stages[stage];
    let asked = Asked {
        stage: &facts.name,
        requests: &facts.requests,
        spans: places.requests.get(stage).map_or(&[], Vec::as_slice),
        fields: places.fields.get(stage).map_or(&[], Vec::as_slice),
    };
    let shortfall = Shortfall::least(&facts.requests, target);
    let diagnostic = impossible(&asked, target, shortfall.as_ref());
    let (request, shortfall) = shortfall.unzip();
    let node = shortfall.as_ref().map(|shortfall| shortfall.node);
    let (missing, nearest) = shortfall.map_or_else(Default::default, |shortfall| {
        (shortfall.missing, shortfall.fields)
    });
    let verdict = Verdict {
        request: request.unwrap_or(0),
        span: diagnostic.primary.span,
        node,
        outcome: Outcome::Impossible { missing, nearest },
    };
    (diagnostic, verdict)
}

struct Teller<'a> {
    context: &'a Context<'a>,
    places: &'a Places,
    stage: &'a str,
    /// The request.
    span: Span,
    /// Where its fields are written.
    fields: Option<&'a RequestFields>,
}

/// A mistake, what is missing, and the nearest request that works, where there is one.
type Told = (Diagnostic, String, Option<String>);

impl Teller<'_> {
    fn pin(&self, group: GroupId, why: &str) -> (Diagnostic, String) {
        let op = self.context.typed.head(group);
        let name = group_name(self.context.typed, group);
        let wish = self.places.pins.get(op).copied().flatten();
        let place = self.places.ops.get(op).copied().unwrap_or_default();
        let message = format!("`{name}` cannot be on the GPU: {why}");
        let diagnostic = Diagnostic::error(PLACE, wish.unwrap_or(place), message.clone());
        let diagnostic = match wish {
            Some(_) => diagnostic
                .at("wanted here")
                .label(place, format!("`{name}`")),
            None => diagnostic,
        };
        let help =
            format!("request a GPU that can do it, or say `{name}` is `Auto` or `Cpu` in `place`");
        (diagnostic.help(help), message)
    }

    fn memory(&self, peak: &Peak, request: &Request) -> Told {
        let needed = peak.largest.unwrap_or(0);
        let missing = format!(
            "needs {} of memory{} and asks for {}",
            amount(needed, needed, request.memory),
            self.sizes(),
            own_amount(request.memory)
        );
        let message = format!("a task of `{}` {missing}", self.stage);
        let diagnostic = Diagnostic::error(MEMORY, self.span, message).at("asked for here");
        let diagnostic = self.label_peak(diagnostic, peak, "memory");
        let larger = Request {
            memory: enough_bytes(needed),
            ..request.clone()
        };
        if !homes(&larger, self.context.target).is_empty() {
            let (nearest, diagnostic) = self.suffices(diagnostic, "memory", larger.memory);
            return (diagnostic, missing, Some(nearest));
        }
        let help = self.largest_node(peak, request);
        (diagnostic.help(help), missing, None)
    }

    /// Where no node has the memory: which has the most, and for which sizes that suffices.
    fn largest_node(&self, peak: &Peak, request: &Request) -> String {
        let target = self.context.target;
        let any_memory = Request {
            memory: 0,
            ..request.clone()
        };
        let homes = homes(&any_memory, target).into_iter();
        let nodes = homes.map(|home| &target.nodes[home.node]);
        let most = nodes.max_by_key(|node| node.memory);
        let divide = "divide the stage in two, or work on smaller items";
        let Some(node) = most else {
            return divide.to_owned();
        };
        let has = own_amount(node.memory);
        let most = format!(
            "no node that could hold it has more than the {has} of `{}`",
            node.name
        );
        match largest_size(peak, node.memory, &self.context.sizes.largest) {
            Some((dim, size)) => format!("{most}, which suffices up to {dim} = {size}: {divide}"),
            None => format!("{most}: {divide}"),
        }
    }

    fn vram(&self, peak: &Peak, available: u64, machine: Machine<'_>) -> Told {
        let needed = peak.largest.unwrap_or(0);
        let device = machine.gpu.map_or("the GPU", |gpu| gpu.name.as_str());
        let missing = format!(
            "needs {} of device memory{}, of which {} are there on {device}",
            own_amount(needed),
            self.sizes(),
            own_amount(available)
        );
        let message = format!("a task of `{}` {missing}", self.stage);
        let diagnostic = Diagnostic::error(VRAM, self.span, message).at("asked for here");
        let diagnostic = self.label_peak(diagnostic, peak, "device memory");
        let bytes = enough_bytes(needed);
        if machine.gpu.is_some_and(|gpu| bytes <= gpu.vram) {
            let (nearest, diagnostic) = self.suffices(diagnostic, "vram", bytes);
            return (diagnostic, missing, Some(nearest));
        }
        if let Some(larger) = self.larger_device(bytes, machine.request) {
            let help = format!("`{larger}` suffices");
            return (diagnostic.help(help), missing, Some(larger));
        }
        let size = machine
            .gpu
            .and_then(|gpu| largest_size(peak, gpu.vram, &self.context.sizes.largest));
        let up_to = size.map_or_else(String::new, |(dim, size)| {
            format!("{device} suffices up to {dim} = {size}: ")
        });
        let help = format!(
            "{up_to}divide the stage in two, place ops on CPUs with `place`, or choose a target \
             whose devices have more memory"
        );
        (diagnostic.help(help), missing, None)
    }

    /// The request for the smallest device of the target with so many bytes of memory.
    fn larger_device(&self, bytes: u64, request: &Request) -> Option<String> {
        let target = self.context.target;
        let gpus = target.nodes.iter().flat_map(|node| &node.gpus);
        let fits = |gpu: &&Gpu| {
            let other = Request {
                gpu_type: Some(gpu.name.clone()),
                vram: Some(bytes),
                ..request.clone()
            };
            !homes(&other, target).is_empty()
        };
        let gpu = gpus.filter(fits).min_by_key(|gpu| gpu.vram)?;
        let vram = request.vram.map_or_else(String::new, |_| {
            format!(", vram: \"{}\"", exact_bytes(bytes))
        });
        Some(format!("gpu_type: \"{}\"{vram}", gpu.name))
    }

    /// A larger amount of a field is enough: the field, and the mistake with the edit.
    fn suffices(&self, diagnostic: Diagnostic, name: &str, bytes: u64) -> (String, Diagnostic) {
        let value = format!("\"{}\"", exact_bytes(bytes));
        let nearest = format!("{name}: {value}");
        let at = self.fields.and_then(|fields| match name {
            "vram" => fields.own.vram,
            _ => fields.own.memory,
        });
        let diagnostic = diagnostic.help(format!("`{nearest}` suffices"));
        let diagnostic = set(diagnostic, name, at, &value, self.fields);
        (nearest, diagnostic)
    }

    fn label_peak(&self, diagnostic: Diagnostic, peak: &Peak, what: &str) -> Diagnostic {
        let Some(value) = peak.at else {
            return diagnostic;
        };
        let name = value_name(self.context.typed, value);
        let text = format!("the most {what} is held when `{name}` is made");
        diagnostic.label(self.place_of(value), text)
    }

    fn place_of(&self, value: ValueId) -> Span {
        let place = match self.context.typed.graph().values[value].producer {
            Producer::Op(op) => self.places.ops.get(op),
            Producer::Input(input) => self.places.inputs.get(input),
        };
        place.copied().unwrap_or_default()
    }

    /// The sizes at which memory is checked: ` at n = 4096`.
    fn sizes(&self) -> String {
        let largest = &self.context.sizes.largest;
        let dims = self.context.typed.graph().dims.keys();
        let size = |dim: &Symbol| Some(format!("{dim} = {}", largest.get(dim)?));
        let sizes: Vec<_> = dims.filter_map(size).collect();
        match sizes.is_empty() {
            true => String::new(),
            false => format!(" at {}", sizes.join(", ")),
        }
    }
}

/// At least so many bytes, in whole MiB.
fn enough_bytes(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(MIB).unwrap_or(bytes)
}
