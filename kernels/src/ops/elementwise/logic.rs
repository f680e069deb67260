//! Logic: every element is taken as whether it differs from 0.

use haul_ir::op::Example;
use haul_ir::tensor::Bool;

use super::block::each;
use super::types::Types;
use super::{A_B, Function, X, flops};

macro_rules! connective {
    ($name:literal, $operator:tt, $doc:literal, $result:literal) => {
        Function {
            name: $name,
            doc: $doc,
            params: A_B,
            types: Types::Truth,
            flops: flops::ONE,
            kernel: |inputs, _| each!(inputs[0], [Bool], |a, b| Bool(a.0 $operator b.0)),
            examples: &[Example {
                formula: concat!($name, "(a, b)"),
                given: &[("a", "i32[4]", "0 0 1 2"), ("b", "f32[4]", "0 nan 0 0.5")],
                result: ("bool[4]", $result),
            }],
        }
    };
}

pub(super) static TABLE: &[Function] = &[
    connective!(
        "logical_and", &,
        "Whether both elements differ from 0; NaN does. `&` is the same for `bool`.",
        "false false false true"
    ),
    connective!(
        "logical_or", |,
        "Whether one of the elements or both differ from 0; NaN does. `|` is the same for `bool`.",
        "false true true true"
    ),
    connective!(
        "logical_xor", ^,
        "Whether one of the elements but not both differ from 0; NaN does. `^` is the same for \
         `bool`.",
        "false true true false"
    ),
    Function {
        name: "logical_not",
        doc: "Whether elements are 0; NaN is not. `~` is the same for `bool`.",
        params: X,
        types: Types::Truth,
        flops: flops::ONE,
        kernel: |inputs, _| each!(inputs[0], [Bool], |x| Bool(x.0 ^ 1)),
        examples: &[Example {
            formula: "logical_not(x)",
            given: &[("x", "f32[3]", "0 2.5 nan")],
            result: ("bool[3]", "true false false"),
        }],
    },
];
