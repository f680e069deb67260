use std::borrow::Cow;

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{Attrs, KernelCall, KernelError};
use haul_ir::tensor::{Element, View, ViewMut};
use num_complex::Complex;
use rayon::prelude::*;
use rustfft::FftNum;

use super::lines::{CHUNK, Complexes, HalfSpectra, InverseHalfSpectra, across};
use super::{Direction, Fourier, Sides};
use crate::ops::array_op::check;
use crate::ops::moves::pieces::{Axis, fill};
use crate::strided::contiguous;

pub(super) fn fourier(op: &Fourier, call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    use haul_ir::op::Op;
    check(call, |call| op.infer(call))?;
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    if output.bytes.is_empty() {
        return Ok(());
    }
    let plan = Plan::of(op, call.attrs, x.shape())?;
    match (x.dtype, op.sides) {
        (DType::F32, Sides::FromReal) => plan.of_real::<f32>(x, output),
        (DType::F64, Sides::FromReal) => plan.of_real::<f64>(x, output),
        (DType::C64, Sides::ToReal) => plan.to_real::<f32>(x, output),
        (DType::C128, Sides::ToReal) => plan.to_real::<f64>(x, output),
        (DType::F32, Sides::Complex) => plan.complex::<f32, f32>(x, output),
        (DType::F64, Sides::Complex) => plan.complex::<f64, f64>(x, output),
        (DType::C64, Sides::Complex) => plan.complex::<f32, Complex<f32>>(x, output),
        (DType::C128, Sides::Complex) => plan.complex::<f64, Complex<f64>>(x, output),
        (other, _) => {
            let message = format!("there is no such transform of {other}");
            return Err(KernelError::new(message));
        }
    }
    Ok(())
}

/// A transform of a tensor whose sizes are known.
struct Plan {
    is_inverse: bool,
    /// Whether the real side's spectrum is the conjugate of what the library gives.
    conjugate: bool,
    /// Axis, and number and factor of the elements of its lines, in the author's order.
    axes: Vec<(usize, usize, f64)>,
    /// What the input is cut to or filled up to.
    input: Vec<usize>,
}

impl Plan {
    fn of(op: &Fourier, attrs: &Attrs, shape: &[usize]) -> Result<Self, KernelError> {
        let sizes: Vec<_> = shape.iter().map(|size| Expr::from(*size as u64)).collect();
        let lengths = op.lengths(attrs, &sizes);
        let lengths = lengths.map_err(|error| KernelError::new(error.message))?;
        let is_inverse = op.direction == Direction::Inverse;
        let factor = |n: usize| match attrs.word("norm") {
            Some("ortho") => 1.0 / (n as f64).sqrt(),
            Some("forward") if !is_inverse => 1.0 / n as f64,
            Some("backward") if is_inverse => 1.0 / n as f64,
            _ => 1.0,
        };
        let mut input = shape.to_vec();
        let mut axes = Vec::with_capacity(lengths.len());
        for length in &lengths {
            input[length.axis] = known(&length.input)?;
            let n = known(&length.n)?;
            axes.push((length.axis, n, factor(n)));
        }
        Ok(Self {
            is_inverse,
            conjugate: is_inverse == (op.sides == Sides::FromReal),
            axes,
            input,
        })
    }

    fn complex<T: FftNum, S: Source<T>>(&self, x: &View<'_>, output: &mut ViewMut<'_>)
    where
        Complex<T>: Element,
    {
        let data = fitted::<S>(x, &self.input);
        let (shape, output) = (output.shape.clone(), output.elements::<Complex<T>>());
        let chunks = output.par_chunks_mut(CHUNK).zip(data.par_chunks(CHUNK));
        chunks.for_each(|(output, data)| {
            for (output, element) in output.iter_mut().zip(data) {
                *output = element.complex();
            }
        });
        self.along(&self.axes, &shape, output);
    }

    fn of_real<T: FftNum + Element>(&self, x: &View<'_>, output: &mut ViewMut<'_>)
    where
        Complex<T>: Element,
    {
        let Some(((axis, n, factor), others)) = self.axes.split_last() else {
            return;
        };
        let data = fitted::<T>(x, &self.input);
        let (shape, output) = (output.shape.clone(), output.elements::<Complex<T>>());
        let inner = shape[axis + 1..].iter().product();
        let lines = HalfSpectra::new(*n, *factor, self.conjugate);
        let bins = n / 2 + 1;
        across(&data, *n, output, bins, inner, &|data: &[T], output| {
            lines.transform(data, output);
        });
        self.along(others, &shape, output);
    }

    fn to_real<T: FftNum + Element>(&self, x: &View<'_>, output: &mut ViewMut<'_>)
    where
        Complex<T>: Element,
    {
        let Some(((axis, n, factor), others)) = self.axes.split_last() else {
            return;
        };
        let mut data = fitted::<Complex<T>>(x, &self.input);
        if !others.is_empty() {
            self.along(others, &self.input, data.to_mut());
        }
        let inner = self.input[axis + 1..].iter().product();
        let lines = InverseHalfSpectra::new(*n, *factor, self.conjugate);
        let output = output.elements::<T>();
        across(&data, n / 2 + 1, output, *n, inner, &|data, output| {
            lines.transform(data, output);
        });
    }

    fn along<T: FftNum>(
        &self,
        axes: &[(usize, usize, f64)],
        shape: &[usize],
        data: &mut [Complex<T>],
    ) {
        for (axis, n, factor) in axes.iter().rev() {
            Complexes::new(*n, self.is_inverse, *factor).along(*axis, shape, data);
        }
    }
}

fn known(size: &Expr) -> Result<usize, KernelError> {
    let size = size.as_u64().and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| KernelError::new("a length is not known, or too large"))
}

/// What a transform of complex numbers reads.
trait Source<T>: Element {
    fn complex(self) -> Complex<T>;
}

macro_rules! sources {
    ($($type:ty),*) => {$(
        impl Source<$type> for $type {
            fn complex(self) -> Complex<$type> {
                Complex::new(self, 0.0)
            }
        }
        impl Source<$type> for Complex<$type> {
            fn complex(self) -> Complex<$type> {
                self
            }
        }
    )*};
}
sources!(f32, f64);

/// The elements in order, cut off or followed by zeros along each axis to that shape.
fn fitted<'a, T: Element>(x: &View<'a>, shape: &[usize]) -> Cow<'a, [T]> {
    if x.shape() == shape {
        return contiguous(x);
    }
    let axes = x.shape().iter().zip(shape);
    let axes: Vec<_> = axes
        .map(|(from, to)| Axis {
            to: *to,
            ..Axis::whole(*from)
        })
        .collect();
    let mut elements = vec![T::default(); shape.iter().product()];
    let zero = bytemuck::bytes_of(&T::default()).to_vec();
    let mut output = ViewMut {
        dtype: T::DTYPE,
        shape: shape.to_vec(),
        bytes: bytemuck::cast_slice_mut(&mut elements),
    };
    fill(x, &axes, &zero, &mut output);
    Cow::Owned(elements)
}
