//! `haul explain`: the long story of a diagnostic's code.

use haul_compiler::diagnostics::codes::{codes, explain};
use haul_compiler::render::{visible, wrapped};

use crate::exit::{Exit, Trouble};
use crate::terminal;

/// Explains the code of a message, such as E0203.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The code.
    code: String,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let info = explain(&args.code).ok_or_else(|| {
        let codes = codes().map(|info| info.code.0);
        Trouble::unknown(
            "code",
            &args.code,
            codes,
            "`haul check` prints the codes of mistakes",
        )
    })?;
    let (wrong, right) = (indented(info.wrong), indented(info.right));
    terminal::print(&format!(
        "{}: {}\n\n{}\nwrong:\n\n{wrong}\nright:\n\n{right}",
        info.code,
        info.title,
        wrapped(0, 0, info.explanation)
    ))?;
    Ok(Exit::Fine)
}

fn indented(text: &str) -> String {
    let text = visible(text.trim_matches('\n'));
    let lines = text.lines();
    lines
        .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
        .collect()
}
