//! How shares are computed: the total of each slice first, then each element's share of it.

use std::marker::PhantomData;

use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::op::{KernelCall, KernelError, axis_of};
use haul_ir::tensor::{Element, View, ViewMut};
use num_complex::Complex;
use num_traits::AsPrimitive;

use crate::math::Math;
use crate::ops::reduce::{Fold, fold, in_lanes};
use crate::parallel;
use crate::simd::{Loop, vectorised};
use crate::strided::Walk;

pub(super) fn softmax(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    compute(call, Share::Whole)
}

pub(super) fn log_softmax(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    compute(call, Share::Logarithm)
}

/// What becomes of each element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    Whole,
    Logarithm,
}

fn compute(call: &mut KernelCall<'_, '_>, share: Share) -> Result<(), KernelError> {
    let (input, output) = (&call.inputs[0], &mut call.outputs[0]);
    let axis = call.attrs.int("axis").unwrap_or(-1);
    let axis = axis_of(axis, input.shape().len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    match input.dtype {
        DType::F16 => fill::<f16, f32>(input, axis, share, output),
        DType::Bf16 => fill::<bf16, f32>(input, axis, share, output),
        DType::F32 => fill::<f32, f32>(input, axis, share, output),
        DType::F64 => fill::<f64, f64>(input, axis, share, output),
        other => return Err(KernelError::new(format!("is not defined for {other}"))),
    }
    Ok(())
}

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// The largest element of each slice and the sum of its exponentials first, then each element.
fn fill<T, A>(input: &View<'_>, axis: usize, share: Share, output: &mut ViewMut<'_>)
where
    T: Element + AsPrimitive<A>,
    A: Math + AsPrimitive<T> + Send + Sync + Default,
    Complex<A>: Element,
{
    let shape = input.shape();
    let (length, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    if input.layout.elements() == 0 {
        return;
    }
    if inner == 1 && length <= TASK {
        return fill_rows::<T, A>(input, length, share, output);
    }
    let mut totals = vec![Complex::<A>::default(); input.layout.elements() / length];
    fold::<Total<T, A>>(
        input,
        &[axis],
        &mut ViewMut {
            dtype: Complex::<A>::DTYPE,
            shape: vec![totals.len()],
            bytes: bytemuck::cast_slice_mut(&mut totals),
        },
    );
    for total in &mut totals {
        *total = prepared(*total, share);
    }
    let data = input.buffer::<T>();
    let walk = Walk::new(shape, &input.layout.strides);
    // Neighbours that share a total, or that have totals side by side.
    let run = if inner == 1 { length } else { inner };
    let task = run * (TASK / run).max(1);
    parallel::chunks(output.bytes, task * size_of::<T>(), &|chunk, results| {
        let results: &mut [T] = bytemuck::cast_slice_mut(results);
        walk.copy_from(data, input.layout.offset, chunk * task, results);
        for (at, results) in results.chunks_mut(run).enumerate() {
            let place = (chunk * task / run + at) / (length * inner / run) * inner;
            let totals = &totals[place..place + inner];
            vectorised(Shares {
                results,
                totals,
                share,
            });
        }
    });
}

/// As [`fill`], where slices are rows that stay in the cache between both steps.
fn fill_rows<T, A>(input: &View<'_>, length: usize, share: Share, output: &mut ViewMut<'_>)
where
    T: Element + AsPrimitive<A>,
    A: Math + AsPrimitive<T> + Send + Sync + Default,
    Complex<A>: Element,
{
    let data = input.buffer::<T>();
    let walk = Walk::new(input.shape(), &input.layout.strides);
    let task = length * (TASK / length).max(1);
    parallel::chunks(output.bytes, task * size_of::<T>(), &|chunk, results| {
        let results: &mut [T] = bytemuck::cast_slice_mut(results);
        walk.copy_from(data, input.layout.offset, chunk * task, results);
        for results in results.chunks_mut(length) {
            let total = Total::<T, A>::run(results, 0);
            let totals = &[prepared(Total::<T, A>::finish(total, length), share)];
            vectorised(Shares {
                results,
                totals,
                share,
            });
        }
    });
}

/// Turns elements into their shares; there is one total for all of them, or one for each.
struct Shares<'a, T, A> {
    results: &'a mut [T],
    totals: &'a [Complex<A>],
    share: Share,
}

/// A total as [`Shares`] takes it: of logarithms, that of the sum.
fn prepared<A: Math>(total: Complex<A>, share: Share) -> Complex<A> {
    match share {
        Share::Whole => total,
        Share::Logarithm => Complex::new(total.re, Math::log(total.im)),
    }
}

impl<T: Element + AsPrimitive<A>, A: Math + AsPrimitive<T>> Loop for Shares<'_, T, A> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.share {
            Share::Whole => self.each(whole),
            Share::Logarithm => self.each(logarithm),
        }
    }
}

