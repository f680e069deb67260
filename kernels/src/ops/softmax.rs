//! Numbers turned into probabilities.

use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::tensor::{Element, View, ViewMut};
use haul_ir::types::{TensorType, ValueType};
use num_traits::{AsPrimitive, Float};
use rayon::prelude::*;

use super::reduce::in_lanes;
use crate::strided::Walk;

/// `softmax(x, axis)`.
pub(crate) struct Softmax;

/// Per element: comparison, difference, exponential, sum, product with the reciprocal.
const FLOPS: u64 = 1 + 1 + 20 + 1 + 1;

impl Op for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn doc(&self) -> &'static str {
        "`exp(x) / sum(exp(x))` along an axis, by default the last; the maximum is subtracted \
         before, so that nothing overflows. A slice with NaN or +inf is NaN throughout. Integers \
         are computed in `f64`, `f16` and `bf16` in `f32`."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "axis",
                kind: ParamKind::Int,
                default: Some("-1"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if !matches!(input.dtype.kind(), Kind::Int | Kind::Float) {
            let message = format!("is not defined for {}", input.dtype);
            return Err(InferError::new(Fault::DType, message).on(0));
        }
        let axis = call.attrs.int("axis").ok_or_else(|| {
            InferError::new(Fault::Value, "an axis is a known whole number").on_attr("axis")
        })?;
        axis_of(axis, input.rank()).map_err(|error| error.on_attr("axis"))?;
        let dtype = input.dtype.float();
        let output = TensorType::new(dtype, input.shape.clone());
        Ok(Inferred::cast_all(1, dtype, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match outputs.first().and_then(ValueType::tensor) {
            Some(output) => Work::of(output.elements() * FLOPS, call, outputs),
            None => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "24 flops an element"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(softmax)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        // exp(-1) = 0.36787944, exp(-2) = 0.13533528, 1 + both = 1.50321472.
        &[Example {
            formula: "softmax(x)",
            given: &[("x", "f64[3]", "1000 999 998")],
            result: (
                "f64[3]",
                "0.6652409557748218 0.24472847105479764 0.09003057317038046",
            ),
        }]
    }
}

fn softmax(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (input, output) = (&call.inputs[0], &mut call.outputs[0]);
    let axis = call.attrs.int("axis").unwrap_or(-1);
    let axis = axis_of(axis, input.shape().len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    match input.dtype {
        DType::F16 => fill::<f16, f32>(input, axis, output),
        DType::Bf16 => fill::<bf16, f32>(input, axis, output),
        DType::F32 => fill::<f32, f32>(input, axis, output),
        DType::F64 => fill::<f64, f64>(input, axis, output),
        other => return Err(KernelError::new(format!("is not defined for {other}"))),
    }
    Ok(())
}

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// One block of the result for each index of the axes before `axis`, computed in `A`.
fn fill<T, A>(input: &View<'_>, axis: usize, output: &mut ViewMut<'_>)
where
    T: Element + AsPrimitive<A>,
    A: Float + AsPrimitive<T> + Send + Sync + Default,
{
    let data = input.buffer::<T>();
    let shape = input.shape();
    let walk = Walk::new(shape, &input.layout.strides);
    let (length, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let block = length * inner;
    if block == 0 {
        return;
    }
    let blocks = (TASK / block).max(1);
    let tasks = output
        .elements::<T>()
        .par_chunks_mut(blocks * block)
        .enumerate();
    tasks.for_each(|(task, results)| {
        let mut wide = vec![A::default(); block];
        let mut totals = vec![A::default(); inner];
        walk.copy_from(data, input.layout.offset, task * blocks * block, results);
        for results in results.chunks_exact_mut(block) {
            for (wide, element) in wide.iter_mut().zip(results.iter()) {
                *wide = element.as_();
            }
            if inner == 1 {
                normalise_row(&mut wide);
            } else {
                normalise_columns(&mut wide, inner, &mut totals);
            }
            for (result, wide) in results.iter_mut().zip(&wide) {
                *result = wide.as_();
            }
        }
    });
}

fn normalise_row<A: Float>(row: &mut [A]) {
    let larger = |max: A, x: A, _| if x > max { x } else { max };
    let max = in_lanes(row, 0, A::neg_infinity(), larger, |a, b| larger(a, b, 0));
    for x in row.iter_mut() {
        *x = (*x - max).exp();
    }
    let total = in_lanes(row, 0, A::zero(), |sum, x, _| sum + x, |a, b| a + b);
    for x in row {
        *x = *x / total;
    }
}

/// As [`normalise_row`], for columns side by side.
fn normalise_columns<A: Float>(block: &mut [A], columns: usize, totals: &mut [A]) {
    totals.fill(A::neg_infinity());
    for row in block.chunks_exact(columns) {
        for (max, x) in totals.iter_mut().zip(row) {
            *max = if *x > *max { *x } else { *max };
        }
    }
    for row in block.chunks_exact_mut(columns) {
        for (x, max) in row.iter_mut().zip(totals.iter()) {
            *x = (*x - *max).exp();
        }
    }
    totals.fill(A::zero());
    for row in block.chunks_exact(columns) {
        for (total, x) in totals.iter_mut().zip(row) {
            *total = *total + *x;
        }
    }
    for row in block.chunks_exact_mut(columns) {
        for (x, total) in row.iter_mut().zip(totals.iter()) {
            *x = *x / *total;
        }
    }
}
