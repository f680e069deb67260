//! A diff for people.

use super::decisions::changes_side;
use super::{Cause, CauseKind, Change, Diff, RenamedKind};
use crate::render::{Colour, style, units};

/// The diff as text; unchanged names and the estimates of ops only where it is to be `full`. Ends
/// in a newline.
pub fn text(diff: &Diff, colour: Colour, full: bool) -> String {
    let mut out = colour.paint(style::HEADING, &headline(diff)) + "\n";
    if diff.is_empty() && diff.measured.is_empty() && !full {
        return out;
    }
    let mut lines = Lines {
        out: &mut out,
        colour,
    };
    for renamed in &diff.renamed {
        let guess = match (renamed.guessed, renamed.kind) {
            (false, _) => "",
            (true, RenamedKind::Stage | RenamedKind::Line) => {
                " (a guess: it computes the same; `moved` in the file says so for good)"
            }
            (true, RenamedKind::Dim | RenamedKind::Input | RenamedKind::Output) => {
                " (a guess: all else of it is the same; `moved` in the file says so for good)"
            }
        };
        lines.section("renamed");
        let (what, old, new) = (renamed.word(), &renamed.old, &renamed.new);
        lines.line('~', &format!("{what}{old} -> {new}{guess}"));
    }
    lines.changes("work", &diff.work, &[]);
    let decisions: Vec<_> = diff.decisions.iter().map(|d| d.change.clone()).collect();
    let causes: Vec<_> = diff.decisions.iter().map(|d| d.causes.as_slice()).collect();
    lines.changes("decisions", &decisions, &causes);
    let (shown, folded) = estimates(diff, full);
    lines.changes("estimates", &shown, &[]);
    lines.changes("measured", &diff.measured, &[]);
    out += "\n";
    if full {
        for name in diff.unchanged_ops.iter().chain(&diff.unchanged_transfers) {
            out += &format!("= {name}\n");
        }
        return out;
    }
    out += &rest(diff, folded);
    out
}

/// `plan mixed on a100: 1 added, 0 removed, 0 renamed; 2 decisions; +1 transfer; makespan 1.77 ms
/// -> 2.81 ms (+59 %)`.
pub(super) fn headline(diff: &Diff) -> String {
    let (old, new) = (&diff.old, &diff.new);
    let with_old = |old: &str, new: &str| match old == new {
        true => new.to_owned(),
        false => format!("{old} -> {new}"),
    };
    let pipeline = with_old(&old.pipeline, &new.pipeline);
    let target = with_old(&old.target, &new.target);
    let mut text = format!("plan {pipeline} on {target}: ");
    if diff.is_empty() {
        return text + "no changes";
    }
    let (added, removed) = added_and_removed(diff);
    text += &format!(
        "{added} added, {removed} removed, {} renamed",
        diff.renamed.len()
    );
    text += &match diff.decisions.len() {
        1 => "; 1 decision".to_owned(),
        decisions => format!("; {decisions} decisions"),
    };
    let sides = diff.decisions.iter().filter(|decision| {
        let Change { old, new, .. } = &decision.change;
        old.is_some() && new.is_some() && changes_side(&decision.change)
    });
    match sides.count() {
        0 => {}
        1 => text += " (1 other side)",
        count => text += &format!(" ({count} other sides)"),
    }
    let transfers = new.transfers as i64 - old.transfers as i64;
    if transfers != 0 {
        let plural = if transfers.abs() == 1 { "" } else { "s" };
        text += &format!("; {transfers:+} transfer{plural}");
    }
    text + "; " + &makespan(diff)
}

/// `makespan 1.77 ms -> 2.81 ms (+59 %)`.
fn makespan(diff: &Diff) -> String {
    let mut changes = diff.estimates.iter();
    let change = changes.find(|change| change.subject == "run" && change.fact == "makespan");
    match change {
        None => {
            let is_bound = diff.new.at_least && diff.new.makespan.is_some();
            let bound = if is_bound { "at least " } else { "" };
            let makespan = units::time_or_unknown(diff.new.makespan);
            format!("makespan {bound}{makespan}")
        }
        Some(Change { old: None, new, .. }) => {
            format!("a new plan; makespan {}", new.clone().unwrap_or_default())
        }
        Some(Change { new: None, .. }) => "the plan is gone".to_owned(),
        Some(change) => format!(
            "makespan {}{}",
            arrow(change),
            growth(diff.old.makespan, diff.new.makespan)
        ),
    }
}

/// By how many per cent a number grew or shrank: ` (+59 %)`.
pub(super) fn growth(old: Option<u64>, new: Option<u64>) -> String {
    let (Some(old @ 1..), Some(new)) = (old, new) else {
        return String::new();
    };
    let (old, new) = (i128::from(old), i128::from(new));
    let percent = ((new - old) * 200 + (new - old).signum() * old) / (2 * old);
    match percent {
        0 => String::new(),
        percent => format!(" ({percent:+} %)"),
    }
}

