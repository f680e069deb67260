//! What every task of a stage does, worked out once: what it reads, the groups it runs, and when
//! each value is done with.

use std::collections::{HashMap, HashSet};

use haul_ir::graph::{Arg, Graph, Producer};
use haul_ir::id::{IdVec, OpId, StageId, ValueId};
use haul_ir::plan::Plan;
use indexmap::IndexSet;

/// The work of a stage.
pub(crate) struct Program {
    /// Values of inputs and other stages that it reads, in order of first use.
    pub(crate) reads: Vec<Read>,
    pub(crate) steps: Vec<Step>,
    /// Values that it gives.
    pub(crate) results: Vec<ValueId>,
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
    /// Its results that are used after it.
    pub(crate) leaving: Vec<ValueId>,
    /// Values that nothing in the task needs after it.
    pub(crate) done_with: Vec<ValueId>,
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
    let made_here = |value: ValueId| match graph.values[value].producer {
        Producer::Op(op) => graph.ops[op].stage == stage,
        Producer::Input(_) => false,
    };
    let results = results(graph, stage, written);
    let kept: HashSet<ValueId> = results.iter().copied().collect();
    let groups = plan.typed.groups_of(stage);
    let mut last_use: HashMap<ValueId, usize> = HashMap::new();
    let mut reads: IndexSet<Read> = IndexSet::new();
    for (at, group) in groups.iter().enumerate() {
        last_use.extend(
            plan.typed
                .reads(*group)
                .into_iter()
                .map(|value| (value, at)),
        );
        for arg in plan.typed.groups()[*group]
            .ops
            .iter()
            .flat_map(|op| &graph.ops[*op].args)
        {
            let read = match arg {
                Arg::Value(value) => Read::One(*value),
                Arg::Items(value) => Read::Items(*value),
                Arg::Scalar(..) => continue,
            };
            if !made_here(read.value()) {
                reads.insert(read);
            }
        }
    }
    let mut done_with = vec![Vec::new(); groups.len()];
    for (value, last) in last_use.iter().filter(|(value, _)| !kept.contains(value)) {
        done_with[*last].push(*value);
    }
    let steps = groups.iter().zip(done_with).map(|(group, done_with)| {
        let ops = plan.typed.groups()[*group].ops.clone();
        let made = ops.iter().flat_map(|op| &graph.ops[*op].results).copied();
        let leaving = made.filter(|value| kept.contains(value) || last_use.contains_key(value));
        Step {
            leaving: leaving.collect(),
            ops,
            done_with,
        }
    });
    Program {
        steps: steps.collect(),
        reads: reads.into_iter().collect(),
        results,
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
