//! `haul check --fix`: the edits of diagnostics, made to the file.

use haul_compiler::diagnostics::edited;
use haul_ir::diagnostic::{Diagnostic, Severity};

use crate::exit::Trouble;
use crate::file::{File, write_whole};
use crate::terminal;

/// Edits are made and their results checked so many times at most.
const MOST_ROUNDS: usize = 10;

/// Where edits together bring new errors, so many are tried alone.
const MOST_TRIES: usize = 20;

/// Makes the edits of what `find` finds, as long as there are no more errors with them than
/// without, and says what it changed. The file is written once, when all is done.
pub(crate) fn fix(file: &mut File, find: impl Fn(&File) -> Vec<Diagnostic>) -> Result<(), Trouble> {
    let mut found = find(file);
    let mut said = String::new();
    let mut changes = 0;
    for _ in 0..MOST_ROUNDS {
        let Some(round) = round(file, &found, &find) else {
            break;
        };
        changes += round.made.len();
        for position in round.made {
            said += &line(file, "changed", &found[position]);
        }
        *file = round.file;
        found = round.found;
    }
    if changes > 0 {
        write_whole(&file.path, &file.text)?;
    }
    for left in found.iter().filter(|left| !left.fix.is_empty()) {
        said += &line(file, "left as it is", left);
    }
    said += &match changes {
        0 => format!("{}: nothing to change\n", file.shown),
        1 => format!("{}: 1 change\n", file.shown),
        _ => format!("{}: {changes} changes\n", file.shown),
    };
    terminal::tell(&said);
    Ok(())
}

/// A file with some edits made, and what is found in it then.
struct Round {
    file: File,
    found: Vec<Diagnostic>,
    /// Positions of the diagnostics whose edits were made.
    made: Vec<usize>,
}

/// All edits that can be made together, or else the first that can be made alone; nothing where
/// there is none.
fn round(
    file: &File,
    found: &[Diagnostic],
    find: impl Fn(&File) -> Vec<Diagnostic>,
) -> Option<Round> {
    let mendable: Vec<usize> = (0..found.len())
        .filter(|at| !found[*at].fix.is_empty())
        .collect();
    let alone = mendable.chunks(1).take(MOST_TRIES);
    for positions in [&mendable[..]].into_iter().chain(alone) {
        let chosen: Vec<_> = positions.iter().map(|at| found[*at].clone()).collect();
        let edited = edited(&file.text, &chosen);
        if edited.made.is_empty() {
            continue;
        }
        let file = File {
            path: file.path.clone(),
            shown: file.shown.clone(),
            text: edited.text,
        };
        let now = find(&file);
        if errors(&now) <= errors(found) {
            let made = edited.made.iter().map(|at| positions[*at]).collect();
            return Some(Round {
                file,
                found: now,
                made,
            });
        }
    }
    None
}

fn errors(found: &[Diagnostic]) -> usize {
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.count()
}

/// `FILE:12: changed: write `cpus: 17` (W0304)`.
fn line(file: &File, what: &str, diagnostic: &Diagnostic) -> String {
    let before = &file.text[..diagnostic.primary.span.start];
    let line = before.matches('\n').count() + 1;
    let help = diagnostic.help.as_ref().unwrap_or(&diagnostic.message);
    let (shown, code) = (&file.shown, diagnostic.code);
    format!("{shown}:{line}: {what}: {help} ({code})\n")
}
