//! Complex numbers and their parts.

use haul_ir::op::Example;

use super::block::{complexes, each, ints};
use super::types::{NUMBERS, Types};
use super::{Function, X, flops};

/// The body for all dtypes of real numbers.
macro_rules! reals {
    ($dtype:expr, |$x:ident| $body:expr) => {
        ints!($dtype, |$x| $body).or_else(|| each!($dtype, [F16 Bf16 F32 F64], |$x| $body))
    };
}

pub(super) static TABLE: &[Function] = &[
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
];

/// The imaginary part of a real number.
fn zero<T: Default>(_: T) -> T {
    T::default()
}