/// Ops that only one of the plans has.
fn added_and_removed(diff: &Diff) -> (usize, usize) {
    let is_op = |change: &&Change| change.fact.is_empty() && !change.subject.contains(' ');
    let ops = || diff.work.iter().filter(is_op);
    let added = ops().filter(|change| change.old.is_none()).count();
    (added, ops().count() - added)
}

/// The estimates to show, and how many of single ops are left out.
pub(super) fn estimates(diff: &Diff, full: bool) -> (Vec<Change>, usize) {
    let is_of_op = |change: &&Change| {
        let facts = [
            "time",
            "longer on the other side",
            "saves and adds",
            "flips",
        ];
        facts.contains(&change.fact.as_str())
    };
    let folded = diff
        .estimates
        .iter()
        .filter(|c| !full && is_of_op(c))
        .count();
    let shown = diff.estimates.iter().filter(|c| full || !is_of_op(c));
    (shown.cloned().collect(), folded)
}

fn rest(diff: &Diff, folded: usize) -> String {
    let (ops, transfers) = (diff.unchanged_ops.len(), diff.unchanged_transfers.len());
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let mut text = format!(
        "{}, {} unchanged",
        counted(ops, "op"),
        counted(transfers, "transfer")
    );
    if folded > 0 {
        text += &format!("; {} of single ops changed", counted(folded, "estimate"));
    }
    text + " (--full shows them)\n"
}

/// `old -> new` of a fact that both have, else the one there is.
pub(super) fn arrow(change: &Change) -> String {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => format!("{old} -> {new}"),
        (old, new) => old.as_ref().or(new.as_ref()).cloned().unwrap_or_default(),
    }
}

/// `+`, `-` or `~`.
pub(super) fn sign(change: &Change) -> char {
    match (&change.old, &change.new) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '~',
    }
}

struct Lines<'a> {
    out: &'a mut String,
    colour: Colour,
}

impl Lines<'_> {
    fn section(&mut self, name: &str) {
        let heading = format!("\n{}\n", self.colour.paint(style::HEADING, name));
        if !self.out.contains(&heading) {
            *self.out += &heading;
        }
    }

    fn line(&mut self, sign: char, text: &str) {
        let style = match sign {
            '+' => style::ADDED,
            '-' => style::REMOVED,
            _ => style::CHANGED,
        };
        *self.out += &format!("{}\n", self.colour.paint(style, &format!("{sign} {text}")));
    }

    /// Changes under their subjects, each with its causes where there are some.
    fn changes(&mut self, section: &str, changes: &[Change], causes: &[&[Cause]]) {
        if changes.is_empty() {
            return;
        }
        self.section(section);
        let mut at = 0;
        while let Some(first) = changes.get(at) {
            let own = changes[at..].iter();
            let count = own
                .take_while(|change| change.subject == first.subject)
                .count();
            match count {
                1 => self.line(sign(first), &one_line(first)),
                _ => self.line(subject_sign(&changes[at..at + count]), &first.subject),
            }
            for (position, change) in changes.iter().enumerate().skip(at).take(count) {
                if count > 1 {
                    *self.out += &format!("    {} {}\n", change.fact, arrow(change));
                }
                // What several have in common is said once, below the last of them.
                let own = causes.get(position).copied().unwrap_or_default();
                if causes.get(position + 1) != Some(&own) {
                    self.because(change, own);
                }
            }
            at += count;
        }
    }

    fn because(&mut self, change: &Change, causes: &[Cause]) {
        for cause in told(change, causes) {
            *self.out += &format!("        because {}\n", cause.text);
        }
    }
}

/// The causes of a change to tell: that something came or went says itself.
pub(super) fn told<'c>(change: &Change, causes: &'c [Cause]) -> &'c [Cause] {
    let is_one_sided = change.old.is_none() || change.new.is_none();
    let is_plain = |cause: &Cause| matches!(cause.kind, CauseKind::Added | CauseKind::Removed);
    let is_place = change.fact == "place" || change.subject.starts_with("stage ");
    match is_one_sided && is_place && causes.iter().all(is_plain) {
        true => &[],
        false => causes,
    }
}

/// `transform.logmel place gpu keeps_data_on_gpu -> cpu pinned_by_author`.
fn one_line(change: &Change) -> String {
    let words = [change.subject.clone(), change.fact.clone(), arrow(change)];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The sign of a subject: that of its changes where they are alike.
fn subject_sign(changes: &[Change]) -> char {
    let first = changes.first().map_or('~', sign);
    match changes.iter().all(|change| sign(change) == first) {
        true => first,
        false => '~',
    }
}
