//! Numbers turned into probabilities.

use std::marker::PhantomData;

use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::tensor::{Element, View, ViewMut};
use haul_ir::types::{TensorType, ValueType};
use num_complex::Complex;
use num_traits::AsPrimitive;

use super::reduce::{Fold, fold, in_lanes};
use crate::math::Math;
use crate::parallel;
use crate::simd::vectorised;
use crate::strided::Walk;

/// `softmax(x, axis)`.
pub(crate) struct Softmax;

/// Per element: comparison, difference, exponential, sum, product with the reciprocal.
const FLOPS: u64 = 1 + 1 + 20 + 1 + 1;

impl Op for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn doc(&self) -> &'static str {
        "`exp(x) / sum(exp(x))` along an axis, by default the last; the maximum is subtracted \
         before, so that nothing overflows. A slice with NaN or +inf is NaN throughout. Integers \
         are computed in `f64`, `f16` and `bf16` in `f32`."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "axis",
                kind: ParamKind::Int,
                default: Some("-1"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if !matches!(input.dtype.kind(), Kind::Int | Kind::Float) {
            let message = format!("is not defined for {}", input.dtype);
            return Err(InferError::new(Fault::DType, message).on(0));
        }
        let axis = call.attrs.int("axis").ok_or_else(|| {
            InferError::new(Fault::Value, "an axis is a known whole number").on_attr("axis")
        })?;
        axis_of(axis, input.rank()).map_err(|error| error.on_attr("axis"))?;
        let dtype = input.dtype.float();
        let output = TensorType::new(dtype, input.shape.clone());
        Ok(Inferred::cast_all(1, dtype, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match outputs.first().and_then(ValueType::tensor) {
            Some(output) => Work::of(output.elements() * FLOPS, call, outputs),
            None => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "24 flops an element"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(softmax)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        // exp(-1) = 0.36787944, exp(-2) = 0.13533528, 1 + both = 1.50321472.
        &[
            Example {
                formula: "softmax(x)",
                given: &[("x", "f64[3]", "1000 999 998")],
                result: (
                    "f64[3]",
                    "0.6652409557748218 0.24472847105479764 0.09003057317038046",
                ),
            },
            Example {
                formula: "softmax(x, axis=0)",
                given: &[("x", "f32[2, 4]", "-inf -inf 0 inf 0 -inf 0 0")],
                result: ("f32[2, 4]", "0 nan 0.5 nan 1 nan 0.5 nan"),
            },
        ]
    }
}

fn softmax(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (input, output) = (&call.inputs[0], &mut call.outputs[0]);
    let axis = call.attrs.int("axis").unwrap_or(-1);
    let axis = axis_of(axis, input.shape().len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    match input.dtype {
        DType::F16 => fill::<f16, f32>(input, axis, output),
        DType::Bf16 => fill::<bf16, f32>(input, axis, output),
        DType::F32 => fill::<f32, f32>(input, axis, output),
        DType::F64 => fill::<f64, f64>(input, axis, output),
        other => return Err(KernelError::new(format!("is not defined for {other}"))),
    }
    Ok(())
}

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// The largest element of each slice and the sum of its exponentials first, then each element.
fn fill<T, A>(input: &View<'_>, axis: usize, output: &mut ViewMut<'_>)
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
            vectorised(|| {
                if inner == 1 {
                    results
                        .iter_mut()
                        .for_each(|x| *x = share(*x, totals[place]));
                } else {
                    let pairs = results.iter_mut().zip(&totals[place..]);
                    pairs.for_each(|(x, total)| *x = share(*x, *total));
                }
            });
        }
    });
}

/// The largest element as the real part, the sum of exponentials as the imaginary one.
#[inline(always)]
fn share<T: Element + AsPrimitive<A>, A: Math + AsPrimitive<T>>(x: T, total: Complex<A>) -> T {
    (Math::exp(x.as_() - total.re) / total.im).as_()
}

/// The largest element of a slice, and the sum of exponentials of the distances from it:
/// Milakov and Gimelshein, "Online normalizer calculation for softmax".
struct Total<T, A>(PhantomData<(T, A)>);

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

    /// The largest first, then the exponentials.
    fn run(elements: &[T], _: usize) -> Complex<A> {
        vectorised(|| {
            let larger = |max: A, x: A| if x > max { x } else { max };
            let step = |max: A, x: T, _| larger(max, x.as_());
            let max = in_lanes(elements, 0, A::neg_infinity(), step, larger);
            let step = |sum: A, x: T, _| sum + Math::exp(distance(x.as_(), max));
            let total = in_lanes(elements, 0, A::zero(), step, |a, b| a + b);
            Complex::new(max, total)
        })
    }
}

/// `x - y`, and 0 between infinities: what is masked by -inf weighs nothing once a finite element
/// comes.
#[inline(always)]
fn distance<A: Math>(x: A, y: A) -> A {
    if x == y { A::zero() } else { x - y }
}
