//! Random numbers with fractions, and truth values made of them.

use std::f64::consts::TAU;

use bytemuck::cast_slice_mut;
use haul_ir::dtype::DType;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::philox::block;
use haul_ir::tensor::{Bool, ViewMut};
use haul_ir::types::{TensorType, ValueType};

use super::{BLOCK, SEED, SHAPE, TASK, number, seed, shape};
use crate::ops::store::store;
use crate::parallel;

/// A distribution of numbers.
pub(crate) struct Floats {
    name: &'static str,
    doc: &'static str,
    params: &'static [Param],
    /// The dtype where no parameter says it.
    dtype: DType,
    check: fn(&Attrs) -> Result<(), InferError>,
    /// Flops of an element, of `f64` and of others.
    flops: (u64, u64),
    formula: &'static str,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

const DTYPE: Param = Param {
    name: "dtype",
    kind: ParamKind::Word(&["f16", "bf16", "f32", "f64"]),
    default: Some("'f64'"),
};

pub(crate) static UNIFORM: Floats = Floats {
    name: "uniform",
    doc: "Random numbers that are uniform from `low` to below `high`. From 0 to 1 they are those of an \
          input `Random` of that seed and dtype; others are these, multiplied and moved in `f64` and \
          rounded, which may give `high` itself. Made by Philox4x32-10: the same on every machine.",
    params: &[SHAPE, SEED, number("low", "0"), number("high", "1"), DTYPE],
    dtype: DType::F64,
    check: |attrs| match (one(attrs, "low"), one(attrs, "high")) {
        (Some(low), Some(high)) if low <= high && (high - low).is_finite() => Ok(()),
        _ => {
            let message = "`low` and `high` are numbers, the lower first";
            Err(InferError::new(Fault::Value, message).on_attr("low"))
        }
    },
    flops: (BLOCK / 2 + 3, BLOCK / 4 + 3),
    formula: "23 flops an element, f64 43",
    kernel: uniform,
    examples: &[
        // The top 53 bits of 0xE169C58D6627E8D5, the first known answer of Philox.
        Example {
            formula: "uniform([1], seed=0)",
            given: &[],
            result: ("f64[1]", "0.8805201978886142"),
        },
        // The top 24 bits of 0x6627E8D5 and 0xE169C58D.
        Example {
            formula: "uniform([2], seed=0, low=-1, high=3, dtype='f32')",
            given: &[],
            result: ("f32[2]", "0.5961856842041016 2.522080659866333"),
        },
    ],
};

pub(crate) static NORMAL: Floats = Floats {
    name: "normal",
    doc: "Random numbers that are normally distributed about `mean` with a standard deviation of \
          `std`: pairs by the method of Box and Muller, computed in `f64` from numbers made by \
          Philox4x32-10, and rounded. The same on every machine.",
    params: &[SHAPE, SEED, number("mean", "0"), number("std", "1"), DTYPE],
    dtype: DType::F64,
    check: |attrs| match (one(attrs, "mean"), one(attrs, "std")) {
        (Some(_), Some(std)) if std >= 0.0 => Ok(()),
        _ => {
            let message = "`mean` and `std` are numbers, the deviation not below 0";
            Err(InferError::new(Fault::Value, message).on_attr("std"))
        }
    },
    // Half of a logarithm, a root, a sine, a cosine and four products, and moving the number.
    flops: (BLOCK / 2 + 34 + 2, BLOCK / 2 + 34 + 2),
    formula: "76 flops an element",
    kernel: normal,
    examples: &[Example {
        // Of 0xE169C58D6627E8D5 and 0x9B00DBD8BC57AC4C, the first known answer of Philox.
        formula: "normal([2], seed=0)",
        given: &[],
        result: ("f64[2]", "-1.6249634408710394 -1.2683492025469478"),
    }],
};

pub(crate) static BERNOULLI: Floats = Floats {
    name: "bernoulli",
    doc: "Truth values that are true with probability `p`: whether the elements of `uniform` in `f64` \
          are less. For a probability of each element compare it: `uniform(shape, seed) < p`.",
    params: &[SHAPE, SEED, number("p", "0.5")],
    dtype: DType::Bool,
    check: |attrs| match one(attrs, "p") {
        Some(p) if (0.0..=1.0).contains(&p) => Ok(()),
        _ => {
            let error = InferError::new(Fault::Value, "a probability is a number from 0 to 1");
            Err(error.on_attr("p"))
        }
    },
    flops: (BLOCK / 2 + 2, BLOCK / 2 + 2),
    formula: "42 flops an element",
    kernel: bernoulli,
    examples: &[Example {
        // 0xE169.. and 0x9B00.. of 0xFFFF..: 0.88 and 0.61.
        formula: "bernoulli([2], seed=0, p=0.7)",
        given: &[],
        result: ("bool[2]", "false true"),
    }],
};

impl Op for Floats {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        self.params
    }

