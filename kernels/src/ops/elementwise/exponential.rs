//! Exponentials, logarithms, roots, and the functions of networks that are built of them.

use haul_ir::op::Example;
use num_complex::Complex;
use num_traits::{AsPrimitive, Float};

use crate::math::Math;

use super::block::{complexes, floats};
use super::types::{NUMBERS, REALS, Types};
use super::{Function, X, flops};

/// A function of real numbers.
macro_rules! real_function {
    ($name:literal, $flops:ident, $doc:literal, |$x:ident| $body:expr, $given:literal => $result:literal) => {
        Function {
            name: $name,
            doc: $doc,
            params: X,
            types: Types::Float(REALS),
            flops: flops::$flops,
            kernel: |inputs, _| floats!(inputs[0], |$x| $body),
            examples: &[Example {
                formula: concat!($name, "(x)"),
                given: &[("x", "f64[3]", $given)],
                result: ("f64[3]", $result),
            }],
        }
    };
}

/// A function of real and complex numbers, with a body for each.
macro_rules! function {
    (
        $name:literal, $flops:ident, $doc:literal,
        |$x:ident| $body:expr, |$z:ident| $complex:expr,
        $given:literal => $result:literal
    ) => {
        Function {
            types: Types::Float(NUMBERS),
            kernel: |inputs, _| {
                floats!(inputs[0], |$x| $body).or_else(|| complexes!(inputs[0], |$z| $complex))
            },
            ..real_function!($name, $flops, $doc, |$x| $body, $given => $result)
        }
    };
}

pub(super) static TABLE: &[Function] = &[
    function!(
        "exp", EXP,
        "e to the power of each element. Integers are computed in `f64`.",
        |x| Math::exp(x), |x| x.exp(),
        "0 1 -2" => "1 2.718281828459045 0.1353352832366127"
    ),
    real_function!(
        "expm1", TANH,
        "`exp(x) - 1`, exact near 0. Integers are computed in `f64`.",
        |x| x.exp_m1(),
        "0 1 1e-10" => "0 1.718281828459045 1.00000000005e-10"
    ),
    function!(
        "log", LOG,
        "The natural logarithm; -inf of 0, NaN below. Integers are computed in `f64`.",
        |x| Math::log(x), |x| x.ln(),
        "1 10 0" => "0 2.302585092994046 -inf"
    ),
    real_function!(
        "log1p", TANH,
        "`log(1 + x)`, exact near 0. Integers are computed in `f64`.",
        |x| x.ln_1p(),
        "0 1 1e-10" => "0 0.6931471805599453 9.9999999995e-11"
    ),
    real_function!(
        "log2", LOG,
        "The binary logarithm; -inf of 0, NaN below. Integers are computed in `f64`.",
        |x| x.log2(),
        "8 1 -1" => "3 0 nan"
    ),
    real_function!(
        "log10", LOG,
        "The decimal logarithm; -inf of 0, NaN below. Integers are computed in `f64`.",
        |x| x.log10(),
        "1000 0.1 0" => "3 -1 -inf"
    ),
    function!(
        "sqrt", SQRT,
        "The square root; NaN of negative real numbers. Integers are computed in `f64`.",
        |x| x.sqrt(), |x| x.sqrt(),
        "4 2 -1" => "2 1.4142135623730951 nan"
    ),
    real_function!(
        "sigmoid", TANH,
        "The logistic function, `1 / (1 + exp(-x))`. Integers are computed in `f64`.",
        |x| 1.0 / (1.0 + Math::exp(-x)),
        "0 1 -800" => "0.5 0.7310585786300049 0"
    ),
    function!(
        "tanh", TANH,
        "The hyperbolic tangent. Integers are computed in `f64`.",
        |x| Math::tanh(x), |x| complex_tanh(x),
        "0 1 -1000" => "0 0.7615941559557649 -1"
    ),
    real_function!(
        "erf", TANH,
        "The error function: twice the Gauss integral from 0 to x over the root of pi. Integers are \
         computed in `f64`.",
        |x| erf(x),
        "0 1 -10" => "0 0.8427007929497149 -1"
    ),
];

fn erf<T>(x: T) -> T
where
    T: AsPrimitive<f64>,
    f64: AsPrimitive<T>,
{
    libm::erf(x.as_()).as_()
}

/// Kahan's formula, "Branch cuts for complex elementary functions": the sums of exponentials of
/// the textbook would overflow.
fn complex_tanh<T: Float>(x: Complex<T>) -> Complex<T> {
    let (one, tangent, sine) = (T::one(), x.im.tan(), x.re.sinh());
    let secant = one + tangent * tangent;
    let scale = one + secant * sine * sine;
    if scale.is_infinite() && !x.re.is_nan() {
        return Complex::new(one.copysign(x.re), T::zero().copysign(tangent));
    }
    let cosine = (one + sine * sine).sqrt();
    Complex::new(secant * cosine * sine / scale, tangent / scale)
}
