//! Exponentials, logarithms, roots.

use haul_ir::op::Example;

use crate::math::Math;

use super::block::{floats, function, real_function};
use super::complex_functions as complex;
use super::types::{REALS, Types};
use super::{A_B, Function, flops};

pub(super) static TABLE: &[Function] = &[
    function!(
        "exp", EXP,
        "e to the power of each element. Integers are computed in `f64`.",
        |x| Math::exp(x), |x| x.exp(),
        "0 1 -2" => "1 2.718281828459045 0.1353352832366127"
    ),
    function!(
        "exp2", EXP,
        "2 to the power of each element. Integers are computed in `f64`.",
        |x| x.exp2(), |x| x.exp2(),
        "0 10 0.5" => "1 1024 1.4142135623730951"
    ),
    function!(
        "expm1", TANH,
        "`exp(x) - 1`, exact near 0. Integers are computed in `f64`.",
        |x| x.exp_m1(), |x| complex::exp_m1(x),
        "0 1 1e-10" => "0 1.718281828459045 1.00000000005e-10"
    ),
    function!(
        "log", LOG,
        "The natural logarithm; -inf of 0, NaN below. Integers are computed in `f64`.",
        |x| Math::log(x), |x| complex::ln(x),
        "1 10 0" => "0 2.302585092994046 -inf"
    ),
    function!(
        "log1p", TANH,
        "`log(1 + x)`, exact near 0. Integers are computed in `f64`.",
        |x| x.ln_1p(), |x| complex::ln_1p(x),
        "0 1 1e-10" => "0 0.6931471805599453 9.9999999995e-11"
    ),
    function!(
        "log2", LOG,
        "The binary logarithm; -inf of 0, NaN below. Integers are computed in `f64`.",
        |x| x.log2(), |x| complex::ln(x).scale(std::f64::consts::LOG2_E as _),
        "8 1 -1" => "3 0 nan"
    ),
    function!(
        "log10", LOG,
        "The decimal logarithm; -inf of 0, NaN below. Integers are computed in `f64`.",
        |x| x.log10(), |x| complex::ln(x).scale(std::f64::consts::LOG10_E as _),
        "1000 0.1 0" => "3 -1 -inf"
    ),
    function!(
        "sqrt", SQRT,
        "The square root; NaN of negative real numbers. Integers are computed in `f64`.",
        |x| x.sqrt(), |x| complex::sqrt(x),
        "4 2 -1" => "2 1.4142135623730951 nan"
    ),
    real_function!(
        "rsqrt", SQRT,
        "`1 / sqrt(x)`; infinite of 0, NaN of negative numbers. Integers are computed in `f64`.",
        |x| 1.0 / x.sqrt(),
        "4 0 -1" => "0.5 inf nan"
    ),
    real_function!(
        "cbrt", LOG,
        "The cube root, of negative numbers too. Integers are computed in `f64`.",
        |x| x.cbrt(),
        "27 -8 2" => "3 -2 1.2599210498948732"
    ),
    Function {
        name: "logaddexp",
        doc: "`log(exp(a) + exp(b))`, without leaving the range on the way. Integers are computed in \
              `f64`.",
        params: A_B,
        types: Types::Float(REALS),
        flops: flops::POW,
        kernel: |inputs, _| {
            floats!(inputs[0], |a, b| {
                let distance = if a == b { 0.0 } else { -(a - b).abs() };
                a.max(b) + distance.exp().ln_1p()
            })
        },
        examples: &[Example {
            formula: "logaddexp(a, b)",
            given: &[
                ("a", "f64[3]", "1000 0 -inf"),
                ("b", "f64[3]", "1000 1 -inf"),
            ],
            result: ("f64[3]", "1000.6931471805599 1.3132616875182228 -inf"),
        }],
    },
];
