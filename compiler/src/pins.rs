//! Sides that are given from outside the file, in place of what its `place` says.

use haul_ir::graph::{Graph, Pin};
use haul_ir::id::OpId;

use crate::places::Places;
use crate::render::names;

/// Pins the ops of each name: of a whole stage, of a line as `stage.line`, or a single op by the
/// name that plans call it. Gives the names that are none.
pub(crate) fn pin(graph: &mut Graph, places: &mut Places, pins: &[(String, Pin)]) -> Vec<String> {
    let mut unknown = Vec::new();
    for (name, pin) in pins {
        let ops = ops(graph, name);
        if ops.is_empty() {
            unknown.push(name.clone());
        }
        for op in ops {
            graph.ops[op].pin = *pin;
            places.pins[op] = None;
        }
    }
    unknown
}

/// The ops that a name means.
pub(crate) fn ops(graph: &Graph, name: &str) -> Vec<OpId> {
    let (stage, rest) = match name.split_once('.') {
        Some((stage, rest)) => (stage, Some(rest)),
        None => (name, None),
    };
    let is_meant = |op: &OpId| {
        let node = &graph.ops[*op];
        let is_in = |line: &str| {
            let inner = node.name.strip_prefix(line);
            inner.is_some_and(|inner| inner.is_empty() || inner.starts_with('.'))
        };
        let is_here = graph.stages[node.stage].name == stage;
        is_here && rest.is_none_or(|rest| is_in(rest) || names::op(graph, *op) == name)
    };
    graph.ops.ids().filter(is_meant).collect()
}
