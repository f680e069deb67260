//! Activations of neural networks.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use haul_ir::op::{Example, Param};

use crate::math::Math;

use super::block::{each, floats, ints, real_function};
use super::select::{larger, smaller};
use super::special::in_f64;
use super::types::{REALS, Types};
use super::{Function, X, default, flops, param};

const X_ALPHA: &[Param] = &[param("x"), default("alpha", "1")];
const X_SMALL_ALPHA: &[Param] = &[param("x"), default("alpha", "0.01")];
const X_SLOPE: &[Param] = &[param("x"), param("slope")];
const SELU: &[Param] = &[
    param("x"),
    default("alpha", "1.6732632423543772"),
    default("gamma", "1.0507009873554805"),
];
const HARD_SIGMOID: &[Param] = &[
    param("x"),
    default("alpha", "0.16666666666666666"),
    default("beta", "0.5"),
];
const SHRINK: &[Param] = &[param("x"), default("lambd", "0.5"), default("bias", "0")];
const HARD_TANH: &[Param] = &[param("x"), default("low", "-1"), default("high", "1")];

/// The row of a function of a number and parameters, with a body and an example in `f64`.
macro_rules! activation {
    (
        $name:literal, $params:ident, $flops:ident, $doc:literal, |$($x:ident),*| $body:expr,
        $formula:literal, $given:literal => $result:literal
    ) => {
        Function {
            name: $name,
            doc: $doc,
            params: $params,
            types: Types::Float(REALS),
            flops: flops::$flops,
            kernel: |inputs, _| floats!(inputs[0], |$($x),*| $body),
            examples: &[Example {
                formula: $formula,
                given: &[("x", "f64[3]", $given)],
                result: ("f64[3]", $result),
            }],
        }
    };
}

/// The body for all dtypes of real numbers.
macro_rules! reals {
    ($dtype:expr, |$($x:ident),*| $body:expr) => {
        ints!($dtype, |$($x),*| $body)
            .or_else(|| each!($dtype, [F16 Bf16 F32 F64], |$($x),*| $body))
    };
}

