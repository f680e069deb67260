//! Gathers when tasks run and stages wait.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use haul_compiler::measured::timeline::{TaskSpan, Timeline};
use haul_executor::{Event, Observer};
use haul_ir::cost::Nanos;
use haul_ir::plan::Plan;

pub(super) struct Recorder(Mutex<State>);

struct State {
    timeline: Timeline,
    /// Whom the task that a worker runs was taken from.
    stolen_from: HashMap<usize, usize>,
    /// When the last event was.
    last: Nanos,
}

impl Recorder {
    pub(super) fn new(plan: &Plan) -> Self {
        Self(Mutex::new(State {
            timeline: Timeline::new(plan.stages.len()),
            stolen_from: HashMap::new(),
            last: 0,
        }))
    }

    /// All of it, when the run has ended.
    pub(super) fn timeline(self) -> Timeline {
        let state = self.0.into_inner();
        let State {
            mut timeline, last, ..
        } = state.unwrap_or_else(PoisonError::into_inner);
        timeline.end(last);
        timeline
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Recorder {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        let mut state = self.state();
        state.last = state.last.max(at);
        match *event {
            Event::Waiting {
                stage,
                lacks,
                behind,
            } => state.timeline.waits(at, stage, lacks, behind),
            Event::Started {
                stage,
                worker,
                stolen_from,
                ..
            } => {
                state.timeline.started(at, stage);
                match stolen_from {
                    Some(from) => state.stolen_from.insert(worker, from),
                    None => state.stolen_from.remove(&worker),
                };
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
                state.timeline.finished(TaskSpan {
                    stage,
                    item: item.map(str::to_owned),
                    worker,
                    stolen_from,
                    start,
                    time,
                    peak_memory,
                });
            }
            Event::Tasks { .. }
            | Event::Bound { .. }
            | Event::Device { .. }
            | Event::Skipped { .. }
            | Event::Written { .. } => {}
        }
    }
}
