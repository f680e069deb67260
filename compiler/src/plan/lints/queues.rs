//! Tasks that queue for GPUs.

use std::cmp::Reverse;

use haul_ir::diagnostic::Diagnostic;

use super::what_if::Saved;
use super::without_gpu::{WithoutGpu, without_gpu};
use super::{Lints, WORTH_SAYING, with_saving};
use crate::diagnostics::codes::SOONER_ON_CPUS;
use crate::plan::choice::Choice;
use crate::render::units::time;

/// So many stages are named; where more would have to change, that is no edit but another plan.
const MOST_CHANGED: usize = 8;

/// Tasks queue for GPUs so long that the run would end sooner without. Told at the stage that
/// keeps them busy the longest, of those that may be on CPUs.
pub(super) fn sooner_on_cpus(lints: &Lints<'_>) -> Option<Diagnostic> {
    let planned = lints.estimated.estimates.makespan?;
    let on_gpu = lints.choices.iter().filter(|c| c.division.uses_gpu());
    let on_gpu: Vec<&Choice> = on_gpu.collect();
    let waiting = on_gpu.iter().copied().filter(|choice| {
        let queueing = lints.estimated.queueing[choice.graph.stage];
        queueing > Some(0)
    });
    // Of equals, `min_by_key` takes the first.
    let waiting = waiting.min_by_key(|choice| Reverse(choice.finish))?;
    let all_on_cpu = lints.estimated.estimates.all_on_cpu;
    if all_on_cpu.is_some_and(|then| !is_worth_saying(planned, then)) {
        return None;
    }
    let changed = on_gpu.iter().filter_map(|choice| {
        let without = without_gpu(lints, choice)?;
        (!without.choice.division.uses_gpu()).then_some((*choice, without))
    });
    let changed: Vec<(&Choice, WithoutGpu)> = changed.collect();
    let (busiest, _) = changed
        .iter()
        .min_by_key(|(choice, _)| Reverse(choice.finish))?;
    let after: Vec<&Choice> = changed.iter().map(|(_, without)| &without.choice).collect();
    let saving = lints.what_if.saving_of_all(&after);
    let then = match saving {
        Saved::Known(saving) => planned.checked_sub(u64::try_from(saving.time).ok()?)?,
        Saved::Unknown | Saved::NotTried => all_on_cpu?,
    };
    if !is_worth_saying(planned, then) {
        return None;
    }
    let which = match changed.len() == on_gpu.len() {
        true => "every op",
        false => "every op that may be there",
    };
    let message = format!(
        "the run takes {}, and {} with {which} on CPUs: tasks of `{}` wait for GPUs",
        time(planned),
        time(then),
        lints.name(waiting.graph.stage)
    );
    let diagnostic = Diagnostic::warning(SOONER_ON_CPUS, lints.span(busiest), message)
        .at("the GPUs are busy here")
        .help(help(lints, &changed));
    let has_edit = |(_, without): &(&Choice, WithoutGpu)| !without.edits.is_empty();
    let is_edit = changed.len() <= MOST_CHANGED && changed.iter().all(has_edit);
    let edits = changed.iter().filter(|_| is_edit);
    let diagnostic = edits.fold(diagnostic, |diagnostic, (_, without)| {
        without.fix(diagnostic)
    });
    Some(with_saving(diagnostic, saving))
}

fn is_worth_saying(planned: u64, then: u64) -> bool {
    u128::from(planned.saturating_sub(then)) >= WORTH_SAYING
}

fn help(lints: &Lints<'_>, changed: &[(&Choice, WithoutGpu)]) -> String {
    let else_ways = "let `any_of` choose, or use a share of a GPU for each task";
    let names = changed
        .iter()
        .map(|(choice, _)| lints.name(choice.graph.stage));
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.len() > MOST_CHANGED {
        let more = names.split_off(MOST_CHANGED).len();
        names.push(format!("{more} more"));
    }
    match names.pop() {
        Some(last) if !names.is_empty() => {
            let first = names.join(", ");
            format!("request CPUs in {first} and {last}, {else_ways}")
        }
        _ => format!("request CPUs, {else_ways}"),
    }
}
