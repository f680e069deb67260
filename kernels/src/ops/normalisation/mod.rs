//! Normalisation: slices brought to mean 0 and variance 1, or to a norm of 1.

mod axes;
mod channels;
mod rows;

use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param, ParamKind,
    axis_of,
};
use haul_ir::types::TensorType;

pub(super) use axes::{HARDMAX, MEAN_VARIANCE_NORM, NORMALIZE};
pub(super) use channels::{BATCH_NORM, LRN};

use super::array_op::{
    ArrayOp, at_least_rank, attribute, broadcasts_to, float_dtype, has_shape, one_number, optional,
    position, precise, required, scalar, tensor, work_per_element, wrong,
};

/// Sum, difference, square and sum, difference, product, and one each for weight and bias.
const FLOPS: u64 = 8;

const FLOPS_IN_WORDS: &str = "8 flops an element";

const TRAILING: &[Param] = &[
    tensor("x"),
    optional("weight"),
    optional("bias"),
    scalar("epsilon", "1e-5"),
    attribute("axis", ParamKind::Int, "-1"),
];

/// `layer_norm(x, weight, bias, epsilon=1e-5, axis=-1)`.
pub(super) static LAYER_NORM: ArrayOp = ArrayOp {
    name: "layer_norm",
    doc: "`(x - mean) / sqrt(var + epsilon) * weight + bias`, where mean and variance (of the \
          population) are those of the axes from `axis` to the last, and weight and bias \
          broadcast to these axes. Integers are computed in `f64`, `f16` and `bf16` in `f32`.",
    params: TRAILING,
    rule: "[..], [axes from `axis` on], [axes from `axis` on] -> [..]",
    family: Family::Reduce,
    infer: |call| trailing(call, TRAILING),
    work: |call, outputs| work_per_element(FLOPS, call, outputs),
    work_formula: FLOPS_IN_WORDS,
    cpu: CpuKernel::Array(rows::layer_norm),
    gpu: GpuKernel::Own,
    examples: &[
        // Mean 2, variance 2/3.
        Example {
            formula: "layer_norm(x, epsilon=0)",
            given: &[("x", "f64[3]", "1 2 3")],
            result: ("f64[3]", "-1.224744871391589 0 1.224744871391589"),
        },
        // Mean 2, variance 1, root of 1 + 3 is 2.
        Example {
            formula: "layer_norm(x, w, b, epsilon=3)",
            given: &[
                ("x", "f32[1, 2]", "1 3"),
                ("w", "f32[2]", "2 4"),
                ("b", "f32[2]", "10 20"),
            ],
            result: ("f32[1, 2]", "9 22"),
        },
    ],
};

const SCALED: &[Param] = &[
    tensor("x"),
    optional("weight"),
    scalar("epsilon", "1e-5"),
    attribute("axis", ParamKind::Int, "-1"),
];

/// `rms_norm(x, weight, epsilon=1e-5, axis=-1)`.
pub(super) static RMS_NORM: ArrayOp = ArrayOp {
    name: "rms_norm",
    doc: "`x / sqrt(mean(x**2) + epsilon) * weight`, where the mean is that of the axes from \
          `axis` to the last, and the weight broadcasts to these axes. Integers are computed in \
          `f64`, `f16` and `bf16` in `f32`.",
    params: SCALED,
    rule: "[..], [axes from `axis` on] -> [..]",
    family: Family::Reduce,
    infer: |call| trailing(call, SCALED),
    work: |call, outputs| work_per_element(4, call, outputs),
    work_formula: "4 flops an element",
    cpu: CpuKernel::Array(rows::rms_norm),
    gpu: GpuKernel::Own,
    examples: &[
        // The mean of the squares is (1 + 49) / 2 = 25.
        Example {
            formula: "rms_norm(x, epsilon=0)",
            given: &[("x", "f32[2]", "1 7")],
            result: ("f32[2]", "0.2 1.4"),
        },
    ],
};

const INSTANCE: &[Param] = &[
    tensor("x"),
    optional("weight"),
    optional("bias"),
    scalar("epsilon", "1e-5"),
];

