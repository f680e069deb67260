//! Variance and standard deviation.

use std::marker::PhantomData;

use haul_ir::tensor::Element;
use num_traits::Float;

use super::fold::{Fold, in_lanes};
use super::sums::{Convert, Divide};

/// The mean of squared deviations from the mean of elements of `T`, in `A`, as `R`; its root
/// where `ROOT`.
pub(super) struct Spread<T, A, R, const ROOT: bool>(PhantomData<(T, A, R)>);

/// How many elements, their mean, and the sum of squared deviations from it. Parts combine by
/// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances", which never subtracts large sums.
#[derive(Clone, Copy)]
pub(super) struct Moments<A> {
    count: usize,
    mean: A,
    squares: A,
}

impl<T, A, R, const ROOT: bool> Fold for Spread<T, A, R, ROOT>
where
    T: Element + Convert<A>,
    A: Divide + Float + Convert<R>,
    R: Element,
{
    type In = T;
    type Partial = Moments<A>;
    type Out = R;

    fn empty() -> Moments<A> {
        Moments {
            count: 0,
            mean: A::zero(),
            squares: A::zero(),
        }
    }

    fn step(moments: Moments<A>, element: T, _: usize) -> Moments<A> {
        let count = moments.count + 1;
        let deviation = element.convert() - moments.mean;
        let mean = moments.mean + deviation.over(count);
        Moments {
            count,
            mean,
            squares: moments.squares + deviation * (element.convert() - mean),
        }
    }

    fn merge(early: Moments<A>, late: Moments<A>) -> Moments<A> {
        if early.count == 0 || late.count == 0 {
            return if early.count == 0 { late } else { early };
        }
        let count = early.count + late.count;
        let share = A::one().over(count);
        let weight = |part: usize| A::from(part).unwrap_or(A::nan()) * share;
        let deviation = late.mean - early.mean;
        let between = deviation * deviation * weight(early.count);
        Moments {
            count,
            mean: early.mean + deviation * weight(late.count),
            squares: early.squares
                + late.squares
                + between * A::from(late.count).unwrap_or(A::nan()),
        }
    }

    fn finish(moments: Moments<A>, count: usize) -> R {
        let variance = moments.squares.over(count);
        if ROOT { variance.sqrt() } else { variance }.convert()
    }

    /// In two passes over what is in the cache by then.
    fn run(elements: &[T], _: usize) -> Moments<A> {
        let zero = A::zero();
        let add = |sum: A, element: T, _| sum + element.convert();
        let mean = in_lanes(elements, 0, zero, add, A::plus).over(elements.len());
        let add = |sum: A, element: T, _| {
            let deviation = element.convert() - mean;
            sum + deviation * deviation
        };
        Moments {
            count: elements.len(),
            mean,
            squares: in_lanes(elements, 0, zero, add, A::plus),
        }
    }
}
