//! The tasks of a run, and which wait for which.

use std::sync::atomic::{AtomicU64, Ordering};

use haul_ir::cost::Nanos;
use haul_ir::graph::{Arg, Producer};
use haul_ir::id::{CollectionId, IdVec, StageId};
use haul_ir::plan::Plan;

/// A task: one stage, for one item of its collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId {
    pub(crate) stage: StageId,
    pub(crate) item: Option<usize>,
}

/// Tasks of one stage that wait for nothing: those of its items from `first` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) stage: StageId,
    pub(crate) first: usize,
    pub(crate) end: usize,
}

impl Ready {
    pub(crate) fn len(self) -> usize {
        self.end - self.first
    }

    pub(crate) fn is_empty(self) -> bool {
        self.first == self.end
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// What it makes is there.
    Done,
    /// It made nothing: whatever reads it is skipped as well.
    Skipped,
}

/// All tasks of a plan. Counters say how many each still waits for, so that any thread may say
/// that a task has ended.
pub(crate) struct Tasks {
    stages: IdVec<StageId, StageTasks>,
    /// What each task of the stages that read others item by item waits for.
    waits: Vec<AtomicU64>,
}

struct StageTasks {
    over: Option<CollectionId>,
    count: usize,
    /// Predicted time from the start of one of its tasks to the end of the run.
    path: Nanos,
    /// Whether it reads what other stages store.
    consumes: bool,
    /// How many tasks all of its tasks wait for.
    blocked_by: AtomicU64,
    /// Where the counters of its items begin, where it reads other stages item by item.
    waits: Option<usize>,
    /// Stages whose task of the same item reads what this one makes, the longest path last.
    same_item: Vec<StageId>,
    /// Stages every task of which reads what all tasks of this one make, likewise.
    all_items: Vec<StageId>,
}

/// Marks a counter of which one of the awaited was skipped.
const SKIPPED: u64 = 1 << 63;

impl Tasks {
    /// All tasks of a plan, for collections of these widths.
    pub(crate) fn new(plan: &Plan, widths: &IdVec<CollectionId, usize>) -> Self {
        let stages = plan.typed.graph().stages.iter();
        let stages = stages.map(|stage| StageTasks {
            over: stage.each,
            count: stage.each.map_or(1, |over| widths[over]),
            path: 0,
            consumes: false,
            blocked_by: AtomicU64::new(0),
            waits: None,
            same_item: Vec::new(),
            all_items: Vec::new(),
        });
        let mut tasks = Self {
            stages: stages.collect(),
            waits: Vec::new(),
        };
        tasks.connect(plan);
        tasks.find_paths(plan);
        tasks.count_waits();
        tasks
    }