/// `instance_norm(x, weight, bias, epsilon=1e-5)`.
pub(super) static INSTANCE_NORM: ArrayOp = ArrayOp {
    name: "instance_norm",
    doc: "`(x - mean) / sqrt(var + epsilon) * weight + bias`, where mean and variance (of the \
          population) are those of each channel of each item: the axes after the second. Weight \
          and bias have one number a channel. Integers are computed in `f64`, `f16` and `bf16` \
          in `f32`.",
    params: INSTANCE,
    rule: "[N, C, ..], [C], [C] -> [N, C, ..]",
    family: Family::Reduce,
    infer: |call| per_channel(call, INSTANCE),
    work: |call, outputs| work_per_element(FLOPS, call, outputs),
    work_formula: FLOPS_IN_WORDS,
    cpu: CpuKernel::Array(rows::instance_norm),
    gpu: GpuKernel::Own,
    examples: &[
        // Means 2 and 20, variances 1 and 100, roots of 4 and 103.
        Example {
            formula: "instance_norm(x, w, b, epsilon=3)",
            given: &[
                ("x", "f32[1, 2, 2]", "1 3 20 20"),
                ("w", "f32[2]", "2 4"),
                ("b", "f32[2]", "10 20"),
            ],
            result: ("f32[1, 2, 2]", "9 11 20 20"),
        },
    ],
};

const GROUPED: &[Param] = &[
    tensor("x"),
    optional("weight"),
    optional("bias"),
    scalar("epsilon", "1e-5"),
    required("groups", ParamKind::Int),
];

/// `group_norm(x, weight, bias, epsilon=1e-5, groups)`.
pub(super) static GROUP_NORM: ArrayOp = ArrayOp {
    name: "group_norm",
    doc: "`(x - mean) / sqrt(var + epsilon) * weight + bias`, where mean and variance (of the \
          population) are those of each group of neighbouring channels of each item. Weight and \
          bias have one number a channel. Integers are computed in `f64`, `f16` and `bf16` in \
          `f32`.",
    params: GROUPED,
    rule: "[N, C, ..], [C], [C] -> [N, C, ..]",
    family: Family::Reduce,
    infer: grouped,
    work: |call, outputs| work_per_element(FLOPS, call, outputs),
    work_formula: FLOPS_IN_WORDS,
    cpu: CpuKernel::Array(rows::group_norm),
    gpu: GpuKernel::Own,
    examples: &[
        // Means 2 and 6, variances 1 and 1, roots of 4.
        Example {
            formula: "group_norm(x, epsilon=3, groups=2)",
            given: &[("x", "f32[1, 4]", "1 3 5 7")],
            result: ("f32[1, 4]", "-0.5 0.5 -0.5 0.5"),
        },
    ],
};

/// The first of the axes that are normalised.
fn first_axis(call: &Call<'_>, rank: usize) -> Result<usize, InferError> {
    let axis = call.attrs.int("axis");
    let axis = axis.ok_or_else(|| wrong("axis", "is a known whole number"))?;
    axis_of(axis, rank).map_err(|error| error.on_attr("axis"))
}

fn trailing(call: &Call<'_>, params: &[Param]) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    let first = first_axis(call, x.rank())?;
    for name in ["weight", "bias"] {
        if let Some(at) = position(params, call.attrs, name) {
            broadcasts_to(call, at, &x.shape[first..])?;
        }
    }
    inferred(call, params, x)
}

fn per_channel(call: &Call<'_>, params: &[Param]) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    at_least_rank(x, 2, "[N, C, ..]")?;
    for name in ["mean", "var", "weight", "bias"] {
        if let Some(at) = position(params, call.attrs, name) {
            has_shape(call, at, &x.shape[1..2])?;
        }
    }
    inferred(call, params, x)
}

fn grouped(call: &Call<'_>) -> Result<Inferred, InferError> {
    let groups = call.attrs.int("groups").filter(|groups| *groups > 0);
    let groups = groups.ok_or_else(|| wrong("groups", "is a whole number of at least 1"))?;
    let inferred = per_channel(call, GROUPED)?;
    let channels = &call.tensor(0)?.shape[1];
    let rest = channels.modulo(&Expr::from(groups.unsigned_abs()));
    if rest.as_int().is_some_and(|rest| rest != 0) {
        let message = format!("{channels} channels do not divide into {groups} groups");
        return Err(InferError::new(Fault::Shape, message).on_attr("groups"));
    }
    Ok(inferred)
}

/// The shape of `x` in the dtype in which it meets weight and bias; `epsilon` is wider.
fn inferred(call: &Call<'_>, params: &[Param], x: &TensorType) -> Result<Inferred, InferError> {
    let epsilon = position(params, call.attrs, "epsilon").unwrap_or(0);
    one_number(call, epsilon)?;
    let others: Vec<_> = (0..call.inputs.len()).filter(|at| *at != epsilon).collect();
    let dtype = float_dtype(call, &others)?;
    let output = TensorType::new(dtype, x.shape.clone());
    let mut inferred = Inferred::cast_all(call.inputs.len(), dtype, output);
    inferred.cast[epsilon] = Some(precise(dtype));
    Ok(inferred)
}
