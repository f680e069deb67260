//! Types of GPUs that nobody knows.

use std::collections::BTreeSet;

use haul_ir::diagnostic::{Diagnostic, Span};

use super::Lints;
use crate::diagnostics::codes::UNKNOWN_GPU;
use crate::feasibility::{known_devices, unknown_device};

/// A `gpu_type` that neither the target nor the library has, in a stage that gets another of its
/// requests.
pub(super) fn unknown(lints: &Lints<'_>) -> Vec<Diagnostic> {
    let known = known_devices(lints.context.target);
    let mut told: BTreeSet<Span> = BTreeSet::new();
    let mut warnings = Vec::new();
    for (id, stage) in lints.context.typed.graph().stages.entries() {
        let fields = lints.places.fields.get(id).into_iter().flatten();
        for (request, fields) in stage.requests.iter().zip(fields) {
            let (Some(name), Some(span)) = (&request.gpu_type, fields.gpu_type) else {
                continue;
            };
            let Some(unknown) = unknown_device(name, &known) else {
                continue;
            };
            if !told.insert(span) {
                continue; // Of the stage, for all its alternatives.
            }
            let message = format!("`{}` allows a GPU that nobody knows", stage.name);
            let warning = Diagnostic::warning(UNKNOWN_GPU, span, message).help(unknown.words);
            warnings.push(match unknown.meant {
                Some(meant) => warning.fix(span, format!("\"{meant}\"")),
                None => warning,
            });
        }
    }
    warnings
}
