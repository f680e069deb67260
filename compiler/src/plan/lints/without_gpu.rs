//! Stages that request no GPU any more, and the edit for it.

use haul_ir::diagnostic::{Diagnostic, Fix, Span};
use haul_ir::graph::Request;

use super::Lints;
use crate::plan::choice::{Choice, choose_among, on_cpus};

/// A stage without the GPU of the request that it gets.
pub(super) struct WithoutGpu {
    /// The stage as it would be placed.
    pub(super) choice: Choice,
    /// The edits for it, none of which meet; empty where there is no sure one.
    pub(super) edits: Vec<Fix>,
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
        edits: edits(lints, choice, &needless, left.len()),
    })
}

impl WithoutGpu {
    /// Whether the edits say that there is no GPU, since others keep that of the stage.
    pub(super) fn is_written(&self) -> bool {
        self.edits.iter().any(|edit| !edit.text.is_empty())
    }

    /// Adds the edits, where there are some.
    pub(super) fn fix(&self, diagnostic: Diagnostic) -> Diagnostic {
        let edits = self.edits.iter();
        let edited = edits.fold(diagnostic, |diagnostic, edit| {
            diagnostic.fix(edit.span, edit.text.as_str())
        });
        edited.machine_applicable()
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

/// The edits for the request that a stage gets to hold no GPU, and for others to be gone; `left` is
/// how many requests there are then.
fn edits(lints: &Lints<'_>, choice: &Choice, needless: &[usize], left: usize) -> Vec<Fix> {
    let Some(fields) = lints.fields(choice) else {
        return Vec::new();
    };
    let (own, inherited) = (&fields.own, &fields.inherited_gpu_parts);
    if left > 1 && !fields.inherits_gpu && !inherited.is_empty() {
        return Vec::new(); // Memory of a GPU, of which others have need.
    }
    let all = &lints.places.fields[choice.graph.stage];
    let others = needless.iter().flat_map(|at| &all[*at].own.any_of_parts);
    let adds_nothing = own.cpus.is_none() && own.memory.is_none();
    let removed: Vec<Span> = match left {
        1 if fields.is_alternative && adds_nothing => inherited
            .iter()
            .chain(&fields.any_of_parts)
            .copied()
            .collect(),
        1 => {
            let parts = inherited.iter().chain(&own.gpu_parts);
            parts.chain(others).copied().collect()
        }
        _ => others.chain(&own.gpu_parts).copied().collect(),
    };
    let removed = joined(removed).into_iter();
    let mut edits: Vec<Fix> = removed.map(|span| fix(span, "")).collect();
    if left > 1 && fields.inherits_gpu {
        // Others keep the GPU that the stage asks for.
        let room = &own.room;
        let at = Span::new(room.at, room.at);
        edits.push(fix(at, &format!("gpus: 0{}", room.after)));
        edits.sort_by_key(|edit| edit.span);
    }
    edits
}

fn fix(span: Span, text: &str) -> Fix {
    Fix {
        span,
        text: text.to_owned(),
    }
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
