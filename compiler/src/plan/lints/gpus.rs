//! GPUs that are requested and not used, or would pay and are not requested.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::graph::{GpuCount, Request};
use haul_ir::plan::Reason;
use haul_ir::target::Gpu;

use super::narrow_vram::narrow_vram;
use super::what_if::Saved;
use super::without_gpu::{WithoutGpu, without_gpu};
use super::{Lints, WORTH_SAYING, advice, whole_nanos, with_saving};
use crate::diagnostics::codes::{IDLE_GPU, NO_GPU_REQUESTED, SEVERAL_GPUS};
use crate::feasibility::homes;
use crate::place::{divide, group_name};
use crate::plan::choice::{Choice, asks_for_gpu, finish, machine};
use crate::plan::edits::{set, write};
use crate::render::units::time;

/// A GPU is requested and everything is on CPUs, although all work is known, or whatever it is.
pub(super) fn idle(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let gpu = choice.machine(lints.context).gpu?;
    let time_held = choice.division.time;
    if choice.division.uses_gpu() || (time_held.is_none() && !is_never_on_gpu(choice)) {
        return None;
    }
    if let Some(narrow) = narrow_vram(lints, choice) {
        return Some(narrow);
    }
    let name = lints.name(choice.graph.stage);
    let message = format!("`{name}` requests a GPU that none of its ops runs on");
    let without = without_gpu(lints, choice);
    let (at, saving, frees) = match time_held {
        Some(held) => (
            format!("each task holds {} for {}", gpu.name, time(held)),
            without.as_ref().map_or(Saved::Unknown, |without| {
                lints.what_if.saving_of_all(&[&without.choice])
            }),
            gpu_time(lints, choice, choice.asked.gpus),
        ),
        None => (
            format!("each task holds {}", gpu.name),
            Saved::Unknown,
            "it for other tasks".to_owned(),
        ),
    };
    let help = advice(way_out(lints, choice, without.as_ref()), saving, &frees);
    let diagnostic = Diagnostic::warning(IDLE_GPU, lints.span(choice), message);
    let diagnostic = with_saving(diagnostic.at(at).help(help), saving);
    Some(match without {
        Some(without) => without.fix(diagnostic),
        None => diagnostic,
    })
}

/// Whether facts that no size changes keep everything in a stage on CPUs.
fn is_never_on_gpu(choice: &Choice) -> bool {
    let mut reasons = choice.division.hard_reasons();
    reasons.all(|reason| {
        matches!(
            reason,
            Some(
                Reason::NoGpuKernel(_)
                    | Reason::NotArrayWork
                    | Reason::IoBound
                    | Reason::PinnedByAuthor
            )
        )
    })
}

/// What to do about a GPU that none of a stage's ops runs on, by why they do not.
fn way_out(lints: &Lints<'_>, choice: &Choice, without: Option<&WithoutGpu>) -> String {
    let leave_out = match without.is_some_and(WithoutGpu::is_written) {
        true => "write `gpus: 0` in this alternative",
        false => "leave `gpus`, `gpu_type` and `vram` out",
    };
    let reasons: Vec<_> = choice.division.hard_reasons().collect();
    let find = |is_it: fn(&Reason) -> bool| {
        let position = reasons
            .iter()
            .position(|reason| reason.is_some_and(is_it))?;
        Some(group_name(
            lints.context.typed,
            choice.graph.groups[position],
        ))
    };
    if let Some(name) = find(|reason| matches!(reason, Reason::PinnedByAuthor)) {
        return format!("{leave_out}, or the `place: Cpu` that keeps `{name}` on CPUs");
    }
    if let Some(name) = find(|reason| matches!(reason, Reason::DoesNotFitVram { .. })) {
        return format!("{leave_out}, or request a GPU whose memory holds `{name}`");
    }
    if reasons.contains(&None) {
        return format!("{leave_out}, since on CPUs everything is as fast");
    }
    if let Some(name) = find(|reason| matches!(reason, Reason::UnknownWork)) {
        return format!("{leave_out}, or give sizes from which the work of `{name}` is known");
    }
    let all = |is_it: fn(&Reason) -> bool| reasons.iter().flatten().all(|reason| is_it(reason));
    let since = match () {
        () if all(|reason| matches!(reason, Reason::NotArrayWork)) => {
            "it works on text, which no GPU kernel does"
        }
        () if all(|reason| matches!(reason, Reason::NoGpuKernel(_))) => {
            "none of its ops has a GPU kernel"
        }
        () => "none of its ops can be on a GPU",
    };
    format!("{leave_out}, since {since}")
}

