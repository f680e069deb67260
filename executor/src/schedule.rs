//! Which task runs next. A state machine without threads or clock: whoever drives it says what
//! finished and asks what may start.
//!
//! Of the tasks whose inputs exist, the one with the longest path to the end goes first, and one
//! whose resources are free never waits behind one whose are not. While stored values fill half
//! of the memory, tasks that only add to them wait for tasks that use them up.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use haul_ir::cost::Nanos;
use haul_ir::graph::{Arg, Producer, Request};
use haul_ir::id::{CollectionId, IdVec, StageId};
use haul_ir::plan::Plan;

use crate::grant::{self, Grant, Lack, Ledger};

/// A task: one stage, for one item of its collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId {
    pub(crate) stage: StageId,
    pub(crate) item: Option<usize>,
}

/// The state of a run.
pub(crate) struct Schedule {
    stages: IdVec<StageId, StageState>,
    /// Stages that have ready tasks, the most urgent first.
    urgent: BTreeSet<(Reverse<Nanos>, StageId)>,
    ledger: Ledger,
    memory: u64,
    /// Started and not finished, with what they hold.
    running: Vec<(TaskId, Grant)>,
}

struct StageState {
    request: Request,
    over: Option<CollectionId>,
    /// Predicted time from the start of one of its tasks to the end of the run.
    path: Nanos,
    /// Whether it reads what other stages store.
    consumes: bool,
    /// Items whose tasks can start.
    ready: BTreeSet<usize>,
    /// For each task, how many tasks of the same item it waits for.
    waits_for: Vec<usize>,
    /// How many tasks all of its tasks wait for.
    blocked_by: usize,
    /// Stages whose task of the same item reads what this one makes.
    same_item: Vec<StageId>,
    /// Stages every task of which reads what all tasks of this one make.
    all_items: Vec<StageId>,
}

/// Why a ready task does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) stage: StageId,
    /// `cpus`, `memory`, `gpus`, `vram`, or `stored values`.
    pub(crate) lacks: &'static str,
}

impl Schedule {
    /// All tasks of a plan, for collections of these widths.
    pub(crate) fn new(
        plan: &Plan,
        widths: &IdVec<CollectionId, usize>,
        ledger: Ledger,
        memory: u64,
    ) -> Self {
        let graph = plan.typed.graph();
        let count = |over: Option<CollectionId>| over.map_or(1, |over| widths[over]);
        let mut stages: IdVec<StageId, StageState> = graph
            .stages
            .entries()
            .map(|(id, stage)| StageState {
                request: grant::request(plan, id),
                over: stage.each,
                path: 0,
                consumes: false,
                ready: BTreeSet::new(),
                waits_for: vec![0; count(stage.each)],
                blocked_by: 0,
                same_item: Vec::new(),
                all_items: Vec::new(),
            })
            .collect();
        connect(plan, &mut stages);
        for id in stages.ids().rev() {
            let next = stages[id].same_item.iter().chain(&stages[id].all_items);
            let longest = next.map(|next| stages[*next].path).max().unwrap_or(0);
            stages[id].path = longest.saturating_add(plan.stages[id].time.unwrap_or(0));
        }
        let mut schedule = Self {
            stages,
            urgent: BTreeSet::new(),
            ledger,
            memory,
            running: Vec::new(),
        };
        for id in schedule.stages.ids() {
            schedule.unblock(id);
        }
        schedule
    }

    /// How many tasks a stage has.
    pub(crate) fn tasks(&self, stage: StageId) -> usize {
        self.stages[stage].waits_for.len()
    }

    /// Tasks of all stages.
    pub(crate) fn total(&self) -> usize {
        self.stages.iter().map(|stage| stage.waits_for.len()).sum()
    }

    /// Tasks that hold grants now.
    pub(crate) fn running(&self) -> impl Iterator<Item = TaskId> {
        self.running.iter().map(|(task, _)| *task)
    }

    /// Starts the most urgent task that can have all it requests, while `stored` bytes are held
    /// between tasks. Tells of each stage that was passed over.
    pub(crate) fn start(
        &mut self,
        stored: u64,
        refused: &mut dyn FnMut(Refusal),
    ) -> Option<TaskId> {
        if !self.ledger.has_cpus() {
            return None;
        }
        let crowded = stored > self.memory / 2 && self.consumers_are_about();
        for (_, stage) in &self.urgent {
            let state = &self.stages[*stage];
            let granted = match crowded && !state.consumes {
                true => Err("stored values"),
                false => self
                    .ledger
                    .grant(&state.request, stored)
                    .map_err(Lack::word),
            };
            match granted {
                Ok(grant) => return Some(self.take(*stage, grant)),
                Err(lacks) => refused(Refusal {
                    stage: *stage,
                    lacks,
                }),
            }
        }
        None
    }

