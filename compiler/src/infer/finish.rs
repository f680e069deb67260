//! The stages and outputs of a graph, once all its values are known.

use haul_ir::graph::{Arg, Graph, Output, Producer, Stage};
use haul_ir::id::{IdVec, OpId, StageId, ValueId};

use super::Inference;
use crate::places::Places;
use crate::resolve::{self, Operand};

impl Inference<'_> {
    /// The stages and outputs, now that all values are known.
    pub(super) fn finish(
        mut self,
        stages: Vec<resolve::Stage>,
        outputs: Vec<resolve::Output>,
    ) -> Option<(Graph, Places)> {
        let mut values = Vec::new();
        for stage in &stages {
            let Operand::Value(value) = stage.value else {
                return None;
            };
            values.push(self.value(value)?);
        }
        for output in outputs {
            let value = self.value(output.value)?;
            self.graph.outputs.push(Output {
                name: output.name,
                sink: output.sink,
                value,
            });
        }
        let mut ops: IdVec<StageId, Vec<OpId>> = IdVec::filled(Vec::new(), stages.len());
        for (id, op) in self.graph.ops.entries() {
            ops[op.stage].push(id);
        }
        let leaves = leaving(&self.graph);
        for ((stage, value), ops) in stages.into_iter().zip(values).zip(ops.iter()) {
            let results = ops
                .iter()
                .flat_map(|op| &self.graph.ops[*op].results)
                .copied();
            let mut results: Vec<_> = results.filter(|value| leaves[*value]).collect();
            if results.is_empty() {
                results.push(value);
            }
            self.places.stages.push(stage.name.span);
            self.places.requests.push(stage.request_spans);
            self.places.fields.push(stage.request_fields);
            self.graph.stages.push(Stage {
                name: stage.name.value,
                each: stage.each,
                requests: stage.requests,
                failure: stage.failure,
                ops: ops.clone(),
                results,
                value,
            });
        }
        Some((self.graph, self.places))
    }
}

/// Whether each value leaves the stage that makes it.
fn leaving(graph: &Graph) -> IdVec<ValueId, bool> {
    let mut leaves = IdVec::filled(false, graph.values.len());
    for node in graph.ops.iter() {
        for value in node.args.iter().filter_map(Arg::value) {
            if let Producer::Op(producer) = graph.values[value].producer {
                leaves[value] |= graph.ops[producer].stage != node.stage;
            }
        }
    }
    for output in &graph.outputs {
        leaves[output.value] = true;
    }
    leaves
}
