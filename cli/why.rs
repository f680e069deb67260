//! `haul why`: everything known about one decision.

use std::path::PathBuf;

use haul_compiler::render;
use haul_compiler::why::{NoWhy, why};

use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::File;
use crate::{messages, project, terminal};

/// Tells why a stage gets its request and node, or why an op is on its side: both candidates with
/// every term, what crosses, what the other choice would cost, and what would change the answer.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The pipeline file.
    file: PathBuf,
    /// A stage, or an op as `haul plan` prints it: `stage.op`.
    name: String,
    /// The machines to plan for; several are told one after the other. Without, those of `haul.ron`.
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    #[command(flatten)]
    set: Set,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let targets = project::targets(&args.targets)?;
    let file = File::read(&args.file)?;
    let checked = facts::check(&file, &args.set);
    facts::know_pins(&checked)?;
    let Some(typed) = checked.typed else {
        return Ok(messages::tell(&file, &checked.diagnostics));
    };
    let mut exit = Exit::Fine;
    for (position, target) in targets.iter().enumerate() {
        let (pipeline, source) = file.names();
        let why = why(
            typed.clone(),
            target,
            (&pipeline, &source),
            &checked.places,
            &args.name,
        );
        match why {
            Ok(why) => {
                let gap = if position == 0 { "" } else { "\n" };
                let text = render::why(&why, terminal::colour());
                terminal::print(&format!("{gap}{text}"))?;
            }
            Err(NoWhy::Unknown) => return Err(facts::unknown_name(typed.graph(), &args.name)),
            Err(NoWhy::Refused(refused)) => {
                exit = exit.max(messages::tell(&file, &refused.mistakes));
            }
        }
    }
    Ok(exit)
}
