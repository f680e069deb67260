//! `+ - * / // % **`, unary minus, and what is near to them.

use haul_ir::dtype::DType;
use haul_ir::op::{BlockKernel, Example, KernelError};
use num_complex::Complex;
use num_traits::{Float, PrimInt, WrappingMul};

use super::block::{complexes, element, floats, ints, map2};
use super::complex_functions::complex_div;
use super::types::{NUMBERS, REALS, Types};
use super::{A_B, Function, X, flops};

pub(super) static TABLE: &[Function] = &[
    Function {
        name: "add",
        doc: "`a + b`. Integers wrap around.",
        params: A_B,
        types: Types::Same(NUMBERS),
        flops: flops::ADD,
        kernel: |inputs, _| {
            ints!(inputs[0], |a, b| a.wrapping_add(b))
                .or_else(|| floats!(inputs[0], |a, b| a + b))
                .or_else(|| complexes!(inputs[0], |a, b| a + b))
        },
        examples: &[
            Example {
                formula: "a + b",
                given: &[("a", "f32[2, 2]", "1 2 3 4"), ("b", "f32[2]", "10 20")],
                result: ("f32[2, 2]", "11 22 13 24"),
            },
            Example {
                formula: "a + 1",
                given: &[("a", "u8[2]", "254 255")],
                result: ("u8[2]", "255 0"),
            },
        ],
    },
    Function {
        name: "sub",
        doc: "`a - b`. Integers wrap around.",
        params: A_B,
        types: Types::Same(NUMBERS),
        flops: flops::ADD,
        kernel: |inputs, _| {
            ints!(inputs[0], |a, b| a.wrapping_sub(b))
                .or_else(|| floats!(inputs[0], |a, b| a - b))
                .or_else(|| complexes!(inputs[0], |a, b| a - b))
        },
        examples: &[Example {
            formula: "a - b",
            given: &[("a", "f32[2, 1]", "1 2"), ("b", "f32[2]", "10 20")],
            result: ("f32[2, 2]", "-9 -19 -8 -18"),
        }],
    },
    Function {
        name: "mul",
        doc: "`a * b`. Integers wrap around.",
        params: A_B,
        types: Types::Same(NUMBERS),
        flops: flops::MUL,
        kernel: |inputs, _| {
            ints!(inputs[0], |a, b| a.wrapping_mul(b))
                .or_else(|| floats!(inputs[0], |a, b| a * b))
                .or_else(|| complexes!(inputs[0], |a, b| a * b))
        },
        examples: &[Example {
            formula: "a * 0.5",
            given: &[("a", "f32[3]", "1 2 -3")],
            result: ("f32[3]", "0.5 1 -1.5"),
        }],
    },
    Function {
        name: "div",
        doc: "`a / b`, true division: integers give `f64`. Division by zero gives infinity or NaN.",
        params: A_B,
        types: Types::Float(NUMBERS),
        flops: flops::DIV,
        kernel: |inputs, _| {
            floats!(inputs[0], |a, b| a / b)
                .or_else(|| complexes!(inputs[0], |a, b| complex_div(a, b)))
        },
        examples: &[Example {
            formula: "a / b",
            given: &[("a", "i32[3]", "1 7 -1"), ("b", "i32[3]", "2 2 0")],
            result: ("f64[3]", "0.5 3.5 -inf"),
        }],
    },
    Function {
        name: "floordiv",
        doc: "`a // b`, division rounded down, as in Python: `-7 // 2` is `-4`. Dividing an \
              integer by zero stops the run; floats give infinity or NaN.",
        params: A_B,
        types: Types::Same(REALS),
        flops: flops::FLOOR_DIV,
        kernel: |inputs, _| {
            int_floor_div(inputs[0]).or_else(|| floats!(inputs[0], |a, b| floor_div(a, b)))
        },
        examples: &[Example {
            formula: "a // b",
            given: &[("a", "i32[4]", "7 -7 7 -7"), ("b", "i32[4]", "2 2 -2 -2")],
            result: ("i32[4]", "3 -4 -4 3"),
        }],
    },
    Function {
        name: "mod",
        doc: "`a % b`, the remainder of `a // b`; it has the sign of `b`, as in Python. Dividing an \
              integer by zero stops the run; floats give NaN.",
        params: A_B,
        types: Types::Same(REALS),
        flops: flops::FLOOR_DIV,
        kernel: |inputs, _| {
            int_modulo(inputs[0]).or_else(|| floats!(inputs[0], |a, b| modulo(a, b)))
        },
        examples: &[Example {
            formula: "a % b",
            given: &[("a", "f64[4]", "7 -7 7 -7.5"), ("b", "f64[4]", "2 2 -2 -2")],
            result: ("f64[4]", "1 1 -1 -1.5"),
        }],
    },
    Function {
        name: "fmod",
        doc: "The remainder of division rounded towards 0; it has the sign of `a`, as in C. Dividing \
              an integer by zero stops the run; floats give NaN.",
        params: A_B,
        types: Types::Same(REALS),
        flops: flops::FLOOR_DIV,
        kernel: |inputs, _| int_fmod(inputs[0]).or_else(|| floats!(inputs[0], |a, b| a % b)),
        examples: &[Example {
            formula: "fmod(a, b)",
            given: &[("a", "f64[4]", "7 -7 7 -7.5"), ("b", "f64[4]", "2 2 -2 -2")],
            result: ("f64[4]", "1 -1 1 -1.5"),
        }],
    },
    Function {
        name: "pow",
        doc: "`a ** b`. Integers wrap around; a negative power of an integer stops the run: take \
              `f64(a) ** b`.",
        params: A_B,
        types: Types::Same(NUMBERS),
        flops: flops::POW,
        kernel: |inputs, _| {
            int_pow(inputs[0])
                .or_else(|| floats!(inputs[0], |a, b| float_pow(a, b)))
                .or_else(|| complexes!(inputs[0], |a, b| complex_pow(a, b)))
        },
        examples: &[
            Example {
                formula: "a ** b",
                given: &[("a", "f64[3]", "2 9 2"), ("b", "f64[3]", "10 0.5 -1")],
                result: ("f64[3]", "1024 3 0.5"),
            },
            Example {
                formula: "a ** 3",
                given: &[("a", "i8[3]", "-2 0 10")],
                // 1000 = 4*256 - 24.
                result: ("i8[3]", "-8 0 -24"),
            },
        ],
    },
    Function {
        name: "neg",
        doc: "`-x`. Integers wrap around: of unsigned ones it is `0 - x`.",
        params: X,
        types: Types::Same(NUMBERS),
        flops: flops::ADD,
        kernel: |inputs, _| {
            ints!(inputs[0], |x| x.wrapping_neg())
                .or_else(|| floats!(inputs[0], |x| -x))
                .or_else(|| complexes!(inputs[0], |x| -x))
        },
        examples: &[Example {
            formula: "-x",
            given: &[("x", "i32[3]", "1 0 -5")],
            result: ("i32[3]", "-1 0 5"),
        }],
    },
    Function {
        name: "square",
        doc: "`x * x`. Integers wrap around.",
        params: X,
        types: Types::Same(NUMBERS),
        flops: flops::MUL,
        kernel: |inputs, _| {
            ints!(inputs[0], |x| x.wrapping_mul(x))
                .or_else(|| floats!(inputs[0], |x| x * x))
                .or_else(|| complexes!(inputs[0], |x| x * x))
        },
        examples: &[Example {
            formula: "square(x)",
            given: &[("x", "f32[3]", "1 -2 0.5")],
            result: ("f32[3]", "1 4 0.25"),
        }],
    },
    Function {
        name: "reciprocal",
        doc: "`1 / x`. Integers are computed in `f64`.",
        params: X,
        types: Types::Float(NUMBERS),
        flops: flops::DIV,
        kernel: |inputs, _| {
            floats!(inputs[0], |x| 1.0 / x)
                .or_else(|| complexes!(inputs[0], |x| complex_div(Complex::from(1.0), x)))
        },
        examples: &[Example {
            formula: "reciprocal(x)",
            given: &[("x", "f32[3]", "2 -0.5 0")],
            result: ("f32[3]", "0.5 -2 inf"),
        }],
    },
];

