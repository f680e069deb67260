//! Transforms of lines of one length.

use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};

use crate::strided::{Walk, strips};

/// Elements that one task transforms at least.
pub(super) const CHUNK: usize = 1 << 14;

/// Turns lines that lie one after another into others.
pub(in crate::ops) type Lines<'a, A, B> = dyn Fn(&[A], &mut [B]) + Sync + 'a;

/// Transforms of lines of complex numbers, in place.
pub(in crate::ops) struct Complexes<T> {
    plan: Arc<dyn Fft<T>>,
    factor: T,
}

impl<T: FftNum> Complexes<T> {
    /// Results are multiplied by `factor`.
    pub(in crate::ops) fn new(n: usize, is_inverse: bool, factor: f64) -> Self {
        let mut planner = FftPlanner::new();
        let plan = match is_inverse {
            true => planner.plan_fft_inverse(n),
            false => planner.plan_fft_forward(n),
        };
        Self {
            plan,
            factor: rounded(factor),
        }
    }

    /// Transforms the lines along an axis.
    pub(super) fn along(&self, axis: usize, shape: &[usize], data: &mut [Complex<T>]) {
        let line = shape[axis];
        let inner: usize = shape[axis + 1..].iter().product();
        if inner == 1 {
            self.transform(data);
            return;
        }
        // Lines with gaps are copied together: a transform in place would jump through memory.
        let columns = (CHUNK / line).clamp(8, 32);
        data.par_chunks_mut(line * inner).for_each(|block| {
            let strips = strips(block, inner, columns).into_par_iter();
            strips.for_each_init(Vec::new, |lines, mut strip| {
                lines.resize(strip[0].len() * line, zero());
                gather(&strip, lines);
                self.transform(lines);
                scatter(lines, &mut strip);
            });
        });
    }

    /// Transforms lines that lie one after another.
    pub(in crate::ops) fn transform(&self, data: &mut [Complex<T>]) {
        let line = self.plan.len();
        let together = (CHUNK / line).max(1) * line;
        let scratch = || vec![zero(); self.plan.get_inplace_scratch_len()];
        let chunks = data.par_chunks_mut(together);
        chunks.for_each_init(scratch, |scratch, lines| {
            self.plan.process_with_scratch(lines, scratch);
            if !self.factor.is_one() {
                let scaled = |element: &mut Complex<T>| *element = element.scale(self.factor);
                lines.iter_mut().for_each(scaled);
            }
        });
    }
}

/// Transforms of lines of real numbers into the halves of their spectra.
pub(in crate::ops) struct HalfSpectra<T> {
    plan: Arc<dyn RealToComplex<T>>,
    factor: T,
    conjugate: bool,
}

impl<T: FftNum> HalfSpectra<T> {
    /// Results are multiplied by `factor`, and conjugated if that is said.
    pub(in crate::ops) fn new(n: usize, factor: f64, conjugate: bool) -> Self {
        Self {
            plan: RealFftPlanner::new().plan_fft_forward(n),
            factor: rounded(factor),
            conjugate,
        }
    }

    /// Transforms lines that lie one after another.
    pub(in crate::ops) fn transform(&self, data: &[T], output: &mut [Complex<T>]) {
        let (line, bins) = (self.plan.len(), self.plan.complex_len());
        let together = (CHUNK / line).max(1);
        let chunks = output.par_chunks_mut(together * bins);
        let chunks = chunks.zip(data.par_chunks(together * line));
        let scratch = || (self.plan.make_input_vec(), self.plan.make_scratch_vec());
        chunks.for_each_init(scratch, |(copy, scratch), (output, data)| {
            for (output, data) in output.chunks_mut(bins).zip(data.chunks(line)) {
                copy.copy_from_slice(data);
                self.plan
                    .process_with_scratch(copy, output, scratch)
                    .expect("the lengths are those of the plan");
                self.finish(output);
            }
        });
    }

