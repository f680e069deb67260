//! Norms that look across channels, or take the moments of channels as they are given.

use haul_ir::op::{
    CpuKernel, Example, Family, GpuKernel, Inferred, KernelCall, KernelError, Param, ParamKind,
};
use haul_ir::types::TensorType;

use super::{FLOPS, FLOPS_IN_WORDS, per_channel, rows::combine};
use crate::ops::array_op::{
    ArrayOp, at_least_rank, check, float_dtype, input, one_number, optional, precise, required,
    scalar, tensor, work_per_element, wrong,
};
use crate::real::{Reader, Real, elements_of, fill_elements, fill_rows, in_precision, number};

const BATCH: &[Param] = &[
    tensor("x"),
    tensor("mean"),
    tensor("var"),
    optional("weight"),
    optional("bias"),
    scalar("epsilon", "1e-5"),
];

/// `batch_norm(x, mean, var, weight, bias, epsilon=1e-5)`.
pub(in crate::ops) static BATCH_NORM: ArrayOp = ArrayOp {
    name: "batch_norm",
    doc: "`(x - mean) / sqrt(var + epsilon) * weight + bias` with the mean and variance that \
          training found for each channel, the second axis. Integers are computed in `f64`, \
          `f16` and `bf16` in `f32`.",
    params: BATCH,
    rule: "[N, C, ..], [C], [C], [C], [C] -> [N, C, ..]",
    family: Family::Elementwise,
    infer: |call| per_channel(call, BATCH),
    work: |call, outputs| work_per_element(FLOPS, call, outputs),
    work_formula: FLOPS_IN_WORDS,
    cpu: CpuKernel::Array(batch_norm),
    gpu: GpuKernel::Own,
    examples: &[
        // (1 - 2) / sqrt(1 + 3) = -0.5, (3 - 1) / sqrt(13 + 3) = 0.5.
        Example {
            formula: "batch_norm(x, m, v, epsilon=3)",
            given: &[
                ("x", "f32[1, 2, 1]", "1 3"),
                ("m", "f32[2]", "2 1"),
                ("v", "f32[2]", "1 13"),
            ],
            result: ("f32[1, 2, 1]", "-0.5 0.5"),
        },
    ],
};

fn batch_norm(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, BATCH_NORM.infer)?;
    in_precision!(call.outputs[0].dtype, batch_norm_in, call);
    Ok(())
}

fn batch_norm_in<A: Real>(call: &mut KernelCall<'_, '_>) {
    let shape = call.inputs[0].shape();
    let given = |name| input(BATCH, call, name).map(|view| Reader::along(view, 1, shape));
    let [mean, var, weight, bias] = ["mean", "var", "weight", "bias"].map(given);
    let epsilon: A = input(BATCH, call, "epsilon").map_or(A::zero(), number);
    let x = Reader::new(&call.inputs[0]);
    fill_elements(&mut call.outputs[0], &|position, values: &mut [A]| {
        x.read(position, values);
        combine(mean.as_ref(), position, values, |x, mean| x - mean);
        combine(var.as_ref(), position, values, |x, var| {
            x / (var + epsilon).sqrt()
        });
        combine(weight.as_ref(), position, values, |x, weight| x * weight);
        combine(bias.as_ref(), position, values, |x, bias| x + bias);
    });
}

const RESPONSE: &[Param] = &[
    tensor("x"),
    scalar("alpha", "1e-4"),
    scalar("beta", "0.75"),
    scalar("k", "1"),
    required("size", ParamKind::Int),
];

/// `lrn(x, alpha=1e-4, beta=0.75, k=1, size)`.
pub(in crate::ops) static LRN: ArrayOp = ArrayOp {
    name: "lrn",
    doc: "Local response normalisation: `x / (k + alpha/size * s)**beta`, where s is the sum of \
          squares over `size` neighbouring channels, `size // 2` of them before and \
          `(size - 1) // 2` after, as far as there are any. Integers are computed in `f64`, \
          `f16` and `bf16` in `f32`.",
    params: RESPONSE,
    rule: "[N, C, ..] -> [N, C, ..]",
    family: Family::Reduce,
    infer: |call| {
        let x = call.tensor(0)?;
        at_least_rank(x, 2, "[N, C, ..]")?;
        if call.attrs.int("size").is_none_or(|size| size < 1) {
            return Err(wrong("size", "is a whole number of at least 1"));
        }
        (1..=3).try_for_each(|at| one_number(call, at))?;
        let dtype = float_dtype(call, &[0])?;
        let output = TensorType::new(dtype, x.shape.clone());
        let mut inferred = Inferred::cast_all(4, precise(dtype), output);
        inferred.cast[0] = Some(dtype);
        Ok(inferred)
    },
    work: |call, outputs| {
        let size = call.attrs.int("size").unwrap_or(1).unsigned_abs();
        work_per_element(size.saturating_mul(2).saturating_add(43), call, outputs)
    },
    work_formula: "2*size + 43 flops an element",
    cpu: CpuKernel::Array(lrn),
    gpu: GpuKernel::Library("cudnn lrn"),
    examples: &[
        // Sums of squares 5, 14, 13; 1 + 1 * s.
        Example {
            formula: "lrn(x, alpha=3, beta=1, k=1, size=3)",
            given: &[("x", "f64[1, 3]", "1 2 3")],
            result: (
                "f64[1, 3]",
                "0.16666666666666666 0.13333333333333333 0.21428571428571427",
            ),
        },
    ],
};

fn lrn(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, LRN.infer)?;
    in_precision!(call.outputs[0].dtype, lrn_in, call);
    Ok(())
}

fn lrn_in<A: Real>(call: &mut KernelCall<'_, '_>) {
    let shape = call.inputs[0].shape();
    let (channels, plane) = (shape[1], elements_of(&shape[2..]));
    let size = call.attrs.int("size").unwrap_or(1).unsigned_abs() as usize;
    let [alpha, beta, k] = [1, 2, 3].map(|at| number::<A>(&call.inputs[at]));
    let x = Reader::new(&call.inputs[0]);
    let share = alpha / A::of(size as f64);
    fill_rows(
        &mut call.outputs[0],
        plane,
        &|position, values: &mut [A]| {
            let mut others = vec![A::zero(); plane];
            for (at, sums) in values.chunks_exact_mut(plane).enumerate() {
                let place = position / plane + at;
                let (item, channel) = (place / channels, place % channels);
                let first = channel.saturating_sub(size / 2);
                let end = channel.saturating_add(size.div_ceil(2)).min(channels);
                sums.fill(A::zero());
                for other in first..end {
                    x.read((item * channels + other) * plane, &mut others);
                    for (sum, other) in sums.iter_mut().zip(&others) {
                        *sum = *sum + *other * *other;
                    }
                }
                x.read(place * plane, &mut others);
                for (value, x) in sums.iter_mut().zip(&others) {
                    *value = *x / (k + share * *value).powf(beta);
                }
            }
        },
    );
}
