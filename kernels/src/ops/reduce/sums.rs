//! Sums, products, means, norms.

use std::marker::PhantomData;
use std::ops::{Add, Mul};

use half::{bf16, f16};
use haul_ir::tensor::{Bool, Element};
use num_complex::Complex;
use num_traits::AsPrimitive;

use super::fold::Fold;

/// Sums elements of `T` in `A` and gives `R`. Integers wrap.
pub(super) struct Sum<T, A, R>(PhantomData<(T, A, R)>);

/// Multiplies elements of `T` in `A` and gives `R`. Integers wrap.
pub(super) struct Product<T, A, R>(PhantomData<(T, A, R)>);

/// Sums elements of `T` in `A`, divides by their number, and gives `R`.
pub(super) struct Mean<T, A, R>(PhantomData<(T, A, R)>);

/// Sums squares of the moduli of elements of `T` in `A`, and gives the root as `R`.
pub(super) struct Norm<T, A, R>(PhantomData<(T, A, R)>);

/// An element as another type, at its nearest value.
pub(in crate::ops) trait Convert<To> {
    fn convert(self) -> To;
}

/// What sums and products accumulate in.
pub(in crate::ops) trait Number: Copy + Default + Send + Sync + 'static {
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

/// A number that can be divided by a count.
pub(super) trait Divide: Number {
    fn over(self, count: usize) -> Self;
}

/// An element whose modulus can be squared.
pub(super) trait Squared<To> {
    fn squared(self) -> To;
}

impl<T, A, R> Fold for Sum<T, A, R>
where
    T: Element + Convert<A>,
    A: Number + Convert<R>,
    R: Element,
{
    type In = T;
    type Partial = A;
    type Out = R;

    fn empty() -> A {
        A::default()
    }

    fn step(sum: A, element: T, _: usize) -> A {
        sum.plus(element.convert())
    }

    fn merge(early: A, late: A) -> A {
        early.plus(late)
    }

    fn finish(sum: A, _: usize) -> R {
        sum.convert()
    }
}

impl<T, A, R> Fold for Product<T, A, R>
where
    T: Element + Convert<A>,
    A: Number + Convert<R>,
    R: Element,
{
    type In = T;
    type Partial = A;
    type Out = R;

    fn empty() -> A {
        A::ONE
    }

    fn step(product: A, element: T, _: usize) -> A {
        product.times(element.convert())
    }

    fn merge(early: A, late: A) -> A {
        early.times(late)
    }

    fn finish(product: A, _: usize) -> R {
        product.convert()
    }
}

impl<T, A, R> Fold for Mean<T, A, R>
where
    T: Element + Convert<A>,
    A: Divide + Convert<R>,
    R: Element,
{
    type In = T;
    type Partial = A;
    type Out = R;

    fn empty() -> A {
        A::default()
    }

    fn step(sum: A, element: T, _: usize) -> A {
        sum.plus(element.convert())
    }

    fn merge(early: A, late: A) -> A {
        early.plus(late)
    }

    fn finish(sum: A, count: usize) -> R {
        sum.over(count).convert()
    }
}

impl<T, A, R> Fold for Norm<T, A, R>
where
    T: Element + Squared<A>,
    A: Number + num_traits::Float + Convert<R>,
    R: Element,
{
    type In = T;
    type Partial = A;
    type Out = R;

    fn empty() -> A {
        A::default()
    }

    fn step(sum: A, element: T, _: usize) -> A {
        sum.plus(element.squared())
    }

    fn merge(early: A, late: A) -> A {
        early.plus(late)
    }

    fn finish(sum: A, _: usize) -> R {
        sum.sqrt().convert()
    }
}

macro_rules! convert {
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl Convert<$to> for $from {
            fn convert(self) -> $to {
                self.as_()
            }
        }
    )*)*};
}

convert! {
    u8 => u8 u64 f64;
    u16 => u16 u64 f64;
    u32 => u32 u64 f64;
    u64 => u64 f64;
    i8 => i8 i64 f64;
    i16 => i16 i64 f64;
    i32 => i32 i64 f64;
    i64 => i64 f64;
    f16 => f16 f32;
    bf16 => bf16 f32;
    f32 => f32 f16 bf16;
    f64 => f64;
}

impl Convert<i64> for Bool {
    fn convert(self) -> i64 {
        self.0.into()
    }
}

impl Convert<f64> for Bool {
    fn convert(self) -> f64 {
        self.0.into()
    }
}

impl<T> Convert<Complex<T>> for Complex<T> {
    fn convert(self) -> Complex<T> {
        self
    }
}

macro_rules! squared {
    ($($from:ty => $to:ty;)*) => {$(
        impl Squared<$to> for $from {
            fn squared(self) -> $to {
                let wide: $to = self.convert();
                wide * wide
            }
        }
    )*};
}

squared! {
    u8 => f64;
    u16 => f64;
    u32 => f64;
    u64 => f64;
    i8 => f64;
    i16 => f64;
    i32 => f64;
    i64 => f64;
    f16 => f32;
    bf16 => f32;
    f32 => f32;
    f64 => f64;
}

impl<T: Copy + Add<Output = T> + Mul<Output = T>> Squared<T> for Complex<T> {
    fn squared(self) -> T {
        self.re * self.re + self.im * self.im
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            const ONE: Self = 1;

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

integers! { u64 i64 }

macro_rules! floats {
    ($($type:ty, $one:expr, $part:ty;)*) => {$(
        impl Number for $type {
            const ONE: Self = $one;

            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }
        }

        impl Divide for $type {
            fn over(self, count: usize) -> Self {
                self / count as $part
            }
        }
    )*};
}

floats! {
    f32, 1.0, f32;
    f64, 1.0, f64;
    Complex<f32>, Complex::new(1.0, 0.0), f32;
    Complex<f64>, Complex::new(1.0, 0.0), f64;
}
