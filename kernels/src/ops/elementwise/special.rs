//! The error function, the gamma function, and what is near to them.

use num_traits::AsPrimitive;

use super::block::real_function;
use super::gamma;

pub(super) static TABLE: &[super::Function] = &[
    real_function!(
        "erf", TANH,
        "The error function: twice the Gauss integral from 0 to x over the root of pi. Integers are \
         computed in `f64`.",
        |x| in_f64(libm::erf, x),
        "0 1 -10" => "0 0.8427007929497149 -1"
    ),
    real_function!(
        "erfc", TANH,
        "`1 - erf(x)`, exact where it is small. Integers are computed in `f64`.",
        |x| in_f64(libm::erfc, x),
        "0 10 -10" => "1 2.088487583762545e-45 2"
    ),
    real_function!(
        "gamma", POW,
        "The gamma function, `(x - 1)!` of whole numbers; NaN of negative ones, which are its poles. \
         Integers are computed in `f64`.",
        |x| in_f64(libm::tgamma, x),
        "5 0.5 -1" => "24 1.772453850905516 nan"
    ),
    real_function!(
        "lgamma", POW,
        "The logarithm of the absolute value of the gamma function; infinite at its poles. Near its \
         zeros below -2 only the absolute error is small. Integers are computed in `f64`.",
        |x| in_f64(libm::lgamma, x),
        "100 0.5 -1" => "359.1342053695754 0.5723649429247001 inf"
    ),
    real_function!(
        "digamma", POW,
        "The derivative of `lgamma`; NaN at negative whole numbers, -inf of 0 and inf of -0. Near its \
         zeros below 0 only the absolute error is small. Integers are computed in `f64`.",
        |x| in_f64(gamma::digamma, x),
        "1 0.5 -2" => "-0.5772156649015329 -1.9635100260214235 nan"
    ),
];

/// A function of `f64` of any float, rounded to it.
pub(super) fn in_f64<T>(function: fn(f64) -> f64, x: T) -> T
where
    T: AsPrimitive<f64>,
    f64: AsPrimitive<T>,
{
    function(x.as_()).as_()
}
