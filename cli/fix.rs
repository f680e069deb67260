//! `haul check --fix`: the edits of diagnostics, made to the file.

use std::collections::BTreeMap;

use haul_compiler::diagnostics::edited;
use haul_compiler::render::units;
use haul_ir::cost::Nanos;
use haul_ir::diagnostic::{Applicability, Diagnostic, Severity};

use crate::exit::Trouble;
use crate::file::{File, replace};
use crate::terminal;

/// Edits are made and their results checked so many times at most.
const MOST_ROUNDS: usize = 10;

/// So many sets of edits are tried at most in a round.
const MOST_TRIES: usize = 30;

/// What is found in a file.
pub(crate) struct Found {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What the run takes on each target.
    pub(crate) runs: Vec<Run>,
}

/// What a run takes on a target, where there is a plan and that is known.
pub(crate) struct Run {
    pub(crate) target: String,
    pub(crate) makespan: Option<Nanos>,
    /// Billionths of a US dollar.
    pub(crate) nano_usd: Option<u64>,
}

impl Found {
    fn errors(&self) -> usize {
        let errors = self.diagnostics.iter();
        errors.filter(|d| d.severity == Severity::Error).count()
    }

    /// What is worse than before: more errors, or a run that takes longer, or as long for more.
    fn worse(&self, before: &Found) -> Option<String> {
        if self.errors() > before.errors() {
            return Some("there would be more mistakes".to_owned());
        }
        let mut runs = before.runs.iter().zip(&self.runs);
        runs.find_map(|(before, now)| now.worse(before))
    }
}

impl Run {
    fn worse(&self, before: &Run) -> Option<String> {
        let target = &self.target;
        let told = |what: &str, before: String, now: Option<String>| {
            let now = now.unwrap_or_else(|| "an unknown amount".to_owned());
            format!("the run on {target} would {what} {now} instead of {before}")
        };
        let makespan = before.makespan?;
        match self.makespan {
            Some(now) if now < makespan => None,
            Some(now) if now == makespan => {
                let price = before.nano_usd?;
                let is_dearer = self.nano_usd.is_none_or(|now| now > price);
                is_dearer.then(|| told("cost", units::usd(price), self.nano_usd.map(units::usd)))
            }
            now => Some(told("take", units::time(makespan), now.map(units::time))),
        }
    }
}

/// Makes the edits of what `find` finds, as long as that makes nothing worse, and says what it
/// changed, and what it left and why. The file is written once, when all is done.
pub(crate) fn fix(file: &mut File, find: impl Fn(&File) -> Found) -> Result<(), Trouble> {
    let mut found = find(file);
    let mut said = String::new();
    let mut changes = 0;
    let mut refused = BTreeMap::new();
    for _ in 0..MOST_ROUNDS {
        let round = round(file, &found, &find);
        refused = round.refused;
        let Some((after, now)) = round.best else {
            break;
        };
        changes += round.made.len();
        said += &lines(
            file,
            &found,
            round.made.iter().map(|at| (*at, "changed", "")),
        );
        (*file, found) = (after, now);
        refused = BTreeMap::new();
    }
    if changes > 0 {
        replace(&file.path, &file.text)?;
    }
    let left = mendable(&found).map(|at| {
        let why = refused.get(&at).map_or("not tried", String::as_str);
        (at, "left as it is", why)
    });
    said += &lines(file, &found, left);
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
    /// Positions of those whose edits make something worse, beside the made ones, and what.
    refused: BTreeMap<usize, String>,
}

/// As many edits as can be made together: a set that makes something worse is tried in halves, each
/// with what was made before.
fn round(file: &File, found: &Found, find: impl Fn(&File) -> Found) -> Round {
    let mut sets = vec![mendable(found).collect::<Vec<usize>>()];
    let mut round = Round::default();
    for _ in 0..MOST_TRIES {
        let Some(mut set) = sets.pop() else { break };
        let positions = [&round.made[..], &set].concat();
        let chosen = positions.iter().map(|at| found.diagnostics[*at].clone());
        let edited = edited(&file.text, &chosen.collect::<Vec<_>>());
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
        match (now.worse(before), &set[..]) {
            (None, _) => {
                round.made = edited.made.iter().map(|at| positions[*at]).collect();
                round.best = Some((after, now));
            }
            (Some(why), [only]) => drop(round.refused.insert(*only, why)),
            (Some(_), _) => {
                let second = set.split_off(set.len() / 2);
                sets.extend([second, set]);
            }
        }
    }
    round
}

/// Positions of the diagnostics with edits that are made. What is but a guess of what was meant, the
/// author has to judge.
fn mendable(found: &Found) -> impl Iterator<Item = usize> {
    let all = found.diagnostics.iter().enumerate();
    let is_sure = |d: &Diagnostic| d.applicability == Applicability::MachineApplicable;
    all.filter(move |(_, diagnostic)| !diagnostic.fix.is_empty() && is_sure(diagnostic))
        .map(|(at, _)| at)
}

/// `FILE:12: changed: write `cpus: 17` (W0304)`, a line for each; with why, where there is a reason.
fn lines<'s>(
    file: &File,
    found: &Found,
    told: impl Iterator<Item = (usize, &'s str, &'s str)>,
) -> String {
    let shown = &file.shown;
    let breaks: Vec<usize> = file.text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |(at, what, why): (usize, &str, &str)| {
        let diagnostic = &found.diagnostics[at];
        let start = diagnostic.primary.span.start;
        let line = breaks.partition_point(|at| *at < start) + 1;
        let help = diagnostic.help.as_ref().unwrap_or(&diagnostic.message);
        let why = if why.is_empty() {
            String::new()
        } else {
            format!("; {why}")
        };
        format!(
            "{shown}:{line}: {what}: {help} ({}){why}\n",
            diagnostic.code
        )
    };
    told.map(line).collect()
}
