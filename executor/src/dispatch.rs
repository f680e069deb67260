//! The schedule of a run with tasks of the caller's.

use std::time::Instant;

use haul_ir::id::StageId;
use haul_ir::plan::Plan;

use crate::machine::Machine;
use crate::run::ledger;
use crate::schedule::{Lane, Outcome, Refusal, Schedule, Start, TaskId};
use crate::tally::{Tally, nanos};
use crate::task::Done;
use crate::workers::{self, Work};

/// Tasks of a plan that were given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatched {
    /// How many there were.
    pub tasks: u64,
    /// Those that ran on another worker than the one that had made them ready.
    pub stolen: u64,
}

/// Schedules the tasks of a plan as [`run`](crate::run) does, with all its accounting, and calls
/// `task` with the stage and the item of each, on the worker that was granted it. Every collection
/// has `width` items. For rehearsals and to measure what scheduling takes.
pub fn dispatch(
    plan: &Plan,
    width: usize,
    machine: &Machine,
    task: &(dyn Fn(StageId, Option<usize>) + Sync),
) -> Dispatched {
    let collections = plan.typed.graph().collections.iter();
    let widths = collections.map(|_| width).collect();
    let lanes = machine.cpus as usize;
    let (schedule, lanes) = Schedule::new(plan, &widths, ledger(machine), lanes);
    let start = Instant::now();
    let stages = plan.typed.graph().stages.len();
    let calls = Calls {
        task,
        start,
        stages,
    };
    let tally = Tally::sum(stages, &workers::run(&schedule, lanes, &calls));
    Dispatched {
        tasks: tally.stages.iter().map(|stage| stage.tasks).sum(),
        stolen: tally.stages.iter().map(|stage| stage.stolen).sum(),
    }
}

struct Calls<'a> {
    task: &'a (dyn Fn(StageId, Option<usize>) + Sync),
    start: Instant,
    stages: usize,
}

impl Work for Calls<'_> {
    type Tally = Tally;

    fn begin(&self) -> Tally {
        Tally::new(self.stages, None)
    }

    fn is_stopped(&self) -> bool {
        false
    }

    fn stored(&self) -> u64 {
        0
    }

    fn run(&self, _: &Lane, start: &Start, tally: &mut Tally) -> Option<Outcome> {
        let begin = nanos(self.start);
        (self.task)(start.task.stage, start.task.item);
        tally.count(start, begin, nanos(self.start), &Done::default());
        Some(Outcome::Done)
    }

    fn refused(&self, _: &Refusal) {}

    fn skipped(&self, _: TaskId) {}
}
