//! What every task of a stage does, worked out once: what it reads, the groups it runs and on which
//! side, what crosses, and when each value is done with.
//!
//! A value crosses to the GPU when its first reader there runs, and to the host when it is made.

use std::collections::{HashMap, HashSet};

use haul_ir::graph::{Arg, Graph, Producer};
use haul_ir::id::{GroupId, IdVec, OpId, StageId, ValueId};
use haul_ir::plan::{Plan, Side};
use indexmap::IndexSet;

/// The work of a stage.
pub(crate) struct Program {
    /// Values of inputs and other stages that it reads, in order of first use.
    pub(crate) reads: Vec<Read>,
    pub(crate) steps: Vec<Step>,
    /// Values that it gives.
    pub(crate) results: Vec<ValueId>,
}

impl Program {
    /// Whether it computes on a GPU.
    pub(crate) fn uses_gpu(&self) -> bool {
        self.steps.iter().any(|step| step.side == Side::Gpu)
    }
}

/// A value that comes from outside a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Read {
    /// One value: of the task's item, for a collection.
    One(ValueId),
    /// Each item of a collection.
    Items(ValueId),
}

impl Read {
    pub(crate) fn value(self) -> ValueId {
        match self {
            Read::One(value) | Read::Items(value) => value,
        }
    }
}

/// A group, and what it is the last to need.
pub(crate) struct Step {
    pub(crate) ops: Vec<OpId>,
    pub(crate) side: Side,
    /// Values that cross to the GPU before it.
    pub(crate) uploads: Vec<ValueId>,
    /// Its results that are used after it.
    pub(crate) leaving: Vec<ValueId>,
    /// Those of them that cross to the host after it.
    pub(crate) downloads: Vec<ValueId>,
    /// Values that nothing in the task needs after it, where they are on this side.
    pub(crate) done_with: Vec<(Side, ValueId)>,
}

/// The work of every stage.
pub(crate) fn programs(plan: &Plan) -> IdVec<StageId, Program> {
    let graph = plan.typed.graph();
    let written: HashSet<_> = graph.outputs.iter().map(|output| output.value).collect();
    let stages = graph.stages.ids();
    stages.map(|stage| program(plan, stage, &written)).collect()
}

fn program(plan: &Plan, stage: StageId, written: &HashSet<ValueId>) -> Program {
    let graph = plan.typed.graph();
    let results = results(graph, stage, written);
    let groups = plan.typed.groups_of(stage);
    let kept: HashSet<ValueId> = results.iter().copied().collect();
    let side = |group: GroupId| plan.groups[group].placement.side;
    let mut uses = Uses::default();
    for (at, group) in groups.iter().enumerate() {
        for value in plan.typed.reads(*group) {
            uses.read(value, side(*group), at);
        }
    }
    let mut steps = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let ops = plan.typed.groups()[*group].ops.clone();
        let made = ops.iter().flat_map(|op| &graph.ops[*op].results).copied();
        let leaving = made.filter(|value| kept.contains(value) || uses.is_read(*value));
        let mut step = Step {
            leaving: leaving.collect(),
            ops,
            side: side(*group),
            uploads: Vec::new(),
            downloads: Vec::new(),
            done_with: Vec::new(),
        };
        uses.make(&mut step, &kept, at);
        if step.side == Side::Gpu {
            step.uploads = uses.cross(plan.typed.reads(*group), at);
        }
        steps.push(step);
    }
    for ((side, value), last) in uses.last {
        if side == Side::Gpu || !kept.contains(&value) {
            steps[last].done_with.push((side, value));
        }
    }
    Program {
        reads: reads(plan, stage),
        steps,
        results,
    }
}

/// Values of inputs and other stages that a stage reads, in order of first use.
fn reads(plan: &Plan, stage: StageId) -> Vec<Read> {
    let graph = plan.typed.graph();
    let groups = plan.typed.groups_of(stage).into_iter();
    let ops = groups.flat_map(|group| &plan.typed.groups()[group].ops);
    let reads = ops.flat_map(|op| &graph.ops[*op].args);
    let reads = reads.filter_map(|arg| match arg {
        Arg::Value(value) => Some(Read::One(*value)),
        Arg::Items(value) => Some(Read::Items(*value)),
        Arg::Scalar(..) => None,
    });
    let comes_from_outside = |read: &Read| match graph.values[read.value()].producer {
        Producer::Op(op) => graph.ops[op].stage != stage,
        Producer::Input(_) => true,
    };
    let reads: IndexSet<Read> = reads.filter(comes_from_outside).collect();
    reads.into_iter().collect()
}

/// The position of the last group that needs a value, on each side where it is.
#[derive(Default)]
struct Uses {
    last: HashMap<(Side, ValueId), usize>,
    /// What the GPU has had.
    on_gpu: HashSet<ValueId>,
}

impl Uses {
    fn read(&mut self, value: ValueId, side: Side, at: usize) {
        self.last.insert((side, value), at);
    }

    fn is_read(&self, value: ValueId) -> bool {
        self.is_read_on(Side::Cpu, value) || self.is_read_on(Side::Gpu, value)
    }

    fn is_read_on(&self, side: Side, value: ValueId) -> bool {
        self.last.contains_key(&(side, value))
    }

    /// What a group makes is there from then on; what the host needs crosses at once.
    fn make(&mut self, step: &mut Step, kept: &HashSet<ValueId>, at: usize) {
        for value in &step.leaving {
            self.last.entry((step.side, *value)).or_insert(at);
            if step.side == Side::Gpu {
                self.on_gpu.insert(*value);
                if kept.contains(value) || self.is_read_on(Side::Cpu, *value) {
                    step.downloads.push(*value);
                    self.last.entry((Side::Cpu, *value)).or_insert(at);
                }
            }
        }
    }

    /// The values that cross to the GPU now; the host needs them until then.
    fn cross(&mut self, reads: Vec<ValueId>, at: usize) -> Vec<ValueId> {
        let mut uploads = Vec::new();
        for value in reads {
            if self.on_gpu.insert(value) {
                uploads.push(value);
                let last = self.last.entry((Side::Cpu, value)).or_insert(at);
                *last = at.max(*last);
            }
        }
        uploads
    }
}

/// Values of a stage that live on when its task ends.
fn results(graph: &Graph, stage: StageId, written: &HashSet<ValueId>) -> Vec<ValueId> {
    let node = &graph.stages[stage];
    let given: HashSet<ValueId> = node.results.iter().copied().collect();
    let ops = node.ops.iter().flat_map(|op| &graph.ops[*op].results);
    let shown = graph.outputs.is_empty().then_some(node.value);
    ops.copied()
        .filter(|value| given.contains(value) || written.contains(value) || shown == Some(*value))
        .collect()
}
