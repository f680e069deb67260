//! The largest and the smallest, and where they are.

use std::marker::PhantomData;

use half::{bf16, f16};
use haul_ir::tensor::Element;

use super::fold::{Fold, in_lanes};

/// Which of two elements is wanted.
pub(in crate::ops) trait Order: Send + Sync + 'static {
    /// Whether `a` is wanted before `b`; false where one is NaN.
    fn before<T: PartialOrd>(a: T, b: T) -> bool;

    /// What every other element is wanted before.
    fn last<T: Bounded>() -> T;
}

/// The largest.
pub(in crate::ops) struct Largest;

/// The smallest.
pub(in crate::ops) struct Smallest;

/// The most wanted element; NaN where there is one.
pub(super) struct Extreme<T, O>(PhantomData<(T, O)>);

/// The position of the most wanted element: the first of several, or that of the first NaN.
pub(super) struct Place<T, O>(PhantomData<(T, O)>);

/// An element with a least and a greatest value.
pub(in crate::ops) trait Bounded: Element + PartialOrd {
    const LEAST: Self;
    const GREATEST: Self;
}

impl Order for Largest {
    fn before<T: PartialOrd>(a: T, b: T) -> bool {
        a > b
    }

    fn last<T: Bounded>() -> T {
        T::LEAST
    }
}

impl Order for Smallest {
    fn before<T: PartialOrd>(a: T, b: T) -> bool {
        a < b
    }

    fn last<T: Bounded>() -> T {
        T::GREATEST
    }
}

impl<T: Bounded, O: Order> Fold for Extreme<T, O> {
    type In = T;
    type Partial = T;
    type Out = T;

    fn empty() -> T {
        O::last()
    }

    fn step(best: T, element: T, _: usize) -> T {
        if O::before(element, best) || is_nan(element) {
            element
        } else {
            best
        }
    }

    fn merge(early: T, late: T) -> T {
        Self::step(early, late, 0)
    }

    fn finish(best: T, _: usize) -> T {
        best
    }
}

/// The best so far and where it is; no place where there is none yet.
type Found<T> = (T, Option<usize>);

impl<T: Bounded, O: Order> Fold for Place<T, O> {
    type In = T;
    type Partial = Found<T>;
    type Out = i64;
    const IN_ORDER: bool = true;

    fn empty() -> Found<T> {
        (O::last(), None)
    }

    fn step(best: Found<T>, element: T, position: usize) -> Found<T> {
        Self::merge(best, (element, Some(position)))
    }

    fn merge(early: Found<T>, late: Found<T>) -> Found<T> {
        let better = O::before(late.0, early.0) || (is_nan(late.0) && !is_nan(early.0));
        match (early.1, late.1) {
            (None, _) => late,
            (Some(_), Some(_)) if better => late,
            _ => early,
        }
    }

    fn finish(best: Found<T>, _: usize) -> i64 {
        best.1.unwrap_or(0) as i64
    }

    /// Finds the element first, which many lanes can do, and then where it is.
    fn run(elements: &[T], position: usize) -> Found<T> {
        type Value<T, O> = Extreme<T, O>;
        let empty = Value::<T, O>::empty();
        let best = in_lanes(
            elements,
            0,
            empty,
            Value::<T, O>::step,
            Value::<T, O>::merge,
        );
        let same = |element: &T| *element == best || (is_nan(best) && is_nan(*element));
        let place = elements.iter().position(same);
        (best, place.map(|place| position + place))
    }
}

/// Only NaN is unequal to itself; integers never are.
#[expect(clippy::eq_op, reason = "asks for NaN, for every dtype")]
fn is_nan<T: PartialEq + Copy>(element: T) -> bool {
    element != element
}

macro_rules! bounded {
    ($($type:ty: $least:expr, $greatest:expr;)*) => {$(
        impl Bounded for $type {
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;
        }
    )*};
}

bounded! {
    u8: u8::MIN, u8::MAX;
    u16: u16::MIN, u16::MAX;
    u32: u32::MIN, u32::MAX;
    u64: u64::MIN, u64::MAX;
    i8: i8::MIN, i8::MAX;
    i16: i16::MIN, i16::MAX;
    i32: i32::MIN, i32::MAX;
    i64: i64::MIN, i64::MAX;
    f16: f16::NEG_INFINITY, f16::INFINITY;
    bf16: bf16::NEG_INFINITY, bf16::INFINITY;
    f32: f32::NEG_INFINITY, f32::INFINITY;
    f64: f64::NEG_INFINITY, f64::INFINITY;
}