    /// Takes a task's grant back and makes ready what waited for it.
    pub(crate) fn finish(&mut self, task: TaskId) {
        self.give_back(task);
        self.release(task.stage, task.item);
    }

    /// Takes the grant back of a task that failed; what waits for it never starts.
    pub(crate) fn give_back(&mut self, task: TaskId) {
        if let Some(at) = self
            .running
            .iter()
            .position(|(running, _)| *running == task)
        {
            let (_, grant) = self.running.swap_remove(at);
            self.ledger.give_back(grant);
        }
    }

    fn take(&mut self, stage: StageId, grant: Grant) -> TaskId {
        let state = &mut self.stages[stage];
        let index = state.ready.pop_first().unwrap_or_default();
        let path = Reverse(state.path);
        if state.ready.is_empty() {
            self.urgent.remove(&(path, stage));
        }
        let item = self.stages[stage].over.map(|_| index);
        let task = TaskId { stage, item };
        self.running.push((task, grant));
        task
    }

    fn consumers_are_about(&self) -> bool {
        let ready = self.urgent.iter().map(|(_, stage)| *stage);
        let running = self.running().map(|task| task.stage);
        ready
            .chain(running)
            .any(|stage| self.stages[stage].consumes)
    }

    fn release(&mut self, stage: StageId, item: Option<usize>) {
        for next in self.stages[stage].same_item.clone() {
            let index = item.unwrap_or(0);
            self.stages[next].waits_for[index] -= 1;
            if self.stages[next].blocked_by == 0 {
                self.make_ready(next, index);
            }
        }
        for next in self.stages[stage].all_items.clone() {
            self.stages[next].blocked_by -= 1;
            self.unblock(next);
        }
    }

    /// Makes ready the tasks of a stage that wait for nothing, once no whole stage is waited for.
    fn unblock(&mut self, stage: StageId) {
        if self.stages[stage].blocked_by == 0 {
            for index in 0..self.tasks(stage) {
                self.make_ready(stage, index);
            }
        }
    }

    fn make_ready(&mut self, stage: StageId, index: usize) {
        let state = &mut self.stages[stage];
        if state.waits_for[index] == 0 {
            state.ready.insert(index);
            self.urgent.insert((Reverse(state.path), stage));
        }
    }

