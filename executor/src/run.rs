//! Runs a plan: checks that it can, then starts tasks as their inputs and resources come free.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use haul_ir::cost::Nanos;
use haul_ir::graph::GpuCount;
use haul_ir::id::{CollectionId, IdVec};
use haul_ir::plan::{Plan, Side};
use haul_ir::report::{Preview, Report, Written};

use crate::cache::{Caching, Parts, Resume};
use crate::cancel::{Cancel, Stop};
use crate::command;
use crate::device::cpu::Cpu;
use crate::device::gpus::Gpus;
use crate::device::{Device, fault};
use crate::error::{ErrorKind, RunError};
use crate::grant::Ledger;
use crate::inputs::{Inputs, Items};
use crate::io::Access;
use crate::machine::Machine;
use crate::memory::{Bytes, Memory};
use crate::output::{FilePlace, Outputs};
use crate::paths::Paths;
use crate::pools::{Pools, catch_panic};
use crate::program::programs;
use crate::progress::{Event, Observer};
use crate::schedule::{Lane, Outcome, Refusal, Schedule, Start, TaskId};
use crate::skips::{self, Skips};
use crate::store::Store;
use crate::tally::{Tally, nanos};
use crate::task::{Bindings, Context, Done};
use crate::workers::{self, Work};

/// Where a run reads and writes, and what it may use.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the paths of inputs lead to.
    pub paths: Paths,
    /// The folder that outputs are relative to, and stay in.
    pub out: PathBuf,
    /// What the run may use of this machine.
    pub machine: Machine,
    /// Whether the run goes on without what fails, as if every stage said `on_error: Skip`.
    pub keep_going: bool,
    /// Stops the run.
    pub cancel: Cancel,
    /// What it takes from a cache and gives to it, where it has one.
    pub caching: Option<Caching>,
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
    let folder = command::folder(&options.paths)?;
    command::check(plan, &folder)?;
    let needed = skips::needed(graph, options.keep_going);
    let opened = pools.run(threads, || Inputs::open(graph, &needed, access));
    let mut inputs = opened.map_err(|error| match stop.is_set() {
        true => RunError::cancelled(),
        false => error,
    })?;
    for (symbol, size) in inputs.dims.take_fresh() {
        let (symbol, item) = (&symbol, None);
        observer.event(0, &Event::Bound { symbol, size, item });
    }
    let collections = &inputs.collections;
    let (widths, ledger) = (widths(collections), ledger(&options.machine));
    let device = Cpu::new(options.machine.cpu.clone());
    let outputs = Outputs::plan(graph, &options.out, &options.paths, collections)?;
    outputs.sweep();
    let programs = programs(plan);
    let parts = Parts {
        plan,
        programs: &programs,
        inputs: &inputs,
        paths: &options.paths,
        stop: &stop,
        device: device.name(),
    };
    let caching = options.caching.as_ref();
    let resume = caching.map(|caching| pools.run(threads, || Ok(Resume::plan(caching, parts))));
    let context = Context {
        plan,
        gpus: Gpus::new(
            &options.machine.emulated,
            &memory,
            &ledger,
            (plan, &programs),
            &widths,
        ),
        programs: &programs,
        collections,
        device: &device,
        memory: memory.clone(),
        store: Store::new(graph, access, &inputs),
        outputs,
        resume: resume.transpose()?,
        folder,
        pools,
        stop: &stop,
        bindings: Mutex::new(Bindings::new(inputs.dims.clone())),
    };
    let (schedule, lanes) = Schedule::new(plan, &widths, ledger, threads);
    let run = Run::new(&context, options.keep_going, observer);
    let ran = run.tasks(&schedule, lanes);
    context.resume.iter().for_each(Resume::remember);
    let tally = ran?;
    let written = context.pools.run(threads, || context.write_inputs())?;
    run.record_written(written);
    let report = run.report(tally);
    debug_assert_eq!(memory.used(), 0, "a value outlived its last reader");
    Ok(report)
}

