//! Tensors side by side along a new axis.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Op, Param, ParamKind,
    Work, axis_of,
};
use haul_ir::types::{Axes, TensorType, ValueType};

use super::concat::{axis_attr, concat};

/// `stack(a, b, axis=0)`.
pub(crate) struct Stack;

impl Op for Stack {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn doc(&self) -> &'static str {
        "Tensors of one shape side by side along a new axis, in the dtype in which they meet. \
         Scalars become a vector."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensors,
                default: None,
            },
            Param {
                name: "axis",
                kind: ParamKind::Int,
                default: Some("0"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "k times [..] -> [.., k, ..]"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let dtype = call.promoted()?;
        let [first, rest @ ..] = call.inputs else {
            return Err(InferError::new(Fault::Shape, "needs at least one tensor"));
        };
        for (position, other) in rest.iter().enumerate() {
            if other.shape() != first.shape() {
                let [a, b] = [first, other].map(|input| Axes(input.shape()));
                let message = format!("shapes differ: {a} and {b}");
                return Err(InferError::new(Fault::Shape, message).on(position + 1));
            }
        }
        let axis = axis_attr(call.attrs)?;
        let axis = axis_of(axis, first.shape().len() + 1).map_err(|e| e.on_attr("axis"))?;
        let mut shape = first.shape().to_vec();
        shape.insert(axis, Expr::from(call.inputs.len() as u64));
        let inputs = call.inputs.len();
        Ok(Inferred::cast_all(
            inputs,
            dtype,
            TensorType::new(dtype, shape),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        Work::of(Expr::ZERO, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "0 flops"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(concat)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "stack(a, b)",
                given: &[("a", "i32[2]", "1 2"), ("b", "i32[2]", "3 4")],
                result: ("i32[2, 2]", "1 2 3 4"),
            },
            Example {
                formula: "stack(a, b, axis=1)",
                given: &[("a", "i32[2]", "1 2"), ("b", "i32[2]", "3 4")],
                result: ("i32[2, 2]", "1 3 2 4"),
            },
        ]
    }
}
