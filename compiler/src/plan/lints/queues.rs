//! Tasks that queue for GPUs.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::graph::{GpuCount, Request};

use super::{Lints, WORTH_SAYING, with_saving};
use crate::diagnostics::codes::SOONER_ON_CPUS;
use crate::plan::choice::Choice;
use crate::render::units::time;

/// Tasks queue for GPUs so long that the run would end sooner without. Told at the stage that
/// keeps them busy the longest.
pub(super) fn sooner_on_cpus(lints: &Lints<'_>) -> Option<Diagnostic> {
    let estimates = &lints.estimated.estimates;
    let (planned, on_cpus) = (estimates.makespan?, estimates.all_on_cpu?);
    if u128::from(planned.saturating_sub(on_cpus)) < WORTH_SAYING {
        return None;
    }
    let on_gpu = || {
        lints
            .choices
            .iter()
            .filter(|choice| choice.division.uses_gpu())
    };
    let waits = |choice: &&Choice| lints.estimated.queueing[choice.graph.stage] > Some(0);
    let busiest = on_gpu().filter(waits).max_by_key(|choice| choice.finish)?;
    let message = format!(
        "the run takes {}, and {} with every op on CPUs: tasks of `{}` wait for GPUs",
        time(planned),
        time(on_cpus),
        lints.name(busiest.graph.stage)
    );
    let saving = lints.what_if.saving_with(|tasks| {
        for (tasks, choice) in tasks.iter_mut().zip(lints.choices.iter()) {
            tasks.time = choice.division.time_on_cpu.unwrap_or(0);
            tasks.share.gpu = None;
        }
    });
    let help = "request CPUs, let `any_of` choose, or use a share of a GPU for each task";
    let diagnostic = Diagnostic::warning(SOONER_ON_CPUS, lints.span(busiest), message);
    let diagnostic = with_saving(diagnostic.at("the GPUs are busy here").help(help), saving);
    Some(match on_gpu().count() {
        1 => without_gpu(lints, busiest, diagnostic),
        _ => diagnostic,
    })
}

/// Adds the edit that takes the GPU from a stage, where it can be without.
pub(super) fn without_gpu(
    lints: &Lints<'_>,
    choice: &Choice,
    diagnostic: Diagnostic,
) -> Diagnostic {
    let can_be = |choice| lints.instead(choice, on_cpus(choice)).is_some();
    match lints.fields(choice) {
        Some(fields) if !fields.inherits_gpu && can_be(choice) => {
            let parts = fields.own.gpu_parts.iter();
            parts.fold(diagnostic, |diagnostic, part| diagnostic.fix(*part, ""))
        }
        _ => diagnostic,
    }
}

/// The request of a stage without a GPU.
pub(super) fn on_cpus(choice: &Choice) -> Request {
    Request {
        gpus: GpuCount::NONE,
        gpu_type: None,
        vram: None,
        ..choice.asked.clone()
    }
}
