//! Sine and its relations; angles are in radians.

use haul_ir::op::Example;

use super::block::{complexes, floats};
use super::types::{NUMBERS, REALS, Types};
use super::{A_B, Function, X, flops};

/// A function of real numbers.
macro_rules! real_function {
    ($name:literal, $doc:literal, |$x:ident| $body:expr, $given:literal => $result:literal) => {
        Function {
            name: $name,
            doc: $doc,
            params: X,
            types: Types::Float(REALS),
            flops: flops::SIN,
            kernel: |inputs, _| floats!(inputs[0], |$x| $body),
            examples: &[Example {
                formula: concat!($name, "(x)"),
                given: &[("x", "f64[3]", $given)],
                result: ("f64[3]", $result),
            }],
        }
    };
}

/// A function of real and complex numbers.
macro_rules! function {
    ($name:literal, $doc:literal, |$x:ident| $body:expr, $given:literal => $result:literal) => {
        Function {
            types: Types::Float(NUMBERS),
            kernel: |inputs, _| {
                floats!(inputs[0], |$x| $body).or_else(|| complexes!(inputs[0], |$x| $body))
            },
            ..real_function!($name, $doc, |$x| $body, $given => $result)
        }
    };
}

pub(super) static TABLE: &[Function] = &[
    function!(
        "sin", "The sine of an angle in radians. Integers are computed in `f64`.",
        |x| x.sin(), "0 1 -2" => "0 0.8414709848078965 -0.9092974268256817"
    ),
    function!(
        "cos", "The cosine of an angle in radians. Integers are computed in `f64`.",
        |x| x.cos(), "0 1 -2" => "1 0.5403023058681398 -0.4161468365471424"
    ),
    real_function!(
        "tan", "The tangent of an angle in radians. Integers are computed in `f64`.",
        |x| x.tan(), "0 1 -2" => "0 1.5574077246549023 2.185039863261519"
    ),
    real_function!(
        "asin", "The angle with that sine; NaN beyond -1 and 1. Integers are computed in `f64`.",
        |x| x.asin(), "0 0.5 2" => "0 0.5235987755982989 nan"
    ),
    real_function!(
        "acos", "The angle with that cosine; NaN beyond -1 and 1. Integers are computed in `f64`.",
        |x| x.acos(), "1 0.5 2" => "0 1.0471975511965979 nan"
    ),
    real_function!(
        "atan", "The angle with that tangent. Integers are computed in `f64`.",
        |x| x.atan(), "0 1 -inf" => "0 0.7853981633974483 -1.5707963267948966"
    ),
    Function {
        name: "atan2",
        doc: "The angle between the positive x-axis and the point (b, a), from -pi to pi. Integers \
              are computed in `f64`.",
        params: A_B,
        types: Types::Float(REALS),
        flops: flops::TANH,
        kernel: |inputs, _| floats!(inputs[0], |a, b| a.atan2(b)),
        examples: &[Example {
            formula: "atan2(a, b)",
            given: &[("a", "f64[3]", "1 0 -1"), ("b", "f64[3]", "1 -1 0")],
            result: (
                "f64[3]",
                "0.7853981633974483 3.141592653589793 -1.5707963267948966",
            ),
        }],
    },
    Function {
        name: "hypot",
        doc: "The root of the sum of two squares, without leaving the range on the way. Integers \
              are computed in `f64`.",
        params: A_B,
        types: Types::Float(REALS),
        flops: flops::ABS,
        kernel: |inputs, _| floats!(inputs[0], |a, b| a.hypot(b)),
        examples: &[Example {
            formula: "hypot(a, b)",
            given: &[("a", "f64[2]", "3 1e300"), ("b", "f64[2]", "4 0")],
            result: ("f64[2]", "5 1e300"),
        }],
    },
];
