//! The logarithm of a sum of exponentials.

use std::marker::PhantomData;

use haul_ir::tensor::Element;
use num_complex::Complex;
use num_traits::AsPrimitive;

use super::fold::Fold;
use crate::math::Math;
use crate::ops::softmax::Total;

/// Of elements of `T`, computed in `A`.
pub(super) struct LogSumExp<T, A>(PhantomData<(T, A)>);

/// The largest element as the real part, the sum of exponentials of distances from it as the
/// imaginary one.
impl<T, A> Fold for LogSumExp<T, A>
where
    T: Element + AsPrimitive<A>,
    A: Math + AsPrimitive<T> + Send + Sync,
    Complex<A>: Element,
{
    type In = T;
    type Partial = Complex<A>;
    type Out = T;

    fn empty() -> Complex<A> {
        Total::<T, A>::empty()
    }

    fn step(total: Complex<A>, element: T, position: usize) -> Complex<A> {
        Total::<T, A>::step(total, element, position)
    }

    fn merge(early: Complex<A>, late: Complex<A>) -> Complex<A> {
        Total::<T, A>::merge(early, late)
    }

    fn finish(total: Complex<A>, _: usize) -> T {
        if total.re.is_infinite() && !total.im.is_nan() {
            return total.re.as_();
        }
        (total.re + Math::log(total.im)).as_()
    }

    fn run(elements: &[T], position: usize) -> Complex<A> {
        Total::<T, A>::run(elements, position)
    }
}
