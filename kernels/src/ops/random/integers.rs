//! Random whole numbers.

use bytemuck::cast_slice_mut;
use haul_ir::dtype::DType;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::philox::block;
use haul_ir::types::{TensorType, ValueType};

use super::{BLOCK, SEED, SHAPE, TASK, seed, shape};
use crate::parallel;

/// `random_integers(shape, seed, low, high)`.
pub(crate) struct RandomIntegers;

const fn int(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Int,
        default: None,
    }
}

impl Op for RandomIntegers {
    fn name(&self) -> &'static str {
        "random_integers"
    }

    fn doc(&self) -> &'static str {
        "Random whole numbers from `low` to below `high`, each as likely as another up to one in 2**64 \
         of their number: the upper half of a product of 64 random bits and `high - low` (Lemire, \
         2019). Made by Philox4x32-10: the same on every machine."
    }

    fn params(&self) -> &'static [Param] {
        const NAMES: &[&str] = &["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];
        const DTYPE: Param = Param {
            name: "dtype",
            kind: ParamKind::Word(NAMES),
            default: Some("'i64'"),
        };
        const { &[SHAPE, SEED, int("low"), int("high"), DTYPE] }
    }

    fn rule(&self) -> &'static str {
        "-> shape"
    }

    fn family(&self) -> Family {
        Family::Elementwise
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let named = call.attrs.word("dtype").and_then(|name| name.parse().ok());
        let dtype = named.unwrap_or(DType::I64);
        let (low, high) = (call.attrs.int("low"), call.attrs.int("high"));
        if let (Some(low), Some(high)) = (low, high) {
            check(low, high, dtype)
                .map_err(|message| InferError::new(Fault::Value, message).on_attr("high"))?;
        }
        Ok(Inferred::plain(
            0,
            TensorType::new(dtype, shape(call.attrs)?),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match outputs.first().and_then(ValueType::tensor) {
            Some(output) => Work::of(output.elements() * (BLOCK / 2 + 2), call, outputs),
            None => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "42 flops an element"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(integers)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            // 0xE169.. and 0x9B00.. of 0xFFFF..: 8.8 and 6.1 tenths.
            formula: "random_integers([2], seed=0, low=-10, high=10, dtype='i32')",
            given: &[],
            result: ("i32[2]", "7 2"),
        }]
    }
}

fn check(low: i64, high: i64, dtype: DType) -> Result<(), String> {
    let bits = 8 * dtype.size() as u32;
    let (least, most) = match dtype.is_unsigned() {
        true => (0, (1_i128 << bits) - 1),
        false => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
    };
    if low >= high {
        return Err(format!("there is no number from {low} to below {high}"));
    }
    if i128::from(low) < least || i128::from(high) - 1 > most {
        return Err(format!(
            "numbers from {low} to below {high} do not fit into {dtype}"
        ));
    }
    Ok(())
}

fn integers(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let output = &mut call.outputs[0];
    let (low, high) = (call.attrs.int("low"), call.attrs.int("high"));
    let (low, high) = low
        .zip(high)
        .ok_or_else(|| KernelError::new("`low` and `high` are whole numbers of 64 bits"))?;
    check(low, high, output.dtype).map_err(KernelError::new)?;
    let (seed, span) = (seed(call.attrs), high.abs_diff(low));
    let numbers = |at: usize| {
        let words = block(seed, at as u64);
        let number = |early: u32, late: u32| {
            let random = u128::from(late) << 32 | u128::from(early);
            low.wrapping_add_unsigned(((random * u128::from(span)) >> 64) as u64)
        };
        [number(words[0], words[1]), number(words[2], words[3])]
    };
    let size = output.dtype.size() as usize;
    parallel::chunks(output.bytes, 2 * TASK * size, &|chunk, results| {
        for (results, at) in results.chunks_mut(2 * size).zip(chunk * TASK..) {
            let numbers = numbers(at);
            let numbers = numbers.iter();
            match size {
                1 => cast_slice_mut(results)
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(r, n)| *r = *n as u8),
                2 => cast_slice_mut(results)
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(r, n)| *r = *n as u16),
                4 => cast_slice_mut(results)
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(r, n)| *r = *n as u32),
                _ => cast_slice_mut(results)
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(r, n)| *r = *n),
            }
        }
    });
    Ok(())
}