/// No GPU is requested, and with one the stage would finish a quarter sooner or more.
pub(super) fn missing(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let (request, then, gpu) = faster_gpu(lints, choice)?;
    let saving = lints.saving(choice, request);
    match saving {
        // The stage would be done sooner, and the run later, or who knows.
        Saved::Known(saving) if saving.time < 0 => return None,
        Saved::NotTried => return None,
        Saved::Known(_) | Saved::Unknown => {}
    }
    let message = format!(
        "`{}` would take {} with a GPU {} and takes {} without",
        lints.name(choice.graph.stage),
        time(whole_nanos(then)),
        gpu.name,
        time(whole_nanos(choice.finish?))
    );
    let gpu_type = format!("gpu_type: \"{}\"", gpu.name);
    let fields = format!("gpus: 1, {gpu_type}");
    let cpu_time = time(lints.held(choice, choice.asked.cpus, 1));
    let help = advice(
        format!("add `{fields}`"),
        saving,
        &format!("{cpu_time} of CPU time"),
    );
    let diagnostic = Diagnostic::warning(NO_GPU_REQUESTED, lints.span(choice), message);
    let diagnostic = with_saving(diagnostic.at("requests no GPU").help(help), saving);
    let Some(places) = lints.fields(choice) else {
        return Some(diagnostic);
    };
    Some(match places.own.gpus {
        // An alternative that asks for none in so many words.
        Some(gpus) => {
            let edited = diagnostic.fix(gpus, format!("1, {gpu_type}"));
            edited.machine_applicable()
        }
        None => write(diagnostic, &fields, places),
    })
}

/// The GPU with which a stage that requests none would finish a quarter sooner or more, when that
/// would be, and the request for it.
pub(super) fn faster_gpu<'a>(
    lints: &Lints<'a>,
    choice: &Choice,
) -> Option<(Request, u128, &'a Gpu)> {
    let context = lints.context;
    let stage = &context.typed.graph().stages[choice.graph.stage];
    let now = choice.finish?;
    if now < WORTH_SAYING || stage.requests.iter().any(asks_for_gpu) {
        return None;
    }
    let with_gpu = |gpu_type| Request {
        gpus: GpuCount::ONE,
        gpu_type,
        ..choice.asked.clone()
    };
    let finishes = homes(&with_gpu(None), context.target)
        .into_iter()
        .filter_map(|home| {
            let node = &context.target.nodes[home.node];
            let gpu = &node.gpus[home.gpu?];
            let request = with_gpu(Some(gpu.name.clone()));
            let machine = machine(context, &request, home);
            let division = divide(context.typed, &choice.graph, machine, &context.sizes).ok()?;
            let finish = finish(context, &division, &choice.graph.tasks, machine)?;
            Some((request, finish, gpu))
        });
    let (request, then, gpu) = finishes.min_by_key(|(_, finish, _)| *finish)?;
    let saved = now.saturating_sub(then);
    (saved >= WORTH_SAYING && saved * 4 >= now).then_some((request, then, gpu))
}

/// Several GPUs are requested for a task, each of whose ops runs on one.
pub(super) fn several(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let asked = choice.asked.gpus;
    if asked <= GpuCount::ONE || !choice.division.uses_gpu() {
        return None;
    }
    let name = lints.name(choice.graph.stage);
    let message = format!("`{name}` requests {asked} GPUs for a task, which uses one");
    let mut request = choice.asked.clone();
    request.gpus = GpuCount::ONE;
    let saving = lints.saving(choice, request);
    let frees = gpu_time(lints, choice, GpuCount(asked.0 - GpuCount::ONE.0));
    let what = "write `gpus: 1`; independent work over several is `each`";
    let mut help = advice(what.to_owned(), saving, &frees);
    match saving {
        Saved::Known(saving) if saving.time < 0 => {
            let longer = time(saving.time.unsigned_abs());
            help += &format!(", and the run takes {longer} longer");
        }
        Saved::Known(saving) if saving.time == 0 => help += ", and the run takes as long",
        Saved::Known(_) | Saved::Unknown | Saved::NotTried => {}
    }
    let diagnostic = Diagnostic::warning(SEVERAL_GPUS, lints.span(choice), message)
        .at("an op runs on one device")
        .help(help);
    let fields = lints.fields(choice);
    let at = fields.and_then(|fields| fields.own.gpus);
    Some(set(
        with_saving(diagnostic, saving),
        "gpus",
        at,
        "1",
        fields,
    ))
}

/// The time that all tasks of a stage hold a number of GPUs: `1.20 s of GPU time`.
fn gpu_time(lints: &Lints<'_>, choice: &Choice, gpus: GpuCount) -> String {
    let held = lints.held(choice, gpus.0, GpuCount::ONE.0);
    format!("{} of GPU time", time(held))
}
