//! Diffs as Markdown, for a comment on a pull request.

use super::text::{arrow, growth, sign, text, told};
use super::{Comparison, Decision, Diff};
use crate::render::{Colour, units};

/// A comment on GitHub has at most 65,536 characters; below that, with room for what a caller adds.
const MOST: usize = 60_000;

/// What changed in several plans: the totals and the changed decisions, the rest folded; before
/// them what failed. Empty where nothing changed and nothing failed; else it ends in a newline.
pub fn markdown(comparison: &Comparison) -> String {
    let Comparison { diffs, .. } = comparison;
    let changed: Vec<_> = diffs.iter().filter(|diff| !diff.is_empty()).collect();
    let failures = failures(comparison);
    if changed.is_empty() && failures.is_empty() {
        return String::new();
    }
    let (count, all) = (changed.len(), diffs.len() + comparison.unplanned.len());
    let mut out = format!("### haul: {count} of {all} plans changed\n");
    out += &failures;
    if !changed.is_empty() {
        out += "\n| plan | makespan | price | decisions |\n| --- | --- | --- | --- |\n";
        out.extend(changed.iter().map(|diff| row(diff)));
    }
    for (position, diff) in changed.iter().enumerate() {
        let section = section(diff);
        if out.len() + section.len() > MOST {
            let left = changed.len() - position;
            out += &format!("\n{left} more changed; `haul diff` shows them.\n");
            break;
        }
        out += &section;
    }
    out
}

fn failures(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (title, failures) in [
        ("No plan", &comparison.unplanned),
        ("Policies failed", &comparison.failed),
    ] {
        if !failures.is_empty() {
            out += &format!("\n**{title}**\n\n");
            out.extend(failures.iter().map(|text| format!("- {}\n", code(text))));
        }
    }
    out
}

fn row(diff: &Diff) -> String {
    let (old, new) = (&diff.old, &diff.new);
    let makespan = total(old.makespan, new.makespan, units::time);
    let price = total(old.nano_usd, new.nano_usd, units::usd);
    let decisions = diff.decisions.len();
    format!("| {} | {makespan} | {price} | {decisions} |\n", name(diff))
}

fn name(diff: &Diff) -> String {
    let text = format!("{} on {}", diff.new.pipeline, diff.new.target);
    code(&text).replace('|', "\\|")
}

fn total(old: Option<u64>, new: Option<u64>, print: fn(u64) -> String) -> String {
    let known = |total: Option<u64>| total.map_or_else(|| "unknown".to_owned(), print);
    let (was, is) = (known(old), known(new));
    match was == is {
        true => is,
        false => format!("{was} → {is}{}", growth(old, new)),
    }
}

fn section(diff: &Diff) -> String {
    let mut out = format!("\n#### {}\n\n", name(diff));
    for renamed in &diff.renamed {
        let guess = if renamed.guessed { " (a guess)" } else { "" };
        out += &format!(
            "- renamed {} → {}{guess}\n",
            code(&renamed.old),
            code(&renamed.new)
        );
    }
    out.extend(diff.decisions.iter().map(decision));
    if diff.renamed.is_empty() && diff.decisions.is_empty() {
        out += "No decision changed.\n";
    }
    let whole = text(diff, Colour::Plain, false);
    let fence = "`".repeat(longest_run(&whole).max(2) + 1);
    let (work, estimates) = (diff.work.len(), diff.estimates.len());
    out + &format!(
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