impl<T: Copy, A: Copy> Shares<'_, T, A> {
    #[inline(always)]
    fn each(self, share: impl Fn(T, Complex<A>) -> T) {
        if let [total] = *self.totals {
            for x in self.results {
                *x = share(*x, total);
            }
        } else {
            for (x, total) in self.results.iter_mut().zip(self.totals) {
                *x = share(*x, *total);
            }
        }
    }
}

/// The largest element as the real part, the sum of exponentials as the imaginary one.
#[inline(always)]
fn whole<T: Element + AsPrimitive<A>, A: Math + AsPrimitive<T>>(x: T, total: Complex<A>) -> T {
    (Math::exp(x.as_() - total.re) / total.im).as_()
}

/// The same, and the logarithm of the sum.
#[inline(always)]
fn logarithm<T: Element + AsPrimitive<A>, A: Math + AsPrimitive<T>>(x: T, total: Complex<A>) -> T {
    (x.as_() - total.re - total.im).as_()
}

/// The largest element of a slice, and the sum of exponentials of the distances from it:
/// Milakov and Gimelshein, "Online normalizer calculation for softmax".
pub(in crate::ops) struct Total<T, A>(PhantomData<(T, A)>);

impl<T, A> Fold for Total<T, A>
where
    T: Element + AsPrimitive<A>,
    A: Math + Send + Sync,
    Complex<A>: Element,
{
    type In = T;
    type Partial = Complex<A>;
    type Out = Complex<A>;

    fn empty() -> Complex<A> {
        Complex::new(A::neg_infinity(), A::zero())
    }

    #[inline(always)]
    fn step(total: Complex<A>, element: T, _: usize) -> Complex<A> {
        let x: A = element.as_();
        let scale = Math::exp(-distance(x, total.re).abs());
        if x > total.re {
            Complex::new(x, total.im * scale + A::one())
        } else {
            Complex::new(total.re, total.im + scale)
        }
    }

    fn merge(early: Complex<A>, late: Complex<A>) -> Complex<A> {
        let max = if late.re > early.re {
            late.re
        } else {
            early.re
        };
        let scaled = |part: Complex<A>| part.im * Math::exp(distance(part.re, max));
        Complex::new(max, scaled(early) + scaled(late))
    }

    /// Nothing can be said of shares of infinity.
    fn finish(total: Complex<A>, _: usize) -> Complex<A> {
        if total.re.is_infinite() {
            return Complex::new(total.re, A::nan());
        }
        total
    }

    fn run(elements: &[T], _: usize) -> Complex<A> {
        let chunks = elements.chunks(CHUNK);
        let totals = chunks.map(|elements| vectorised(ChunkTotal(elements, PhantomData)));
        totals.fold(Self::empty(), Self::merge)
    }
}

/// Exponentials that are kept on the stack until they are summed.
const CHUNK: usize = 256;

/// The total of at most [`CHUNK`] elements: the largest first, then the exponentials.
struct ChunkTotal<'a, T, A>(&'a [T], PhantomData<A>);

impl<T: Element + AsPrimitive<A>, A: Math> Loop for ChunkTotal<'_, T, A> {
    type Output = Complex<A>;

    #[inline(always)]
    fn call(self) -> Complex<A> {
        let larger = |max: A, x: A, _| if x > max { x } else { max };
        let mut exponentials = [A::zero(); CHUNK];
        let exponentials = &mut exponentials[..self.0.len()];
        for (wide, x) in exponentials.iter_mut().zip(self.0) {
            *wide = x.as_();
        }
        let empty = A::neg_infinity();
        let max = in_lanes(exponentials, 0, empty, larger, |a, b| larger(a, b, 0));
        for x in exponentials.iter_mut() {
            *x = Math::exp(distance(*x, max));
        }
        let total = in_lanes(
            exponentials,
            0,
            A::zero(),
            |sum, x, _| sum + x,
            |a, b| a + b,
        );
        Complex::new(max, total)
    }
}

/// `x - y`, and 0 between infinities: what is masked by -inf weighs nothing once a finite element
/// comes.
#[inline(always)]
fn distance<A: Math>(x: A, y: A) -> A {
    if x == y { A::zero() } else { x - y }
}
