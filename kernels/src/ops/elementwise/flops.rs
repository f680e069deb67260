//! What a function of one element counts as.
//!
//! The figures are conventions, near the instructions of a vectorised routine, and fixed so
//! that plans of different versions compare: what arithmetic does in one instruction is 1,
//! division and square root 4, floored division and remainder 6, exponentials, logarithms,
//! sine and cosine 20, functions built of those 25, powers 40. What a machine really makes of
//! them is for calibration to measure.

use haul_ir::dtype::{DType, Kind};

/// Flops of one element.
#[derive(Clone, Copy)]
pub(super) struct Flops {
    /// Of real numbers, integers and truth values.
    real: u64,
    /// Of complex numbers.
    complex: u64,
    /// In words.
    pub(super) formula: &'static str,
}

impl Flops {
    /// Flops of one element of a dtype.
    pub(super) fn of(self, dtype: DType) -> u64 {
        match dtype.kind() {
            Kind::Complex => self.complex,
            _ => self.real,
        }
    }
}

macro_rules! costs {
    ($($(#[$doc:meta])* $name:ident = $real:literal, $complex:literal;)*) => {$(
        $(#[$doc])*
        pub(super) const $name: Flops = Flops {
            real: $real,
            complex: $complex,
            formula: costs!(@formula $real, $complex),
        };
    )*};
    (@formula $real:literal, $complex:literal) => {
        if $real == $complex {
            concat!($real, " flops an element")
        } else {
            concat!($real, " flops an element, complex ", $complex)
        }
    };
}

costs! {
    /// Elements that are only moved, or bits seen in another way.
    MOVE = 0, 0;
    /// One instruction, on each part of a complex number.
    ADD = 1, 2;
    /// A test: two comparisons and an `and` for complex numbers.
    COMPARE = 1, 3;
    /// One instruction on the whole element.
    ONE = 1, 1;
    /// Two of them.
    TWO = 2, 2;
    /// Four products and two sums.
    MUL = 1, 6;
    /// Smith's algorithm: three divisions, three products, three sums.
    DIV = 4, 18;
    /// Floored division and its remainder.
    FLOOR_DIV = 6, 6;
    /// Complex: the modulus, two halvings, two square roots, a division.
    SQRT = 4, 20;
    /// The modulus of a complex number: two products, a sum, a square root.
    ABS = 1, 7;
    /// Complex: `exp`, `sin`, `cos`, two products.
    EXP = 20, 62;
    /// Complex: the modulus, its logarithm, an arctangent.
    LOG = 20, 52;
    /// Complex: `sin`, `cos`, `sinh`, `cosh`, two products.
    SIN = 20, 92;
    /// Functions built of an exponential or logarithm and a few instructions more; complex: a
    /// tangent, a hyperbolic sine, a root and three divisions.
    TANH = 25, 100;
    /// Complex: a logarithm, a product, an exponential.
    POW = 40, 120;
}
