//! Sine and its relations; angles are in radians.

use haul_ir::op::Example;

use super::block::{floats, function, real_function};
use super::complex_functions as complex;
use super::types::{REALS, Types};
use super::{A_B, Function, flops};

pub(super) static TABLE: &[Function] = &[
    function!(
        "sin", SIN, "The sine of an angle in radians. Integers are computed in `f64`.",
        |x| x.sin(), |x| x.sin(), "0 1 -2" => "0 0.8414709848078965 -0.9092974268256817"
    ),
    function!(
        "cos", SIN, "The cosine of an angle in radians. Integers are computed in `f64`.",
        |x| x.cos(), |x| x.cos(), "0 1 -2" => "1 0.5403023058681398 -0.4161468365471424"
    ),
    function!(
        "tan", SIN, "The tangent of an angle in radians. Integers are computed in `f64`.",
        |x| x.tan(), |x| complex::tan(x), "0 1 -2" => "0 1.5574077246549023 2.185039863261519"
    ),
    function!(
        "asin", SIN, "The angle with that sine; NaN of real numbers beyond -1 and 1. Integers are computed in `f64`.",
        |x| x.asin(), |x| complex::asin(x), "0 0.5 2" => "0 0.5235987755982989 nan"
    ),
    function!(
        "acos", SIN, "The angle with that cosine; NaN of real numbers beyond -1 and 1. Integers are computed in `f64`.",
        |x| x.acos(), |x| complex::acos(x), "1 0.5 2" => "0 1.0471975511965979 nan"
    ),
    function!(
        "atan", SIN, "The angle with that tangent. Integers are computed in `f64`.",
        |x| x.atan(), |x| complex::atan(x), "0 1 -inf" => "0 0.7853981633974483 -1.5707963267948966"
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
    real_function!(
        "deg2rad", MUL, "Degrees in radians: `x * pi / 180`. Integers are computed in `f64`.",
        |x| x.to_radians(), "180 90 -1" => "3.141592653589793 1.5707963267948966 -0.017453292519943295"
    ),
    real_function!(
        "rad2deg", MUL, "Radians in degrees: `x * 180 / pi`. Integers are computed in `f64`.",
        |x| x.to_degrees(), "1 0 -2" => "57.29577951308232 0 -114.59155902616465"
    ),
];
