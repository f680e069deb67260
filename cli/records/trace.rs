//! A trace in the Trace Event Format of Chrome, which Perfetto opens: a lane for each thread with
//! the tasks that it ran, and one for each stage that waited.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use haul_executor::{Event, Observer};
use haul_ir::cost::Nanos;
use haul_ir::id::{Id, StageId};
use haul_ir::plan::Plan;
use serde_json::{Value, json};

/// The group of lanes of threads.
const WORKERS: u32 = 1;
/// The group of lanes of stages that wait.
const WAITING: u32 = 2;

pub(super) struct Trace<'a> {
    plan: &'a Plan,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spans: Vec<Span>,
    /// Since when a stage waits, for what, and behind which others.
    waiting: BTreeMap<StageId, (Nanos, &'static str, Vec<StageId>)>,
    /// Whom the task that a worker runs was taken from.
    stolen_from: BTreeMap<usize, usize>,
    /// When the last event was.
    last: Nanos,
}

struct Span {
    stage: StageId,
    start: Nanos,
    time: Nanos,
    what: What,
}

enum What {
    Task {
        worker: usize,
        stolen_from: Option<usize>,
        item: Option<String>,
        peak_memory: u64,
    },
    Wait {
        lacks: &'static str,
        behind: Vec<StageId>,
    },
}

impl<'a> Trace<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            state: Mutex::default(),
        }
    }

    /// The trace, its spans by their start. What still waits does so to the end.
    pub(super) fn json(&self) -> String {
        let mut state = self.state();
        let waiting: Vec<_> = state.waiting.keys().copied().collect();
        let last = state.last;
        waiting.iter().for_each(|stage| state.started(last, *stage));
        state.spans.sort_by_key(|span| span.start);
        let mut events = self.lanes(&state.spans);
        events.extend(state.spans.iter().map(|span| self.span(span)));
        json!({ "displayTimeUnit": "ms", "traceEvents": events }).to_string() + "\n"
    }

    /// What the lanes are called.
    fn lanes(&self, spans: &[Span]) -> Vec<Value> {
        let name = |what: &str, pid: u32, tid: usize, name: &str| json!({ "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name } });
        let lanes: BTreeSet<_> = spans
            .iter()
            .map(|span| (span.lane(), span.stage_of_lane()))
            .collect();
        let mut events = vec![
            name("process_name", WORKERS, 0, "workers"),
            name("process_name", WAITING, 0, "waiting"),
        ];
        events.extend(lanes.into_iter().map(|((pid, tid), stage)| {
            let lane = stage.map_or_else(|| format!("worker {tid}"), |id| self.name(id).to_owned());
            name("thread_name", pid, tid, &lane)
        }));
        events
    }

    fn span(&self, span: &Span) -> Value {
        let stage = self.name(span.stage);
        let (name, category, args) = match &span.what {
            What::Task {
                stolen_from,
                item,
                peak_memory,
                ..
            } => {
                let args = json!({
                    "item": item, "peak_memory": peak_memory, "stolen_from": stolen_from,
                });
                (stage.to_owned(), "task", args)
            }
            What::Wait { lacks, behind } => {
                let behind: Vec<_> = behind.iter().map(|stage| self.name(*stage)).collect();
                let name = format!("{stage} waits for {lacks}");
                (name, "wait", json!({ "behind": behind }))
            }
        };
        let (pid, tid) = span.lane();
        json!({
            "ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid,
            "ts": micros(span.start), "dur": micros(span.time), "args": args,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, stage: StageId) -> &str {
        &self.plan.typed.graph().stages[stage].name
    }
}

impl Span {
    /// Its group of lanes, and which of them.
    fn lane(&self) -> (u32, usize) {
        match self.what {
            What::Task { worker, .. } => (WORKERS, worker),
            What::Wait { .. } => (WAITING, self.stage.index()),
        }
    }

    /// The stage whose lane it is in, where it is one of a stage.
    fn stage_of_lane(&self) -> Option<StageId> {
        matches!(self.what, What::Wait { .. }).then_some(self.stage)
    }
}

impl State {
    /// Ends the wait of a stage.
    fn started(&mut self, at: Nanos, stage: StageId) {
        let Some((start, lacks, behind)) = self.waiting.remove(&stage) else {
            return;
        };
        self.spans.push(Span {
            stage,
            start,
            time: at.saturating_sub(start),
            what: What::Wait { lacks, behind },
        });
    }
}

impl Observer for Trace<'_> {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        let mut state = self.state();
        state.last = state.last.max(at);
        match *event {
            Event::Waiting {
                stage,
                lacks,
                behind,
            } => {
                let behind = behind.to_vec();
                state.waiting.insert(stage, (at, lacks, behind));
            }
            Event::Started {
                stage,
                worker,
                stolen_from,
                ..
            } => {
                state.started(at, stage);
                if let Some(from) = stolen_from {
                    state.stolen_from.insert(worker, from);
                }
            }
            Event::Finished {
                stage,
                item,
                worker,
                start,
                time,
                peak_memory,
            } => {
                let stolen_from = state.stolen_from.remove(&worker);
                state.spans.push(Span {
                    stage,
                    start,
                    time,
                    what: What::Task {
                        worker,
                        stolen_from,
                        item: item.map(str::to_owned),
                        peak_memory,
                    },
                });
            }
            Event::Tasks { .. } | Event::Bound { .. } | Event::Written { .. } => {}
        }
    }
}

/// Microseconds, the unit of the format.
fn micros(nanos: Nanos) -> f64 {
    nanos as f64 / 1000.0
}
