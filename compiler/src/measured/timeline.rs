//! When tasks ran and stages waited, as it is gathered while a run goes on.

use std::collections::BTreeMap;

use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, StageId};

/// When tasks ran and stages waited. Moments are nanoseconds since tasks could start.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The tasks that finished, in this order; of a run of more than a million the first.
    pub tasks: Vec<TaskSpan>,
    /// How many are not in `tasks`.
    pub left_out: u64,
    /// The waits that ended, in this order; of a run of more than a million the first.
    pub waits: Vec<WaitSpan>,
    /// Each stage, with all its tasks and waits.
    pub stages: IdVec<StageId, StageTimes>,
    /// The waits that go on.
    open: BTreeMap<StageId, WaitSpan>,
}

/// A task that finished.
#[derive(Clone, Debug)]
pub struct TaskSpan {
    /// Its stage.
    pub stage: StageId,
    /// Its item.
    pub item: Option<String>,
    /// The worker that ran it, counted from 0.
    pub worker: usize,
    /// The worker that had it ready, from which this one, which had nothing, took it.
    pub stolen_from: Option<usize>,
    /// When it started there.
    pub start: Nanos,
    /// From its start to its end.
    pub time: Nanos,
    /// Most bytes that it held at once.
    pub peak_memory: u64,
}

/// A wait of a stage.
#[derive(Clone, Debug)]
pub struct WaitSpan {
    /// The stage.
    pub stage: StageId,
    /// What was lacking.
    pub lacks: &'static str,
    /// The stages whose tasks held it when the wait began.
    pub behind: Vec<StageId>,
    /// When it began.
    pub start: Nanos,
    /// From its start to its end.
    pub time: Nanos,
}

/// What the tasks of a stage did, all together.
#[derive(Clone, Debug, Default)]
pub struct StageTimes {
    /// When the first task started; none before one ended.
    pub started: Option<Nanos>,
    /// When the last task ended.
    pub ended: Nanos,
    /// The longest task, and its item.
    pub longest: (Nanos, Option<String>),
    /// How long it waited.
    pub waited: Nanos,
}

/// Most tasks, and most waits, that are kept one by one.
const MOST: usize = 1_000_000;

impl Timeline {
    /// Of a run of so many stages, which has not begun.
    pub fn new(stages: usize) -> Self {
        Self {
            stages: IdVec::filled(StageTimes::default(), stages),
            ..Self::default()
        }
    }

    /// A task finished.
    pub fn finished(&mut self, task: TaskSpan) {
        let of_stage = &mut self.stages[task.stage];
        let started = of_stage.started.get_or_insert(task.start);
        *started = task.start.min(*started);
        of_stage.ended = of_stage.ended.max(task.start.saturating_add(task.time));
        if task.time > of_stage.longest.0 {
            of_stage.longest = (task.time, task.item.clone());
        }
        match self.tasks.len() < MOST {
            true => self.tasks.push(task),
            false => self.left_out += 1,
        }
    }

    /// A stage begins to wait.
    pub fn waits(&mut self, at: Nanos, stage: StageId, lacks: &'static str, behind: &[StageId]) {
        self.started(at, stage);
        let wait = WaitSpan {
            stage,
            lacks,
            behind: behind.to_vec(),
            start: at,
            time: 0,
        };
        self.open.insert(stage, wait);
    }

    /// A task of a stage started, which ends its wait.
    pub fn started(&mut self, at: Nanos, stage: StageId) {
        let Some(wait) = self.open.remove(&stage) else {
            return;
        };
        let time = at.saturating_sub(wait.start);
        let waited = &mut self.stages[stage].waited;
        *waited = waited.saturating_add(time);
        if self.waits.len() < MOST {
            self.waits.push(WaitSpan { time, ..wait });
        }
    }

    /// The run ends, and with it all waits.
    pub fn end(&mut self, at: Nanos) {
        while let Some(stage) = self.open.keys().next().copied() {
            self.started(at, stage);
        }
    }
}
