//! Sums of an element's neighbours, weighted: convolutions, correlations and stencils of any
//! number of axes.

mod kernel;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Op, Param, ParamKind,
    Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::array_op::{ArrayOp, attribute, tensor};
use super::matmul::flops_of_multiply_add;
use super::moves::attrs::{element, number};
use super::moves::pieces::{Beyond, MODES};
use kernel::Weights;

pub(super) static OPS: &[&dyn Op] = &[&CONVOLVE, &CORRELATE, &STENCIL];

const X: Param = tensor("x");
const W: Param = tensor("w");
const MODE: Param = attribute(
    "mode",
    ParamKind::Word(&["full", "same", "valid"]),
    "'full'",
);

const RULE: &str = "[.., n], [m] -> [.., n + m - 1]; 'same' [.., n]; 'valid' [.., n - m + 1]; \
                    so for each axis of w";

static CONVOLVE: ArrayOp = ArrayOp {
    name: "convolve",
    doc: "The convolution of `x` with `w` over as many of its last axes as `w` has: sums of \
          products over all elements whose places add up to that of the result. Mode 'full' \
          gives all of it; 'same' its middle, as large as `x`; 'valid' what needs no zeros around \
          `x`. f16 and bf16 accumulate in f32; integers wrap. For a large `w`, a product of \
          Fourier transforms is faster and less exact.",
    params: &[X, W, MODE],
    rule: RULE,
    family: Family::Conv,
    infer: infer_moded,
    work,
    work_formula: "2*N*m flops for N results and m weights, complex 8*N*m; zeros counted",
    cpu: CpuKernel::Array(|call| kernel::filter(call, infer_moded, Weights::Backwards)),
    gpu: GpuKernel::Own,
    examples: &[
        Example {
            formula: "convolve(x, w)",
            given: &[("x", "f32[3]", "1 2 3"), ("w", "f32[3]", "0 1 0.5")],
            result: ("f32[5]", "0 1 2.5 4 1.5"),
        },
        Example {
            formula: "convolve(x, w, mode='same')",
            given: &[("x", "i32[2, 2]", "1 2 3 4"), ("w", "i32[1, 2]", "1 10")],
            result: ("i32[2, 2]", "1 12 3 34"),
        },
    ],
};

static CORRELATE: ArrayOp = ArrayOp {
    name: "correlate",
    doc: "The cross-correlation of `x` with `w`: `convolve` with the conjugate of `w` backwards \
          along each of its axes.",
    params: &[X, W, MODE],
    rule: RULE,
    family: Family::Conv,
    infer: infer_moded,
    work,
    work_formula: "2*N*m flops for N results and m weights, complex 8*N*m; zeros counted",
    cpu: CpuKernel::Array(|call| kernel::filter(call, infer_moded, Weights::Conjugate)),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "correlate(x, w, mode='valid')",
        given: &[("x", "f32[3]", "1 2 3"), ("w", "f32[2]", "1 0.5")],
        result: ("f32[2]", "2 3.5"),
    }],
};

static STENCIL: ArrayOp = ArrayOp {
    name: "stencil",
    doc: "For each element of `x` the sum of its neighbours times the weights `w`, which lie \
          around it along as many of the last axes as `w` has: the weight at `size // 2` is that \
          of the element itself. `mode` says what lies beyond the edges: 'constant' for `value`, \
          'edge', 'reflect', 'symmetric' or 'wrap', as `pad` has them (in SciPy's ndimage they \
          are constant, nearest, mirror, reflect and wrap). f16 and bf16 accumulate in f32; \
          integers wrap.",
    params: &[
        X,
        W,
        attribute("mode", ParamKind::Word(MODES), "'constant'"),
        attribute("value", ParamKind::Numbers, "0"),
    ],
    rule: "[.., n, m], [p, q] -> [.., n, m]",
    family: Family::Conv,
    infer: infer_stencil,
    work,
    work_formula: "2*N*m flops for N elements and m weights, complex 8*N*m",
    cpu: CpuKernel::Array(|call| kernel::filter(call, infer_stencil, Weights::AsGiven)),
    gpu: GpuKernel::Own,
    examples: &[
        Example {
            formula: "stencil(x, w)",
            given: &[("x", "f32[4]", "1 2 4 8"), ("w", "f32[3]", "1 -2 1")],
            result: ("f32[4]", "0 1 2 -12"),
        },
        Example {
            formula: "stencil(x, w, mode='wrap')",
            given: &[("x", "f32[2, 2]", "1 2 3 4"), ("w", "f32[1, 3]", "1 0 10")],
            result: ("f32[2, 2]", "22 11 44 33"),
        },
    ],
};

/// `x` and `w`, and the dtype in which they meet.
fn given<'a>(call: &Call<'a>) -> Result<(&'a TensorType, &'a TensorType), InferError> {
    let (x, w) = (call.tensor(0)?, call.tensor(1)?);
    if w.rank() == 0 || w.rank() > x.rank() {
        let message = format!("weights have one to {} axes, these are {w}", x.rank());
        return Err(InferError::new(Fault::Rank, message).on(1));
    }
    match w.shape.contains(&Expr::ZERO) {
        true => Err(InferError::new(Fault::Shape, "there are no weights").on(1)),
        false => Ok((x, w)),
    }
}

fn result(call: &Call<'_>, shape: Vec<Expr>) -> Result<Inferred, InferError> {
    let dtype = call.promoted()?;
    if dtype.kind() == Kind::Bool {
        let error = InferError::new(Fault::DType, "there is no product of bools");
        return Err(error.help("cast them, for example `f32(x)`"));
    }
    Ok(Inferred::cast_all(2, dtype, TensorType::new(dtype, shape)))
}

fn infer_moded(call: &Call<'_>) -> Result<Inferred, InferError> {
    let (x, w) = given(call)?;
    let mut shape = x.shape.clone();
    let first = x.rank() - w.rank();
    for (axis, weights) in (first..).zip(&w.shape) {
        let size = &x.shape[axis];
        if *size == Expr::ZERO {
            let message = format!("axis {axis} of {x} is empty");
            return Err(InferError::new(Fault::Shape, message).on(0));
        }
        shape[axis] = match call.attrs.word("mode") {
            Some("same") => size.clone(),
            Some("valid") => size - weights + 1,
            _ => size + weights - Expr::ONE,
        };
        if shape[axis].as_int().is_some_and(|size| size < 1) {
            let message =
                format!("along axis {axis} there are {weights} weights for {size} elements");
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
    }
    result(call, shape)
}

fn infer_stencil(call: &Call<'_>) -> Result<Inferred, InferError> {
    let (x, _) = given(call)?;
    let inferred = result(call, x.shape.clone())?;
    if Beyond::of(call.attrs.word("mode")) == Beyond::Number {
        let dtype = inferred.outputs[0]
            .tensor()
            .map_or(x.dtype, |output| output.dtype);
        element(number(call.attrs, "value")?, dtype)
            .map_err(|message| InferError::new(Fault::Value, message).on_attr("value"))?;
    }
    Ok(inferred)
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let (Some(ValueType::Tensor(output)), Ok(w)) = (outputs.first(), call.tensor(1)) else {
        return Work::Unknown;
    };
    let flops = output.elements() * w.elements() * flops_of_multiply_add(Some(output.dtype));
    Work::of(flops, call, outputs)
}
