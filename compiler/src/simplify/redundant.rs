//! What is computed for nothing, or twice.

use std::collections::HashMap;

use haul_ir::dtype::{DType, Kind};
use haul_ir::graph::{Arg, Graph, OpNode, Pin, Scalar};
use haul_ir::id::ValueId;
use haul_ir::op::Attrs;

use super::rewrite::Rewrite;
use crate::ops::is_cast;
use crate::resolve::fits;

/// Replaces casts to the dtype that a value has already, and casts of scalars, which are exact in
/// whichever dtype they are asked for; and every op that computes what one before it in its stage
/// computes.
pub(super) fn replace_redundant(graph: &Graph, rewrite: &mut Rewrite) {
    let mut seen: HashMap<Key<'_>, &[ValueId]> = HashMap::new();
    let mut stage = None;
    for node in graph.ops.iter() {
        if stage.replace(node.stage) != Some(node.stage) {
            seen.clear();
        }
        let args: Vec<_> = node.args.iter().map(|arg| rewrite.arg(arg)).collect();
        let is_kept = node.results.iter().any(|result| rewrite.is_kept(*result));
        if let Some(uncast) = uncast(graph, node, &args).filter(|_| !is_kept) {
            rewrite.replace(node.results[0], uncast);
            continue;
        }
        let key = (node.op.name(), node.pin, args, &node.attrs);
        let Some(first) = seen.get(&key) else {
            seen.insert(key, &node.results);
            continue;
        };
        for (result, first) in node.results.iter().zip(*first) {
            if !rewrite.is_kept(*result) {
                rewrite.replace(*result, Arg::Value(*first));
            }
        }
    }
}

/// What an op of a stage computes, and on which side.
type Key<'g> = (&'static str, Pin, Vec<Arg>, &'g Attrs);

/// What a cast can be replaced by.
fn uncast(graph: &Graph, node: &OpNode, args: &[Arg]) -> Option<Arg> {
    if !is_cast(node.op) || node.results.len() != 1 {
        return None;
    }
    let to = graph.values[node.results[0]].ty.tensor()?.dtype;
    match args {
        [Arg::Value(value)] => {
            let from = graph.values[*value].ty.tensor()?.dtype;
            (from == to).then_some(Arg::Value(*value))
        }
        [Arg::Scalar(scalar, from)] if holds(scalar, *from, to) => {
            Some(Arg::Scalar(scalar.clone(), to))
        }
        _ => None,
    }
}

/// Whether a scalar in `from` and then cast to `to` is the scalar in `to`.
fn holds(scalar: &Scalar, from: DType, to: DType) -> bool {
    let is_widest = matches!(from, DType::I64 | DType::F64);
    match (scalar, to.kind()) {
        (Scalar::Int(value), Kind::Int) => value.as_int().is_some_and(|value| fits(value, to)),
        (Scalar::Int(_), Kind::Float) => from == DType::I64,
        (Scalar::Float(_) | Scalar::Apply(..), Kind::Float) => is_widest,
        _ => false,
    }
}
