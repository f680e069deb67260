//! Which warnings are told, and which are errors.

use haul_compiler::diagnostics::Levels;
use haul_compiler::{Planned, Refused};
use haul_ir::diagnostic::Diagnostic;

use crate::exit::Trouble;
use crate::project::Project;

/// What becomes of warnings, as flags.
#[derive(clap::Args)]
pub(crate) struct Lints {
    /// Makes warnings errors: their codes, or `all`.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    deny: Vec<String>,
    /// Says nothing of warnings: their codes, or `all`.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
}

impl Lints {
    /// As the flags say, and else as the project says.
    pub(crate) fn levels(&self) -> Result<Levels, Trouble> {
        let flags = Levels::new(&self.deny, &self.allow);
        let flags = flags.map_err(|error| Trouble::new(error.to_string()))?;
        let project = Project::find()?;
        Ok(project.map_or_else(
            || flags.clone(),
            |project| project.lints().overridden_by(&flags),
        ))
    }
}

/// What was found when planning: warnings that are told, or why there is no plan.
pub(crate) fn told(levels: &Levels, planned: &Result<Planned, Refused>) -> Vec<Diagnostic> {
    match planned {
        Ok(planned) => levels.apply(planned.warnings.clone()),
        Err(refused) => refused.mistakes.clone(),
    }
}
