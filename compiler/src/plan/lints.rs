//! Requests that can be granted but are probably not what is meant.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::{Estimates, Reason};
use haul_ir::target::Gpu;

use super::Context;
use super::choice::{Choice, asks_for_gpu, finish, machine};
use crate::diagnostics::codes::{IDLE_GPU, NO_GPU_REQUESTED, SOONER_ON_CPUS};
use crate::feasibility::homes;
use crate::place::{divide, group_name};
use crate::places::Places;
use crate::render::units::time;

/// A GPU is worth mentioning where it saves at least this long.
const WORTH_SAYING: u128 = 100_000_000;

/// The warnings about all stages, sorted by place.
pub(super) fn lints(
    context: &Context<'_>,
    choices: &IdVec<StageId, Choice>,
    estimates: &Estimates,
    places: &Places,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    warnings.extend(sooner_on_cpus(context, choices, estimates, places));
    for choice in choices.iter() {
        let span = request_span(choice, places);
        warnings.extend(idle_gpu(context, choice, span));
        warnings.extend(no_gpu_requested(context, choice, span));
    }
    warnings.sort_by_key(|warning| (warning.primary.span, warning.code));
    warnings
}

fn request_span(choice: &Choice, places: &Places) -> Span {
    let spans = places.requests.get(choice.graph.stage);
    let span = spans.and_then(|spans| spans.get(choice.request));
    span.copied().unwrap_or_default()
}

/// Tasks queue for GPUs so long that the run would end sooner without. Told at the stage that
/// keeps them busy the longest.
fn sooner_on_cpus(
    context: &Context<'_>,
    choices: &IdVec<StageId, Choice>,
    estimates: &Estimates,
    places: &Places,
) -> Option<Diagnostic> {
    let (planned, on_cpus) = (estimates.makespan?, estimates.all_on_cpu?);
    if u128::from(planned.saturating_sub(on_cpus)) < WORTH_SAYING {
        return None;
    }
    let on_gpu = choices.iter().filter(|choice| choice.division.uses_gpu());
    let busiest = on_gpu.max_by_key(|choice| choice.finish)?;
    let name = &context.typed.graph().stages[busiest.graph.stage].name;
    let message = format!(
        "the run takes {}, and {} with every op on CPUs: tasks of `{name}` wait for GPUs",
        time(planned),
        time(on_cpus)
    );
    let help = "request CPUs, let `any_of` choose, or use a share of a GPU for each task";
    let diagnostic = Diagnostic::warning(SOONER_ON_CPUS, request_span(busiest, places), message);
    Some(diagnostic.at("the GPUs are busy here").help(help))
}

/// A GPU is requested and everything is on CPUs, although all work is known.
fn idle_gpu(context: &Context<'_>, choice: &Choice, span: Span) -> Option<Diagnostic> {
    let machine = choice.machine(context);
    let (gpu, held) = (machine.gpu?, choice.division.time?);
    if choice.division.uses_gpu() {
        return None;
    }
    let name = &context.typed.graph().stages[choice.graph.stage].name;
    let message = format!("`{name}` requests a GPU that none of its ops runs on");
    let at = format!("each task holds {} for {}", gpu.name, time(held));
    Some(
        Diagnostic::warning(IDLE_GPU, span, message)
            .at(at)
            .help(without_gpu(context, choice)),
    )
}

/// What to do about a GPU that none of a stage's ops runs on, by why they do not.
fn without_gpu(context: &Context<'_>, choice: &Choice) -> String {
    let leave_out = "leave `gpus`, `gpu_type` and `vram` out";
    let reasons: Vec<_> = choice.division.hard_reasons().collect();
    let find = |is_it: fn(&Reason) -> bool| {
        let position = reasons
            .iter()
            .position(|reason| reason.is_some_and(is_it))?;
        Some(group_name(context.typed, choice.graph.groups[position]))
    };
    if let Some(name) = find(|reason| matches!(reason, Reason::PinnedByAuthor)) {
        return format!("{leave_out}, or the `place: Cpu` that keeps `{name}` on CPUs");
    }
    if let Some(name) = find(|reason| matches!(reason, Reason::DoesNotFitVram { .. })) {
        return format!("{leave_out}, or request a GPU whose memory holds `{name}`");
    }
    if reasons.contains(&None) {
        return format!("{leave_out}: on CPUs everything is as fast");
    }
    if let Some(name) = find(|reason| matches!(reason, Reason::UnknownWork)) {
        return format!("{leave_out}, or give sizes from which the work of `{name}` is known");
    }
    format!("{leave_out}: none of its ops has a GPU kernel")
}

/// No GPU is requested, and with one the stage would finish a quarter sooner or more.
fn no_gpu_requested(context: &Context<'_>, choice: &Choice, span: Span) -> Option<Diagnostic> {
    let stage = &context.typed.graph().stages[choice.graph.stage];
    if stage.requests.iter().any(asks_for_gpu) {
        return None;
    }
    let now = choice.finish?;
    let request = Request {
        gpus: GpuCount::ONE,
        ..stage.requests[choice.request].clone()
    };
    let with_gpu = homes(&request, context.target)
        .into_iter()
        .filter_map(|home| {
            let machine = machine(context, &request, home);
            let division = divide(context.typed, &choice.graph, machine, &context.sizes).ok()?;
            let finish = finish(context, &division, &choice.tasks, machine)?;
            Some((finish, machine.gpu?))
        });
    let (then, gpu): (u128, &Gpu) = with_gpu.min_by_key(|(finish, _)| *finish)?;
    let saved = now.saturating_sub(then);
    if saved < WORTH_SAYING || saved * 4 < now {
        return None;
    }
    let nanos = |time: u128| u64::try_from(time).unwrap_or(u64::MAX);
    let message = format!(
        "`{}` would take {} with a GPU {} and takes {} without",
        stage.name,
        time(nanos(then)),
        gpu.name,
        time(nanos(now))
    );
    let help = format!("add `gpus: 1, gpu_type: \"{}\"`", gpu.name);
    Some(
        Diagnostic::warning(NO_GPU_REQUESTED, span, message)
            .at("requests no GPU")
            .help(help),
    )
}
