//! Runs a plan: checks that it can, then starts tasks as their inputs and resources come free.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};
use haul_ir::cost::Nanos;
use haul_ir::graph::GpuCount;
use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::{Plan, Side};
use haul_ir::report::{Report, StageReport, Written};

use crate::cancel::{Cancel, Stop};
use crate::device::cpu::Cpu;
use crate::device::fault;
use crate::error::{ErrorKind, RunError};
use crate::grant::Ledger;
use crate::inputs::Inputs;
use crate::io::Access;
use crate::machine::Machine;
use crate::memory::{Bytes, Memory};
use crate::output::{FilePlace, Outputs};
use crate::paths::Paths;
use crate::pools::Pools;
use crate::program::programs;
use crate::progress::{Event, Observer};
use crate::schedule::{Refusal, Schedule, TaskId};
use crate::store::Store;
use crate::task::{Bindings, Context, Done};

/// Where a run reads and writes, and what it may use.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the paths of inputs lead to.
    pub paths: Paths,
    /// The folder that outputs are relative to, and stay in.
    pub out: PathBuf,
    /// What the run may use of this machine.
    pub machine: Machine,
    /// Stops the run.
    pub cancel: Cancel,
}

/// Runs a plan on this machine.
///
/// # Errors
/// Something that the plan needs is not there, the data is not what it declares, a task failed,
/// a file could not be written, or the run was cancelled. No output is left half written.
pub fn run(plan: &Plan, options: &Options, observer: &dyn Observer) -> Result<Report, RunError> {
    check_machine(plan, &options.machine)?;
    let graph = plan.typed.graph();
    let memory = Memory::new(options.machine.memory);
    let stored = memory.account(u64::MAX);
    let pools = Pools::default();
    let threads = options.machine.cpus.max(1) as usize;
    let stop = Stop::new(options.cancel.clone());
    let access = Access {
        paths: &options.paths,
        account: &stored,
        stop: &stop,
    };
    let opened = pools.run(threads, || Inputs::open(graph, access));
    let mut inputs = opened.map_err(|error| match stop.is_set() {
        true => RunError::cancelled(),
        false => error,
    })?;
    for (symbol, size) in inputs.dims.take_fresh() {
        let (symbol, item) = (&symbol, None);
        observer.event(0, &Event::Bound { symbol, size, item });
    }
    let collections = &inputs.collections;
    let device = Cpu::new(options.machine.cpu.clone());
    let context = Context {
        plan,
        programs: programs(plan),
        collections,
        device: &device,
        memory: memory.clone(),
        store: Store::new(graph, &options.paths, collections, stored.clone(), &stop),
        outputs: Outputs::plan(graph, &options.out, &options.paths, collections)?,
        pools,
        stop: &stop,
        bindings: Mutex::new(Bindings {
            all: inputs.dims.clone(),
            of_item: HashMap::new(),
        }),
    };
    let widths = collections.iter().map(|items| items.names.len()).collect();
    let gpus = options.machine.emulated.iter();
    let gpus = gpus.map(|device| (device.node, &device.gpu));
    let ledger = Ledger::new(options.machine.cpus, memory.limit()).with_gpus(gpus);
    let schedule = Schedule::new(plan, &widths, ledger, memory.limit());
    let mut run = Run::new(&context, schedule, observer);
    run.tasks()?;
    let written = context.pools.run(threads, || context.write_inputs())?;
    run.record_written(written);
    debug_assert_eq!(memory.used(), 0, "a value outlived its last reader");
    Ok(run.report())
}

