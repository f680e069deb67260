//! `haul check --fix`: the edits of diagnostics, made to the file.

use haul_compiler::diagnostics::edited;
use haul_ir::cost::Nanos;
use haul_ir::diagnostic::{Diagnostic, Severity};

use crate::exit::Trouble;
use crate::file::{File, write_whole};
use crate::terminal;

/// Edits are made and their results checked so many times at most.
const MOST_ROUNDS: usize = 10;

/// So many sets of edits are tried at most in a round.
const MOST_TRIES: usize = 30;

/// What is found in a file.
pub(crate) struct Found {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// How long the run takes on each target, where there is a plan and that is known.
    pub(crate) makespans: Vec<Option<Nanos>>,
}

impl Found {
    fn errors(&self) -> usize {
        let errors = self.diagnostics.iter();
        errors.filter(|d| d.severity == Severity::Error).count()
    }

    /// Whether there are no more errors than before, and no run takes longer.
    fn is_no_worse(&self, before: &Found) -> bool {
        let is_as_soon = |(before, now): (&Option<Nanos>, &Option<Nanos>)| {
            before.is_none_or(|before| now.is_some_and(|now| now <= before))
        };
        let mut runs = before.makespans.iter().zip(&self.makespans);
        self.errors() <= before.errors() && runs.all(is_as_soon)
    }
}

/// Makes the edits of what `find` finds, as long as that makes nothing worse, and says what it
/// changed. The file is written once, when all is done.
pub(crate) fn fix(file: &mut File, find: impl Fn(&File) -> Found) -> Result<(), Trouble> {
    let mut found = find(file);
    let mut said = String::new();
    let mut changes = 0;
    for _ in 0..MOST_ROUNDS {
        let round = round(file, &found, &find);
        let Some((after, now)) = round.best else {
            break;
        };
        changes += round.made.len();
        said += &lines(file, "changed", pick(&found, &round.made));
        (*file, found) = (after, now);
    }
    if changes > 0 {
        write_whole(&file.path, &file.text)?;
    }
    let left = found.diagnostics.iter().filter(|left| !left.fix.is_empty());
    said += &lines(file, "left as it is", left);
    said += &match changes {
        0 => format!("{}: nothing to change\n", file.shown),
        1 => format!("{}: 1 change\n", file.shown),
        _ => format!("{}: {changes} changes\n", file.shown),
    };
    terminal::tell(&said);
    Ok(())
}

/// Edits of one text.
#[derive(Default)]
struct Round {
    /// Positions of the diagnostics whose edits are made, in order.
    made: Vec<usize>,
    /// The file with them, and what is found in it; nothing where none are made.
    best: Option<(File, Found)>,
}

/// As many edits as can be made together: a set that makes something worse is tried in halves, each
/// with what was made before.
fn round(file: &File, found: &Found, find: impl Fn(&File) -> Found) -> Round {
    let mendable = 0..found.diagnostics.len();
    let mendable = mendable.filter(|at| !found.diagnostics[*at].fix.is_empty());
    let mut sets = vec![mendable.collect::<Vec<usize>>()];
    let mut round = Round::default();
    for _ in 0..MOST_TRIES {
        let Some(mut set) = sets.pop() else { break };
        let positions = [&round.made[..], &set].concat();
        let chosen: Vec<_> = pick(found, &positions).cloned().collect();
        let edited = edited(&file.text, &chosen);
        if edited.made.len() == round.made.len() {
            continue;
        }
        let after = File {
            path: file.path.clone(),
            shown: file.shown.clone(),
            text: edited.text,
        };
        let now = find(&after);
        let before = round.best.as_ref().map_or(found, |(_, best)| best);
        if now.is_no_worse(before) {
            round.made = edited.made.iter().map(|at| positions[*at]).collect();
            round.best = Some((after, now));
        } else if set.len() > 1 {
            let second = set.split_off(set.len() / 2);
            sets.extend([second, set]);
        }
    }
    round
}

fn pick<'f>(found: &'f Found, positions: &[usize]) -> impl Iterator<Item = &'f Diagnostic> {
    positions.iter().map(|at| &found.diagnostics[*at])
}

/// `FILE:12: changed: write `cpus: 17` (W0304)`, a line for each.
fn lines<'d>(file: &File, what: &str, diagnostics: impl Iterator<Item = &'d Diagnostic>) -> String {
    let shown = &file.shown;
    let breaks: Vec<usize> = file.text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |diagnostic: &Diagnostic| {
        let start = diagnostic.primary.span.start;
        let line = breaks.partition_point(|at| *at < start) + 1;
        let help = diagnostic.help.as_ref().unwrap_or(&diagnostic.message);
        format!("{shown}:{line}: {what}: {help} ({})\n", diagnostic.code)
    };
    diagnostics.map(line).collect()
}
