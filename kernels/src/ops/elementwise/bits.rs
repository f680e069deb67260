//! `& | ^ ~`: logical for truth values, bit by bit for integers.

use haul_ir::op::Example;
use haul_ir::tensor::Bool;

use super::block::{each, ints};
use super::types::{BITS, Types};
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
];
