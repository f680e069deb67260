//! Diffs as Markdown, for a comment on a pull request.

use super::text::{arrow, growth, sign, text, told};
use super::{Comparison, Decision, Diff, Heading};
use crate::render::{Colour, units};

/// A comment on GitHub has at most 65,536 characters; so many bytes leave room for what a caller
/// adds.
const MOST: usize = 60_000;

/// Of these, so many for each list of what failed, for the table, and for the decisions of a plan.
const MOST_FAILURES: usize = 8_000;
const MOST_ROWS: usize = 12_000;
const MOST_DECISIONS: usize = 8_000;

/// What changed in several plans: the totals and the changed decisions, the rest folded; before
/// them what failed. Empty where nothing changed and nothing failed; else it ends in a newline.
pub fn markdown(comparison: &Comparison) -> String {
    let Comparison { diffs, .. } = comparison;
    let changed: Vec<_> = diffs.iter().filter(|diff| !diff.is_empty()).collect();
    let failures = failures(comparison);
    if changed.is_empty() && failures.is_empty() {
        return String::new();
    }
    let count = changed.len();
    let all = diffs.len() + comparison.unplanned.len() + comparison.unplanned_before.len();
    let mut out = format!("### haul: {count} of {all} plans changed\n");
    out += &failures;
    if !changed.is_empty() {
        out += "\n| plan | makespan | price | decisions |\n| --- | --- | --- | --- |\n";
        let rows = changed.iter().map(|diff| row(diff));
        out += &listed(rows, MOST_ROWS, "| and {} more | | | |\n");
    }
    for (position, diff) in changed.iter().enumerate() {
        let left = changed.len() - position;
        let more = format!("\n{left} more plans changed: `haul diff` shows them.\n");
        let room = MOST.saturating_sub(out.len() + more.len());
        let (head, whole) = (decisions(diff), whole(diff));
        match () {
            () if head.len() + whole.len() <= room => out += &(head + &whole),
            () if head.len() <= room => out += &head,
            () => return out + &more,
        }
    }
    out
}

/// Lines within so many bytes, and how many more there are; `{}` in `more` stands for the number.
fn listed(lines: impl Iterator<Item = String>, most: usize, more: &str) -> String {
    let mut out = String::new();
    let mut left = 0;
    for line in lines {
        match left == 0 && out.len() + line.len() <= most {
            true => out += &line,
            false => left += 1,
        }
    }
    match left {
        0 => out,
        left => out + &more.replace("{}", &left.to_string()),
    }
}

fn failures(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (title, failures) in [
        ("No plan", &comparison.unplanned),
        ("No plan before", &comparison.unplanned_before),
        ("Policies failed", &comparison.failed),
    ] {
        if !failures.is_empty() {
            out += &format!("\n**{title}**\n\n");
            let lines = failures.iter().map(|text| format!("- {}\n", code(text)));
            out += &listed(lines, MOST_FAILURES, "- and {} more\n");
        }
    }
    out
}

fn row(diff: &Diff) -> String {
    let makespan = total(diff, |plan| plan.makespan, units::time);
    let price = total(diff, |plan| plan.nano_usd, units::usd);
    let decisions = diff.decisions.len();
    format!("| {} | {makespan} | {price} | {decisions} |\n", name(diff))
}

fn name(diff: &Diff) -> String {
    let text = format!("{} on {}", diff.new.pipeline, diff.new.target);
    code(&text).replace('|', "\\|")
}

fn total(diff: &Diff, of: fn(&Heading) -> Option<u64>, print: fn(u64) -> String) -> String {
    let known = |plan: &Heading| match of(plan) {
        None => "unknown".to_owned(),
        Some(total) if plan.at_least => format!("at least {}", print(total)),
        Some(total) => print(total),
    };
    let (old, new) = (&diff.old, &diff.new);
    match (known(old), known(new)) {
        (_, is) if old.ops == 0 => format!("new: {is}"),
        (was, _) if new.ops == 0 => format!("gone: {was}"),
        (was, is) if was == is => is,
        (was, is) => format!("{was} → {is}{}", growth(of(old), of(new))),
    }
}

/// What was decided otherwise in a plan.
fn decisions(diff: &Diff) -> String {
    let renamed = diff.renamed.iter().map(|renamed| {
        let guess = if renamed.guessed { " (a guess)" } else { "" };
        let (old, new) = (code(&renamed.old), code(&renamed.new));
        format!("- renamed {}{old} → {new}{guess}\n", renamed.word())
    });
    let lines = renamed.chain(diff.decisions.iter().map(decision));
    let mut list = listed(lines, MOST_DECISIONS, "- and {} more\n");
    if list.is_empty() {
        list = "No decision changed.\n".to_owned();
    }
    format!("\n#### {}\n\n{list}", name(diff))
}

/// All of a diff, folded.
fn whole(diff: &Diff) -> String {
    let whole = text(diff, Colour::Plain, false);
    let fence = "`".repeat(longest_run(&whole).max(2) + 1);
    let (work, estimates) = (diff.work.len(), diff.estimates.len());
    format!(
        "\n<details><summary>Everything: work ({work} changes), decisions, estimates ({estimates} \
         changes)</summary>\n\n{fence}diff\n{whole}{fence}\n\n</details>\n"
    )
}

fn decision(decision: &Decision) -> String {
    let change = &decision.change;
    let (subject, changed) = (code(&change.subject), code(&arrow(change)));
    let causes = told(change, &decision.causes).iter();
    let causes: Vec<_> = causes.map(|cause| plain(&cause.text)).collect();
    let because = match causes.is_empty() {
        true => String::new(),
        false => format!(" — {}", causes.join("; ")),
    };
    format!(
        "- {} {subject} {}: {changed}{because}\n",
        sign(change),
        change.fact
    )
}

/// A text that is shown as it is.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{}{space}{fence}", text.replace('\n', " "))
}

/// A sentence of ours, in which names stand in backticks: what else Markdown or HTML would take for
/// its own is escaped.
fn plain(text: &str) -> String {
    let part = |(position, part): (usize, &str)| match position % 2 {
        0 => escaped(part),
        _ => part.to_owned(),
    };
    let parts: Vec<_> = text.split('`').enumerate().map(part).collect();
    parts.join("`")
}

fn escaped(text: &str) -> String {
    let special = |c: char| "<>&*_[]|\\#@~".contains(c);
    let escape = |c: char| [special(c).then_some('\\'), Some(c)];
    text.chars().flat_map(escape).flatten().collect()
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}
