//! How far functions of one float are from what they should be, in units of the last place.
//!
//! Every f16 and bf16, and floats of f32 of every exponent and both signs, against functions of f64,
//! whose errors are a millionth of a unit of f32. How functions of f64 themselves fare is in the
//! reference cases `elementary` and `special`, made with mpmath.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::op::{ArgType, Attrs, BlockKernel, Call, CpuKernel, Op};
use haul_ir::types::TensorType;
use haul_kernels::catalogue;
use rayon::prelude::*;

use crate::support::tensor::Bytes;

type Exact = fn(f64) -> f64;

/// The functions, and what they should be.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, Exact)] = &[
    ("exp", f64::exp), ("exp2", f64::exp2), ("expm1", f64::exp_m1),
    ("log", f64::ln), ("log1p", f64::ln_1p), ("log2", f64::log2), ("log10", f64::log10),
    ("sqrt", f64::sqrt), ("rsqrt", |x| 1.0 / x.sqrt()), ("cbrt", f64::cbrt),
    ("reciprocal", |x| 1.0 / x), ("square", |x| x * x),
    ("sin", f64::sin), ("cos", f64::cos), ("tan", f64::tan),
    ("asin", f64::asin), ("acos", f64::acos), ("atan", f64::atan),
    ("sinh", f64::sinh), ("cosh", f64::cosh), ("tanh", f64::tanh),
    ("asinh", libm::asinh), ("acosh", libm::acosh), ("atanh", libm::atanh),
    ("erf", libm::erf), ("erfc", libm::erfc), ("gamma", libm::tgamma),
    ("deg2rad", |x| x * (PI / 180.0)),
    ("rad2deg", |x| x * (180.0 / PI)),
    ("sigmoid", |x| 1.0 / (1.0 + (-x).exp())),
    ("log_sigmoid", |x| -softplus(-x)), ("softplus", softplus),
    ("softsign", |x| if x.is_infinite() { 1.0_f64.copysign(x) } else { x / (1.0 + x.abs()) }),
    ("gelu", |x| share(0.5 * x, libm::erfc(-x * FRAC_1_SQRT_2))),
    ("mish", |x| share(x, softplus(x).tanh())),
    ("hard_swish", |x| share(x, (x / 6.0 + 0.5).clamp(0.0, 1.0))),
];

/// None of minus infinity is 0.
fn share(x: f64, share: f64) -> f64 {
    if share == 0.0 { 0.0 } else { x * share }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Functions of one float that are exact, or whose error is small beside their largest values or
/// those of `x`, but not beside their own everywhere; the reference cases hold them.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "f32", "real", "imag", "conj", "neg", "abs", "relu", "sign", "angle",
    "floor", "ceil", "trunc", "round",
    "lgamma", "digamma", "gelu_tanh",
];

/// The most that a function may be off.
const BOUND: f64 = 4.0;

/// A dtype and its bits.
#[derive(Clone, Copy)]
struct Format {
    dtype: DType,
    /// Bits of the mantissa that are stored.
    mantissa: i32,
    /// The exponents of the smallest and the largest normal number.
    exponents: (i32, i32),
    value: fn(u32) -> f64,
    round: fn(f64) -> f64,
}

const F16: Format = Format {
    dtype: DType::F16,
    mantissa: 10,
    exponents: (-14, 15),
    value: |bits| f16::from_bits(bits as u16).to_f64(),
    round: |x| f16::from_f64(x).to_f64(),
};
const BF16: Format = Format {
    dtype: DType::Bf16,
    mantissa: 7,
    exponents: (-126, 127),
    value: |bits| bf16::from_bits(bits as u16).to_f64(),
    round: |x| bf16::from_f64(x).to_f64(),
};
const F32: Format = Format {
    dtype: DType::F32,
    mantissa: 23,
    exponents: (-126, 127),
    value: |bits| f64::from(f32::from_bits(bits)),
    round: |x| f64::from(x as f32),
};

impl Format {
    /// The distance from what should be, in units of its last place: 0 for the nearest number,
    /// infinite where one is NaN. Infinity counts as the number after the largest.
    fn ulps(self, got: f64, want: f64) -> f64 {
        if got == (self.round)(want) || (got.is_nan() && want.is_nan()) {
            return 0.0;
        }
        if got.is_nan() || want.is_nan() {
            return f64::INFINITY;
        }
        let (least, most) = self.exponents;
        let beyond = 2.0_f64.powi(most + 1);
        let want = want.clamp(-beyond, beyond);
        let exponent = (want.to_bits() >> 52 & 0x7FF) as i32 - 1023;
        let unit = 2.0_f64.powi(exponent.clamp(least, most) - self.mantissa);
        (got.clamp(-beyond, beyond) - want).abs() / unit
    }

