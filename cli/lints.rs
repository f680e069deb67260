//! Which warnings are told, and which are errors.

use haul_compiler::diagnostics::Levels;
use haul_compiler::{Planned, Refused};
use haul_ir::diagnostic::Diagnostic;

use crate::exit::{Exit, Trouble};
use crate::file::File;
use crate::project::Project;
use crate::{messages, terminal};

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

/// Tells what was found when planning a file. `Found` when there is an error among it.
pub(crate) fn tell(file: &File, levels: &Levels, planned: &Result<Planned, Refused>) -> Exit {
    let exit = messages::tell(file, &told(levels, planned));
    terminal::tell(&not_simulated(file, planned));
    exit
}

/// A line about savings that nobody knows, where there are any.
pub(crate) fn not_simulated(file: &File, planned: &Result<Planned, Refused>) -> String {
    let shown = &file.shown;
    match planned {
        Ok(Planned {
            not_simulated: changes @ 1..,
            ..
        }) => format!(
            "{shown}: what {changes} more changes would save was not simulated, nor all of W0302 \
             and W0305 looked for: the longest stages come first\n"
        ),
        _ => String::new(),
    }
}