    fn finish(&self, spectrum: &mut [Complex<T>]) {
        if self.conjugate {
            let conjugated = |bin: &mut Complex<T>| *bin = bin.conj();
            spectrum.iter_mut().for_each(conjugated);
        }
        if !self.factor.is_one() {
            let scaled = |bin: &mut Complex<T>| *bin = bin.scale(self.factor);
            spectrum.iter_mut().for_each(scaled);
        }
    }
}

/// The way back from halves of spectra. The imaginary parts of the first bin, and of the last of
/// an even number of elements, do not count.
pub(in crate::ops) struct InverseHalfSpectra<T> {
    plan: Arc<dyn ComplexToReal<T>>,
    factor: T,
    conjugate: bool,
}

impl<T: FftNum> InverseHalfSpectra<T> {
    /// Spectra are conjugated before if that is said, results multiplied by `factor`.
    pub(in crate::ops) fn new(n: usize, factor: f64, conjugate: bool) -> Self {
        Self {
            plan: RealFftPlanner::new().plan_fft_inverse(n),
            factor: rounded(factor),
            conjugate,
        }
    }

    /// Transforms halves of spectra that lie one after another.
    pub(in crate::ops) fn transform(&self, data: &[Complex<T>], output: &mut [T]) {
        let (line, bins) = (self.plan.len(), self.plan.complex_len());
        let together = (CHUNK / line).max(1);
        let chunks = output.par_chunks_mut(together * line);
        let chunks = chunks.zip(data.par_chunks(together * bins));
        let scratch = || (self.plan.make_input_vec(), self.plan.make_scratch_vec());
        chunks.for_each_init(scratch, |(copy, scratch), (output, data)| {
            for (output, data) in output.chunks_mut(line).zip(data.chunks(bins)) {
                copy.copy_from_slice(data);
                self.prepare(copy);
                self.plan
                    .process_with_scratch(copy, output, scratch)
                    .expect("the bins that have to be real are");
                if !self.factor.is_one() {
                    let scaled = |element: &mut T| *element = *element * self.factor;
                    output.iter_mut().for_each(scaled);
                }
            }
        });
    }

    fn prepare(&self, spectrum: &mut [Complex<T>]) {
        if self.conjugate {
            let conjugated = |bin: &mut Complex<T>| *bin = bin.conj();
            spectrum.iter_mut().for_each(conjugated);
        }
        spectrum[0].im = T::zero();
        if self.plan.len().is_multiple_of(2) {
            spectrum[self.plan.len() / 2].im = T::zero();
        }
    }
}

/// Turns lines of `from` elements along an axis into lines of `to`. Elements of a line lie
/// `inner` apart; `transform` gets lines that lie one after another.
pub(super) fn across<A, B>(
    data: &[A],
    from: usize,
    output: &mut [B],
    to: usize,
    inner: usize,
    transform: &Lines<'_, A, B>,
) where
    A: Copy + Default + Send + Sync,
    B: Copy + Default + Send + Sync,
{
    if inner == 1 {
        transform(data, output);
        return;
    }
    let blocks = output.par_chunks_mut(to * inner);
    let blocks = blocks.zip(data.par_chunks(from * inner));
    blocks.for_each(|(output, data)| {
        let mut lines = vec![A::default(); data.len()];
        transpose(data, from, inner, &mut lines);
        let mut results = vec![B::default(); output.len()];
        transform(&lines, &mut results);
        transpose(&results, inner, to, output);
    });
}

/// Turns rows into columns.
fn transpose<T: Copy + Send + Sync>(data: &[T], rows: usize, cols: usize, output: &mut [T]) {
    Walk::new(&[cols, rows], &[1, cols as isize]).copy(data, 0, output);
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

fn rounded<T: FftNum>(factor: f64) -> T {
    T::from_f64(factor).unwrap_or_else(T::one)
}

fn zero<T: FftNum>() -> Complex<T> {
    Complex::new(T::zero(), T::zero())
}