    fn rule(&self) -> &'static str {
        "-> shape"
    }

    fn family(&self) -> Family {
        Family::Elementwise
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        (self.check)(call.attrs)?;
        let named = call.attrs.word("dtype").and_then(|name| name.parse().ok());
        let output = TensorType::new(named.unwrap_or(self.dtype), shape(call.attrs)?);
        Ok(Inferred::plain(0, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let Some(output) = outputs.first().and_then(ValueType::tensor) else {
            return Work::Unknown;
        };
        let (wide, narrow) = self.flops;
        let each = if output.dtype == DType::F64 {
            wide
        } else {
            narrow
        };
        Work::of(output.elements() * each, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        self.formula
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

/// The number that an attribute is, where it is one.
fn one(attrs: &Attrs, name: &str) -> Option<f64> {
    match attrs.numbers(name)?[..] {
        [number] if number.is_finite() => Some(number),
        _ => None,
    }
}

fn uniform(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (low, high) = (one(call.attrs, "low"), one(call.attrs, "high"));
    let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(1.0));
    let output = &mut call.outputs[0];
    let moved = |share: f64| low + (high - low) * share;
    if output.dtype == DType::F64 {
        fill(output, seed(call.attrs), 2, &|words| {
            let [a, b] = pair(words);
            [moved(a), moved(b), 0.0, 0.0]
        });
        return Ok(());
    }
    // As many bits as the mantissa takes, so that nothing is rounded to 1.
    let bits = match output.dtype {
        DType::F16 => 11,
        DType::Bf16 => 8,
        _ => 24,
    };
    fill(output, seed(call.attrs), 4, &|words| {
        words.map(|word| moved(f64::from(word >> (32 - bits)) / f64::from(1 << bits)))
    });
    Ok(())
}

fn normal(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (mean, std) = (one(call.attrs, "mean"), one(call.attrs, "std"));
    let (mean, std) = (mean.unwrap_or(0.0), std.unwrap_or(1.0));
    fill(&mut call.outputs[0], seed(call.attrs), 2, &|words| {
        let [a, b] = pair(words);
        // 1 - a is above 0, and has a logarithm. This library gives the same bits everywhere.
        let radius = (-2.0 * libm::log(1.0 - a)).sqrt();
        let (sine, cosine) = libm::sincos(TAU * b);
        [
            mean + std * (radius * cosine),
            mean + std * (radius * sine),
            0.0,
            0.0,
        ]
    });
    Ok(())
}

fn bernoulli(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let p = one(call.attrs, "p").unwrap_or(0.5);
    let seed = seed(call.attrs);
    parallel::chunks(call.outputs[0].bytes, 2 * TASK, &|chunk, results| {
        let results: &mut [Bool] = cast_slice_mut(results);
        for (results, at) in results.chunks_mut(2).zip(chunk * TASK..) {
            for (result, share) in results.iter_mut().zip(pair(block(seed, at as u64))) {
                *result = Bool::from(share < p);
            }
        }
    });
    Ok(())
}

/// Two numbers in [0, 1) with 53 bits each.
fn pair(words: [u32; 4]) -> [f64; 2] {
    let share = |low: u32, high: u32| {
        let wide = u64::from(high) << 32 | u64::from(low);
        (wide >> 11) as f64 / (1_u64 << 53) as f64
    };
    [share(words[0], words[1]), share(words[2], words[3])]
}

/// Fills the output with the numbers that blocks give, so many each.
fn fill(
    output: &mut ViewMut<'_>,
    seed: u64,
    each: usize,
    numbers: &(dyn Fn([u32; 4]) -> [f64; 4] + Sync),
) {
    let dtype = output.dtype;
    let size = each * dtype.size() as usize;
    parallel::chunks(output.bytes, TASK * size, &|chunk, results| {
        for (results, at) in results.chunks_mut(size).zip(chunk * TASK..) {
            store(&numbers(block(seed, at as u64)), dtype, results);
        }
    });
}