    /// The largest error of a function over some floats, and at which.
    fn worst(self, kernel: BlockKernel, exact: Exact, floats: &[u32]) -> (f64, f64) {
        let size = self.dtype.size() as usize;
        let (mut input, mut output) = (
            Bytes::dirty(floats.len() * size),
            Bytes::dirty(floats.len() * size),
        );
        for (to, bits) in input.get_mut().chunks_exact_mut(size).zip(floats) {
            to.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        kernel(&[input.get()], output.get_mut()).expect("functions of floats do not fail");
        let results = output.get().chunks_exact(size).map(|bytes| {
            let mut bits = [0; 4];
            bits[..size].copy_from_slice(bytes);
            (self.value)(u32::from_le_bytes(bits))
        });
        let errors = results.zip(floats).map(|(got, bits)| {
            let x = (self.value)(*bits);
            (self.ulps(got, exact(x)), x)
        });
        errors.fold((0.0, 0.0), larger)
    }
}

fn larger(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    if b.0 > a.0 { b } else { a }
}

fn kernel(name: &str, dtype: DType) -> BlockKernel {
    let op = catalogue().find(name).expect("there is the op");
    let CpuKernel::Elementwise(kernel) = op.cpu() else {
        panic!("{name} is a function of elements")
    };
    kernel(&[dtype], dtype).unwrap_or_else(|| panic!("{name} takes {dtype}"))
}

fn check(format: Format, floats: &[u32]) {
    let failures = FUNCTIONS.par_iter().filter_map(|(name, exact)| {
        let (error, at) = format.worst(kernel(name, format.dtype), *exact, floats);
        (error > BOUND).then(|| format!("{name}({at:e}) is {error:.1} units off"))
    });
    let failures: Vec<_> = failures.collect();
    assert!(failures.is_empty(), "{}: {failures:#?}", format.dtype);
}

#[test]
fn every_f16_and_bf16() {
    let all: Vec<u32> = (0..=u32::from(u16::MAX)).collect();
    check(F16, &all);
    check(BF16, &all);
}

/// Where functions change their ways: zeros, poles, the ends of ranges, where a quadrant or a
/// polynomial ends.
#[rustfmt::skip]
const EDGES: &[f32] = &[
    0.0, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::EPSILON, 1e-5, 1e-3, 0.1, 0.25, 0.347, 0.4375,
    0.5, 0.549, 0.625, std::f32::consts::LN_2, std::f32::consts::FRAC_1_SQRT_2, 0.84375, 1.0, 1.25, std::f32::consts::SQRT_2, 1.4616, 2.0, 2.4375, 2.857, 3.0, 4.0, 8.0, 9.0,
    10.0, 10.06, 13.2, 14.0, 16.6, 17.33, 24.0, 34.04, 35.04, 64.0, 87.34, 88.0, 88.723, 89.416, 100.0,
    102.0, 103.28, 103.97, 104.0, 125.0, 126.0, 127.0, 128.0, 149.0, 150.0, 180.0, 1000.0, 8192.0, 1e5, 1e10,
];

#[test]
fn f32_of_every_exponent() {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 9
    };
    let mut floats = Vec::new();
    for head in 0..1_u32 << 9 {
        let bits = head << 23;
        floats.extend([bits, bits + 1, bits | 0x7F_FFFF]);
        floats.extend((0..100).map(|_| bits | random()));
    }
    let quarters = (1..64).map(|turn| turn as f32 * std::f32::consts::FRAC_PI_2);
    for edge in EDGES.iter().copied().chain(quarters) {
        for bits in [edge.to_bits(), (-edge).to_bits()] {
            floats.extend((0..128).map(|step| bits.wrapping_add(step).wrapping_sub(64)));
        }
    }
    check(F32, &floats);
}

/// Prints the table of docs/accuracy.md, of every `STEP`-th float.
#[test]
#[ignore = "runs for an hour without STEP"]
fn every_f32() {
    const BLOCK: usize = 1 << 16;
    let step = std::env::var("STEP").map_or(1, |step| step.parse().expect("a number"));
    for (name, exact) in FUNCTIONS {
        let kernel = kernel(name, DType::F32);
        let blocks = (0..1_usize << 32).into_par_iter().step_by(BLOCK * step);
        let worst = blocks.map(|first| {
            let floats = (first..).step_by(step).take(BLOCK);
            let floats: Vec<_> = floats.map(|bits| bits as u32).collect();
            F32.worst(kernel, *exact, &floats)
        });
        let (error, at) = worst.reduce(|| (0.0, 0.0), larger);
        println!("| `{name}` | {error:.2} | {at:e} |");
        assert!(error <= BOUND, "{name}({at:e}) is {error} units off");
    }
}

/// No function of one float is forgotten.
#[test]
fn all_functions_are_measured() {
    let of_a_float = |op: &&'static dyn Op| {
        let inputs = [ArgType::Value(
            TensorType::new(DType::F32, Vec::new()).into(),
        )];
        let attrs = Attrs::default();
        let inferred = op.infer(&Call {
            inputs: &inputs,
            attrs: &attrs,
        });
        let result = inferred
            .ok()
            .and_then(|inferred| inferred.outputs[0].tensor().cloned());
        result.is_some_and(|result| result.dtype == DType::F32)
    };
    let functions = catalogue()
        .0
        .iter()
        .copied()
        .filter(|op| matches!(op.cpu(), CpuKernel::Elementwise(_)) && op.params().len() == 1);
    let missing: Vec<_> = functions
        .filter(of_a_float)
        .map(Op::name)
        .filter(|name| FUNCTIONS.iter().all(|row| row.0 != *name) && !OTHERS.contains(name))
        .collect();
    assert!(missing.is_empty(), "add {missing:?} to the table");
}
