//! A trace in the Trace Event Format of Chrome, which Perfetto opens: a lane for each thread with
//! the tasks that it ran, and one for each stage that waited.

use std::collections::BTreeSet;

use haul_compiler::measured::timeline::{TaskSpan, Timeline, WaitSpan};
use haul_ir::cost::Nanos;
use haul_ir::id::{Id, StageId};
use haul_ir::plan::Plan;
use serde_json::{Value, json};

/// The group of lanes of threads.
const WORKERS: u32 = 1;
/// The group of lanes of stages that wait.
const WAITING: u32 = 2;

/// A timeline as a trace, its spans by their start.
pub(super) fn trace(plan: &Plan, timeline: &Timeline) -> String {
    let names = Names(plan);
    let tasks = timeline
        .tasks
        .iter()
        .map(|task| (task.start, names.task(task)));
    let waits = timeline
        .waits
        .iter()
        .map(|wait| (wait.start, names.wait(wait)));
    let mut spans: Vec<_> = tasks.chain(waits).collect();
    spans.sort_by_key(|(start, _)| *start);
    let mut events = names.lanes(timeline);
    events.extend(spans.into_iter().map(|(_, span)| span));
    let left_out = json!({ "tasks left out": timeline.left_out });
    json!({ "displayTimeUnit": "ms", "otherData": left_out, "traceEvents": events }).to_string()
        + "\n"
}

/// The plan, for the names in it.
struct Names<'a>(&'a Plan);

impl Names<'_> {
    /// What the lanes are called.
    fn lanes(&self, timeline: &Timeline) -> Vec<Value> {
        let workers: BTreeSet<_> = timeline.tasks.iter().map(|task| task.worker).collect();
        let stages: BTreeSet<_> = timeline.waits.iter().map(|wait| wait.stage).collect();
        let mut events = vec![
            named("process_name", WORKERS, 0, "workers"),
            named("process_name", WAITING, 0, "waiting"),
        ];
        let workers = workers.into_iter();
        events.extend(workers.map(|id| named("thread_name", WORKERS, id, &format!("worker {id}"))));
        let stages = stages.into_iter();
        events.extend(stages.map(|id| named("thread_name", WAITING, id.index(), self.stage(id))));
        events
    }

    fn task(&self, task: &TaskSpan) -> Value {
        json!({
            "ph": "X", "name": self.stage(task.stage), "cat": "task", "pid": WORKERS,
            "tid": task.worker, "ts": micros(task.start), "dur": micros(task.time),
            "args": { "item": task.item, "peak_memory": task.peak_memory, "stolen_from": task.stolen_from },
        })
    }

    fn wait(&self, wait: &WaitSpan) -> Value {
        let behind: Vec<_> = wait.behind.iter().map(|stage| self.stage(*stage)).collect();
        json!({
            "ph": "X", "name": format!("{} waits for {}", self.stage(wait.stage), wait.lacks),
            "cat": "wait", "pid": WAITING, "tid": wait.stage.index(), "ts": micros(wait.start),
            "dur": micros(wait.time), "args": { "behind": behind },
        })
    }

    fn stage(&self, stage: StageId) -> &str {
        &self.0.typed.graph().stages[stage].name
    }
}

/// The event that names a lane, or a group of them.
fn named(what: &str, pid: u32, tid: usize, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name } })
}

/// Microseconds, the unit of the format.
fn micros(nanos: Nanos) -> f64 {
    nanos as f64 / 1000.0
}