/// A kernel for each integer dtype listed that first looks at the right operands of its block.
macro_rules! checked {
    ($dtype:expr, [$($variant:ident)*], $check:expr, |$a:ident, $b:ident| $body:expr) => {{
        let kernel: Option<BlockKernel> = match $dtype {
            $(DType::$variant => Some(|inputs, output| {
                let right: &[element!($variant)] = bytemuck::cast_slice(inputs[1]);
                $check(right)?;
                map2(inputs, output, |$a: element!($variant), $b: element!($variant)| $body)
            }),)*
            _ => None,
        };
        kernel
    }};
}

fn int_floor_div(dtype: DType) -> Option<BlockKernel> {
    checked!(dtype, [U8 U16 U32 U64], no_zero, |a, b| a / b).or_else(|| {
        checked!(dtype, [I8 I16 I32 I64], no_zero, |a, b| {
            let rounded_up = has_other_sign(a.wrapping_rem(b), b);
            a.wrapping_div(b).wrapping_sub(rounded_up.into())
        })
    })
}

fn int_modulo(dtype: DType) -> Option<BlockKernel> {
    checked!(dtype, [U8 U16 U32 U64], no_zero, |a, b| a % b).or_else(|| {
        checked!(dtype, [I8 I16 I32 I64], no_zero, |a, b| {
            let remainder = a.wrapping_rem(b);
            if has_other_sign(remainder, b) { remainder + b } else { remainder }
        })
    })
}

