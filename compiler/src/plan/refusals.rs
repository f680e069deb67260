//! Stages that cannot be placed, told to the author.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::expr::Symbol;
use haul_ir::graph::{Producer, Request, Stage};
use haul_ir::id::{GroupId, StageId, ValueId};

use super::Context;
use super::choice::{NoChoice, machine};
use super::edits::set;
use super::verdicts::{Outcome, Verdict};
use crate::diagnostics::codes::{MEMORY, PLACE, VRAM};
use crate::feasibility::{Shortfall, impossible};
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
        return no_node(context, facts, spans);
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
        Refusal::Pin { group, why } => teller.pin(*group, why),
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
fn no_node(context: &Context<'_>, stage: &Stage, spans: &[Span]) -> (Diagnostic, Verdict) {
    let target = context.target;
    let shortfall = Shortfall::of(&stage.requests[0], target);
    let diagnostic = impossible(
        &stage.name,
        &stage.requests,
        spans,
        target,
        shortfall.as_ref(),
    );
    let node = shortfall.as_ref().map(|shortfall| shortfall.node);
    let fields = shortfall.as_ref().and_then(|s| s.fields.clone());
    let help = diagnostic.help.clone().unwrap_or_default();
    let verdict = Verdict {
        request: 0,
        span: spans.first().copied().unwrap_or_default(),
        node,
        outcome: Outcome::Impossible {
            missing: shortfall.map_or_else(Vec::new, |shortfall| shortfall.missing),
            nearest: fields.unwrap_or(help),
        },
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

/// A mistake, what is missing, and the nearest request that works.
type Told = (Diagnostic, String, String);

impl Teller<'_> {
    fn pin(&self, group: GroupId, why: &str) -> Told {
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
        let nearest =
            format!("request a GPU that can do it, or say `{name}` is `Auto` or `Cpu` in `place`");
        (diagnostic.help(nearest.clone()), message, nearest)
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
        let memory = format!("\"{}\"", enough(needed));
        let nearest = format!("memory: {memory}");
        let diagnostic = diagnostic.help(format!("`{nearest}` suffices"));
        let mut nodes = self.context.target.nodes.iter();
        if nodes.all(|node| node.memory < enough_bytes(needed)) {
            return (diagnostic, missing, nearest);
        }
        let at = self.fields.and_then(|fields| fields.own.memory);
        let diagnostic = set(diagnostic, "memory", at, &memory, self.fields);
        (diagnostic, missing, nearest)
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
        let has_room = machine
            .gpu
            .is_some_and(|gpu| enough_bytes(needed) <= gpu.vram);
        if has_room {
            let nearest = format!("vram: \"{}\"", enough(needed));
            let diagnostic = diagnostic.help(format!("`{nearest}` suffices"));
            return (diagnostic, missing, nearest);
        }
        let nearest = "divide the stage in two, place ops on CPUs with `place`, or ask for a \
                       device with more memory";
        (diagnostic.help(nearest), missing, nearest.to_owned())
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

/// At least so many bytes, as they would be written.
fn enough(bytes: u64) -> String {
    exact_bytes(enough_bytes(bytes))
}

fn enough_bytes(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(MIB).unwrap_or(bytes)
}
