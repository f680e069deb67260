//! How far a run is, on stderr: bars on a terminal, plain lines elsewhere.

mod live;
mod plain;

use std::time::Instant;

use haul_compiler::render::units;
use haul_executor::{Event, Observer, Silent};
use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::Plan;

use self::live::Live;
use self::plain::Plain;
use crate::terminal;

/// Whoever shows how far a run of this plan is.
///
/// Bars are drawn where the terminal is theirs alone.
pub(crate) fn observer(plan: &Plan, quiet: bool, alone: bool) -> Box<dyn Observer> {
    match (quiet, alone && terminal::is_live()) {
        (true, _) => Box::new(Silent),
        (false, true) => Box::new(Live::new(Stage::all(plan))),
        (false, false) => Box::new(Plain::new(Stage::all(plan))),
    }
}

/// Two who watch the same run.
pub(crate) struct Both<'a>(pub(crate) &'a dyn Observer, pub(crate) &'a dyn Observer);

impl Observer for Both<'_> {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        self.0.event(at, event);
        self.1.event(at, event);
    }
}

/// How far a stage is.
struct Stage {
    name: String,
    done: usize,
    tasks: usize,
    started: Option<Instant>,
}

impl Stage {
    fn all(plan: &Plan) -> IdVec<StageId, Stage> {
        let stages = plan.typed.graph().stages.iter().map(|stage| Stage {
            name: stage.name.clone(),
            done: 0,
            tasks: 0,
            started: None,
        });
        stages.collect()
    }

    fn start(&mut self) {
        self.started.get_or_insert_with(Instant::now);
    }

    fn is_done(&self) -> bool {
        self.done == self.tasks
    }

    fn elapsed(&self) -> Nanos {
        let elapsed = self
            .started
            .map_or(0, |started| started.elapsed().as_nanos());
        u64::try_from(elapsed).unwrap_or(u64::MAX)
    }

    /// `kernel: 5 of 12 tasks in 3.20 s`, with the time left at this rate where some are.
    fn line(&self) -> String {
        let (done, tasks, elapsed) = (self.done, self.tasks, self.elapsed());
        let what = if tasks == 1 { "task" } else { "tasks" };
        let mut line = format!(
            "{}: {done} of {tasks} {what} in {}",
            self.name,
            units::time(elapsed)
        );
        if done > 0 && done < tasks {
            let left = u128::from(elapsed) * (tasks - done) as u128 / done as u128;
            let left = u64::try_from(left).unwrap_or(u64::MAX);
            line += &format!(", {} left", units::time(left));
        }
        line + "\n"
    }
}