/// What a plan asks of this machine that it has not.
fn check_machine(plan: &Plan, machine: &Machine) -> Result<(), RunError> {
    for (id, stage) in plan.typed.graph().stages.entries() {
        let request = plan.stages[id].request(&stage.requests);
        let groups = plan.typed.groups_of(id);
        let on_gpu = groups
            .iter()
            .any(|group| plan.groups[*group].placement.side == Side::Gpu);
        let lacks = |message: String| RunError::new(message).in_task(&stage.name, None);
        if on_gpu || request.gpus > GpuCount::NONE {
            let message = "the plan has it on a GPU, and this build has no CUDA device";
            return Err(lacks(message.into())
                .help("plan for this machine (`--target local`), with a request for CPUs only"));
        }
        if request.cpus > machine.cpus {
            let (asked, there) = (request.cpus, machine.cpus);
            return Err(
                lacks(format!("it requests {asked} cpus; this run has {there}")).help(format!(
                    "request at most {there} cpus, or run on a larger machine"
                )),
            );
        }
        if request.memory > machine.memory {
            let (asked, there) = (Bytes(request.memory), Bytes(machine.memory));
            return Err(lacks(format!(
                "it requests {asked} of memory; this run has {there}"
            ))
            .help(format!(
                "request at most {there}, or run on a larger machine"
            )));
        }
    }
    Ok(())
}

/// A run under way.
struct Run<'a> {
    context: &'a Context<'a>,
    schedule: Schedule,
    observer: &'a dyn Observer,
    stages: IdVec<StageId, StageReport>,
    written: Vec<(FilePlace, Written)>,
    preview: Option<haul_ir::report::Preview>,
    failure: Option<RunError>,
    /// Stages that were told to wait, until one of their tasks starts.
    waiting: HashSet<StageId>,
    start: Instant,
    makespan: Nanos,
}

type Outcome = (TaskId, Result<Done, RunError>);

impl<'a> Run<'a> {
    fn new(context: &'a Context<'a>, schedule: Schedule, observer: &'a dyn Observer) -> Self {
        let stages = context.plan.typed.graph().stages.ids();
        let device = context.device.name();
        Self {
            context,
            schedule,
            observer,
            stages: stages
                .map(|_| StageReport {
                    device: device.to_owned(),
                    ..StageReport::default()
                })
                .collect(),
            written: Vec::new(),
            preview: None,
            failure: None,
            waiting: HashSet::new(),
            start: Instant::now(),
            makespan: 0,
        }
    }

    /// Runs all tasks, on threads that each take one at a time.
    fn tasks(&mut self) -> Result<(), RunError> {
        for stage in self.stages.ids() {
            let count = self.schedule.tasks(stage);
            self.tell(&Event::Tasks { stage, count });
        }
        let (to_workers, tasks) = unbounded();
        let (outcomes, from_workers) = unbounded();
        let (context, start) = (self.context, self.start);
        std::thread::scope(|scope| {
            let mut workers = 0;
            self.dispatch(to_workers, &from_workers, &mut |running| {
                // A worker for each task that runs at once, and no more.
                if running > workers {
                    let worker = workers;
                    let (tasks, outcomes) = (tasks.clone(), outcomes.clone());
                    scope.spawn(move || work(context, worker, start, &tasks, &outcomes));
                    workers += 1;
                }
            });
        });
        match self.failure.take() {
            Some(failure) => Err(failure),
            None if !self.is_unfinished() => Ok(()),
            None if self.context.stop.is_set() => Err(RunError::cancelled()),
            None => Err(self.never_started()),
        }
    }

    /// Starts what can start and waits for what runs, until nothing does. Workers end when the
    /// channel to them closes.
    fn dispatch(
        &mut self,
        to_workers: Sender<TaskId>,
        from_workers: &Receiver<Outcome>,
        need_workers: &mut dyn FnMut(usize),
    ) {
        loop {
            while !self.context.stop.is_set() {
                let Some(task) = self.start_next() else { break };
                need_workers(self.schedule.running().count());
                if to_workers.send(task).is_err() {
                    return;
                }
            }
            if self.schedule.running().next().is_none() {
                return;
            }
            match from_workers.recv() {
                Ok((task, outcome)) => self.record(task, outcome),
                Err(_) => return,
            }
        }
    }

    fn start_next(&mut self) -> Option<TaskId> {
        let mut refusals: Vec<Refusal> = Vec::new();
        let stored = self.context.store.bytes();
        let started = self
            .schedule
            .start(stored, &mut |refusal| refusals.push(refusal));
        for Refusal { stage, lacks } in refusals {
            if self.waiting.insert(stage) {
                let mut behind: Vec<_> = self.schedule.running().map(|task| task.stage).collect();
                behind.sort_unstable();
                behind.dedup();
                let behind = &behind[..];
                self.tell(&Event::Waiting {
                    stage,
                    lacks,
                    behind,
                });
            }
        }
        let task = started?;
        let (stage, item) = (task.stage, self.context.item_name(task));
        self.waiting.remove(&stage);
        self.tell(&Event::Started { stage, item });
        Some(task)
    }

