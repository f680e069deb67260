//! Transposed convolutions over one to three axes.

mod kernel;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param, ParamKind,
    Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::array_op::{ArrayOp, attribute, tensor};
use super::conv::groups;
use super::matmul::flops_of_multiply_add;
use super::windows::{Axis, DILATION, at_least};

const PARAMS: &[Param] = &[
    tensor("x"),
    tensor("w"),
    attribute("stride", ParamKind::Ints, "1"),
    attribute("padding", ParamKind::Ints, "0"),
    attribute("output_padding", ParamKind::Ints, "0"),
    DILATION,
    attribute("groups", ParamKind::Int, "1"),
];

macro_rules! row {
    ($name:literal, $doc:expr, $rule:literal, $work:literal, $axes:literal, $examples:expr) => {
        ArrayOp {
            name: $name,
            doc: $doc,
            params: PARAMS,
            rule: $rule,
            family: Family::Conv,
            infer: |call| infer_of($axes, call),
            work,
            work_formula: $work,
            cpu: CpuKernel::Contiguous(kernel::conv_transpose),
            gpu: GpuKernel::Own,
            examples: $examples,
        }
    };
}

/// `conv_transpose1d(x, w, stride=1, padding=0, output_padding=0, dilation=1, groups=1)`.
pub(super) static CONV_TRANSPOSE1D: ArrayOp = row!(
    "conv_transpose1d",
    "`conv_transpose2d` over one axis, the last.",
    "[N, C, L], [C, O/groups, l] -> [N, O, L'], \
     L' = (L - 1)*stride - padding + dilation*(l - 1) + 1 + output_padding",
    "2*N*C*L*(O/groups)*l flops",
    1,
    &[Example {
        formula: "conv_transpose1d(x, w, stride=2)",
        given: &[
            ("x", "f32[1, 1, 2]", "1 2"),
            ("w", "f32[1, 1, 3]", "1 10 100")
        ],
        result: ("f32[1, 1, 5]", "1 10 102 20 200"),
    }]
);

/// `conv_transpose2d(x, w, stride=1, padding=0, output_padding=0, dilation=1, groups=1)`.
pub(super) static CONV_TRANSPOSE2D: ArrayOp = row!(
    "conv_transpose2d",
    "The transpose of `conv2d`: each element of `x` adds the filters, times itself, to the \
     result, `stride` elements from its neighbour's. `padding` takes elements away at the edges: \
     a number, [rows, columns] or [top, left, bottom, right]; `output_padding` adds rows and \
     columns at the end. `w` has the channels of `x` first. Integers are not taken; f16 and bf16 \
     accumulate in f32, for which a copy of each tensor in f32 is made.",
    "[N, C, H, W], [C, O/groups, h, w] -> [N, O, H', W'], \
     H' = (H - 1)*stride - padding + dilation*(h - 1) + 1 + output_padding",
    "2*N*C*H*W*(O/groups)*h*w flops",
    2,
    &[Example {
        formula: "conv_transpose2d(x, w)",
        given: &[
            ("x", "f32[1, 1, 2, 2]", "1 2 3 4"),
            ("w", "f32[1, 1, 2, 2]", "1 0 0 10"),
        ],
        result: ("f32[1, 1, 3, 3]", "1 2 0 3 14 20 0 30 40"),
    }]
);

/// `conv_transpose3d(x, w, stride=1, padding=0, output_padding=0, dilation=1, groups=1)`.
pub(super) static CONV_TRANSPOSE3D: ArrayOp = row!(
    "conv_transpose3d",
    "`conv_transpose2d` over three axes.",
    "[N, C, D, H, W], [C, O/groups, d, h, w] -> [N, O, D', H', W'], \
     D' = (D - 1)*stride - padding + dilation*(d - 1) + 1 + output_padding",
    "2*N*C*D*H*W*(O/groups)*d*h*w flops",
    3,
    &[Example {
        formula: "conv_transpose3d(x, w)",
        given: &[
            ("x", "f32[1, 1, 1, 1, 2]", "1 2"),
            ("w", "f32[1, 1, 2, 1, 2]", "1 0 0 10"),
        ],
        result: ("f32[1, 1, 2, 1, 3]", "1 2 0 0 10 20"),
    }]
);

fn infer_of(axes: usize, call: &Call<'_>) -> Result<Inferred, InferError> {
    for position in [0, 1] {
        let given = call.tensor(position)?;
        if given.rank() != axes + 2 {
            let message = format!("needs {} axes, this is {given}", axes + 2);
            return Err(InferError::new(Fault::Rank, message).on(position));
        }
    }
    infer(call)
}

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let dtype = call.promoted()?;
    if dtype.kind() < Kind::Float {
        let message = format!("there is no transposed convolution of {dtype}");
        let error = InferError::new(Fault::DType, message);
        return Err(error.help("cast the input, for example `f32(x)`"));
    }
    let shape = output_shape(call)?;
    Ok(Inferred::cast_all(2, dtype, TensorType::new(dtype, shape)))
}

fn output_shape(call: &Call<'_>) -> Result<Vec<Expr>, InferError> {
    let [x, w] = [call.tensor(0)?, call.tensor(1)?];
    let rank = x.rank() - 2;
    let axes = Axis::all(call.attrs, &vec![1; rank])?;
    let more = at_least(call.attrs, "output_padding", rank, 0)?;
    let groups = groups(call.attrs)?;
    let channels = &x.shape[1];
    if w.shape[0] != *channels {
        let message = format!(
            "the input has {channels} channels, the filters {}",
            w.shape[0]
        );
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    let rest = channels.modulo(&Expr::from(groups as u64));
    if rest.as_int().is_some_and(|rest| rest != 0) {
        let message = format!("{channels} channels do not divide into {groups} groups");
        return Err(InferError::new(Fault::Shape, message).on_attr("groups"));
    }
    let mut shape = vec![x.shape[0].clone(), &w.shape[1] * groups as u64];
    let sizes = x.shape[2..].iter().zip(&w.shape[2..]);
    for ((axis, more), (count, window)) in axes.iter().zip(more).zip(sizes) {
        if more >= axis.stride.max(axis.dilation) {
            let rule = "is smaller than the stride or the dilation";
            return Err(super::array_op::wrong("output_padding", rule));
        }
        shape.push(axis.spread(count, window, more)?);
    }
    Ok(shape)
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let ([Ok(x), Ok(w)], Some(ValueType::Tensor(output))) =
        ([0, 1].map(|at| call.tensor(at)), outputs.first())
    else {
        return Work::Unknown;
    };
    let taps = Expr::product(w.shape.iter().skip(1));
    let flops = x.elements() * taps * flops_of_multiply_add(Some(output.dtype));
    Work::of(flops, call, outputs)
}
