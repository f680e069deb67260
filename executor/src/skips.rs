//! Tasks that are passed over when something fails, instead of ending the run.

use std::collections::{BTreeMap, HashSet};

use haul_ir::graph::{Graph, OnError, Producer};
use haul_ir::id::{StageId, ValueId};
use haul_ir::report::SkippedTask;

use crate::program::Read;
use crate::schedule::TaskId;
use crate::task::Context;

/// Which tasks were skipped, and why.
#[derive(Default)]
pub(crate) struct Skips {
    reasons: BTreeMap<TaskId, String>,
    stages: HashSet<StageId>,
}

impl Skips {
    pub(crate) fn add(&mut self, task: TaskId, reason: String) {
        self.stages.insert(task.stage);
        self.reasons.insert(task, reason);
    }

    /// Why a task cannot run: what it reads and was not made.
    pub(crate) fn reason(&self, task: TaskId, context: &Context<'_>) -> String {
        let graph = context.plan.typed.graph();
        let reads = context.programs[task.stage].reads.iter();
        let missing = reads.filter_map(|read| {
            let Producer::Op(op) = graph.values[read.value()].producer else {
                return None;
            };
            let stage = graph.ops[op].stage;
            let (is_missing, what) = match read {
                Read::One(_) => {
                    let item = task.item.filter(|_| graph.stages[stage].each.is_some());
                    let of_item = TaskId { stage, item };
                    (self.reasons.contains_key(&of_item), "which is skipped")
                }
                Read::Items(_) => (self.stages.contains(&stage), "of which an item is skipped"),
            };
            is_missing.then(|| format!("`{}`, {what}", graph.stages[stage].name))
        });
        let mut missing: Vec<_> = missing.collect();
        missing.dedup();
        format!("it reads {}", missing.join(", and "))
    }

    /// All of them, by stage and item.
    pub(crate) fn report(self, context: &Context<'_>) -> Vec<SkippedTask> {
        let graph = context.plan.typed.graph();
        let task = |(task, reason): (TaskId, String)| SkippedTask {
            stage: graph.stages[task.stage].name.clone(),
            item: context.item_name(task).map(str::to_owned),
            reason,
        };
        self.reasons.into_iter().map(task).collect()
    }
}

/// Whether the run goes on without a task of a stage that fails.
pub(crate) fn skips(graph: &Graph, stage: StageId, keep_going: bool) -> bool {
    keep_going || graph.stages[stage].failure.on_error == OnError::Skip
}

/// Values that the run does not go on without, where they cannot be read: they are outputs
/// themselves, or stages read them that must not fail.
pub(crate) fn needed(graph: &Graph, keep_going: bool) -> HashSet<ValueId> {
    let strict = graph.ops.iter();
    let strict = strict.filter(|node| !skips(graph, node.stage, keep_going));
    let read = strict.flat_map(|node| node.args.iter().filter_map(|arg| arg.value()));
    read.chain(graph.outputs.iter().map(|output| output.value))
        .collect()
}