    #[cfg(test)]
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

/// Says of each stage which others wait for it.
fn connect(plan: &Plan, stages: &mut IdVec<StageId, StageState>) {
    let graph = plan.typed.graph();
    for node in graph.ops.iter() {
        for arg in &node.args {
            let Some(value) = arg.value() else { continue };
            let Producer::Op(producer) = graph.values[value].producer else {
                continue;
            };
            let from = graph.ops[producer].stage;
            if from == node.stage {
                continue;
            }
            let item_by_item = matches!(arg, Arg::Value(_)) && graph.values[value].over.is_some();
            let next = match item_by_item {
                true => &mut stages[from].same_item,
                false => &mut stages[from].all_items,
            };
            if next.contains(&node.stage) {
                continue;
            }
            next.push(node.stage);
            let made = stages[from].waits_for.len();
            let reader = &mut stages[node.stage];
            reader.consumes = true;
            match item_by_item {
                true => reader.waits_for.iter_mut().for_each(|waits| *waits += 1),
                false => reader.blocked_by += made,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{MIB, Pipeline, TestOp, f32, files, value};
    use haul_ir::id::Id;
    use haul_ir::op::CpuKernel;
    use proptest::prelude::*;

    static PASS: TestOp = TestOp {
        name: "pass",
        kernel: CpuKernel::Reshape,
    };

    /// A stage: whether it runs for each item, its cpus, its MiB, its time, and which of the
    /// stages before it reads.
    type Shape = (bool, u32, u64, u64, Vec<usize>);

    fn shapes() -> impl Strategy<Value = Vec<Shape>> {
        let reads = prop::collection::vec(0..100_usize, 0..3);
        let stage = (any::<bool>(), 1..=4_u32, 0..=8_u64, 0..100_u64, reads);
        prop::collection::vec(stage, 1..8)
    }

    /// A plan of such stages over a collection, and which stages each one reads.
    fn plan(shapes: &[Shape]) -> (Plan, Vec<Vec<usize>>) {
        let mut p = Pipeline::new();
        let (files, item) = p.items("files", files(""), f32(&[1]));
        let mut values = Vec::new();
        let mut all_reads = Vec::new();
        for (number, (each, cpus, memory, time, reads)) in shapes.iter().enumerate() {
            let stage = p.stage(
                &number.to_string(),
                each.then_some(files),
                *cpus,
                memory * MIB,
            );
            p.times.push((stage, *time));
            let earlier: BTreeSet<_> = match number {
                0 => BTreeSet::new(),
                _ => reads.iter().map(|read| read % number).collect(),
            };
            let mut args = vec![if *each { value(item) } else { Arg::Items(item) }];
            args.extend(earlier.iter().map(|read| match shapes[*read].0 && !each {
                true => Arg::Items(values[*read]),
                false => value(values[*read]),
            }));
            // The shape rule of the test's op asks for a value first.
            if !each {
                let one = p.graph.values.ids().next().map(value);
                args = one.into_iter().chain(args.split_off(1)).collect();
            }
            let made = p.op(&number.to_string(), &PASS, args);
            p.gives(made);
            values.push(made);
            all_reads.push(earlier.into_iter().collect());
        }
        (p.plan(), all_reads)
    }

    proptest! {
        #[test]
        fn every_task_runs_once_in_order_and_within_the_machine(
            shapes in shapes(),
            width in 0..5_usize,
            finish in prop::collection::vec(any::<prop::sample::Index>(), 64),
            stored in prop::collection::vec(0..40 * MIB, 64),
        ) {
            let (plan, reads) = plan(&shapes);
            let full = Ledger::new(4, 8 * MIB);
            let widths = [width].into_iter().collect();
            let mut schedule = Schedule::new(&plan, &widths, full.clone(), 8 * MIB);
            let mut running: Vec<TaskId> = Vec::new();
            let mut finished: Vec<TaskId> = Vec::new();
            for turn in 0.. {
                let stored = stored[turn % stored.len()];
                while let Some(task) = schedule.start(stored, &mut |_| {}) {
                    for read in &reads[task.stage.index()] {
                        let made = finished.iter().filter(|done| done.stage.index() == *read);
                        let (of_each, reads_each) = (task.item.is_some(), shapes[*read].0);
                        let needed = match (reads_each, of_each) {
                            (true, true) => 1,
                            (true, false) => width,
                            (false, _) => 1,
                        };
                        let made = made.filter(|done| !of_each || !reads_each || done.item == task.item);
                        prop_assert_eq!(made.count(), needed);
                    }
                    prop_assert!(!running.contains(&task) && !finished.contains(&task));
                    running.push(task);
                    let held = |of: fn(&Shape) -> u64| -> u64 {
                        running.iter().map(|task| of(&shapes[task.stage.index()])).sum()
                    };
                    prop_assert!(held(|shape| u64::from(shape.1)) <= 4);
                    prop_assert!(held(|shape| shape.2) <= 8);
                }
                if running.is_empty() {
                    break;
                }
                let task = running.swap_remove(finish[turn % finish.len()].index(running.len()));
                schedule.finish(task);
                finished.push(task);
            }
            prop_assert_eq!(finished.len(), schedule.total());
            prop_assert_eq!(schedule.ledger(), &full);
        }
    }

    /// Of two ready stages, the one on the longer path starts; a task for which there is no room
    /// holds up nothing.
    #[test]
    fn the_longest_path_goes_first_but_holds_up_nothing() {
        let shapes = [
            (false, 1, 1, 10, vec![]),
            (false, 3, 1, 90, vec![]),
            (false, 2, 1, 80, vec![]),
            (false, 1, 1, 5, vec![]),
        ];
        let (plan, _) = plan(&shapes);
        let widths = [1].into_iter().collect();
        let mut schedule = Schedule::new(&plan, &widths, Ledger::new(4, 8 * MIB), 8 * MIB);
        let mut refused = Vec::new();
        let mut started = Vec::new();
        while let Some(task) = schedule.start(0, &mut |refusal| refused.push(refusal)) {
            started.push(task.stage.index());
        }
        assert_eq!(started, [1, 0]);
        let waiting = Refusal {
            stage: plan.typed.graph().stages.ids().nth(2).unwrap(),
            lacks: "cpus",
        };
        assert_eq!(refused, [waiting]);
    }

    /// While stored values fill half of the memory, who uses them up goes before who adds.
    #[test]
    fn consumers_go_first_when_memory_is_crowded() {
        let produce = (true, 1, 1, 50, vec![]);
        let consume = (true, 1, 1, 10, vec![0]);
        let (plan, _) = plan(&[produce, consume]);
        let widths = [3].into_iter().collect();
        let mut schedule = Schedule::new(&plan, &widths, Ledger::new(1, 8 * MIB), 8 * MIB);
        let mut next = |stored| {
            let task = schedule.start(stored, &mut |_| {}).unwrap();
            schedule.finish(task);
            (task.stage.index(), task.item.unwrap())
        };
        assert_eq!(next(0), (0, 0));
        assert_eq!(next(0), (0, 1));
        assert_eq!(next(5 * MIB), (1, 0));
        assert_eq!(next(5 * MIB), (1, 1));
        // Nobody is there to use them up.
        assert_eq!(next(5 * MIB), (0, 2));
    }
}
