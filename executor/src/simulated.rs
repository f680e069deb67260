//! A run on simulated time: the schedule is that of a run, tasks take what the plan predicts, and
//! nothing is computed or written.

use haul_ir::cost::Nanos;
use haul_ir::id::{CollectionId, IdVec};
use haul_ir::plan::Plan;
use haul_ir::report::Report;

use crate::cancel::Stop;
use crate::error::RunError;
use crate::inputs::{Inputs, Items};
use crate::io::Access;
use crate::memory::Memory;
use crate::pools::Pools;
use crate::progress::{Event, Observer};
use crate::run::{Options, check_machine, ledger, widths};
use crate::schedule::{Lane, Outcome, Refusal, Schedule, Simulated, Start, TaskId, simulate};
use crate::skips;
use crate::tally::Tally;
use crate::task::Done;

/// Schedules a plan as [`run`](crate::run) does, on simulated time. The headers of inputs are
/// read, since they say how many tasks there are. The seed decides between workers that have
/// nothing to do at the same moment; the same seed gives the same schedule. Values between tasks
/// take no room.
///
/// # Errors
/// Something that the plan needs is not there, or the headers are not what it declares.
pub fn simulated(
    plan: &Plan,
    options: &Options,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Report, RunError> {
    check_machine(plan, &options.machine)?;
    let stop = Stop::new(options.cancel.clone());
    let access = Access {
        paths: &options.paths,
        account: &Memory::new(options.machine.memory).account(u64::MAX),
        stop: &stop,
    };
    let graph = plan.typed.graph();
    let threads = options.machine.cpus.max(1) as usize;
    let needed = skips::needed(graph, options.keep_going);
    let inputs = Pools::default().run(threads, || Inputs::open(graph, &needed, access))?;
    let ledger = ledger(&options.machine);
    let (schedule, lanes) = Schedule::new(plan, &widths(&inputs.collections), ledger, threads);
    for stage in graph.stages.ids() {
        let count = schedule.tasks(stage);
        observer.event(0, &Event::Tasks { stage, count });
    }
    let mut simulation = Simulation {
        plan,
        collections: &inputs.collections,
        observer,
        started: (0..lanes.len()).map(|_| None).collect(),
        tally: Tally::new(plan.stages.len(), None),
    };
    let makespan = simulate(&schedule, lanes, seed, &mut simulation);
    let stages = simulation.tally.stages.iter();
    Ok(Report {
        stages: stages
            .map(|counts| counts.report("simulated".to_owned()))
            .collect(),
        makespan,
        ..Report::default()
    })
}

struct Simulation<'a> {
    plan: &'a Plan,
    collections: &'a IdVec<CollectionId, Items>,
    observer: &'a dyn Observer,
    /// What each lane runs, and since when.
    started: Vec<Option<(Nanos, Start)>>,
    tally: Tally,
}

impl Simulation<'_> {
    fn item(&self, task: TaskId) -> Option<&str> {
        let over = self.plan.typed.graph().stages[task.stage].each?;
        self.collections[over]
            .names
            .get(task.item?)
            .map(String::as_str)
    }
}

impl Simulated for Simulation<'_> {
    fn stored(&mut self) -> u64 {
        0
    }

    fn start(&mut self, at: Nanos, lane: &Lane, start: Start) -> Nanos {
        let stage = start.task.stage;
        let started = Event::Started {
            stage,
            item: self.item(start.task),
            worker: lane.index,
            stolen_from: start.stolen_from,
        };
        self.observer.event(at, &started);
        self.started[lane.index] = Some((at, start));
        self.plan.stages[stage].time.unwrap_or(0)
    }

    fn end(&mut self, at: Nanos, lane: &Lane, task: TaskId) -> Option<Outcome> {
        let (begin, start) = self.started[lane.index].take()?;
        self.tally.count(&start, begin, at, &Done::default());
        let finished = Event::Finished {
            stage: task.stage,
            item: self.item(task),
            worker: lane.index,
            start: begin,
            time: at - begin,
            peak_memory: 0,
        };
        self.observer.event(at, &finished);
        Some(Outcome::Done)
    }

    fn refused(&mut self, at: Nanos, refusal: &Refusal) {
        self.observer.event(at, &refusal.event());
    }

    fn skipped(&mut self, _: Nanos, _: TaskId) {}
}
