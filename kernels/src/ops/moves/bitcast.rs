//! The same bits as elements of another dtype.

use haul_ir::dtype::DType;
use haul_ir::op::{CpuKernel, Example, Fault, InferError, Inferred, ParamKind};
use haul_ir::types::TensorType;

use super::attrs::{X, dtype, required};
use super::{Cost, Move};
use crate::strided::copy_view;

pub(crate) static BITCAST: Move = Move {
    name: "bitcast",
    doc: "The same bits read as another dtype of the same size. `bool` only gives: not every byte \
          is a truth value.",
    params: &[X, required("dtype", ParamKind::Word(&DType::NAMES))],
    rule: "[..] -> [..]",
    infer: |call| {
        let x = call.tensor(0)?;
        let dtype = dtype(call.attrs)?;
        let loses = dtype == DType::Bool && x.dtype != DType::Bool;
        if loses || dtype.size() != x.dtype.size() {
            let message = format!("the bits of {} are no {dtype}", x.dtype);
            return Err(InferError::new(Fault::DType, message).on_attr("dtype"));
        }
        Ok(Inferred::plain(1, TensorType::new(dtype, x.shape.clone())))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| {
        copy_view(&call.inputs[0], call.outputs[0].bytes);
        Ok(())
    }),
    examples: &[Example {
        formula: "bitcast(x, 'i32')",
        given: &[("x", "f32[3]", "0 1 -0.5")],
        result: ("i32[3]", "0 1065353216 -1090519040"),
    }],
};
