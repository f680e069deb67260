//! Hyperbolic sine and its relations.

use crate::math::Math;

use super::block::function;
use super::complex_functions as complex;
use super::special::in_f64;

pub(super) static TABLE: &[super::Function] = &[
    function!(
        "sinh", TANH, "The hyperbolic sine. Integers are computed in `f64`.",
        |x| x.sinh(), |x| x.sinh(), "0 1 -1000" => "0 1.1752011936438014 -inf"
    ),
    function!(
        "cosh", TANH, "The hyperbolic cosine. Integers are computed in `f64`.",
        |x| x.cosh(), |x| x.cosh(), "0 1 -1000" => "1 1.5430806348152437 inf"
    ),
    function!(
        "tanh", TANH, "The hyperbolic tangent. Integers are computed in `f64`.",
        |x| Math::tanh(x), |x| complex::tanh(x), "0 1 -1000" => "0 0.7615941559557649 -1"
    ),
    function!(
        "asinh", TANH, "The number with that hyperbolic sine. Integers are computed in `f64`.",
        |x| in_f64(libm::asinh, x), |x| complex::asinh(x),
        "0 1 -1e300" => "0 0.881373587019543 -691.4686750787736"
    ),
    function!(
        "acosh", TANH, "The number, not negative, with that hyperbolic cosine; NaN of real numbers below 1. \
                        Integers are computed in `f64`.",
        |x| in_f64(libm::acosh, x), |x| complex::acosh(x),
        "1 2 0" => "0 1.3169578969248166 nan"
    ),
    function!(
        "atanh", TANH, "The number with that hyperbolic tangent; NaN of real numbers beyond -1 and 1. \
                        Integers are computed in `f64`.",
        |x| in_f64(libm::atanh, x), |x| complex::atanh(x),
        "0.5 1 -2" => "0.5493061443340549 inf nan"
    ),
];
