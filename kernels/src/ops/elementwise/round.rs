//! Rounding, absolute value, sign.

use haul_ir::op::Example;
use haul_ir::tensor::Bool;

use super::block::{complexes, each, floats, ints};
use super::types::{NUMBERS, REALS, Types};
use super::{A_B, Function, X, complex_functions, flops};

macro_rules! rounding {
    ($name:literal, $method:ident, $doc:literal, $result:literal) => {
        Function {
            name: $name,
            doc: $doc,
            params: X,
            types: Types::Same(REALS),
            flops: flops::ONE,
            kernel: |inputs, _| {
                floats!(inputs[0], |x| x.$method()).or_else(|| ints!(inputs[0], |x| x))
            },
            examples: &[Example {
                formula: concat!($name, "(x)"),
                given: &[("x", "f32[5]", "-1.5 -0.2 0.5 1.5 2.5")],
                result: ("f32[5]", $result),
            }],
        }
    };
}

pub(super) static TABLE: &[Function] = &[
    Function {
        name: "abs",
        doc: "The absolute value; the modulus of complex numbers, which is real. The least signed \
              integer stays what it is.",
        params: X,
        types: Types::Parts(NUMBERS),
        flops: flops::ABS,
        kernel: |inputs, _| {
            floats!(inputs[0], |x| x.abs())
                .or_else(|| each!(inputs[0], [I8 I16 I32 I64], |x| x.wrapping_abs()))
                .or_else(|| each!(inputs[0], [U8 U16 U32 U64], |x| x))
                .or_else(|| complexes!(inputs[0], |x| x.norm()))
        },
        examples: &[
            Example {
                formula: "abs(x)",
                given: &[("x", "f32[3]", "-1.5 0 2")],
                result: ("f32[3]", "1.5 0 2"),
            },
            Example {
                formula: "abs(x)",
                given: &[("x", "c64[2]", "3+4j -2j")],
                result: ("f32[2]", "5 2"),
            },
        ],
    },
    Function {
        name: "sign",
        doc: "-1, 0 or 1, as the element is below, at or above 0; `z / abs(z)` of complex numbers. NaN \
              stays.",
        params: X,
        types: Types::Same(NUMBERS),
        flops: flops::ONE,
        kernel: |inputs, _| {
            floats!(inputs[0], |x| if x == 0.0 || x.is_nan() {
                x
            } else {
                x.signum()
            })
            .or_else(|| each!(inputs[0], [I8 I16 I32 I64], |x| x.signum()))
            .or_else(|| each!(inputs[0], [U8 U16 U32 U64], |x| x.min(1)))
            .or_else(|| complexes!(inputs[0], |x| complex_functions::sign(x)))
        },
        examples: &[Example {
            formula: "sign(x)",
            given: &[("x", "f32[4]", "-3 0 0.5 nan")],
            result: ("f32[4]", "-1 0 1 nan"),
        }],
    },
    Function {
        name: "copysign",
        doc: "The absolute value of `a` with the sign of `b`, also that of -0 and NaN. Integers are \
              computed in `f64`.",
        params: A_B,
        types: Types::Float(REALS),
        flops: flops::ONE,
        kernel: |inputs, _| floats!(inputs[0], |a, b| a.copysign(b)),
        examples: &[Example {
            formula: "copysign(a, b)",
            given: &[("a", "f32[3]", "1 -2 inf"), ("b", "f32[3]", "-3 0.5 -inf")],
            result: ("f32[3]", "-1 2 -inf"),
        }],
    },
    Function {
        name: "signbit",
        doc: "Whether elements have a minus sign, as -0 does.",
        params: X,
        types: Types::Test(REALS),
        flops: flops::ONE,
        kernel: |inputs, _| {
            each!(inputs[0], [F16 Bf16 F32 F64], |x| Bool::from(x.is_sign_negative()))
                .or_else(|| each!(inputs[0], [I8 I16 I32 I64], |x| Bool::from(x < 0)))
                .or_else(|| each!(inputs[0], [U8 U16 U32 U64], |_x| Bool(0)))
        },
        examples: &[Example {
            formula: "signbit(x)",
            given: &[("x", "f32[3]", "-0.0 0 -inf")],
            result: ("bool[3]", "true false true"),
        }],
    },
    rounding!(
        "floor",
        floor,
        "The next whole number below. Integers stay.",
        "-2 -1 0 1 2"
    ),
    rounding!(
        "ceil",
        ceil,
        "The next whole number above. Integers stay.",
        "-1 0 1 2 3"
    ),
    rounding!(
        "trunc",
        trunc,
        "The next whole number towards 0. Integers stay.",
        "-1 0 0 1 2"
    ),
    rounding!(
        "round",
        round_ties_even,
        "The nearest whole number, the even one of two. Integers stay.",
        "-2 0 0 2 2"
    ),
];
