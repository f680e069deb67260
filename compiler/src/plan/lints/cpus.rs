//! More CPUs than the work can use, and fewer than it would.

use haul_ir::diagnostic::Diagnostic;

use super::gpus::faster_gpu;
use super::what_if::Saved;
use super::{Lints, WORTH_SAYING, advice, whole_nanos, with_saving};
use crate::diagnostics::codes::{FEW_CPUS, IDLE_CPUS};
use crate::place::divide;
use crate::plan::choice::{Choice, finish, machine};
use crate::plan::edits::set;
use crate::render::units::time;

/// CPU time of idle CPUs that is worth a word: 1 s.
const IDLE_WORTH_SAYING: u64 = 1_000_000_000;

/// With three quarters of the CPUs or fewer each task takes at most 3 % longer.
pub(super) fn idle(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let (asked, now) = (choice.asked.cpus, choice.division.time?);
    if lints.held(choice, asked, 1) < IDLE_WORTH_SAYING {
        return None;
    }
    let suffice = |cpus: u32| {
        let then = task_time(lints, choice, cpus).map(u128::from);
        then.is_some_and(|then| then * 100 <= u128::from(now) * 103)
    };
    let enough = smallest(asked, suffice);
    if !is_far_fewer(enough, asked) {
        return None;
    }
    let held = lints.held(choice, asked - enough, 1);
    if held < IDLE_WORTH_SAYING {
        return None;
    }
    let then = task_time(lints, choice, enough)?;
    let message = format!(
        "a task of `{}` takes {} with {asked} cpus, and {} with {}",
        lints.name(choice.graph.stage),
        time(now),
        time(then),
        count(enough)
    );
    let saving = lints.saving(choice, lints.with_cpus(choice, enough));
    let frees = format!("{} of CPU time", time(held));
    let help = advice(format!("write `cpus: {enough}`"), saving, &frees);
    let diagnostic = Diagnostic::warning(IDLE_CPUS, lints.span(choice), message)
        .at("more cpus than it can use")
        .help(help);
    Some(change(
        lints,
        choice,
        with_saving(diagnostic, saving),
        enough,
    ))
}

/// With more CPUs all its tasks would be done a quarter sooner or more, and the run sooner too.
pub(super) fn missing(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    let now = choice.finish?;
    let requests = &lints.context.typed.graph().stages[choice.graph.stage].requests;
    // Alternatives are for several targets.
    if now < WORTH_SAYING || requests.len() > 1 || faster_gpu(lints, choice).is_some() {
        return None;
    }
    let asked = choice.asked.cpus;
    let all = lints.context.target.nodes[choice.home.node].cpus;
    let doubled = std::iter::successors(asked.checked_mul(2), |cpus| cpus.checked_mul(2));
    let more = doubled.take_while(|cpus| *cpus < all).chain([all]);
    let more = more.filter(|cpus| *cpus > asked);
    let finishes = more.filter_map(|cpus| Some((cpus, finish_with(lints, choice, cpus)?)));
    let finishes: Vec<_> = finishes.collect();
    let best = finishes.iter().map(|(_, finish)| *finish).min()?;
    let is_best = |finish: u128| finish.saturating_mul(100) <= best.saturating_mul(103);
    let (most, _) = finishes.into_iter().find(|(_, finish)| is_best(*finish))?;
    let enough = smallest(most, |cpus| {
        finish_with(lints, choice, cpus).is_some_and(is_best)
    });
    let cpus = if is_far_fewer(enough, most) {
        enough
    } else {
        most
    };
    let then = finish_with(lints, choice, cpus)?;
    let saved = now.saturating_sub(then);
    if saved < WORTH_SAYING || saved * 4 < now {
        return None;
    }
    let saving = lints.saving(choice, lints.with_cpus(choice, cpus));
    let is_noticed = match saving {
        Saved::Known(saving) => is_noticeable(lints, saving.time),
        Saved::Unknown => true,
        Saved::NotTried => false,
    };
    if !is_noticed {
        return None;
    }
    let message = format!(
        "`{}` would take {} with {cpus} cpus and takes {} with {}",
        lints.name(choice.graph.stage),
        time(whole_nanos(then)),
        time(whole_nanos(now)),
        count(asked)
    );
    let diagnostic = Diagnostic::warning(FEW_CPUS, lints.span(choice), message)
        .at("fewer cpus than it could use")
        .help(format!("write `cpus: {cpus}`"));
    Some(change(lints, choice, with_saving(diagnostic, saving), cpus))
}

/// Whether the run gets shorter by 0.1 s and by 3 %.
fn is_noticeable(lints: &Lints<'_>, saved: i64) -> bool {
    let saved = u128::try_from(saved).unwrap_or(0);
    let makespan = lints.estimated.estimates.makespan.unwrap_or(0);
    saved >= WORTH_SAYING && saved * 100 >= u128::from(makespan) * 3
}

/// The time of a task of a stage with a number of CPUs where it runs now.
fn task_time(lints: &Lints<'_>, choice: &Choice, cpus: u32) -> Option<u64> {
    let request = lints.with_cpus(choice, cpus);
    let machine = machine(lints.context, &request, choice.home);
    let context = lints.context;
    let division = divide(context.typed, &choice.graph, machine, &context.sizes).ok()?;
    division.time
}

/// When all tasks of a stage would be done with a number of CPUs for each, where it runs now.
fn finish_with(lints: &Lints<'_>, choice: &Choice, cpus: u32) -> Option<u128> {
    let request = lints.with_cpus(choice, cpus);
    let context = lints.context;
    let machine = machine(context, &request, choice.home);
    if request.memory > machine.node.memory {
        return None;
    }
    let division = divide(context.typed, &choice.graph, machine, &context.sizes).ok()?;
    // A GPU that idles instead of the CPUs is no way out.
    let uses_gpu = division.uses_gpu() == choice.division.uses_gpu();
    uses_gpu.then(|| finish(context, &division, &choice.graph.tasks, machine))?
}

/// Whether a number of CPUs is three quarters of another one or less.
fn is_far_fewer(few: u32, many: u32) -> bool {
    u64::from(few) * 4 <= u64::from(many) * 3
}

/// The smallest number up to `most` that suffices, where more suffice if fewer do.
fn smallest(most: u32, suffices: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = low + (high - low) / 2;
        match suffices(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

fn change(lints: &Lints<'_>, choice: &Choice, diagnostic: Diagnostic, cpus: u32) -> Diagnostic {
    let fields = lints.fields(choice);
    let at = fields.and_then(|fields| fields.own.cpus);
    set(diagnostic, "cpus", at, &cpus.to_string(), fields)
}

fn count(cpus: u32) -> String {
    match cpus {
        1 => "1 cpu".to_owned(),
        _ => format!("{cpus} cpus"),
    }
}
