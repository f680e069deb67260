//! Comparisons and tests: they give `bool`.

use haul_ir::op::Example;

use super::block::{complexes, each, ints};
use super::types::{ALL, NUMBERS, ORDERED, Types};
use super::{A_B, Function, X, flops};

/// The body for all dtypes that have an order.
macro_rules! ordered {
    ($dtype:expr, |$a:ident, $b:ident| $body:expr) => {
        ints!($dtype, |$a, $b| haul_ir::tensor::Bool::from($body)).or_else(|| {
            each!($dtype, [Bool F16 Bf16 F32 F64], |$a, $b| haul_ir::tensor::Bool::from($body))
        })
    };
}

macro_rules! comparison {
    ($name:literal, $operator:tt, $doc:literal, $result:literal) => {
        Function {
            name: $name,
            doc: $doc,
            params: A_B,
            types: Types::Test(ORDERED),
            flops: flops::COMPARE,
            kernel: |inputs, _| ordered!(inputs[0], |a, b| a $operator b),
            examples: &[Example {
                formula: concat!("a ", stringify!($operator), " b"),
                given: &[("a", "f64[4]", "1 2 3 nan"), ("b", "f64[4]", "2 2 2 2")],
                result: ("bool[4]", $result),
            }],
        }
    };
}

macro_rules! equality {
    ($name:literal, $operator:tt, $doc:literal, $result:literal) => {
        Function {
            types: Types::Test(ALL),
            kernel: |inputs, _| {
                ordered!(inputs[0], |a, b| a $operator b).or_else(|| {
                    complexes!(inputs[0], |a, b| haul_ir::tensor::Bool::from(a $operator b))
                })
            },
            ..comparison!($name, $operator, $doc, $result)
        }
    };
}

macro_rules! test {
    ($name:literal, $test:ident, $both:tt, $doc:literal, $result:literal) => {
        Function {
            name: $name,
            doc: $doc,
            params: X,
            types: Types::Test(NUMBERS),
            flops: flops::COMPARE,
            kernel: |inputs, _| {
                each!(inputs[0], [F16 Bf16 F32 F64], |x| haul_ir::tensor::Bool::from(x.$test()))
                    .or_else(|| ints!(inputs[0], |x| {
                        haul_ir::tensor::Bool::from((x as f64).$test())
                    }))
                    .or_else(|| complexes!(inputs[0], |x| {
                        haul_ir::tensor::Bool::from(x.re.$test() $both x.im.$test())
                    }))
            },
            examples: &[Example {
                formula: concat!($name, "(x)"),
                given: &[("x", "f32[4]", "1 nan inf -inf")],
                result: ("bool[4]", $result),
            }],
        }
    };
}

pub(super) static TABLE: &[Function] = &[
    equality!("eq", ==, "`a == b`. NaN equals nothing.", "false true false false"),
    equality!("ne", !=, "`a != b`. NaN differs from everything.", "true false true true"),
    comparison!("lt", <, "`a < b`. False where one is NaN.", "true false false false"),
    comparison!("le", <=, "`a <= b`. False where one is NaN.", "true true false false"),
    comparison!("gt", >, "`a > b`. False where one is NaN.", "false false true false"),
    comparison!("ge", >=, "`a >= b`. False where one is NaN.", "false true true false"),
    test!(
        "isnan",
        is_nan, ||,
        "Where elements are NaN, or a part of a complex one is.",
        "false true false false"
    ),
    test!(
        "isinf",
        is_infinite, ||,
        "Where elements are infinite, or a part of a complex one is.",
        "false false true true"
    ),
    test!(
        "isfinite",
        is_finite, &&,
        "Where elements are neither infinite nor NaN, nor a part of a complex one is.",
        "true false false false"
    ),
];
