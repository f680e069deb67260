//! What a run takes: list scheduling on the machines of a target, in simulated time.
//!
//! Ready tasks start in the order of their critical path (the longest chain of work that waits
//! for them), each on the first node of its kind that has room for its whole request; none waits
//! behind one whose room is not there. Tasks of a stage are alike, so they are counted and not
//! listed, and start in batches. Moving values between nodes takes no time here.
//!
//! What a batch waited for is the end of another: of one before it where its last task could not
//! start sooner, else of the one that made its room. Following these back from the last end gives
//! the critical path.

mod machines;
mod price;
mod queues;
mod record;
mod room;
mod tree;
mod utilisation;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, NodeId};
use haul_ir::plan::Batch;
use haul_ir::target::Target;

pub(crate) use self::machines::{GpuShare, Share};
use self::machines::{Grant, Machines};
pub(crate) use self::price::price;
use self::queues::Queues;
use self::record::Started;
use self::room::made_room;
pub(crate) use self::utilisation::{OnGpu, of_each_gpu, per_mille, utilisation};

/// Above so many tasks, runs of them are taken as one that is longer.
const MOST_TASKS: u64 = 1_000_000;

/// The tasks of one stage.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    /// How many.
    pub(crate) count: u64,
    /// How long each takes.
    pub(crate) time: Nanos,
    /// How much of it goes by on a GPU or on the way to one and back; else the CPUs compute.
    pub(crate) on_gpu: Nanos,
    /// What each holds.
    pub(crate) share: Share,
    /// Stages before it, by position. Task `i` waits for task `i` of an `item`, for all tasks of
    /// another.
    pub(crate) after: Vec<After>,
}

/// A stage that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct After {
    pub(crate) stage: usize,
    /// Whether both run over one collection.
    pub(crate) by_item: bool,
}

/// What the simulated run does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// From the first start to the last end.
    pub(crate) makespan: Nanos,
    /// How long the first task of a stage waits for room once it could start, and for which stage.
    pub(crate) waits: Vec<Option<(Nanos, usize)>>,
    /// When the last task of each stage ends.
    pub(crate) ends: Vec<Nanos>,
    /// How many nodes of each kind run tasks.
    pub(crate) nodes_used: IdVec<NodeId, u32>,
    /// How long the tasks of each stage wait for room once they could start, all of them together.
    pub(crate) queueing: Vec<Nanos>,
    /// The stages that set the makespan, first to last, each once.
    pub(crate) critical_path: Vec<usize>,
    /// What starts where and when; at most 2,000 entries, the shortest left out.
    pub(crate) timeline: Vec<Batch>,
}

/// Runs the tasks of all stages, each of which comes after those it waits for. Every task must
/// fit some node of its kind.
pub(crate) fn simulate(stages: &[Tasks], target: &Target) -> Schedule {
    simulate_at_most(MOST_TASKS, stages, target)
}

/// The same with another limit than [`MOST_TASKS`].
fn simulate_at_most(most: u64, stages: &[Tasks], target: &Target) -> Schedule {
    let (coarse, runs) = coarsened(stages, most);
    let mut run = Run::new(&coarse, &runs, target);
    run.start_all();
    while let Some(Reverse((end, first))) = run.running.pop() {
        run.now = end;
        run.finish(first);
        while let Some(batch) = run.next_at(end) {
            run.finish(batch);
        }
        run.start_all();
    }
    let states = run.states.iter();
    let queueing = states.clone().zip(&coarse).zip(&runs);
    Schedule {
        makespan: run.now,
        waits: states.map(|state| state.waited).collect(),
        ends: record::ends(&run.record, stages.len()),
        nodes_used: run.machines.used(),
        queueing: queueing
            .map(|((state, tasks), runs)| state.queueing(tasks, runs.length))
            .collect(),
        critical_path: record::critical_path(&run.record, run.last_done),
        timeline: record::timeline(&run.record, stages, &runs),
    }
}

/// What the tasks of a stage that is simulated stand for.
#[derive(Clone, Copy, Debug)]
struct Runs {
    /// So many tasks each, one after the other; the last one for what is left.
    length: u64,
    /// How long the last one takes.
    last: Nanos,
}

