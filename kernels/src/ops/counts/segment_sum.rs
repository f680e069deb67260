//! Sums of the rows that belong together.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, Work,
};
use haul_ir::tensor::{Element, View};
use haul_ir::types::{TensorType, ValueType};
use num_complex::Complex;
use rayon::prelude::*;

use super::{int, tensor, whole};
use crate::ops::reduce::Number;
use crate::strided::{contiguous, strips};
use crate::wide::narrow;

/// `segment_sum(x, ids, segments)`.
pub(crate) struct SegmentSum;

impl Op for SegmentSum {
    fn name(&self) -> &'static str {
        "segment_sum"
    }

    fn doc(&self) -> &'static str {
        "The sum of the rows of `x`, along its first axis, that have the same number in `ids`, for \
         each number from 0 to `segments - 1`, in the order of the rows. Another number stops the \
         run. Integers and truth values are summed in 64 bits and wrap around; `f16` and `bf16` \
         accumulate in `f32`, for which a copy of `x` and of the result is made. A segment without \
         rows is 0."
    }

    fn params(&self) -> &'static [Param] {
        const { &[tensor("x"), tensor("ids"), int("segments", None)] }
    }

    fn rule(&self) -> &'static str {
        "[n, ..], [n] -> [segments, ..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let (input, ids) = (call.tensor(0)?, call.tensor(1)?);
        whole(ids.dtype, 1)?;
        if input.rank() == 0 {
            return Err(InferError::new(Fault::Rank, "a scalar has no rows").on(0));
        }
        if ids.shape[..] != input.shape[..1] {
            let message = format!("needs a number for each row of {input}, this is {ids}");
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        let mut shape = input.shape.clone();
        shape[0] = super::length(call.attrs, "segments")?;
        let dtype = input.dtype.sum();
        Ok(Inferred::new(
            vec![Some(accumulator(dtype)), Some(DType::I64)],
            vec![TensorType::new(dtype, shape).into()],
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match call.tensor(0) {
            Ok(input) => {
                let parts = if input.dtype.kind() == Kind::Complex {
                    2
                } else {
                    1
                };
                Work::of(input.elements() * parts, call, outputs)
            }
            Err(_) => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "1 flop an element, complex 2"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(segment_sum)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "segment_sum(x, ids, 3)",
            given: &[
                ("x", "f32[3, 2]", "1 2 3 4 5 6"),
                ("ids", "i32[3]", "2 0 2"),
            ],
            result: ("f32[3, 2]", "3 4 0 0 6 8"),
        }]
    }
}

/// What sums of a dtype are computed in.
fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::Bf16 => DType::F32,
        other => other,
    }
}

fn segment_sum(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let [input, ids] = call.inputs else {
        return Err(KernelError::new("needs rows and their numbers"));
    };
    let output = &mut call.outputs[0];
    let segments = output.shape[0];
    let ids = contiguous::<i64>(ids);
    let places = ids.iter().enumerate();
    let places: Vec<usize> = places
        .map(|(at, id)| super::place(*id, segments, at))
        .collect::<Result<_, _>>()?;
    if output.bytes.is_empty() {
        return Ok(());
    }
    match output.dtype {
        DType::I64 => add::<i64>(input, &places, segments, output.elements()),
        DType::U64 => add::<u64>(input, &places, segments, output.elements()),
        DType::F32 => add::<f32>(input, &places, segments, output.elements()),
        DType::F64 => add::<f64>(input, &places, segments, output.elements()),
        DType::C64 => add::<Complex<f32>>(input, &places, segments, output.elements()),
        DType::C128 => add::<Complex<f64>>(input, &places, segments, output.elements()),
        _ => {
            let mut wide = vec![0.0_f32; output.shape.iter().product()];
            add(input, &places, segments, &mut wide);
            narrow(&wide, output);
        }
    }
    Ok(())
}

/// Columns that one task sums up, in the order of the rows.
const COLUMNS: usize = 1024;

fn add<T: Element + Number>(
    input: &View<'_>,
    places: &[usize],
    segments: usize,
    results: &mut [T],
) {
    let elements = contiguous::<T>(input);
    let row = results.len() / segments;
    results.fill(T::default());
    let strips = strips(results, row, COLUMNS);
    strips
        .into_par_iter()
        .enumerate()
        .for_each(|(strip, mut sums)| {
            for (place, elements) in places.iter().zip(elements.chunks_exact(row)) {
                let elements = &elements[strip * COLUMNS..];
                for (sum, element) in sums[*place].iter_mut().zip(elements) {
                    *sum = sum.plus(*element);
                }
            }
        });
}
