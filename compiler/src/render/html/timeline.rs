//! The simulated run, with a row for the CPUs and for each GPU of each machine, and the run that was
//! measured, with a row for each thread.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use haul_ir::id::NodeId;
use haul_ir::plan::{Batch, Plan};

use super::chart::{Bar, Row, chart};
use crate::measured::{Measured, MeasuredTask};
use crate::render::{names, units};

/// Most batches, and most tasks, that are drawn.
const MAX_BARS: usize = 2_000;

/// The simulated run as a chart, or a sentence where there is nothing to draw.
pub(super) fn timeline(plan: &Plan) -> String {
    let batches = &plan.timeline[..plan.timeline.len().min(MAX_BARS)];
    let end = batches.iter().map(|batch| batch.end).max().unwrap_or(0);
    if end == 0 {
        return "<p>The simulated run has no time to show.</p>\n".to_owned();
    }
    let rows = rows(plan, batches).into_iter();
    let rows: Vec<_> = rows.map(|(key, row)| (name(plan, key), row)).collect();
    chart(&rows, end, "Timeline") + &left_out(batches.len(), plan.timeline.len(), "batches")
}

/// The run that was measured as a section with a chart; nothing where there was none.
pub(super) fn measured(plan: &Plan, measured: Option<&Measured>) -> String {
    let Some(measured) = measured else {
        return String::new();
    };
    let shown = &measured.tasks[..measured.tasks.len().min(MAX_BARS)];
    let end = shown.iter().map(MeasuredTask::end).max().unwrap_or(0);
    let chart = match end {
        0 => "<p>The run has no time to show.</p>\n".to_owned(),
        _ => chart(&workers(plan, shown), end, "Timeline of the run"),
    };
    let all = measured.tasks.len() + usize::try_from(measured.tasks_left_out).unwrap_or(usize::MAX);
    let left_out = left_out(shown.len(), all, "tasks");
    format!(
        "<section aria-labelledby=\"run-title\">\n<h2 id=\"run-title\">Timeline of the run, measured</h2>\n\
         <div class=\"scroll\">\n{chart}{left_out}</div>\n</section>\n"
    )
}

fn left_out(shown: usize, all: usize, what: &str) -> String {
    match shown < all {
        true => format!("<p>The first {shown} of {all} {what}.</p>\n"),
        false => String::new(),
    }
}

/// A machine's CPUs, or one of its GPUs.
type Device = (NodeId, usize, Option<usize>);

/// A batch that holds GPUs is in their rows, else in that of the CPUs.
fn rows<'p>(plan: &'p Plan, batches: &[Batch]) -> BTreeMap<Device, Row<'p>> {
    let mut rows: BTreeMap<Device, Row<'_>> = BTreeMap::new();
    for batch in batches {
        let mut devices: Vec<_> = batch.gpus.iter().copied().map(Some).collect();
        if devices.is_empty() {
            devices.push(None);
        }
        for device in devices {
            let row = rows.entry((batch.node, batch.machine, device)).or_default();
            row.add(of_batch(plan, batch));
        }
    }
    rows
}

fn of_batch<'p>(plan: &'p Plan, batch: &Batch) -> Bar<'p> {
    let name = &plan.typed.graph().stages[batch.stage].name;
    let tasks = match batch.tasks {
        1 => "1 task".to_owned(),
        n => format!("{n} tasks"),
    };
    let (from, to) = (units::time(batch.start), units::time(batch.end));
    Bar {
        stage: batch.stage,
        class: if batch.gpus.is_empty() { "cpu" } else { "gpu" },
        words: vec![
            Cow::Owned(format!("{name} × {}", batch.tasks)),
            Cow::Borrowed(name),
        ],
        label: format!("{name}, {tasks}, from {from} to {to}"),
        start: batch.start,
        end: batch.end,
    }
}

/// A row for each thread, with the tasks of stages that the plan has.
fn workers<'m>(plan: &Plan, tasks: &'m [MeasuredTask]) -> Vec<(String, Row<'m>)> {
    let stages = plan.typed.graph().stages.entries();
    let ids: HashMap<_, _> = stages.map(|(id, stage)| (&*stage.name, id)).collect();
    let mut tasks: Vec<_> = tasks.iter().collect();
    tasks.sort_by_key(|task| task.start);
    let mut rows: BTreeMap<usize, Row<'_>> = BTreeMap::new();
    for task in tasks {
        let Some(stage) = ids.get(&*task.stage) else {
            continue;
        };
        let (from, to) = (units::time(task.start), units::time(task.end()));
        let item = task.item.as_ref();
        let item = item.map_or_else(String::new, |item| format!(", {item}"));
        rows.entry(task.worker).or_default().add(Bar {
            stage: *stage,
            class: "cpu",
            words: vec![Cow::Borrowed(&*task.stage)],
            label: format!("{}{item}, from {from} to {to}", task.stage),
            start: task.start,
            end: task.end(),
        });
    }
    let rows = rows.into_iter();
    rows.map(|(worker, row)| (format!("worker {worker}"), row))
        .collect()
}

/// `node 0, gpu 1`; the machine is left out where there is one of its kind.
fn name(plan: &Plan, (node, machine, gpu): Device) -> String {
    let kind = &plan.target.nodes[node];
    let machine = match kind.count {
        1 => String::new(),
        _ => format!(" {machine}"),
    };
    let device = gpu.map_or_else(|| "cpus".to_owned(), |gpu| format!("gpu {gpu}"));
    let name: String = names::on_one_line(&kind.name).chars().take(12).collect();
    format!("{name}{machine}, {device}")
}
