//! GPUs whose memory the author grants too little of.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::plan::Reason;

use super::shares::MIB;
use super::what_if::Saved;
use super::{Lints, with_saving};
use crate::diagnostics::codes::IDLE_GPU;
use crate::feasibility::fraction_fit;
use crate::place::{divide, group_name};
use crate::plan::choice::{Choice, machine};
use crate::plan::edits::set;
use crate::render::units::exact_bytes;

/// A GPU is requested that ops would run on, were it not for a `vram` below what they need; nothing
/// where the run would then end later.
pub(super) fn narrow_vram(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let (context, asked) = (lints.context, choice.asked.vram?);
    let mut reasons = choice.division.hard_reasons();
    let is_kept_off =
        |reason: Option<&Reason>| matches!(reason, Some(Reason::DoesNotFitVram { .. }));
    let group = choice.graph.groups[reasons.position(is_kept_off)?];
    let mut request = choice.asked.clone();
    request.vram = None;
    let machine = machine(context, &request, choice.home);
    let division = divide(context.typed, &choice.graph, machine, &context.sizes).ok()?;
    if !division.uses_gpu() {
        return None;
    }
    let gpu = choice.machine(context).gpu?;
    let peak = &division.peaks.vram;
    let needed = peak.largest?.checked_next_multiple_of(MIB)?.min(gpu.vram);
    request.vram = Some(needed);
    let mut what = format!("write `vram: \"{}\"`", exact_bytes(needed));
    let fit = fraction_fit(&request, gpu, peak, &context.sizes.largest);
    if let Some(fit) = &fit {
        request.gpus = fit.share;
        what += &format!(" and `gpus: {}`", fit.share);
    }
    let saving = lints.saving(choice, request.clone());
    if matches!(saving, Saved::Known(saving) if saving.time < 0) {
        return None;
    }
    let message = format!(
        "`{}` requests a GPU that none of its ops runs on",
        lints.name(choice.graph.stage)
    );
    let diagnostic = Diagnostic::warning(IDLE_GPU, lints.span(choice), message)
        .at(format!(
            "`{}` needs more memory of {} than the {} that `vram` grants",
            group_name(context.typed, group),
            gpu.name,
            exact_bytes(asked)
        ))
        .help(format!("{what}, which holds all that runs there"));
    let fields = lints.fields(choice);
    let vram = fields.and_then(|fields| fields.own.vram);
    let value = format!("\"{}\"", exact_bytes(needed));
    let diagnostic = set(
        with_saving(diagnostic, saving),
        "vram",
        vram,
        &value,
        fields,
    );
    if fit.is_none() {
        return Some(diagnostic);
    }
    let gpus = fields.and_then(|fields| fields.own.gpus);
    let share = request.gpus.to_string();
    Some(set(diagnostic, "gpus", gpus, &share, fields))
}
