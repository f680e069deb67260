//! Pipelines as text to plans on targets of the library.

use haul_compiler::{Facts, Planned, check, plan, target};
use haul_ir::diagnostic::Diagnostic;

/// The plan of a pipeline that checks, with warnings, or what does not fit.
pub(crate) fn try_plan(target: &str, text: &str) -> Result<Planned, Vec<Diagnostic>> {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let diagnostics = &checked.diagnostics;
    let typed = checked
        .typed
        .unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"));
    let target = target::find(target).expect("a target of the library");
    plan(typed, &target, "test", "test.ron", &checked.places).map_err(|refused| refused.mistakes)
}
