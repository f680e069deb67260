//! Convolutions over one to three axes.

mod kernel;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param,
    ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::array_op::{ArrayOp, attribute, tensor, wrong};
use super::matmul::flops_of_multiply_add;
use super::windows::{Axis, DILATION, MAX, PADDING};

const PARAMS: &[Param] = &[
    tensor("x"),
    tensor("w"),
    attribute("stride", ParamKind::Ints, "1"),
    PADDING,
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
            cpu: CpuKernel::Contiguous(kernel::conv),
            gpu: GpuKernel::Own,
            examples: $examples,
        }
    };
}

/// `conv1d(x, w, stride=1, padding=0, dilation=1, groups=1)`.
pub(super) static CONV1D: ArrayOp = row!(
    "conv1d",
    "`conv2d` over one axis, the last: `padding` is a number, [before, after] or a word.",
    "[N, C, L], [O, C/groups, l] -> [N, O, L'], \
     L' = (L + padding - dilation*(l - 1) - 1) // stride + 1",
    "2*N*O*L'*(C/groups)*l flops, taps on padding counted",
    1,
    &[Example {
        formula: "conv1d(x, w, padding=[1, 0])",
        given: &[
            ("x", "f32[1, 1, 3]", "1 2 3"),
            ("w", "f32[1, 1, 2]", "10 1")
        ],
        result: ("f32[1, 1, 3]", "1 12 23"),
    }]
);

/// `conv2d(x, w, stride=1, padding=0, dilation=1, groups=1)`.
pub(super) static CONV2D: ArrayOp = row!(
    "conv2d",
    "Slides the filters `w` over the last two axes of `x` and sums products, as neural networks \
     do it: the filters are not flipped. `stride` and `dilation` are one number or [rows, \
     columns]; `padding` adds zeros: a number, [rows, columns], [top, left, bottom, right], \
     'valid' for none, or 'same' for so many that each output axis has ceil(input / stride) \
     elements, an odd one at the end ('same_lower': at the beginning). With `groups`, each group \
     of filters sees its share of the channels. f16 and bf16 accumulate in f32.",
    "[N, C, H, W], [O, C/groups, h, w] -> [N, O, H', W'], \
     H' = (H + padding - dilation*(h - 1) - 1) // stride + 1",
    "2*N*O*H'*W'*(C/groups)*h*w flops, taps on padding counted",
    2,
    &[
        Example {
            formula: "conv2d(x, w)",
            given: &[
                ("x", "f32[1, 1, 3, 3]", "1 2 3 4 5 6 7 8 9"),
                ("w", "f32[1, 1, 2, 2]", "1 0 0 -1"),
            ],
            result: ("f32[1, 1, 2, 2]", "-4 -4 -4 -4"),
        },
        Example {
            formula: "conv2d(x, w, padding='same')",
            given: &[
                ("x", "f32[1, 1, 2, 2]", "1 2 3 4"),
                ("w", "f32[1, 1, 3, 3]", "0 0 0 0 1 1 0 0 0"),
            ],
            result: ("f32[1, 1, 2, 2]", "3 2 7 4"),
        },
    ]
);

/// `conv3d(x, w, stride=1, padding=0, dilation=1, groups=1)`.
pub(super) static CONV3D: ArrayOp = row!(
    "conv3d",
    "`conv2d` over three axes: `stride` and `dilation` are one number or [depth, rows, columns], \
     `padding` a number, three, three for the beginnings and then three for the ends, or a word.",
    "[N, C, D, H, W], [O, C/groups, d, h, w] -> [N, O, D', H', W'], \
     D' = (D + padding - dilation*(d - 1) - 1) // stride + 1",
    "2*N*O*D'*H'*W'*(C/groups)*d*h*w flops, taps on padding counted",
    3,
    &[Example {
        formula: "conv3d(x, w)",
        given: &[
            ("x", "f32[1, 1, 2, 1, 3]", "1 2 3 4 5 6"),
            ("w", "f32[1, 1, 2, 1, 2]", "1 0 0 1"),
        ],
        result: ("f32[1, 1, 1, 1, 2]", "6 8"),
    }]
);

/// How filters move, from the attributes of a call.
struct Geometry {
    axes: Vec<Axis>,
    groups: usize,
}

impl Geometry {
    /// # Errors
    /// An attribute is not known, out of range, or has a wrong number of items.
    fn of(attrs: &Attrs, window: &[usize]) -> Result<Self, InferError> {
        Ok(Self {
            axes: Axis::all(attrs, window)?,
            groups: groups(attrs)?,
        })
    }
}

/// # Errors
/// It is not known or out of range.
pub(super) fn groups(attrs: &Attrs) -> Result<usize, InferError> {
    match attrs.int("groups") {
        Some(groups @ 1..=MAX) => Ok(groups as usize),
        _ => Err(wrong("groups", "is a whole number of at least 1")),
    }
}

fn infer_of(axes: usize, call: &Call<'_>) -> Result<Inferred, InferError> {
    let (images, filters) = NAMES[axes - 1];
    for (position, wanted) in [images, filters].into_iter().enumerate() {
        let given = call.tensor(position)?;
        if given.rank() != axes + 2 {
            let message = format!("needs {wanted}, this is {given}");
            return Err(InferError::new(Fault::Rank, message).on(position));
        }
    }
    infer(call)
}

/// Axes of images and filters.
const NAMES: [(&str, &str); 3] = [
    ("[N, C, L]", "[O, C/groups, l]"),
    ("[N, C, H, W]", "[O, C/groups, h, w]"),
    ("[N, C, D, H, W]", "[O, C/groups, d, h, w]"),
];

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let dtype = call.promoted()?;
    if dtype.kind() == Kind::Bool {
        let error = InferError::new(Fault::DType, "there is no convolution of bools");
        return Err(error.help("cast them, for example `f32(x)`"));
    }
    let shape = output_shape(call)?;
    Ok(Inferred::cast_all(2, dtype, TensorType::new(dtype, shape)))
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let (Some(ValueType::Tensor(output)), Ok(w)) = (outputs.first(), call.tensor(1)) else {
        return Work::Unknown;
    };
    let taps = Expr::product(w.shape.iter().skip(1));
    let flops = output.elements() * taps * flops_of_multiply_add(Some(output.dtype));
    Work::of(flops, call, outputs)
}

fn output_shape(call: &Call<'_>) -> Result<Vec<Expr>, InferError> {
    let [x, w] = [call.tensor(0)?, call.tensor(1)?];
    let (count, channels) = (&x.shape[0], &x.shape[1]);
    let (filters, filter_channels) = (&w.shape[0], &w.shape[1]);
    // Only a stride that is left out needs the sizes of windows, and there is none here.
    let geometry = Geometry::of(call.attrs, &vec![1; x.rank() - 2])?;
    let groups = Expr::from(geometry.groups as u64);
    if filter_channels * &groups != *channels {
        let message = format!(
            "the input has {channels} channels, the filters take {}",
            match geometry.groups {
                1 => filter_channels.to_string(),
                groups => format!("{filter_channels} in each of {groups} groups"),
            }
        );
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    if filters
        .modulo(&groups)
        .as_int()
        .is_some_and(|rest| rest != 0)
    {
        let message = format!("{filters} filters do not divide into {groups} groups");
        return Err(InferError::new(Fault::Shape, message).on_attr("groups"));
    }
    let mut shape = vec![count.clone(), filters.clone()];
    for (axis, (input, filter)) in geometry
        .axes
        .iter()
        .zip(x.shape[2..].iter().zip(&w.shape[2..]))
    {
        shape.push(axis.output(input, filter)?);
    }
    Ok(shape)
}
