//! Shares of a GPU, which divide the device's time and not its memory.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::graph::GpuCount;
use haul_ir::plan::Reason;
use haul_ir::target::Gpu;

use super::{Lints, with_saving};
use crate::diagnostics::codes::{CROWDED_VRAM, UNKNOWN_VRAM};
use crate::feasibility::fraction_fit;
use crate::plan::choice::Choice;
use crate::plan::edits::set;
use crate::render::units::{bytes, exact_bytes};

pub(super) const MIB: u64 = 1 << 20;

/// A share is requested, and how much device memory goes with it is neither said nor known: a task
/// holds all of it.
pub(super) fn unknown_memory(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let gpu = shared(lints, choice)?;
    let peaks = &choice.division.peaks;
    let mut reasons = choice.division.hard_reasons();
    let is_open = reasons.any(|reason| matches!(reason, Some(Reason::UnknownWork)));
    if choice.asked.vram.is_some() || (peaks.vram.largest.is_some() && !is_open) {
        return None;
    }
    let tasks = GpuCount::ONE.0 / choice.asked.gpus.0;
    let name = lints.name(choice.graph.stage);
    let message = format!(
        "`{name}` requests {} of a GPU, and how much of its memory a task needs is unknown",
        choice.asked.gpus
    );
    let vram = exact_bytes(part(gpu, tasks));
    let help = format!("add `vram: \"{vram}\"`, with which {tasks} tasks fit on a device");
    let mut request = choice.asked.clone();
    request.vram = Some(part(gpu, tasks));
    let saving = lints.saving(choice, request);
    let diagnostic = Diagnostic::warning(UNKNOWN_VRAM, lints.span(choice), message)
        .at(format!("each task holds all memory of {}", gpu.name))
        .help(help);
    let vram = format!("\"{vram}\"");
    Some(set(
        with_saving(diagnostic, saving),
        "vram",
        None,
        &vram,
        lints.fields(choice),
    ))
}

/// A share lets more tasks onto a device than its memory holds.
pub(super) fn more_than_memory(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let gpu = shared(lints, choice).filter(|_| choice.division.uses_gpu())?;
    let peak = &choice.division.peaks.vram;
    let fit = fraction_fit(&choice.asked, gpu, peak, &lints.context.sizes.largest)?;
    let together = fit.by_share.min(lints.tasks(choice));
    if together <= fit.by_vram {
        return None;
    }
    let message = format!(
        "`{}` lets {} tasks of {} onto one {}, whose {} hold {}",
        lints.name(choice.graph.stage),
        together,
        bytes(fit.vram.into()),
        gpu.name,
        bytes(gpu.vram.into()),
        fit.by_vram
    );
    let mut help = format!("write `gpus: {}`", fit.share);
    if let Some((dim, size)) = &fit.dim {
        help += &format!(
            ", or plan for {dim} up to {size}, at which all {} fit",
            fit.by_share
        );
    } else if choice.asked.vram.is_some() {
        let most = exact_bytes(part(gpu, GpuCount::ONE.0 / choice.asked.gpus.0));
        help += &format!(", or `vram: \"{most}\"`, of which all {} fit", fit.by_share);
    }
    let mut request = choice.asked.clone();
    request.gpus = fit.share;
    let saving = lints.saving(choice, request);
    let diagnostic = Diagnostic::warning(CROWDED_VRAM, lints.span(choice), message)
        .at("a share divides the device's time, not its memory")
        .help(help);
    let fields = lints.fields(choice);
    let at = fields.and_then(|fields| fields.own.gpus);
    let share = fit.share.to_string();
    Some(set(
        with_saving(diagnostic, saving),
        "gpus",
        at,
        &share,
        fields,
    ))
}

/// The device of which a stage gets a share.
fn shared<'a>(lints: &Lints<'a>, choice: &Choice) -> Option<&'a Gpu> {
    let asked = choice.asked.gpus;
    if asked == GpuCount::NONE || asked >= GpuCount::ONE {
        return None;
    }
    let node = &lints.context.target.nodes[choice.home.node];
    node.gpus.get(choice.home.gpu?)
}

/// What each of so many tasks on a device can have of its memory, whole MiB where that is not even.
fn part(gpu: &Gpu, tasks: u32) -> u64 {
    whole(gpu.vram / u64::from(tasks.max(1)))
}

/// Whole MiB of an amount of memory that is not whole MB.
pub(super) fn whole(bytes: u64) -> u64 {
    if bytes.is_multiple_of(1_000_000) || bytes < MIB {
        return bytes;
    }
    bytes / MIB * MIB
}
