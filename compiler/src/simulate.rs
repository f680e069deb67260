//! What a run takes: list scheduling on the machines of a target, in simulated time.
//!
//! Ready tasks start in the order of their critical path (the longest chain of work that waits
//! for them), each on the first node of its kind that has room for its whole request; none waits
//! behind one whose room is not there. Tasks of a stage are alike, so they are counted and not
//! listed, and start in batches. Moving values between nodes takes no time here.

mod machines;
mod queues;
mod tree;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, NodeId};
use haul_ir::target::Target;

pub(crate) use self::machines::{GpuShare, Share};
use self::machines::{Grant, Machines};
use self::queues::Queues;

/// Above so many tasks, runs of them are taken as one that is longer.
const MOST_TASKS: u64 = 1_000_000;

/// The tasks of one stage.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    /// How many.
    pub(crate) count: u64,
    /// How long each takes.
    pub(crate) time: Nanos,
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
    /// How many nodes of each kind run tasks.
    pub(crate) nodes_used: IdVec<NodeId, u32>,
}

/// Runs the tasks of all stages, each of which comes after those it waits for. Every task must
/// fit some node of its kind.
pub(crate) fn simulate(stages: &[Tasks], target: &Target) -> Schedule {
    let stages = coarsened(stages);
    let mut run = Run::new(&stages, target);
    run.start_all();
    while let Some(Reverse(first)) = run.running.pop() {
        run.now = first.end;
        run.finish(first);
        while let Some(batch) = run.next_at(run.now) {
            run.finish(batch);
        }
        run.start_all();
    }
    Schedule {
        makespan: run.now,
        waits: run.states.iter().map(|state| state.waited).collect(),
        nodes_used: run.machines.used(),
    }
}

/// The same work in at most about [`MOST_TASKS`] tasks; a stage without any is one that takes no
/// time.
fn coarsened(stages: &[Tasks]) -> Vec<Tasks> {
    let total = stages
        .iter()
        .fold(0u64, |sum, tasks| sum.saturating_add(tasks.count));
    let run = total.div_ceil(MOST_TASKS).max(1);
    let mut stages = stages.to_vec();
    for tasks in &mut stages {
        if tasks.count == 0 {
            (tasks.count, tasks.time) = (1, 0);
        }
        let count = tasks.count.div_ceil(run);
        if count < tasks.count {
            tasks.time = tasks.time.saturating_mul(run);
            tasks.count = count;
        }
    }
    stages
}

/// Tasks of a stage that started together on one node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Batch {
    end: Nanos,
    /// In which order batches started.
    number: usize,
    stage: usize,
    grant: Grant,
}

/// Where a stage is.
#[derive(Clone, Debug, Default)]
struct State {
    started: u64,
    done: u64,
    /// Stages to wait for as a whole that are not done.
    blocked_by: usize,
    /// When its first task could start.
    ready_at: Option<Nanos>,
    waited: Option<(Nanos, usize)>,
}

struct Run<'a> {
    stages: &'a [Tasks],
    machines: Machines<'a>,
    now: Nanos,
    states: Vec<State>,
    /// Stages that wait for each stage.
    before: Vec<Vec<After>>,
    queues: Queues,
    /// The kinds of nodes on which tasks ended, or for which tasks became ready.
    changed: BTreeSet<NodeId>,
    running: BinaryHeap<Reverse<Batch>>,
    batches: usize,
    /// The stage that finished last, and so made room.
    last_done: Option<usize>,
}

impl<'a> Run<'a> {
    fn new(stages: &'a [Tasks], target: &'a Target) -> Self {
        let before = before(stages);
        let mut run = Run {
            queues: Queues::new(stages, &urgency(stages, &before), target.nodes.len()),
            changed: target.nodes.ids().collect(),
            machines: Machines::new(target),
            now: 0,
            states: vec![State::default(); stages.len()],
            before,
            running: BinaryHeap::new(),
            batches: 0,
            last_done: None,
            stages,
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

    /// Tasks of a stage that may start.
    fn ready(&self, stage: usize) -> u64 {
        let state = &self.states[stage];
        if state.blocked_by > 0 {
            return 0;
        }
        let items = self.stages[stage]
            .after
            .iter()
            .filter(|after| after.by_item);
        let available = items.map(|after| self.states[after.stage].done).min();
        let available = available.unwrap_or(u64::MAX).min(self.stages[stage].count);
        available - state.started
    }

    /// Puts a stage into its queue or takes it out.
    fn update(&mut self, stage: usize) {
        let is_ready = self.ready(stage) > 0;
        if is_ready {
            self.states[stage].ready_at.get_or_insert(self.now);
        }
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
        let Some(grant) = self
            .machines
            .grant(&self.stages[stage].share, self.ready(stage))
        else {
            return false;
        };
        let state = &mut self.states[stage];
        let waited = self.now - state.ready_at.unwrap_or(self.now);
        if state.started == 0 && waited > 0 {
            state.waited = self.last_done.map(|behind| (waited, behind));
        }
        state.started += grant.tasks;
        self.running.push(Reverse(Batch {
            end: self.now.saturating_add(self.stages[stage].time),
            number: self.batches,
            stage,
            grant,
        }));
        self.batches += 1;
        self.update(stage);
        true
    }

    fn next_at(&mut self, time: Nanos) -> Option<Batch> {
        let Reverse(next) = self.running.peek()?;
        if next.end != time {
            return None;
        }
        self.running.pop().map(|Reverse(batch)| batch)
    }

    fn finish(&mut self, batch: Batch) {
        let share = &self.stages[batch.stage].share;
        self.machines.release(share, &batch.grant);
        self.changed.insert(share.node);
        self.last_done = Some(batch.stage);
        let state = &mut self.states[batch.stage];
        state.done += batch.grant.tasks;
        let all_done = state.done == self.stages[batch.stage].count;
        for position in 0..self.before[batch.stage].len() {
            let next = self.before[batch.stage][position];
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
