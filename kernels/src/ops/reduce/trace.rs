//! The sum of a diagonal: a reduction of a view of the matrix.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelCall, KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::{TensorType, ValueType};

use super::kernels::sum;

/// `trace(x)`.
pub(crate) struct Trace;

impl Op for Trace {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn doc(&self) -> &'static str {
        "The sum of the main diagonal of the last two axes, which may differ in size. Integers and \
         truth values are summed in 64 bits and wrap around; `f16` and `bf16` accumulate in `f32`."
    }

    fn params(&self) -> &'static [Param] {
        &[Param {
            name: "x",
            kind: ParamKind::Tensor,
            default: None,
        }]
    }

    fn rule(&self) -> &'static str {
        "[.., M, N] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        let Some(outer) = input.rank().checked_sub(2) else {
            let message = format!("needs a matrix, this is {input}");
            return Err(InferError::new(Fault::Rank, message).on(0));
        };
        let output = TensorType::new(input.dtype.sum(), input.shape[..outer].to_vec());
        Ok(Inferred::plain(1, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let input = call.inputs.first().and_then(|input| input.tensor());
        let output = outputs.first().and_then(ValueType::tensor);
        let (Some(input), Some(output)) = (input, output) else {
            return Work::Unknown;
        };
        let [.., rows, columns] = &input.shape[..] else {
            return Work::Unknown;
        };
        let diagonal = rows.smaller(columns);
        let parts = input.dtype.size() / input.dtype.real().size();
        let sums = (&diagonal - &Expr::ONE).larger(&Expr::ZERO);
        Work::Known {
            flops: sums * output.elements() * parts,
            read: diagonal * output.elements() * input.dtype.size(),
            written: output.bytes(),
        }
    }

    fn work_formula(&self) -> &'static str {
        "min(M, N) - 1 flops a matrix, complex twice; reads only the diagonals"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(trace)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "trace(x)",
            given: &[("x", "f32[2, 3]", "1 2 3 4 5 6")],
            result: ("f32[]", "6"),
        }]
    }
}

fn trace(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let diagonal = View {
        layout: diagonal(&call.inputs[0].layout),
        ..call.inputs[0].clone()
    };
    let last_axis = Attrs(vec![("axis", Attr::Ints(vec![Expr::from(-1_i128)]))]);
    sum(&mut KernelCall {
        inputs: &[diagonal],
        attrs: &last_axis,
        outputs: call.outputs,
    })
}

/// The diagonals of the last two axes, along one axis.
fn diagonal(matrices: &Layout) -> Layout {
    let mut layout = matrices.clone();
    let (columns, rows) = (layout.shape.pop(), layout.shape.pop());
    let steps = [layout.strides.pop(), layout.strides.pop()];
    layout.shape.push(rows.min(columns).unwrap_or(1));
    layout.strides.push(steps.into_iter().flatten().sum());
    layout
}
