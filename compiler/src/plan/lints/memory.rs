//! Memory that is asked for and never needed.

use haul_ir::diagnostic::Diagnostic;

use super::{Lints, advice, default_memory, with_saving};
use crate::diagnostics::codes::IDLE_MEMORY;
use crate::feasibility::slots;
use crate::plan::choice::Choice;
use crate::plan::edits::set;
use crate::render::units::{bytes, exact_bytes};

const GIB: u64 = 1 << 30;

/// Memory above the default that is worth a word.
const IDLE_WORTH_SAYING: u64 = 4 * GIB;

/// A task asks for eight times of what it needs and 4 GiB more than the default, and fewer tasks
/// find room for it.
pub(super) fn idle(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let asked = choice.asked.memory;
    let default = default_memory(choice.asked.cpus);
    if !lints.asks_for_memory(choice) || asked < default.saturating_add(IDLE_WORTH_SAYING) {
        return None;
    }
    let peak = choice.division.peaks.memory.largest?;
    if asked < peak.saturating_mul(8) || handles_text(lints, choice) {
        return None;
    }
    let enough = peak
        .saturating_add(peak / 4)
        .checked_next_multiple_of(GIB)?;
    let enough = enough.max(default);
    let mut request = choice.asked.clone();
    request.memory = enough;
    let machine = choice.machine(lints.context);
    let vram = choice.division.vram(machine);
    let now = slots(&choice.asked, machine.node, machine.gpu, vram);
    let then = slots(&request, machine.node, machine.gpu, vram);
    if then <= now {
        return None;
    }
    let message = format!(
        "a task of `{}` asks for {} of memory and needs {} at most",
        lints.name(choice.graph.stage),
        bytes(asked.into()),
        bytes(peak.into())
    );
    let at = format!("{now} fit at a time, and {then} would with what they need");
    let saving = lints.saving(choice, request);
    let frees = format!("{} for other tasks", bytes(u128::from(asked - enough)));
    let fields = lints.fields(choice);
    let parts = fields.filter(|fields| !fields.inherits_memory && enough == default);
    let what = match parts {
        Some(_) => format!(
            "leave `memory` out for the default of {}",
            exact_bytes(default)
        ),
        None => format!("write `memory: \"{}\"`", exact_bytes(enough)),
    };
    let diagnostic = Diagnostic::warning(IDLE_MEMORY, lints.span(choice), message)
        .at(at)
        .help(advice(what, saving, &frees));
    let diagnostic = with_saving(diagnostic, saving);
    if let Some(fields) = parts {
        let parts = fields.own.memory_parts.iter();
        let edited = parts.fold(diagnostic, |diagnostic, part| diagnostic.fix(*part, ""));
        return Some(edited.machine_applicable());
    }
    let at = fields.and_then(|fields| fields.own.memory);
    let value = format!("\"{}\"", exact_bytes(enough));
    Some(set(diagnostic, "memory", at, &value, fields))
}

/// Whether it reads text, whose length only the data knows.
fn handles_text(lints: &Lints<'_>, choice: &Choice) -> bool {
    let values = &lints.context.typed.graph().values;
    let reads = choice
        .graph
        .groups
        .iter()
        .flat_map(|group| &lints.context.usage.reads[*group]);
    reads
        .into_iter()
        .any(|value| values[*value].ty.holds_text())
}