fn int_fmod(dtype: DType) -> Option<BlockKernel> {
    checked!(dtype, [U8 U16 U32 U64], no_zero, |a, b| a % b)
        .or_else(|| checked!(dtype, [I8 I16 I32 I64], no_zero, |a, b| a.wrapping_rem(b)))
}

fn int_pow(dtype: DType) -> Option<BlockKernel> {
    checked!(dtype, [U8 U16 U32 U64 I8 I16 I32 I64], no_negative, |a, b| power(a, b))
}

fn no_zero<T: PrimInt>(divisors: &[T]) -> Result<(), KernelError> {
    if divisors.contains(&T::zero()) {
        return Err(KernelError::new("an integer is divided by zero"));
    }
    Ok(())
}

fn no_negative<T: PrimInt>(powers: &[T]) -> Result<(), KernelError> {
    if powers.iter().any(|power| *power < T::zero()) {
        return Err(KernelError::new("an integer is raised to a negative power"));
    }
    Ok(())
}

/// Whether a truncated division rounded the other way than Python's.
fn has_other_sign<T: PrimInt>(remainder: T, divisor: T) -> bool {
    remainder != T::zero() && (remainder < T::zero()) != (divisor < T::zero())
}

fn power<T: PrimInt + WrappingMul>(mut base: T, mut exponent: T) -> T {
    let mut result = T::one();
    while exponent > T::zero() {
        if exponent & T::one() == T::one() {
            result = result.wrapping_mul(&base);
        }
        base = base.wrapping_mul(&base);
        exponent = exponent >> 1;
    }
    result
}

/// The remainder by NumPy's `npy_divmod`: `fmod`, moved to the sign of the divisor.
fn modulo<T: Float>(a: T, b: T) -> T {
    let remainder = a % b;
    if remainder == T::zero() {
        return T::zero().copysign(b);
    }
    if (remainder < T::zero()) == (b < T::zero()) {
        remainder
    } else {
        remainder + b
    }
}

/// The quotient that belongs to [`modulo`]; plain `floor(a / b)` is one too high where `a / b`
/// rounds up to a whole number.
fn floor_div<T: Float>(a: T, b: T) -> T {
    if b == T::zero() {
        return a / b;
    }
    let remainder = a % b;
    let mut quotient = (a - remainder) / b;
    if remainder != T::zero() && (remainder < T::zero()) != (b < T::zero()) {
        quotient = quotient - T::one();
    }
    if quotient == T::zero() {
        return T::zero().copysign(a / b);
    }
    let floor = quotient.floor();
    let half = T::one() / (T::one() + T::one());
    if quotient - floor > half {
        floor + T::one()
    } else {
        floor
    }
}

/// Squares are by far the most common powers, and a product rounds once.
fn float_pow<T: Float>(a: T, b: T) -> T {
    if b == T::one() + T::one() {
        a * a
    } else {
        a.powf(b)
    }
}

/// Small whole powers by products, which are exact where the result is.
fn complex_pow<T: Float + num_traits::FloatConst>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if let Some(power) = b
        .re
        .to_i32()
        .filter(|power| b.im == T::zero() && T::from(*power) == Some(b.re) && power.abs() <= 100)
    {
        return a.powi(power);
    }
    if a.re == T::zero() && a.im == T::zero() && b.re > T::zero() {
        return a;
    }
    a.powc(b)
}
