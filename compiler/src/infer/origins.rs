//! Where the type of an operand comes from: the op that gave it its shape, or the input.

use haul_ir::diagnostic::Span;
use haul_ir::graph::{Arg, Producer};
use haul_ir::id::{OpId, ValueId};
use haul_ir::op::{Fault, InferError};

use super::Inference;
use crate::resolve::{Node, Operand};

/// So far back the way of a type is followed.
const MAX_STEPS: usize = 1_000;

impl Inference<'_> {
    /// Places outside of the call where the types of its operands come from, with what happened
    /// there.
    pub(super) fn origins(&self, node: &Node, error: &InferError) -> Vec<(Span, String)> {
        if !matches!(error.fault, Fault::Shape | Fault::Rank | Fault::DType) {
            return Vec::new();
        }
        let whole = node.origin.whole;
        let mut found: Vec<(Span, String)> = Vec::new();
        for arg in &node.args {
            let (Operand::Value(value) | Operand::Items(value, _)) = arg else {
                continue;
            };
            let Some(value) = self.value(*value) else {
                continue;
            };
            let (span, text) = self.origin(value, error.fault);
            let is_inside = whole.start <= span.start && span.end <= whole.end;
            if !is_inside && found.iter().all(|(other, _)| *other != span) {
                found.push((span, text));
            }
        }
        found
    }

    /// Walks back through ops that leave what is at fault, shape or dtype, as it is.
    fn origin(&self, value: ValueId, fault: Fault) -> (Span, String) {
        let ty = &self.graph.values[value].ty;
        let is_same = |other: ValueId| {
            let (ty, other) = (ty.tensor(), self.graph.values[other].ty.tensor());
            ty.zip(other).is_some_and(|(ty, other)| match fault {
                Fault::DType => ty.dtype == other.dtype,
                _ => ty.shape == other.shape,
            })
        };
        let mut at = value;
        for _ in 0..MAX_STEPS {
            let op = match self.graph.values[at].producer {
                Producer::Input(input) => {
                    let input_name = &self.graph.inputs[input].name;
                    return (self.places.inputs[input], format!("`{input_name}` is {ty}"));
                }
                Producer::Op(op) => op,
            };
            let args = self.graph.ops[op].args.iter().filter_map(Arg::value);
            let mut unchanged = args.filter(|arg| is_same(*arg));
            match unchanged.next() {
                Some(before) => at = before,
                None => return (self.places.ops[op], self.change(op, at)),
            }
        }
        let place = match self.graph.values[at].producer {
            Producer::Input(input) => self.places.inputs[input],
            Producer::Op(op) => self.places.ops[op],
        };
        (place, ty.to_string())
    }

    /// What an op makes of what: `f32[B, 16384] gives c64[B, 8193]`.
    fn change(&self, op: OpId, result: ValueId) -> String {
        let args = self.graph.ops[op].args.iter().filter_map(Arg::value);
        let args: Vec<_> = args
            .map(|arg| self.graph.values[arg].ty.to_string())
            .collect();
        let given = &self.graph.values[result].ty;
        match args.as_slice() {
            [] => format!("gives {given}"),
            args => format!("{} gives {given}", args.join(" and ")),
        }
    }
}
