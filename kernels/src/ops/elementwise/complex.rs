//! Complex numbers and their parts.

use haul_ir::dtype::DType;
use haul_ir::op::Example;
use num_complex::Complex;

use super::block::{complexes, each, floats, ints, map2};
use super::types::{NUMBERS, Types};
use super::{Function, X, flops, param};

/// The body for all dtypes of real numbers.
macro_rules! reals {
    ($dtype:expr, |$x:ident| $body:expr) => {
        ints!($dtype, |$x| $body).or_else(|| each!($dtype, [F16 Bf16 F32 F64], |$x| $body))
    };
}

pub(super) static TABLE: &[Function] = &[
    Function {
        name: "complex",
        doc: "The complex number with a real and an imaginary part; c128 of f64 and integers, else \
              c64.",
        params: &[param("re"), param("im")],
        types: Types::Pair,
        flops: flops::MOVE,
        kernel: |inputs, _| match inputs[0] {
            DType::F32 => Some(|i, o| map2(i, o, Complex::<f32>::new)),
            DType::F64 => Some(|i, o| map2(i, o, Complex::<f64>::new)),
            _ => None,
        },
        examples: &[Example {
            formula: "complex(a, b)",
            given: &[("a", "f32[2]", "1 2"), ("b", "f32[]", "-3")],
            result: ("c64[2]", "1-3j 2-3j"),
        }],
    },
    Function {
        name: "real",
        doc: "The real part; real numbers stay.",
        params: X,
        types: Types::Parts(NUMBERS),
        flops: flops::MOVE,
        kernel: |inputs, _| complexes!(inputs[0], |x| x.re).or_else(|| reals!(inputs[0], |x| x)),
        examples: &[Example {
            formula: "real(x)",
            given: &[("x", "c64[2]", "1+2j -3j")],
            result: ("f32[2]", "1 0"),
        }],
    },
    Function {
        name: "imag",
        doc: "The imaginary part; 0 of real numbers.",
        params: X,
        types: Types::Parts(NUMBERS),
        flops: flops::MOVE,
        kernel: |inputs, _| {
            complexes!(inputs[0], |x| x.im).or_else(|| reals!(inputs[0], |x| zero(x)))
        },
        examples: &[Example {
            formula: "imag(x)",
            given: &[("x", "c64[2]", "1+2j -3j")],
            result: ("f32[2]", "2 -3"),
        }],
    },
    Function {
        name: "conj",
        doc: "The complex conjugate; real numbers stay.",
        params: X,
        types: Types::Same(NUMBERS),
        flops: flops::ONE,
        kernel: |inputs, _| {
            complexes!(inputs[0], |x| x.conj()).or_else(|| reals!(inputs[0], |x| x))
        },
        examples: &[Example {
            formula: "conj(x)",
            given: &[("x", "c64[2]", "1+2j -3j")],
            result: ("c64[2]", "1-2j 3j"),
        }],
    },
    Function {
        name: "angle",
        doc: "The angle of a complex number with the positive real axis, from -pi to pi; of real \
              numbers 0 or, below 0, pi. Integers are computed in `f64`.",
        params: X,
        types: Types::FloatParts(NUMBERS),
        flops: flops::TANH,
        kernel: |inputs, _| {
            complexes!(inputs[0], |x| x.arg()).or_else(|| {
                floats!(inputs[0], |x| {
                    let pi = std::f64::consts::PI as _;
                    let angle = if x.is_sign_negative() { pi } else { 0.0 };
                    if x.is_nan() { x } else { angle }
                })
            })
        },
        examples: &[Example {
            formula: "angle(x)",
            given: &[("x", "c128[3]", "2+2j -1j -1+0j")],
            result: (
                "f64[3]",
                "0.7853981633974483 -1.5707963267948966 3.141592653589793",
            ),
        }],
    },
];

/// The imaginary part of a real number.
fn zero<T: Default>(_: T) -> T {
    T::default()
}