    fn record(&mut self, task: TaskId, outcome: Result<Done, RunError>) {
        match outcome {
            Ok(done) => {
                self.schedule.finish(task);
                self.record_done(task, done);
            }
            Err(error) => {
                self.schedule.give_back(task);
                self.context.stop.fail();
                // Tasks that were stopped because of the failure say that they were cancelled.
                let is_first = self.failure.as_ref().is_none_or(|first| {
                    first.kind == ErrorKind::Cancelled && error.kind == ErrorKind::Failed
                });
                if is_first {
                    self.failure = Some(error);
                }
            }
        }
    }

    fn record_done(&mut self, task: TaskId, done: Done) {
        let (stage, item) = (task.stage, self.context.item_name(task));
        let graph = self.context.plan.typed.graph();
        for (symbol, size) in &done.bound {
            let per_item = graph
                .dims
                .get(symbol)
                .is_some_and(|dim| dim.per_item.is_some());
            let (size, item) = (*size, item.filter(|_| per_item));
            self.tell(&Event::Bound { symbol, size, item });
        }
        self.record_written(done.written);
        let report = &mut self.stages[stage];
        report.tasks += 1;
        report.busy = report.busy.saturating_add(done.time);
        report.longest = report.longest.max(done.time);
        report.peak_memory = report.peak_memory.max(done.peak_memory);
        // Of the last stage, and of the first of its items.
        let is_preferred = self.preview.as_ref().is_none_or(|shown| {
            stage > shown.stage || (stage == shown.stage && task.item == Some(0))
        });
        if done.preview.is_some() && is_preferred {
            self.preview = done.preview;
        }
        self.makespan = nanos(self.start);
        self.tell(&Event::Finished {
            stage,
            item,
            worker: done.worker,
            start: done.start,
            time: done.time,
            peak_memory: done.peak_memory,
        });
    }

    fn record_written(&mut self, written: Vec<(FilePlace, Written)>) {
        for (_, Written { path, bytes, .. }) in &written {
            let bytes = *bytes;
            self.tell(&Event::Written { path, bytes });
        }
        self.written.extend(written);
    }

    fn tell(&self, event: &Event<'_>) {
        self.observer.event(nanos(self.start), event);
    }

    fn is_unfinished(&self) -> bool {
        let finished: u64 = self.stages.iter().map(|stage| stage.tasks).sum();
        finished < self.schedule.total() as u64
    }

    fn never_started(&self) -> RunError {
        let graph = self.context.plan.typed.graph();
        let left = self.stages.entries().filter_map(|(id, report)| {
            let left = self.schedule.tasks(id) as u64 - report.tasks;
            (left > 0).then(|| format!("{left} of `{}`", graph.stages[id].name))
        });
        let left = left.collect::<Vec<_>>().join(", ");
        fault(format!("tasks were never started: {left}"))
    }

    fn report(mut self) -> Report {
        self.written.sort_by_key(|(place, _)| *place);
        let mut skipped = std::mem::take(&mut *self.context.store.skipped());
        skipped.sort();
        Report {
            stages: self.stages,
            makespan: self.makespan,
            peak_memory: self.context.memory.peak(),
            written: self.written.into_iter().map(|(_, file)| file).collect(),
            preview: self.preview,
            skipped,
        }
    }
}

/// Runs tasks until there are no more. Tasks could start at `since`.
fn work(
    context: &Context<'_>,
    worker: usize,
    since: Instant,
    tasks: &Receiver<TaskId>,
    outcomes: &Sender<Outcome>,
) {
    for task in tasks {
        let start = nanos(since);
        let outcome = context.run(task).map(|done| Done {
            worker,
            start,
            ..done
        });
        if outcomes.send((task, outcome)).is_err() {
            return;
        }
    }
}

fn nanos(since: Instant) -> Nanos {
    Nanos::try_from(since.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
}
