//! Stages that request no GPU any more, and the edit for it.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{GpuCount, Request};

use super::Lints;
use crate::plan::choice::{Choice, choose_among};

/// A stage without the GPU of the request that it gets.
pub(super) struct WithoutGpu {
    /// The stage as it would be placed.
    pub(super) choice: Choice,
    /// What to remove for it; empty where that is not all there is to do.
    pub(super) parts: Vec<Span>,
}

/// A stage without the GPU that it gets, and without alternatives that would then be the same or
/// hold theirs for as little; nothing where it cannot be without.
pub(super) fn without_gpu(lints: &Lints<'_>, choice: &Choice) -> Option<WithoutGpu> {
    let requests = &lints.context.typed.graph().stages[choice.graph.stage].requests;
    let needless: Vec<usize> = (0..requests.len())
        .filter(|at| *at != choice.request && is_needless(lints, choice, &requests[*at]))
        .collect();
    let left = requests.iter().enumerate();
    let left = left.filter(|(at, _)| !needless.contains(at));
    let left: Vec<Request> = left
        .map(|(at, request)| match at == choice.request {
            true => on_cpus(request),
            false => request.clone(),
        })
        .collect();
    Some(WithoutGpu {
        choice: choose_among(lints.context, choice.graph.clone(), &left).ok()?,
        parts: parts(lints, choice, &needless, left.len()),
    })
}

impl WithoutGpu {
    /// Adds the edit, where there is one.
    pub(super) fn fix(&self, diagnostic: Diagnostic) -> Diagnostic {
        let parts = self.parts.iter();
        parts.fold(diagnostic, |diagnostic, part| diagnostic.fix(*part, ""))
    }
}

/// The request of a stage without a GPU.
pub(super) fn on_cpus(request: &Request) -> Request {
    Request {
        gpus: GpuCount::NONE,
        gpu_type: None,
        vram: None,
        ..request.clone()
    }
}

/// Whether another request differs in its GPU alone, and can have it here, and has no better use
/// for it than the stage for what it gets. What cannot be granted here may be for other machines.
fn is_needless(lints: &Lints<'_>, choice: &Choice, other: &Request) -> bool {
    if on_cpus(other) != on_cpus(&choice.asked) {
        return false;
    }
    let other = std::slice::from_ref(other);
    let placed = choose_among(lints.context, choice.graph.clone(), other);
    placed.is_ok_and(|placed| choice.division.uses_gpu() || !placed.division.uses_gpu())
}

/// What to remove for the request that a stage gets to hold no GPU, and for others to be gone;
/// `left` is how many requests there are then.
fn parts(lints: &Lints<'_>, choice: &Choice, needless: &[usize], left: usize) -> Vec<Span> {
    let Some(fields) = lints.fields(choice).filter(|fields| !fields.inherits_gpu) else {
        return Vec::new();
    };
    let adds_nothing = fields.own.cpus.is_none() && fields.own.memory.is_none();
    if fields.is_alternative && left == 1 && adds_nothing {
        return fields.any_of_parts.clone();
    }
    let all = &lints.places.fields[choice.graph.stage];
    let others = needless.iter().flat_map(|at| &all[*at].own.any_of_parts);
    joined(others.chain(&fields.own.gpu_parts).copied().collect())
}

/// The same places, of which none meet.
fn joined(mut places: Vec<Span>) -> Vec<Span> {
    places.sort();
    let mut joined: Vec<Span> = Vec::new();
    for place in places {
        match joined.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => joined.push(place),
        }
    }
    joined
}
