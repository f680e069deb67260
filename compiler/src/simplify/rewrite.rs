//! Values replaced by others, and what nothing needs any more left out.

use haul_ir::graph::{Arg, Graph, Producer};
use haul_ir::id::{Id, IdVec, OpId, ValueId};

use crate::places::Places;

/// Which values to replace by what.
pub(super) struct Rewrite {
    replaced: IdVec<ValueId, Option<Arg>>,
    /// Values that leave their stage, or are named after it: they stay.
    kept: IdVec<ValueId, bool>,
}

impl Rewrite {
    pub(super) fn new(graph: &Graph) -> Self {
        Self {
            replaced: IdVec::filled(None, graph.values.len()),
            kept: kept(graph),
        }
    }

    pub(super) fn is_kept(&self, value: ValueId) -> bool {
        self.kept[value]
    }

    /// Uses `arg`, which is not replaced itself, instead of a value that is not kept.
    pub(super) fn replace(&mut self, value: ValueId, arg: Arg) {
        self.replaced[value] = Some(arg);
    }

    /// The argument to use.
    pub(super) fn arg(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Value(value) => self.replaced[*value].as_ref().unwrap_or(arg).clone(),
            Arg::Items(_) | Arg::Scalar(..) => arg.clone(),
        }
    }

    /// The graph with what is replaced, and without ops whose results nothing needs.
    pub(super) fn apply(self, mut graph: Graph, places: Places) -> (Graph, Places) {
        for node in graph.ops.iter_mut() {
            node.args = node.args.iter().map(|arg| self.arg(arg)).collect();
        }
        let live = live(&graph, self.kept);
        compact(graph, places, &live)
    }
}

/// Whether each value leaves its stage, or is named after it.
pub(super) fn kept(graph: &Graph) -> IdVec<ValueId, bool> {
    let mut kept = IdVec::filled(false, graph.values.len());
    for stage in graph.stages.iter() {
        for value in stage.results.iter().chain([&stage.value]) {
            kept[*value] = true;
        }
    }
    kept
}

/// Whether each value is needed, given those that are kept.
fn live(graph: &Graph, mut live: IdVec<ValueId, bool>) -> IdVec<ValueId, bool> {
    for node in graph.ops.iter().rev() {
        if node.results.iter().any(|result| live[*result]) {
            for value in node.args.iter().filter_map(Arg::value) {
                live[value] = true;
            }
        }
    }
    live
}

/// The graph without ops that have no live result. Ids are renumbered in order.
fn compact(graph: Graph, mut places: Places, live: &IdVec<ValueId, bool>) -> (Graph, Places) {
    let stays: IdVec<OpId, bool> = graph
        .ops
        .iter()
        .map(|node| node.results.iter().any(|result| live[*result]))
        .collect();
    let op_ids: IdVec<OpId, OpId> = renumbered(stays.iter().copied());
    let is_made = |producer: Producer| match producer {
        Producer::Input(_) => true,
        Producer::Op(op) => stays[op],
    };
    let value_ids: IdVec<ValueId, ValueId> =
        renumbered(graph.values.iter().map(|value| is_made(value.producer)));
    let mut small = Graph {
        dims: graph.dims,
        collections: graph.collections,
        inputs: graph.inputs,
        stages: graph.stages,
        outputs: graph.outputs,
        moved: graph.moved,
        ..Graph::default()
    };
    for input in small.inputs.iter_mut() {
        input.value = value_ids[input.value];
    }
    for mut value in graph
        .values
        .into_iter()
        .filter(|value| is_made(value.producer))
    {
        if let Producer::Op(op) = &mut value.producer {
            *op = op_ids[*op];
        }
        small.values.push(value);
    }
    for (mut node, _) in graph
        .ops
        .into_iter()
        .zip(stays.iter())
        .filter(|(_, stays)| **stays)
    {
        for arg in &mut node.args {
            if let Arg::Value(value) | Arg::Items(value) = arg {
                *value = value_ids[*value];
            }
        }
        node.results
            .iter_mut()
            .for_each(|value| *value = value_ids[*value]);
        small.ops.push(node);
    }
    for stage in small.stages.iter_mut() {
        stage.ops.retain(|op| stays[*op]);
        stage.ops.iter_mut().for_each(|op| *op = op_ids[*op]);
        stage
            .results
            .iter_mut()
            .for_each(|value| *value = value_ids[*value]);
        stage.value = value_ids[stage.value];
    }
    for output in &mut small.outputs {
        output.value = value_ids[output.value];
    }
    (places.ops, places.pins) = (staying(&places.ops, &stays), staying(&places.pins, &stays));
    (small, places)
}

fn staying<T: Clone>(facts: &IdVec<OpId, T>, stays: &IdVec<OpId, bool>) -> IdVec<OpId, T> {
    let facts = facts.iter().zip(stays.iter()).filter(|(_, stays)| **stays);
    facts.map(|(fact, _)| fact.clone()).collect()
}

/// The new id of each that stays, counted in order; of others, that of the next.
fn renumbered<I: Id>(stays: impl Iterator<Item = bool>) -> IdVec<I, I> {
    let mut next = 0;
    let ids = stays.map(|stays| {
        let id = I::from_index(next);
        next += usize::from(stays);
        id
    });
    ids.collect()
}