    /// Says of each stage which others wait for it.
    fn connect(&mut self, plan: &Plan) {
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
                let item_by_item =
                    matches!(arg, Arg::Value(_)) && graph.values[value].over.is_some();
                let next = match item_by_item {
                    true => &mut self.stages[from].same_item,
                    false => &mut self.stages[from].all_items,
                };
                if !next.contains(&node.stage) {
                    next.push(node.stage);
                    self.stages[node.stage].consumes = true;
                }
            }
        }
    }

    fn find_paths(&mut self, plan: &Plan) {
        for id in self.stages.ids().rev() {
            let next = self.readers(id);
            let longest = next.map(|next| self.stages[next].path).max().unwrap_or(0);
            self.stages[id].path = longest.saturating_add(plan.stages[id].time.unwrap_or(0));
        }
        for id in self.stages.ids() {
            let mut same_item = std::mem::take(&mut self.stages[id].same_item);
            let mut all_items = std::mem::take(&mut self.stages[id].all_items);
            same_item.sort_by_key(|next| self.stages[*next].path);
            all_items.sort_by_key(|next| self.stages[*next].path);
            self.stages[id].same_item = same_item;
            self.stages[id].all_items = all_items;
        }
    }

    fn count_waits(&mut self) {
        let mut of_items = IdVec::filled(0_u64, self.stages.len());
        for id in self.stages.ids() {
            for next in &self.stages[id].same_item {
                of_items[*next] += 1;
            }
            for next in self.stages[id].all_items.clone() {
                let count = self.stages[id].count as u64;
                *self.stages[next].blocked_by.get_mut() += count;
            }
        }
        for (stage, of_items) in self.stages.iter_mut().zip(of_items.iter()) {
            if *of_items > 0 {
                // The end of what blocks all of them counts once for each.
                let blocked = u64::from(*stage.blocked_by.get_mut() > 0);
                let counters = (0..stage.count).map(|_| AtomicU64::new(of_items + blocked));
                stage.waits = Some(self.waits.len());
                self.waits.extend(counters);
            }
        }
    }

    /// What waits for nothing from the beginning, the longest path first.
    pub(crate) fn sources(&self) -> Vec<Ready> {
        let is_source = |stage: &StageTasks| {
            let blocked_by = stage.blocked_by.load(Ordering::Relaxed);
            stage.count > 0 && stage.waits.is_none() && blocked_by == 0
        };
        let sources = self.stages.entries().filter(|(_, stage)| is_source(stage));
        let mut sources: Vec<_> = sources.map(|(id, _)| self.all(id)).collect();
        sources.sort_by_key(|ready| std::cmp::Reverse(self.path(ready.stage)));
        sources
    }

    /// Says that a task has ended, and tells what no longer waits, the longest path last: ready
    /// or, where something it reads was skipped, to be skipped too.
    pub(crate) fn release(
        &self,
        task: TaskId,
        outcome: Outcome,
        tell: &mut dyn FnMut(Ready, Outcome),
    ) {
        let stage = &self.stages[task.stage];
        let item = task.item.unwrap_or(0);
        for next in &stage.all_items {
            if let Some(outcome) = arrive(&self.stages[*next].blocked_by, outcome) {
                self.unblock(*next, outcome, tell);
            }
        }
        for next in &stage.same_item {
            let counters = self.stages[*next].waits.unwrap_or(0);
            if let Some(outcome) = arrive(&self.waits[counters + item], outcome) {
                tell(self.one(*next, item), outcome);
            }
        }
    }

    /// Nothing blocks all tasks of a stage any more.
    fn unblock(&self, stage: StageId, outcome: Outcome, tell: &mut dyn FnMut(Ready, Outcome)) {
        let Some(counters) = self.stages[stage].waits else {
            if self.stages[stage].count > 0 {
                tell(self.all(stage), outcome);
            }
            return;
        };
        for item in 0..self.stages[stage].count {
            if let Some(outcome) = arrive(&self.waits[counters + item], outcome) {
                tell(self.one(stage, item), outcome);
            }
        }
    }

    /// The task of an item of a stage.
    pub(crate) fn task(&self, stage: StageId, item: usize) -> TaskId {
        let item = self.stages[stage].over.map(|_| item);
        TaskId { stage, item }
    }

    /// How many tasks a stage has.
    pub(crate) fn count(&self, stage: StageId) -> usize {
        self.stages[stage].count
    }

    /// Tasks of all stages.
    pub(crate) fn total(&self) -> usize {
        self.stages.iter().map(|stage| stage.count).sum()
    }

    /// Predicted time from the start of a task of this stage to the end of the run.
    pub(crate) fn path(&self, stage: StageId) -> Nanos {
        self.stages[stage].path
    }

    /// Whether a stage reads what other stages store.
    pub(crate) fn consumes(&self, stage: StageId) -> bool {
        self.stages[stage].consumes
    }

    fn readers(&self, stage: StageId) -> impl Iterator<Item = StageId> {
        let stage = &self.stages[stage];
        stage.same_item.iter().chain(&stage.all_items).copied()
    }

    fn all(&self, stage: StageId) -> Ready {
        Ready {
            stage,
            first: 0,
            end: self.stages[stage].count,
        }
    }

    fn one(&self, stage: StageId, item: usize) -> Ready {
        Ready {
            stage,
            first: item,
            end: item + 1,
        }
    }
}

/// Counts one that was waited for; after the last, whether all are there.
fn arrive(counter: &AtomicU64, outcome: Outcome) -> Option<Outcome> {
    if outcome == Outcome::Skipped {
        counter.fetch_or(SKIPPED, Ordering::Relaxed);
    }
    let before = counter.fetch_sub(1, Ordering::AcqRel);
    let outcome = match before & SKIPPED {
        0 => Outcome::Done,
        _ => Outcome::Skipped,
    };
    (before & !SKIPPED == 1).then_some(outcome)
}
