//! Stages that cannot be placed, told to the author.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::expr::Symbol;
use haul_ir::graph::{Producer, Request};
use haul_ir::id::{GroupId, StageId, ValueId};

use super::Context;
use super::choice::{Refused, machine};
use super::edits::set;
use crate::diagnostics::codes::{MEMORY, PLACE, VRAM};
use crate::feasibility::impossible;
use crate::place::{Machine, Peak, Refusal, group_name, value_name};
use crate::places::{Places, RequestFields};
use crate::render::units::exact_bytes;

const MIB: u64 = 1 << 20;

/// What to tell about a stage that cannot be placed.
pub(super) fn diagnostic(
    context: &Context<'_>,
    stage: StageId,
    refused: Refused,
    places: &Places,
) -> Diagnostic {
    let facts = &context.typed.graph().stages[stage];
    let spans = places.requests.get(stage).map_or(&[][..], Vec::as_slice);
    let Refused::Here { request, home, why } = refused else {
        return impossible(&facts.name, &facts.requests, spans, context.target);
    };
    let span = spans.get(request).copied().unwrap_or_default();
    let machine = machine(context, &facts.requests[request], home);
    let teller = Teller {
        context,
        places,
        stage: &facts.name,
        span,
        fields: places
            .fields
            .get(stage)
            .and_then(|fields| fields.get(request)),
    };
    match why {
        Refusal::Pin { group, why } => teller.pin(group, &why),
        Refusal::Memory(peak) => teller.memory(&peak, machine.request),
        Refusal::Vram { peak, available } => teller.vram(&peak, available, machine),
    }
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

impl Teller<'_> {
    fn pin(&self, group: GroupId, why: &str) -> Diagnostic {
        let op = self.context.typed.head(group);
        let name = group_name(self.context.typed, group);
        let wish = self.places.pins.get(op).copied().flatten();
        let place = self.places.ops.get(op).copied().unwrap_or_default();
        let message = format!("`{name}` cannot be on the GPU: {why}");
        let diagnostic = Diagnostic::error(PLACE, wish.unwrap_or(place), message);
        let diagnostic = match wish {
            Some(_) => diagnostic
                .at("wanted here")
                .label(place, format!("`{name}`")),
            None => diagnostic,
        };
        diagnostic.help(format!(
            "request a GPU that can do it, or say `{name}` is `Auto` or `Cpu` in `place`"
        ))
    }

    fn memory(&self, peak: &Peak, request: &Request) -> Diagnostic {
        let needed = peak.largest.unwrap_or(0);
        let message = format!(
            "a task of `{}` needs {} of memory{} and asks for {}",
            self.stage,
            exact_bytes(needed),
            self.sizes(),
            exact_bytes(request.memory)
        );
        let diagnostic = Diagnostic::error(MEMORY, self.span, message).at("asked for here");
        let diagnostic = self.label_peak(diagnostic, peak, "memory");
        let memory = format!("\"{}\"", enough(needed));
        let diagnostic = diagnostic.help(format!("`memory: {memory}` suffices"));
        let mut nodes = self.context.target.nodes.iter();
        if nodes.all(|node| node.memory < enough_bytes(needed)) {
            return diagnostic;
        }
        let at = self.fields.and_then(|fields| fields.own.memory);
        set(diagnostic, "memory", at, &memory, self.fields)
    }

    fn vram(&self, peak: &Peak, available: u64, machine: Machine<'_>) -> Diagnostic {
        let needed = peak.largest.unwrap_or(0);
        let device = machine.gpu.map_or("the GPU", |gpu| gpu.name.as_str());
        let message = format!(
            "a task of `{}` needs {} of device memory{}, of which {} are there on {device}",
            self.stage,
            exact_bytes(needed),
            self.sizes(),
            exact_bytes(available)
        );
        let diagnostic = Diagnostic::error(VRAM, self.span, message).at("asked for here");
        let diagnostic = self.label_peak(diagnostic, peak, "device memory");
        let has_room = machine
            .gpu
            .is_some_and(|gpu| enough_bytes(needed) <= gpu.vram);
        diagnostic.help(match has_room {
            true => format!("`vram: \"{}\"` suffices", enough(needed)),
            false => {
                "divide the stage in two, place ops on CPUs with `place`, or ask for a device \
                      with more memory"
                    .to_owned()
            }
        })
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

/// At least so many bytes, in a unit that reads well.
fn enough(bytes: u64) -> String {
    exact_bytes(enough_bytes(bytes))
}

fn enough_bytes(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(MIB).unwrap_or(bytes)
}
