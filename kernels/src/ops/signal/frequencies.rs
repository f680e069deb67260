//! The frequencies that the elements of a spectrum stand for.

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Param, ParamKind,
};
use haul_ir::types::TensorType;

use super::size;
use crate::ops::array_op::{ArrayOp, attribute, required, work_per_element, wrong};
use crate::ops::moves::attrs::{DTYPE, at_run, dtype, number};
use crate::ops::moves::floats;

const PARAMS: &[Param] = &[
    required("n", ParamKind::Int),
    attribute("d", ParamKind::Numbers, "1"),
    DTYPE,
];

pub(super) static FFTFREQ: ArrayOp = ArrayOp {
    name: "fftfreq",
    doc: "The frequencies of the elements that `fft` gives of `n`, `d` apart: 0, 1, .. and then \
          the negative ones in ascending order, divided by `n*d`.",
    params: PARAMS,
    rule: "-> [n]",
    family: Family::Move,
    infer: |call| frequencies(call, size(call.attrs, "n", 1)?),
    work: |call, outputs| work_per_element(2, call, outputs),
    work_formula: "2 flops an element",
    cpu: CpuKernel::Array(|call| {
        let n = call.outputs[0].shape[0];
        fill(call, n, n.div_ceil(2))
    }),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "fftfreq(5, d=0.1)",
        given: &[],
        result: ("f64[5]", "0 2 4 -4 -2"),
    }],
};

pub(super) static RFFTFREQ: ArrayOp = ArrayOp {
    name: "rfftfreq",
    doc: "The frequencies of the elements that `rfft` gives of `n`, `d` apart: 0, 1, .., n // 2, \
          divided by `n*d`.",
    params: PARAMS,
    rule: "-> [n // 2 + 1]",
    family: Family::Move,
    infer: |call| {
        let n = size(call.attrs, "n", 1)?;
        frequencies(call, n.floor_div(&Expr::from(2_u64)) + 1)
    },
    work: |call, outputs| work_per_element(2, call, outputs),
    work_formula: "2 flops an element",
    cpu: CpuKernel::Array(|call| {
        let n = call.attrs.int("n").and_then(|n| usize::try_from(n).ok());
        let n = n.ok_or_else(|| KernelError::new("`n` is not known"))?;
        fill(call, n, n)
    }),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "rfftfreq(4, d=0.25)",
        given: &[],
        result: ("f64[3]", "0 1 2"),
    }],
};

fn frequencies(call: &Call<'_>, count: Expr) -> Result<Inferred, InferError> {
    let distance = number(call.attrs, "d")?;
    if distance == 0.0 || !distance.is_finite() {
        return Err(wrong("d", "is a number other than 0"));
    }
    let dtype = dtype(call.attrs)?;
    if !matches!(dtype.kind(), Kind::Float | Kind::Complex) {
        let message = format!("frequencies have fractions, {dtype} has none");
        return Err(InferError::new(Fault::DType, message).on_attr("dtype"));
    }
    Ok(Inferred::plain(0, TensorType::new(dtype, vec![count])))
}

/// The first `positive` frequencies, then negative ones.
fn fill(call: &mut KernelCall<'_, '_>, n: usize, positive: usize) -> Result<(), KernelError> {
    let whole = n as f64 * number(call.attrs, "d").map_err(at_run)?;
    floats(&mut call.outputs[0], &|index| match index < positive {
        true => index as f64 / whole,
        false => -((n - index) as f64) / whole,
    });
    Ok(())
}