/// All that a machine has.
pub(crate) fn ledger(machine: &Machine) -> Ledger {
    let gpus = machine.emulated.iter();
    let gpus = gpus.map(|device| (device.node, &device.gpu));
    Ledger::new(machine.cpus, machine.memory).with_gpus(gpus)
}

/// How many items each collection has.
pub(crate) fn widths(collections: &IdVec<CollectionId, Items>) -> IdVec<CollectionId, usize> {
    collections.iter().map(|items| items.names.len()).collect()
}

/// What a plan asks of this machine that it has not.
pub(crate) fn check_machine(plan: &Plan, machine: &Machine) -> Result<(), RunError> {
    for (id, stage) in plan.typed.graph().stages.entries() {
        let request = plan.stages[id].request(&stage.requests);
        let groups = plan.typed.groups_of(id);
        let on_gpu = groups
            .iter()
            .any(|group| plan.groups[*group].placement.side == Side::Gpu);
        let lacks = |message: String| RunError::new(message).in_task(&stage.name, None);
        if (on_gpu || request.gpus > GpuCount::NONE) && machine.emulated.is_empty() {
            let message = "the plan has it on a GPU, and this build has no CUDA device";
            return Err(lacks(message.into()).help(
                "emulate the GPUs of the target (`--emulate`), or plan for this machine \
                 (`--target local`) with a request for CPUs only",
            ));
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
    keep_going: bool,
    observer: &'a dyn Observer,
    start: Instant,
    shared: Mutex<Shared>,
}

/// What tasks give that is not counted.
#[derive(Default)]
struct Shared {
    written: Vec<(FilePlace, Written)>,
    preview: Option<Preview>,
    failure: Option<RunError>,
    skips: Skips,
}

impl Work for Run<'_> {
    type Tally = Tally;

    fn begin(&self) -> Tally {
        let pool = Pools::of_this_thread();
        let pool = pool.map_err(|error| self.fail(error)).ok();
        Tally::new(self.context.plan.stages.len(), pool)
    }

    fn is_stopped(&self) -> bool {
        self.context.stop.is_set()
    }

    fn stored(&self) -> u64 {
        self.context.store.bytes()
    }

    fn run(&self, lane: &Lane, start: &Start, tally: &mut Tally) -> Option<Outcome> {
        let (task, worker) = (start.task, lane.index);
        let (stage, item) = (task.stage, self.context.item_name(task));
        let begin = nanos(self.start);
        let started = Event::Started {
            stage,
            item,
            worker,
            stolen_from: start.stolen_from,
        };
        self.observer.event(begin, &started);
        match catch_panic(|| self.context.run(task, lane.gpus())) {
            Ok(done) => {
                let end = nanos(self.start);
                tally.count(start, begin, end, &done);
                self.record(task, worker, begin, end, done);
                Some(Outcome::Done)
            }
            Err(error) => {
                let graph = self.context.plan.typed.graph();
                let is_failure = error.kind == ErrorKind::Failed;
                if is_failure && skips::skips(graph, stage, self.keep_going) {
                    self.skip(task, error.to_string());
                    return Some(Outcome::Skipped);
                }
                self.fail(error.in_task(&graph.stages[stage].name, item));
                None
            }
        }
    }

    fn refused(&self, refusal: &Refusal) {
        self.tell(&refusal.event());
    }

    fn skipped(&self, task: TaskId) {
        self.context.let_go(task, 0);
        let reason = self.shared().skips.reason(task, self.context);
        self.skip(task, reason);
    }
}

impl<'a> Run<'a> {
    fn new(context: &'a Context<'a>, keep_going: bool, observer: &'a dyn Observer) -> Self {
        Self {
            context,
            keep_going,
            observer,
            start: Instant::now(),
            shared: Mutex::default(),
        }
    }

    /// Runs all tasks.
    fn tasks(&self, schedule: &Schedule, lanes: Vec<Lane>) -> Result<Tally, RunError> {
        for stage in self.context.plan.typed.graph().stages.ids() {
            let count = schedule.tasks(stage);
            self.tell(&Event::Tasks { stage, count });
        }
        for device in self.context.gpus.reports() {
            self.tell(&Event::Device {
                name: &device.name,
                vram: device.vram,
                emulated: device.emulated,
            });
        }
        let tallies = workers::run(schedule, lanes, self);
        if let Some(failure) = self.shared().failure.take() {
            return Err(failure);
        }
        let tally = Tally::sum(self.context.plan.stages.len(), &tallies);
        match schedule.is_over() {
            true => Ok(tally),
            false if self.is_stopped() => Err(RunError::cancelled()),
            false => Err(self.never_started(schedule, &tally)),
        }
    }

    fn record(&self, task: TaskId, worker: usize, start: Nanos, end: Nanos, done: Done) {
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
        if !done.written.is_empty() {
            self.record_written(done.written);
        }
        if let Some(preview) = done.preview {
            self.record_preview(task, preview);
        }
        let finished = Event::Finished {
            stage,
            item,
            worker,
            start,
            time: end.saturating_sub(start),
            peak_memory: done.peak_memory,
        };
        self.observer.event(end, &finished);
    }

    fn record_written(&self, written: Vec<(FilePlace, Written)>) {
        for (_, Written { path, bytes, .. }) in &written {
            let bytes = *bytes;
            self.tell(&Event::Written { path, bytes });
        }
        self.shared().written.extend(written);
    }

    /// Keeps that of the last stage, and of the first of its items.
    fn record_preview(&self, task: TaskId, preview: Preview) {
        let shown = &mut self.shared().preview;
        let is_preferred = shown.as_ref().is_none_or(|shown| {
            task.stage > shown.stage || (task.stage == shown.stage && task.item == Some(0))
        });
        if is_preferred {
            *shown = Some(preview);
        }
    }

    fn skip(&self, task: TaskId, reason: String) {
        let (stage, item) = (task.stage, self.context.item_name(task));
        self.tell(&Event::Skipped {
            stage,
            item,
            reason: &reason,
        });
        self.shared().skips.add(task, reason);
    }

    fn fail(&self, error: RunError) {
        self.context.stop.fail();
        let failure = &mut self.shared().failure;
        // Tasks that were stopped because of the failure say that they were cancelled.
        let is_first = failure.as_ref().is_none_or(|first| {
            first.kind == ErrorKind::Cancelled && error.kind == ErrorKind::Failed
        });
        if is_first {
            *failure = Some(error);
        }
    }

    fn tell(&self, event: &Event<'_>) {
        self.observer.event(nanos(self.start), event);
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn never_started(&self, schedule: &Schedule, tally: &Tally) -> RunError {
        let stages = self.context.plan.typed.graph().stages.entries();
        let left = stages.filter_map(|(id, stage)| {
            let left = schedule.tasks(id) as u64 - tally.stages[id].tasks;
            (left > 0).then(|| format!("{left} of `{}`", stage.name))
        });
        let left = left.collect::<Vec<_>>().join(", ");
        fault(format!("tasks were never started: {left}"))
    }

    fn report(self, tally: Tally) -> Report {
        let mut shared = self
            .shared
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        shared.written.sort_by_key(|(place, _)| *place);
        let mut skipped = std::mem::take(&mut *self.context.store.skipped());
        let of_earlier = self.context.resume.iter().flat_map(Resume::skipped);
        skipped.extend(of_earlier.cloned());
        skipped.sort();
        skipped.dedup();
        let stages = tally.stages.entries();
        let stages = stages.map(|(id, counts)| counts.report(self.context.device_of(id)));
        Report {
            stages: stages.collect(),
            devices: self.context.gpus.end(),
            makespan: tally.end,
            peak_memory: self.context.memory.peak(),
            written: shared.written.into_iter().map(|(_, file)| file).collect(),
            preview: shared.preview,
            skipped,
            skipped_tasks: shared.skips.report(self.context),
        }
    }
}