/// The same work in at most `most` tasks, but one for each stage, and what they stand for. A stage
/// without any is one that holds nothing and takes no time.
fn coarsened(stages: &[Tasks], most: u64) -> (Vec<Tasks>, Vec<Runs>) {
    let each = most_of_each(stages, most);
    let coarse = stages.iter().map(|tasks| {
        let mut tasks = tasks.clone();
        if tasks.count == 0 {
            (tasks.count, tasks.time) = (1, 0);
            tasks.share = Share::nothing(tasks.share.node);
        }
        // Stages over one collection have the same count, and so the same runs.
        let length = tasks.count.div_ceil(each);
        let count = tasks.count.div_ceil(length);
        let left = tasks.count - (count - 1) * length;
        let last = tasks.time.saturating_mul(left);
        tasks.time = tasks.time.saturating_mul(length);
        tasks.count = count;
        (tasks, Runs { length, last })
    });
    coarse.unzip()
}

/// The number of tasks of a stage above which they are taken in runs: stages with fewer leave
/// their part of `most` to the others.
fn most_of_each(stages: &[Tasks], most: u64) -> u64 {
    let mut counts: Vec<_> = stages.iter().map(|tasks| tasks.count).collect();
    counts.sort_unstable();
    let mut rest = most;
    for (stages_left, count) in (1..=counts.len() as u64).rev().zip(counts) {
        if count > rest / stages_left {
            return (rest / stages_left).max(1);
        }
        rest -= count;
    }
    u64::MAX
}

/// Where a stage is.
#[derive(Clone, Debug, Default)]
struct State {
    /// Tasks that could start, did, and ended.
    available: u64,
    started: u64,
    done: u64,
    /// Stages to wait for as a whole that are not done.
    blocked_by: usize,
    /// When its first task could start.
    ready_at: Option<Nanos>,
    waited: Option<(Nanos, usize)>,
    newest: Newest,
    /// The times at which its tasks could start, and at which they did, added up.
    ready_times: u128,
    start_times: u128,
}

/// The tasks of a stage that could start last.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    at: Nanos,
    tasks: u64,
    /// The batch that they waited for.
    cause: Option<usize>,
}

impl State {
    /// How long its tasks waited. Tasks of a run wait for those before them in it.
    fn queueing(&self, tasks: &Tasks, run: u64) -> Nanos {
        let waited = (self.start_times - self.ready_times).saturating_mul(run.into());
        let in_runs = u128::from(tasks.count) * u128::from(tasks.time) * u128::from(run - 1) / 2;
        Nanos::try_from(waited.saturating_add(in_runs)).unwrap_or(Nanos::MAX)
    }
}

struct Run<'a> {
    stages: &'a [Tasks],
    runs: &'a [Runs],
    machines: Machines<'a>,
    now: Nanos,
    states: Vec<State>,
    /// Stages that wait for each stage.
    before: Vec<Vec<After>>,
    queues: Queues,
    /// The kinds of nodes on which tasks ended, or for which tasks became ready.
    changed: BTreeSet<NodeId>,
    record: Vec<Started>,
    /// Batches of the record by their ends, then in the order in which they started.
    running: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// The batch that ended last.
    last_done: Option<usize>,
}

impl<'a> Run<'a> {
    fn new(stages: &'a [Tasks], runs: &'a [Runs], target: &'a Target) -> Self {
        let before = before(stages);
        let mut run = Run {
            queues: Queues::new(stages, &urgency(stages, &before), target.nodes.len()),
            changed: target.nodes.ids().collect(),
            machines: Machines::new(target),
            now: 0,
            states: vec![State::default(); stages.len()],
            before,
            record: Vec::new(),
            running: BinaryHeap::new(),
            last_done: None,
            stages,
            runs,
        };
        for (stage, tasks) in stages.iter().enumerate() {
            run.states[stage].blocked_by =
                tasks.after.iter().filter(|after| !after.by_item).count();
        }
        for stage in 0..stages.len() {
            run.update(stage);
        }
        run
    }

    /// Tasks of a stage that nothing before them keeps from starting, those that started included.
    fn available(&self, stage: usize) -> u64 {
        if self.states[stage].blocked_by > 0 {
            return 0;
        }
        let items = self.stages[stage]
            .after
            .iter()
            .filter(|after| after.by_item);
        let available = items.map(|after| self.states[after.stage].done).min();
        available.unwrap_or(u64::MAX).min(self.stages[stage].count)
    }

    /// Notes which tasks of a stage can start now, and puts it into its queue or takes it out.
    fn update(&mut self, stage: usize) {
        let available = self.available(stage);
        let state = &mut self.states[stage];
        let new = available - state.available;
        if new > 0 {
            state.available = available;
            state.ready_times += u128::from(new) * u128::from(self.now);
            state.ready_at.get_or_insert(self.now);
            let before = match state.newest.at == self.now {
                true => state.newest.tasks,
                false => 0,
            };
            state.newest = Newest {
                at: self.now,
                tasks: before + new,
                cause: self.last_done,
            };
        }
        let is_ready = state.available > state.started;
        self.queues.set(stage, is_ready);
    }

