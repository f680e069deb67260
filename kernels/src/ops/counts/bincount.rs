//! How often each whole number occurs.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::tensor::{Element, View};
use haul_ir::types::{TensorType, ValueType};

use super::{int, tensor, whole};
use crate::strided::contiguous;

/// `bincount(x, weights, length)`.
pub(crate) struct BinCount;

impl Op for BinCount {
    fn name(&self) -> &'static str {
        "bincount"
    }

    fn doc(&self) -> &'static str {
        "How often each of the numbers from 0 to `length - 1` occurs, or with `weights` the sum of \
         its weights, in `f64` and in row-major order. Another number stops the run."
    }

    fn params(&self) -> &'static [Param] {
        const WEIGHTS: Param = Param {
            name: "weights",
            kind: ParamKind::Tensor,
            default: Some("none"),
        };
        const { &[tensor("x"), WEIGHTS, int("length", None)] }
    }

    fn rule(&self) -> &'static str {
        "[..], [..] -> [length]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        whole(input.dtype, 0)?;
        let length = super::length(call.attrs, "length")?;
        if !call.attrs.flag("weights") {
            let output = TensorType::new(DType::I64, vec![length]);
            return Ok(Inferred::cast_all(1, DType::I64, output));
        }
        let weights = call.tensor(1)?;
        if weights.shape != input.shape {
            let message = format!("needs a weight for each element of {input}, this is {weights}");
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        if weights.dtype.kind() == Kind::Complex {
            let message = format!("weights are real, these are {}", weights.dtype);
            return Err(InferError::new(Fault::DType, message).on(1));
        }
        Ok(Inferred::new(
            vec![Some(DType::I64), Some(DType::F64)],
            vec![TensorType::new(DType::F64, vec![length]).into()],
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match call.tensor(0) {
            Ok(input) => Work::of(input.elements(), call, outputs),
            Err(_) => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "1 flop an element"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(bincount)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "bincount(x, length=4)",
                given: &[("x", "u8[5]", "1 3 1 0 1")],
                result: ("i64[4]", "1 3 0 1"),
            },
            Example {
                formula: "bincount(x, weights=w, length=3)",
                given: &[("x", "i32[3]", "1 2 1"), ("w", "f32[3]", "0.5 2 1.5")],
                result: ("f64[3]", "0 2 2"),
            },
        ]
    }
}

fn bincount(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    match call.inputs {
        [numbers] => {
            let one = |count: &mut i64, _| *count = count.wrapping_add(1);
            add(numbers, call.outputs[0].elements(), one)
        }
        [numbers, weights] => {
            let weights = contiguous::<f64>(weights);
            add(numbers, call.outputs[0].elements(), |sum: &mut f64, at| {
                *sum += weights[at]
            })
        }
        _ => Err(KernelError::new("needs one tensor or two")),
    }
}

fn add<T: Element>(
    numbers: &View<'_>,
    results: &mut [T],
    add: impl Fn(&mut T, usize),
) -> Result<(), KernelError> {
    results.fill(T::default());
    for (at, number) in contiguous::<i64>(numbers).iter().enumerate() {
        let place = super::place(*number, results.len(), at)?;
        add(&mut results[place], at);
    }
    Ok(())
}
