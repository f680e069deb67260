//! Tasks so small that starting them takes longer than what they do.

use haul_ir::cost::Nanos;
use haul_ir::diagnostic::Diagnostic;
use haul_ir::graph::{Producer, Source};
use haul_ir::id::{CollectionId, Id, StageId};

use super::what_if::Saved;
use super::{Lints, WORTH_SAYING, advice, whole_nanos, with_saving};
use crate::diagnostics::codes::SMALL_TASKS;
use crate::feasibility::slots;
use crate::plan::choice::Choice;
use crate::render::units::time;
use crate::simulate::Tasks;

/// What starting a task is taken to cost: 100 us. A choice, not a measurement: from about 10 us
/// on one machine to milliseconds on an engine of many.
const DISPATCH: Nanos = 100_000;

/// One warning for each collection over which tasks run that are done before the next one starts,
/// at the first stage of such.
pub(super) fn small_tasks(lints: &Lints<'_>) -> Vec<Diagnostic> {
    let mut told = vec![false; lints.context.typed.graph().collections.len()];
    let mut warnings = Vec::new();
    for choice in lints.choices.iter() {
        let Some(each) = lints.context.typed.graph().stages[choice.graph.stage].each else {
            continue;
        };
        if !told[each.index()] && is_small(lints, choice) {
            told[each.index()] = true;
            warnings.extend(small(lints, choice, each));
        }
    }
    warnings
}

/// Whether a task is shorter than its start, and all starts together are worth a word.
fn is_small(lints: &Lints<'_>, choice: &Choice) -> bool {
    let starts = u128::from(lints.tasks(choice)) * u128::from(DISPATCH);
    let is_short = choice.division.time.is_some_and(|time| time < DISPATCH);
    is_short && starts >= WORTH_SAYING
}

fn small(lints: &Lints<'_>, choice: &Choice, each: CollectionId) -> Option<Diagnostic> {
    let graph = lints.context.typed.graph();
    let (count, task) = (lints.tasks(choice), choice.division.time?);
    let stage = choice.graph.stage;
    let message = format!(
        "`{}` is {count} tasks of {} each, and starting one takes about {}",
        lints.name(stage),
        time(task),
        time(DISPATCH)
    );
    let collection = &graph.collections[each];
    // So many items that its start is a tenth of a task, and still tasks for all.
    let machine = choice.machine(lints.context);
    let vram = choice.division.vram(machine);
    let slots = slots(&choice.asked, machine.node, machine.gpu, vram).max(1);
    let items = (DISPATCH * 10)
        .div_ceil(task.max(1))
        .min(count.div_ceil(slots));
    let (help, starts, (saving, makespan)) = match &graph.inputs[collection.input].source {
        Source::Split { .. } if items < 2 || count / slots < 2 => return None,
        Source::Split { size, .. } => (
            format!(
                "cut `{}` into larger slices, such as `size: {}`, where the formula allows it",
                collection.name,
                size.saturating_mul(items)
            ),
            count - count.div_ceil(items),
            lints.what_if.saving_of(start_all, |tasks| {
                for (stage, tasks) in graph.stages.iter().zip(tasks.iter_mut()) {
                    if stage.each == Some(each) {
                        tasks.count = tasks.count.div_ceil(items);
                        tasks.time = tasks.time.saturating_mul(items);
                    }
                }
                start_all(tasks);
            }),
        ),
        _ => (
            fused(lints, stage, &collection.name),
            count,
            lints.what_if.saving_of(start_all, |tasks| {
                start_all(tasks);
                tasks[stage.index()].time = task;
            }),
        ),
    };
    let help = match saving {
        Saved::Known(saving) if saving.time > 0 => format!(
            "{help}: with {} a start the run takes {}, of which this saves",
            time(DISPATCH),
            time(makespan)
        ),
        _ => {
            let starts = u128::from(starts) * u128::from(DISPATCH);
            let starts = starts.saturating_mul(choice.asked.cpus.into());
            advice(
                help,
                saving,
                &format!("{} of CPU time", time(whole_nanos(starts))),
            )
        }
    };
    let diagnostic = Diagnostic::warning(SMALL_TASKS, lints.span(choice), message)
        .at("most of its time is dispatch")
        .help(help);
    Some(with_saving(diagnostic, saving))
}

/// Counts the start of every task.
fn start_all(tasks: &mut [Tasks]) {
    for tasks in tasks {
        tasks.time = tasks.time.saturating_add(DISPATCH);
    }
}

/// What to do about tasks over files.
fn fused(lints: &Lints<'_>, stage: StageId, collection: &str) -> String {
    let graph = lints.context.typed.graph();
    let groups = lints.choices[stage].graph.groups.iter();
    let read = groups.flat_map(|group| &lints.context.usage.reads[*group]);
    let makers = read.filter_map(|value| match graph.values[*value].producer {
        Producer::Op(op) => Some(graph.ops[op].stage),
        Producer::Input(_) => None,
    });
    let is_next =
        |maker: &StageId| *maker != stage && graph.stages[*maker].each == graph.stages[stage].each;
    match makers.into_iter().find(is_next) {
        Some(maker) => format!(
            "compute it in `{}`, which runs over the same items, or put several items of \
             `{collection}` in a file",
            lints.name(maker)
        ),
        None => format!("put several items of `{collection}` in a file"),
    }
}
