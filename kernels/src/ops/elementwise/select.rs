//! Choices between elements: the larger, the smaller, the one a condition names.

use haul_ir::dtype::DType;
use haul_ir::op::{BlockKernel, Example, Param};
use haul_ir::tensor::{Bool, Element};

use super::block::{each, ints, map3};
use super::types::{REALS, Types};
use super::{A_B, Function, flops, param};

const CONDITION_A_B: &[Param] = &[param("condition"), param("a"), param("b")];
const X_LOW_HIGH: &[Param] = &[param("x"), param("low"), param("high")];

/// The body for all dtypes of real numbers.
macro_rules! reals {
    ($dtype:expr, |$($x:ident),*| $body:expr) => {
        ints!($dtype, |$($x),*| $body)
            .or_else(|| each!($dtype, [F16 Bf16 F32 F64], |$($x),*| $body))
    };
}

pub(super) static TABLE: &[Function] = &[
    Function {
        name: "where",
        doc: "`a` where the condition is true, `b` where it is false.",
        params: CONDITION_A_B,
        types: Types::Choice,
        flops: flops::ONE,
        kernel: |inputs, _| choice(inputs[1]),
        examples: &[Example {
            formula: "where(c, a, 0)",
            given: &[
                ("c", "bool[3]", "true false true"),
                ("a", "f32[3]", "1 2 3"),
            ],
            result: ("f32[3]", "1 0 3"),
        }],
    },
    Function {
        name: "minimum",
        doc: "The smaller of two elements; NaN where one is NaN.",
        params: A_B,
        types: Types::Same(REALS),
        flops: flops::ONE,
        kernel: |inputs, _| reals!(inputs[0], |a, b| smaller(a, b)),
        examples: &[Example {
            formula: "minimum(a, b)",
            given: &[("a", "f32[3]", "1 5 nan"), ("b", "f32[3]", "3 3 3")],
            result: ("f32[3]", "1 3 nan"),
        }],
    },
    Function {
        name: "maximum",
        doc: "The larger of two elements; NaN where one is NaN.",
        params: A_B,
        types: Types::Same(REALS),
        flops: flops::ONE,
        kernel: |inputs, _| reals!(inputs[0], |a, b| larger(a, b)),
        examples: &[Example {
            formula: "maximum(a, b)",
            given: &[("a", "f32[3]", "1 5 3"), ("b", "f32[3]", "3 3 nan")],
            result: ("f32[3]", "3 5 nan"),
        }],
    },
    Function {
        name: "clip",
        doc: "Moves elements below `low` to `low`, then those above `high` to `high`. NaN stays.",
        params: X_LOW_HIGH,
        types: Types::Same(REALS),
        flops: flops::TWO,
        kernel: |inputs, _| reals!(inputs[0], |x, low, high| smaller(larger(x, low), high)),
        examples: &[Example {
            formula: "clip(x, 0, 255)",
            given: &[("x", "f32[4]", "-1 7.5 300 nan")],
            result: ("f32[4]", "0 7.5 255 nan"),
        }],
    },
];

/// The larger one; NaN where one is NaN, which compares as false and is unequal to itself.
#[expect(clippy::eq_op, reason = "asks for NaN, for every dtype")]
pub(super) fn larger<T: Element + PartialOrd>(a: T, b: T) -> T {
    if a > b || a != a { a } else { b }
}

/// The smaller one; NaN where one is NaN.
#[expect(clippy::eq_op, reason = "asks for NaN, for every dtype")]
pub(super) fn smaller<T: Element + PartialOrd>(a: T, b: T) -> T {
    if a < b || a != a { a } else { b }
}

/// One kernel for each size of element: choosing looks at no value.
fn choice(dtype: DType) -> Option<BlockKernel> {
    Some(match dtype.size() {
        1 => |i, o| map3(i, o, choose::<u8>),
        2 => |i, o| map3(i, o, choose::<u16>),
        4 => |i, o| map3(i, o, choose::<u32>),
        8 => |i, o| map3(i, o, choose::<u64>),
        _ => |i, o| map3(i, o, choose::<num_complex::Complex<f64>>),
    })
}

fn choose<T: Element>(condition: Bool, a: T, b: T) -> T {
    if condition.into() { a } else { b }
}