    /// Starts what there is room for. What found none before has none now, but where tasks ended or
    /// became ready.
    fn start_all(&mut self) {
        for kind in std::mem::take(&mut self.changed) {
            let mut from = 0;
            let room = |run: &Self| run.machines.room(kind);
            while let Some((rank, stage)) = self.queues.first(kind, from, room(self)) {
                // Where one finds no room, none behind it in its queue does.
                from = if self.start(stage) { rank } else { rank + 1 };
            }
        }
    }

    /// Starts tasks of a stage on one node; false where there is no room for any.
    fn start(&mut self, stage: usize) -> bool {
        let (ready, time) = self.ready(stage);
        let share = &self.stages[stage].share;
        let Some(grant) = self.machines.grant(share, ready) else {
            return false;
        };
        let started = Started {
            stage,
            start: self.now,
            end: self.now.saturating_add(time),
            cause: self.cause(stage, &grant),
            grant,
        };
        let state = &mut self.states[stage];
        let waited = self.now - state.ready_at.unwrap_or(self.now);
        if state.started == 0 && waited > 0 {
            let behind = started.cause.map(|batch| self.record[batch].stage);
            state.waited = behind.map(|behind| (waited, behind));
        }
        state.started += started.grant.tasks;
        state.start_times += u128::from(started.grant.tasks) * u128::from(self.now);
        self.running.push(Reverse((started.end, self.record.len())));
        self.record.push(started);
        self.update(stage);
        true
    }

    /// How many tasks of a stage could start together, and how long they take. A last one that
    /// stands for fewer starts by itself.
    fn ready(&self, stage: usize) -> (u64, Nanos) {
        let (tasks, state) = (&self.stages[stage], &self.states[stage]);
        let ready = state.available - state.started;
        let last = self.runs[stage].last;
        if state.available < tasks.count || last == tasks.time {
            return (ready, tasks.time);
        }
        match ready {
            1 => (1, last),
            _ => (ready - 1, tasks.time),
        }
    }

    /// The batch whose end lets the last of the granted tasks start now: it could not before, or
    /// had no room.
    fn cause(&self, stage: usize, grant: &Grant) -> Option<usize> {
        let state = &self.states[stage];
        let (last, newest) = (state.started + grant.tasks, state.newest);
        if newest.at == self.now && last > state.available - newest.tasks {
            return newest.cause;
        }
        let share = |batch: usize| &self.stages[self.record[batch].stage].share;
        let (left, ended) = self
            .machines
            .around(self.stages[stage].share.node, grant, self.now);
        made_room(left, ended, |batch| {
            let given_back = &self.record[batch].grant;
            given_back.amounts(share(batch), &grant.devices)
        })
    }

    fn next_at(&mut self, time: Nanos) -> Option<usize> {
        let Reverse((end, batch)) = *self.running.peek()?;
        if end != time {
            return None;
        }
        self.running.pop();
        Some(batch)
    }

    fn finish(&mut self, number: usize) {
        let batch = &self.record[number];
        let (stage, tasks) = (batch.stage, batch.grant.tasks);
        let share = &self.stages[stage].share;
        let now = self.now;
        self.machines.release(share, &batch.grant, (number, now));
        self.changed.insert(share.node);
        self.last_done = Some(number);
        let state = &mut self.states[stage];
        state.done += tasks;
        let all_done = state.done == self.stages[stage].count;
        for position in 0..self.before[stage].len() {
            let next = self.before[stage][position];
            if all_done && !next.by_item {
                self.states[next.stage].blocked_by -= 1;
            }
            if all_done || next.by_item {
                self.update(next.stage);
                self.changed.insert(self.stages[next.stage].share.node);
            }
        }
    }
}

/// For each stage those that wait for it.
fn before(stages: &[Tasks]) -> Vec<Vec<After>> {
    let mut before = vec![Vec::new(); stages.len()];
    for (stage, tasks) in stages.iter().enumerate() {
        for after in &tasks.after {
            let by_item = after.by_item;
            before[after.stage].push(After { stage, by_item });
        }
    }
    before
}

/// The time of each stage's task, with the longest chain of tasks that comes after it.
fn urgency(stages: &[Tasks], before: &[Vec<After>]) -> Vec<Nanos> {
    let mut urgency = vec![0; stages.len()];
    for stage in (0..stages.len()).rev() {
        let after = before[stage].iter().map(|next| urgency[next.stage]);
        urgency[stage] = stages[stage].time.saturating_add(after.max().unwrap_or(0));
    }
    urgency
}

#[cfg(test)]
mod tests;