#[expect(
    clippy::excessive_precision,
    reason = "bodies are compiled for f64 and, rounded, for f32"
)]
pub(super) static TABLE: &[Function] = &[
    Function {
        name: "relu",
        doc: "The larger of an element and 0. NaN stays.",
        params: X,
        types: Types::Same(REALS),
        flops: flops::ONE,
        kernel: |inputs, _| reals!(inputs[0], |x| larger(x, Default::default())),
        examples: &[Example {
            formula: "relu(x)",
            given: &[("x", "f32[4]", "-1 0 2 nan")],
            result: ("f32[4]", "0 0 2 nan"),
        }],
    },
    activation!(
        "leaky_relu", X_SMALL_ALPHA, TWO,
        "`x`, and `alpha * x` below 0. Integers are computed in `f64`.",
        |x, alpha| if x < 0.0 { alpha * x } else { x },
        "leaky_relu(x, alpha=0.5)", "-3 2 nan" => "-1.5 2 nan"
    ),
    activation!(
        "prelu", X_SLOPE, TWO,
        "`x`, and `slope * x` below 0, where `slope` broadcasts with `x`. Integers are computed in \
         `f64`.",
        |x, slope| if x < 0.0 { slope * x } else { x },
        "prelu(x, 0.25)", "-3 2 nan" => "-0.75 2 nan"
    ),
    activation!(
        "elu", X_ALPHA, TANH,
        "`x`, and `alpha * (exp(x) - 1)` below 0. Integers are computed in `f64`.",
        |x, alpha| if x > 0.0 { x } else { alpha * x.exp_m1() },
        "elu(x, alpha=2)", "-1 2 -inf" => "-1.2642411176571153 2 -2"
    ),
    activation!(
        "selu", SELU, TANH,
        "`gamma * x`, and `gamma * alpha * (exp(x) - 1)` below 0. Integers are computed in `f64`.",
        |x, alpha, gamma| gamma * if x > 0.0 { x } else { alpha * x.exp_m1() },
        "selu(x)", "-1 2 0" => "-1.1113307378125625 2.101401974710961 0"
    ),
    activation!(
        "celu", X_ALPHA, TANH,
        "`x`, and `alpha * (exp(x / alpha) - 1)` below 0. Integers are computed in `f64`.",
        |x, alpha| if x > 0.0 { x } else { alpha * (x / alpha).exp_m1() },
        "celu(x, alpha=2)", "-1 2 -inf" => "-0.7869386805747332 2 -2"
    ),
    real_function!(
        "gelu", TANH,
        "`x` times the normal distribution up to `x`: `x / 2 * (1 + erf(x / sqrt(2)))`. Integers are \
         computed in `f64`.",
        |x| in_f64(gelu, x),
        "0 1 -2" => "0 0.8413447460685429 -0.04550026389635841"
    ),
    real_function!(
        "gelu_tanh", TANH,
        "The usual approximation of `gelu`: `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`. \
         Integers are computed in `f64`.",
        |x| {
            // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)); 1.5957691216057308 = 2 sqrt(2 / pi).
            part(x, sigmoid(1.595_769_121_605_730_8 * x * (1.0 + 0.044_715 * x * x)))
        },
        "0 1 -2" => "0 0.8411919906082768 -0.04540230591222498"
    ),
    real_function!(
        "sigmoid", TANH,
        "The logistic function, `1 / (1 + exp(-x))`. Integers are computed in `f64`.",
        |x| sigmoid(x),
        "0 1 -800" => "0.5 0.7310585786300049 0"
    ),
    real_function!(
        "log_sigmoid", POW,
        "`log(sigmoid(x))`, exact where `sigmoid` is 0 or 1. Integers are computed in `f64`.",
        |x| smaller(x, 0.0) - (-x.abs()).exp().ln_1p(),
        "0 1 -1000" => "-0.6931471805599453 -0.3132616875182228 -1000"
    ),
    activation!(
        "hard_sigmoid", HARD_SIGMOID, TWO,
        "`alpha * x + beta`, held between 0 and 1. Integers are computed in `f64`.",
        |x, alpha, beta| smaller(larger(alpha * x + beta, 0.0), 1.0),
        "hard_sigmoid(x, alpha=0.25)", "-3 1 nan" => "0 0.75 nan"
    ),
    activation!(
        "silu", X_ALPHA, TANH,
        "`x * sigmoid(alpha * x)`, also called swish. Integers are computed in `f64`.",
        |x, alpha| part(x, sigmoid(alpha * x)),
        "silu(x)", "0 1 -2" => "0 0.7310585786300049 -0.2384058440442351"
    ),
    real_function!(
        "hard_swish", TWO,
        "`x` times `x / 6 + 1/2` held between 0 and 1. Integers are computed in `f64`.",
        |x| part(x, smaller(larger(x + 3.0, 0.0), 6.0) / 6.0),
        "-4 1 4" => "0 0.6666666666666666 4"
    ),
    real_function!(
        "mish", POW,
        "`x * tanh(softplus(x))`. Integers are computed in `f64`.",
        |x| in_f64(mish, x),
        "0 1 -2" => "0 0.8650983882673103 -0.25250148269570885"
    ),
    real_function!(
        "softplus", POW,
        "`log(1 + exp(x))`, without leaving the range on the way. Integers are computed in `f64`.",
        |x| larger(x, 0.0) + (-x.abs()).exp().ln_1p(),
        "0 1000 -1" => "0.6931471805599453 1000 0.3132616875182228"
    ),
    real_function!(
        "softsign", DIV,
        "`x / (1 + abs(x))`. Integers are computed in `f64`.",
        |x| if x.is_infinite() { x.signum() } else { x / (1.0 + x.abs()) },
        "0 1 -3" => "0 0.5 -0.75"
    ),
    activation!(
        "thresholded_relu", X_ALPHA, ONE,
        "`x` above `alpha`, else 0. NaN stays. Integers are computed in `f64`.",
        |x, alpha| if x <= alpha { 0.0 } else { x },
        "thresholded_relu(x)", "-2 1 1.5" => "0 0 1.5"
    ),
    activation!(
        "shrink", SHRINK, TWO,
        "`x - bias` above `lambd`, `x + bias` below `-lambd`, 0 between: hard shrinking without \
         `bias`, soft shrinking with `bias = lambd`. NaN stays. Integers are computed in `f64`.",
        |x, lambd, bias| {
            if x < -lambd {
                x + bias
            } else if x <= lambd {
                0.0
            } else {
                x - bias
            }
        },
        "shrink(x, bias=0.5)", "-2 0.5 1.5" => "-1.5 0 1"
    ),
    Function {
        name: "hard_tanh",
        doc: "`x`, held between `low` and `high`: `clip` with bounds of -1 and 1 unless others are given. \
              NaN stays.",
        params: HARD_TANH,
        types: Types::Same(REALS),
        flops: flops::TWO,
        kernel: |inputs, _| reals!(inputs[0], |x, low, high| smaller(larger(x, low), high)),
        examples: &[Example {
            formula: "hard_tanh(x)",
            given: &[("x", "f32[4]", "-3 0.5 2 nan")],
            result: ("f32[4]", "-1 0.5 1 nan"),
        }],
    },
];

/// Of a negative number by `exp(x) / (1 + exp(x))`, which keeps what is small.
#[inline(always)]
fn sigmoid<T: Math>(x: T) -> T {
    let e = Math::exp(-x.abs());
    let share = if x < T::zero() { e } else { T::one() };
    share / (T::one() + e)
}

/// A share of `x`; none of minus infinity is 0, to which it tends.
#[inline(always)]
fn part<T: Math>(x: T, share: T) -> T {
    if share == T::zero() {
        share.copysign(x)
    } else {
        x * share
    }
}

/// The rounding of the argument of `erfc`, which is steep, is made good to first order.
fn gelu(x: f64) -> f64 {
    /// 1 / sqrt(2) less the constant.
    const REST: f64 = -4.833646656726457e-17;
    let y = -x * FRAC_1_SQRT_2;
    let error = (-x).mul_add(FRAC_1_SQRT_2, -y) - x * REST;
    let slope = match error.is_finite() {
        true => FRAC_2_SQRT_PI * (-y * y).exp() * error,
        false => 0.0,
    };
    part(0.5 * x, libm::erfc(y) - slope)
}

/// tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), 1 beyond e**20.
fn mish(x: f64) -> f64 {
    if x < -40.0 {
        // That is e, in two factors: it may be too small to have all its digits.
        return part(x, (x + 32.0).exp()) * 1.266_416_554_909_417_6e-14;
    }
    let e = x.min(20.0).exp();
    let n = e * (e + 2.0);
    x * (n / (n + 2.0))
}
