//! A copy without gaps, where a consumer cannot take a view.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, GpuKernel, InferError, Inferred, KernelCall, KernelError, Op,
    Param, ParamKind, Work,
};
use haul_ir::types::ValueType;

use crate::strided::copy_view;

/// `copy(x)`.
pub(crate) struct Copy;

impl Op for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn doc(&self) -> &'static str {
        "The same elements, row-major without gaps. The compiler adds it where an op cannot read \
         a transposed or sliced input as it lies."
    }

    fn params(&self) -> &'static [Param] {
        &[Param {
            name: "x",
            kind: ParamKind::Tensor,
            default: None,
        }]
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        Ok(Inferred::plain(1, call.tensor(0)?.clone()))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        Work::of(Expr::ZERO, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "0 flops"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(copy)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "copy(x)",
            given: &[("x", "f32[2, 2]", "1 2 3 4")],
            result: ("f32[2, 2]", "1 2 3 4"),
        }]
    }
}

fn copy(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    copy_view(&call.inputs[0], call.outputs[0].bytes);
    Ok(())
}
