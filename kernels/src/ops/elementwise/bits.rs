//! `& | ^ ~`: logical for truth values, bit by bit for integers; shifts.

use haul_ir::op::Example;
use haul_ir::tensor::Bool;
use num_traits::PrimInt;

use super::block::{each, ints};
use super::types::{BITS, INTEGERS, Types};
use super::{A_B, Function, X, flops};

macro_rules! bit_operation {
    ($name:literal, $operator:tt, $doc:literal, $result:literal) => {
        Function {
            name: $name,
            doc: $doc,
            params: A_B,
            types: Types::Same(BITS),
            flops: flops::ONE,
            kernel: |inputs, _| {
                ints!(inputs[0], |a, b| a $operator b)
                    .or_else(|| each!(inputs[0], [Bool], |a, b| Bool(a.0 $operator b.0)))
            },
            examples: &[Example {
                formula: concat!("a ", stringify!($operator), " b"),
                given: &[
                    ("a", "bool[4]", "false false true true"),
                    ("b", "bool[4]", "false true false true"),
                ],
                result: ("bool[4]", $result),
            }],
        }
    };
}

pub(super) static TABLE: &[Function] = &[
    bit_operation!("bitand", &, "`a & b`: logical for `bool`, bit by bit for integers.", "false false false true"),
    bit_operation!("bitor", |, "`a | b`: logical for `bool`, bit by bit for integers.", "false true true true"),
    bit_operation!("bitxor", ^, "`a ^ b`: logical for `bool`, bit by bit for integers.", "false true true false"),
    Function {
        name: "invert",
        doc: "`~x`: logical for `bool`, bit by bit for integers.",
        params: X,
        types: Types::Same(BITS),
        flops: flops::ONE,
        kernel: |inputs, _| {
            ints!(inputs[0], |x| !x).or_else(|| each!(inputs[0], [Bool], |x| Bool(x.0 ^ 1)))
        },
        examples: &[
            Example {
                formula: "~x",
                given: &[("x", "bool[2]", "true false")],
                result: ("bool[2]", "false true"),
            },
            Example {
                formula: "~x",
                given: &[("x", "i32[2]", "0 5")],
                result: ("i32[2]", "-1 -6"),
            },
        ],
    },
    Function {
        name: "left_shift",
        doc: "The bits of `a` moved up by `b` places, zeros after them: `a * 2**b`, wrapped around. 0 \
              where `b` is negative or no less than the width of the dtype, as in NumPy.",
        params: A_B,
        types: Types::Same(INTEGERS),
        flops: flops::ONE,
        kernel: |inputs, _| {
            ints!(inputs[0], |a, b| places(b)
                .and_then(|b| a.checked_shl(b))
                .unwrap_or(0))
        },
        examples: &[Example {
            formula: "left_shift(a, b)",
            given: &[("a", "u8[4]", "1 3 255 1"), ("b", "u8[4]", "7 1 4 8")],
            result: ("u8[4]", "128 6 240 0"),
        }],
    },
    Function {
        name: "right_shift",
        doc: "The bits of `a` moved down by `b` places, copies of the sign before them: `a // 2**b`. \
              Where `b` is negative or no less than the width of the dtype only the sign is left, \
              0 or -1, as in NumPy.",
        params: A_B,
        types: Types::Same(INTEGERS),
        flops: flops::ONE,
        kernel: |inputs, _| {
            ints!(inputs[0], |a, b| {
                let shifted = places(b).and_then(|b| a.checked_shr(b));
                shifted.unwrap_or_else(|| sign(a))
            })
        },
        examples: &[Example {
            formula: "right_shift(a, b)",
            given: &[("a", "i8[4]", "64 -64 -1 5"), ("b", "i8[4]", "3 3 100 -1")],
            result: ("i8[4]", "8 -8 -1 0"),
        }],
    },
];

/// A number of places, where it is one.
fn places<T: TryInto<u32>>(by: T) -> Option<u32> {
    by.try_into().ok()
}

/// -1 of negative numbers, else 0.
fn sign<T: PrimInt>(x: T) -> T {
    if x < T::zero() { !T::zero() } else { T::zero() }
}
