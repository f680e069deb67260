//! `haul check`: the mistakes in pipeline files.

use std::path::PathBuf;

use crate::exit::{Exit, Trouble};
use crate::facts::{self, Set};
use crate::file::File;
use crate::messages::{self, Format};
use crate::terminal;

/// Checks pipeline files and reports every mistake at once.
///
/// Reads the pipelines, and the headers of inputs that declare no type.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pipeline files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    set: Set,
    /// How mistakes are printed.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    message_format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let mut exit = Exit::Fine;
    for path in &args.files {
        let file = File::read(path)?;
        let diagnostics = facts::check(&file, &args.set).diagnostics;
        match args.message_format {
            Format::Text => drop(messages::tell(&file, &diagnostics)),
            Format::Json => terminal::print(&messages::json(&file, &diagnostics))?,
        }
        exit = exit.max(messages::verdict(&diagnostics));
    }
    Ok(exit)
}
