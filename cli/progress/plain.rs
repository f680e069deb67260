//! Lines for logs: one when a stage ends, and now and then one in between.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use haul_executor::{Event, Observer};
use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, StageId};

use super::Stage;
use crate::terminal;

/// Lines of stages that go on come at most this often.
const EVERY: Duration = Duration::from_secs(1);

pub(super) struct Plain {
    state: Mutex<State>,
}

struct State {
    stages: IdVec<StageId, Stage>,
    last: Instant,
}

impl Plain {
    pub(super) fn new(stages: IdVec<StageId, Stage>) -> Self {
        let last = Instant::now();
        Self {
            state: Mutex::new(State { stages, last }),
        }
    }
}

impl Observer for Plain {
    fn event(&self, _: Nanos, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Tasks { stage, count } => state.stages[*stage].tasks = *count,
            Event::Started { stage, .. } => state.stages[*stage].start(),
            Event::Finished { stage, .. } => state.finished(*stage),
            Event::Bound { .. } | Event::Waiting { .. } | Event::Written { .. } => {}
        }
    }
}

impl State {
    fn finished(&mut self, stage: StageId) {
        let stage = &mut self.stages[stage];
        stage.done += 1;
        if stage.is_done() || self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            terminal::tell(&stage.line());
        }
    }
}
