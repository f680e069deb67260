use std::sync::Arc;

use haul_ir::dtype::DType;
use haul_ir::op::{Attrs, KernelCall, KernelError};
use haul_ir::tensor::{Element, View};
use num_complex::Complex;
use rayon::prelude::*;
use realfft::RealFftPlanner;
use rustfft::{Fft, FftNum, FftPlanner};

use super::{Axes, Fourier, Transform};
use crate::strided::{Walk, contiguous, strips};

/// Elements that one task transforms at least.
const CHUNK: usize = 1 << 14;

pub(super) fn fourier(op: &Fourier, call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let input = &call.inputs[0];
    let output = &mut call.outputs[0];
    let axes = axes(op, call.attrs, input.shape())?;
    if input.layout.elements() == 0 {
        return Ok(());
    }
    match (input.dtype, op.transform) {
        (DType::F32, Transform::Real) => real::<f32>(input, axes[0], output.elements()),
        (DType::F64, Transform::Real) => real::<f64>(input, axes[0], output.elements()),
        (DType::F32, _) => complex::<f32, f32>(op, input, &axes, output.elements()),
        (DType::F64, _) => complex::<f64, f64>(op, input, &axes, output.elements()),
        (DType::C64, _) => complex::<f32, Complex<f32>>(op, input, &axes, output.elements()),
        (DType::C128, _) => complex::<f64, Complex<f64>>(op, input, &axes, output.elements()),
        (other, _) => {
            return Err(KernelError::new(format!(
                "there is no transform of {other}"
            )));
        }
    }
    Ok(())
}

/// The axes in the order in which they are transformed.
fn axes(op: &Fourier, attrs: &Attrs, shape: &[usize]) -> Result<Vec<usize>, KernelError> {
    let rank = shape.len();
    let axes = match op.axes {
        Axes::LastTwo => vec![rank - 1, rank - 2],
        Axes::Named => {
            let axis = haul_ir::op::axis_of(attrs.int("axis").unwrap_or(-1), rank);
            vec![axis.map_err(|error| KernelError::new(error.message))?]
        }
    };
    match axes.iter().find(|axis| shape[**axis] == 0) {
        Some(axis) => Err(KernelError::new(format!(
            "axis {axis} is empty, a transform needs an element"
        ))),
        None => Ok(axes),
    }
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

fn complex<T: FftNum, S: Source<T>>(
    op: &Fourier,
    input: &View<'_>,
    axes: &[usize],
    output: &mut [Complex<T>],
) {
    let shape = input.shape();
    let data = contiguous::<S>(input);
    let chunks = output.par_chunks_mut(CHUNK).zip(data.par_chunks(CHUNK));
    chunks.for_each(|(output, data)| {
        for (output, element) in output.iter_mut().zip(data) {
            *output = element.complex();
        }
    });
    let mut planner = FftPlanner::new();
    for &axis in axes {
        let plan = match op.transform {
            Transform::Inverse => planner.plan_fft_inverse(shape[axis]),
            _ => planner.plan_fft_forward(shape[axis]),
        };
        let plan = Lines {
            plan,
            inverse: op.transform == Transform::Inverse,
        };
        plan.along(axis, shape, output);
    }
}

/// A transform of lines that lie one after another.
struct Lines<T> {
    plan: Arc<dyn Fft<T>>,
    inverse: bool,
}

impl<T: FftNum> Lines<T> {
    fn along(&self, axis: usize, shape: &[usize], data: &mut [Complex<T>]) {
        let line = shape[axis];
        let inner: usize = shape[axis + 1..].iter().product();
        if inner == 1 {
            self.transform(data);
            return;
        }
        // Lines with gaps are copied together: a transform in place would jump through memory.
        let zero = Complex::new(T::zero(), T::zero());
        let columns = (CHUNK / line).clamp(8, 32);
        data.par_chunks_mut(line * inner).for_each(|block| {
            let strips = strips(block, inner, columns).into_par_iter();
            strips.for_each_init(Vec::new, |lines, mut strip| {
                lines.resize(strip[0].len() * line, zero);
                gather(&strip, lines);
                self.transform(lines);
                scatter(lines, &mut strip);
            });
        });
    }

    fn transform(&self, data: &mut [Complex<T>]) {
        let line = self.plan.len();
        let together = (CHUNK / line).max(1) * line;
        let scratch =
            || vec![Complex::new(T::zero(), T::zero()); self.plan.get_inplace_scratch_len()];
        let chunks = data.par_chunks_mut(together);
        chunks.for_each_init(scratch, |scratch, lines| {
            self.plan.process_with_scratch(lines, scratch);
            if self.inverse {
                let factor = T::one() / T::from_usize(line).unwrap_or_else(T::one);
                lines
                    .iter_mut()
                    .for_each(|element| *element = element.scale(factor));
            }
        });
    }
}

fn real<T: FftNum + Element>(input: &View<'_>, axis: usize, output: &mut [Complex<T>]) {
    let shape = input.shape();
    let (line, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let plan = RealFftPlanner::<T>::new().plan_fft_forward(line);
    let data = contiguous::<T>(input);
    let bins = line / 2 + 1;
    let transform = |data: &[T], output: &mut [Complex<T>]| {
        let together = (CHUNK / line).max(1);
        let chunks = output.par_chunks_mut(together * bins);
        let chunks = chunks.zip(data.par_chunks(together * line));
        let scratch = || (plan.make_input_vec(), plan.make_scratch_vec());
        chunks.for_each_init(scratch, |(copy, scratch), (output, data)| {
            for (output, data) in output.chunks_mut(bins).zip(data.chunks(line)) {
                copy.copy_from_slice(data);
                plan.process_with_scratch(copy, output, scratch)
                    .expect("the lengths are those of the plan");
            }
        });
    };
    if inner == 1 {
        transform(&data, output);
        return;
    }
    let blocks = output.par_chunks_mut(bins * inner);
    blocks
        .zip(data.par_chunks(line * inner))
        .for_each(|(output, data)| {
            let mut lines = vec![T::zero(); data.len()];
            transpose(data, line, inner, &mut lines);
            let mut spectra = vec![Complex::new(T::zero(), T::zero()); output.len()];
            transform(&lines, &mut spectra);
            transpose(&spectra, inner, bins, output);
        });
}

/// Rows whose parts of a column are moved together: a line of cache.
const TOGETHER: usize = 8;

/// Lays out the columns of a strip one after another.
fn gather<T: Copy>(strip: &[&mut [T]], lines: &mut [T]) {
    for (part, rows) in strip.chunks(TOGETHER).enumerate() {
        for (column, line) in lines.chunks_exact_mut(strip.len()).enumerate() {
            let line = &mut line[part * TOGETHER..];
            line.iter_mut()
                .zip(rows)
                .for_each(|(to, row)| *to = row[column]);
        }
    }
}

/// Undoes [`gather`].
fn scatter<T: Copy>(lines: &[T], strip: &mut [&mut [T]]) {
    let height = strip.len();
    for (part, rows) in strip.chunks_mut(TOGETHER).enumerate() {
        for (column, line) in lines.chunks_exact(height).enumerate() {
            let line = &line[part * TOGETHER..];
            rows.iter_mut()
                .zip(line)
                .for_each(|(row, from)| row[column] = *from);
        }
    }
}

/// Turns rows into columns.
fn transpose<T: Copy + Send + Sync>(data: &[T], rows: usize, cols: usize, output: &mut [T]) {
    Walk::new(&[cols, rows], &[1, cols as isize]).copy(data, 0, output);
}
