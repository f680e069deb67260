//! From tensors to matrices and back, for each matrix of a batch.

use faer::traits::ComplexField;
use faer::{Mat, MatRef};
use haul_ir::dtype::DType;
use haul_ir::op::{Attrs, KernelCall, KernelError};
use haul_ir::tensor::{Element, Layout, View};
use num_complex::Complex;
use rayon::prelude::*;

use crate::strided::Walk;

/// The numbers in which matrices are computed: f32 in f64 and c64 in c128, so that the code that
/// takes long to compile is there twice and not four times.
pub(super) trait Scalar: ComplexField<Real = f64> + Copy + Send + Sync {
    /// The matrix whose element `(i, j)` lies at `start + i * strides[0] + j * strides[1]`.
    fn read(view: &View<'_>, start: usize, size: [usize; 2], strides: [isize; 2]) -> Mat<Self>;

    /// Rounds to elements of a dtype.
    fn write(values: impl Iterator<Item = Self>, dtype: DType, bytes: &mut [u8]);

    fn is_finite(self) -> bool;

    fn modulus(self) -> f64;

    fn of(real: f64) -> Self;

    fn scaled(self, factor: f64) -> Self;

    fn conjugate(self) -> Self;

    /// All eigenvalues, in no order.
    fn eigenvalues(matrix: &Mat<Self>) -> Option<Vec<Complex<f64>>>;
}

fn read<E: Element, T>(
    view: &View<'_>,
    start: usize,
    [rows, cols]: [usize; 2],
    [down, right]: [isize; 2],
    convert: impl Fn(E) -> T,
) -> Mat<T> {
    let data = view.buffer::<E>();
    Mat::from_fn(rows, cols, |i, j| {
        let offset = i as isize * down + j as isize * right;
        convert(data[start.wrapping_add_signed(offset)])
    })
}

fn write<E: Element>(values: impl Iterator<Item = E>, bytes: &mut [u8]) {
    let elements: &mut [E] = bytemuck::cast_slice_mut(bytes);
    elements
        .iter_mut()
        .zip(values)
        .for_each(|(to, value)| *to = value);
}

impl Scalar for f64 {
    fn read(view: &View<'_>, start: usize, size: [usize; 2], strides: [isize; 2]) -> Mat<f64> {
        match view.dtype {
            DType::F32 => read::<f32, _>(view, start, size, strides, f64::from),
            _ => read::<f64, _>(view, start, size, strides, |value| value),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "results are rounded to their dtype"
    )]
    fn write(values: impl Iterator<Item = f64>, dtype: DType, bytes: &mut [u8]) {
        match dtype {
            DType::F32 => write(values.map(|value| value as f32), bytes),
            _ => write(values, bytes),
        }
    }

    fn is_finite(self) -> bool {
        self.is_finite()
    }

    fn modulus(self) -> f64 {
        self.abs()
    }

    fn of(real: f64) -> f64 {
        real
    }

    fn scaled(self, factor: f64) -> f64 {
        self * factor
    }

    fn conjugate(self) -> f64 {
        self
    }

    fn eigenvalues(matrix: &Mat<f64>) -> Option<Vec<Complex<f64>>> {
        matrix.eigenvalues().ok()
    }
}

impl Scalar for Complex<f64> {
    fn read(view: &View<'_>, start: usize, size: [usize; 2], strides: [isize; 2]) -> Mat<Self> {
        let widen = |value: Complex<f32>| Complex::new(value.re.into(), value.im.into());
        match view.dtype {
            DType::C64 => read::<Complex<f32>, _>(view, start, size, strides, widen),
            _ => read::<Complex<f64>, _>(view, start, size, strides, |value| value),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "results are rounded to their dtype"
    )]
    fn write(values: impl Iterator<Item = Self>, dtype: DType, bytes: &mut [u8]) {
        let narrow = |value: Complex<f64>| Complex::new(value.re as f32, value.im as f32);
        match dtype {
            DType::C64 => write(values.map(narrow), bytes),
            _ => write(values, bytes),
        }
    }

    fn is_finite(self) -> bool {
        Complex::is_finite(self)
    }

    fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }

    fn of(real: f64) -> Self {
        Complex::new(real, 0.0)
    }

    fn scaled(self, factor: f64) -> Self {
        self.scale(factor)
    }

    fn conjugate(self) -> Self {
        self.conj()
    }

    fn eigenvalues(matrix: &Mat<Self>) -> Option<Vec<Complex<f64>>> {
        matrix.eigenvalues().ok()
    }
}

/// The results of one matrix.
pub(super) struct Results<'a> {
    parts: Vec<(DType, &'a mut [u8])>,
}

impl Results<'_> {
    /// Fills a result with the elements of a matrix, row by row.
    pub(super) fn matrix<T: Scalar>(&mut self, result: usize, matrix: MatRef<'_, T>) {
        let at = |i: usize| (0..matrix.ncols()).map(move |j| matrix[(i, j)]);
        self.values(result, (0..matrix.nrows()).flat_map(at));
    }

    /// The distance from 1 to the next number of a result's dtype.
    pub(super) fn epsilon(&self, result: usize) -> f64 {
        match self.parts[result].0 {
            DType::F32 | DType::C64 => f32::EPSILON.into(),
            _ => f64::EPSILON,
        }
    }

    /// Fills a result with numbers.
    pub(super) fn values<T: Scalar>(&mut self, result: usize, values: impl Iterator<Item = T>) {
        let (dtype, bytes) = &mut self.parts[result];
        T::write(values, *dtype, bytes);
    }
}

/// What computes the results of one matrix, or of a matrix and its right side. Says why it cannot.
pub(super) type Each<T> = fn(&[Mat<T>], &Attrs, &mut Results<'_>) -> Result<(), &'static str>;

/// The kernel that computes each matrix on its own.
macro_rules! each {
    ($each:path) => {
        |call| match call.inputs[0].dtype.kind() {
            haul_ir::dtype::Kind::Complex => {
                super::batch::run::<num_complex::Complex<f64>>(call, $each)
            }
            _ => super::batch::run::<f64>(call, $each),
        }
    };
}
pub(super) use each;

pub(super) fn run<T: Scalar>(
    call: &mut KernelCall<'_, '_>,
    each: Each<T>,
) -> Result<(), KernelError> {
    let layouts: Vec<_> = call
        .inputs
        .iter()
        .map(|input| as_matrix(&input.layout))
        .collect();
    let batch = batch_shape(&layouts);
    let count: usize = batch.iter().product();
    let places: Vec<_> = layouts
        .iter()
        .map(|layout| Place::new(layout, &batch))
        .collect();
    let mut results: Vec<_> = (0..count).map(|_| Results { parts: Vec::new() }).collect();
    for output in call.outputs.iter_mut() {
        let mut rest = &mut *output.bytes;
        let size = rest.len() / count.max(1);
        for results in &mut results {
            let (part, after) = rest.split_at_mut(size);
            results.parts.push((output.dtype, part));
            rest = after;
        }
    }
    let (inputs, attrs) = (call.inputs, call.attrs);
    let one = |(position, mut results): (usize, Results<'_>)| {
        let pairs = inputs.iter().zip(&places);
        let matrices: Vec<_> = pairs
            .map(|(view, place)| place.read(view, position))
            .collect();
        each(&matrices, attrs, &mut results)
    };
    // All are computed before one is blamed, so that it is always the same one.
    let done: Vec<_> = results.into_par_iter().enumerate().map(one).collect();
    match done
        .iter()
        .enumerate()
        .find_map(|(at, done)| Some((at, (*done).err()?)))
    {
        None => Ok(()),
        Some((_, why)) if count == 1 => Err(KernelError::new(why)),
        Some((at, why)) => Err(KernelError::new(format!("matrix {at} of {count}: {why}"))),
    }
}

/// Where the matrices of an input lie.
struct Place {
    start: usize,
    batch: Walk,
    size: [usize; 2],
    strides: [isize; 2],
}

impl Place {
    fn new(layout: &Layout, batch: &[usize]) -> Self {
        let axes = layout.shape.len() - 2;
        let outer = Layout {
            shape: layout.shape[..axes].to_vec(),
            strides: layout.strides[..axes].to_vec(),
            offset: 0,
        };
        let outer = outer.broadcast_to(batch);
        Self {
            start: layout.offset,
            batch: Walk::new(&outer.shape, &outer.strides),
            size: [layout.shape[axes], layout.shape[axes + 1]],
            strides: [layout.strides[axes], layout.strides[axes + 1]],
        }
    }

    fn read<T: Scalar>(&self, view: &View<'_>, position: usize) -> Mat<T> {
        let start = self.start.wrapping_add_signed(self.batch.offset(position));
        T::read(view, start, self.size, self.strides)
    }
}

/// A vector as a matrix of one column.
fn as_matrix(layout: &Layout) -> Layout {
    let mut layout = layout.clone();
    if layout.shape.len() == 1 {
        layout.shape.push(1);
        layout.strides.push(0);
    }
    layout
}

fn batch_shape(layouts: &[Layout]) -> Vec<usize> {
    let batches = layouts
        .iter()
        .map(|layout| &layout.shape[..layout.shape.len() - 2]);
    let rank = batches.clone().map(<[usize]>::len).max().unwrap_or(0);
    let mut shape = vec![1; rank];
    for batch in batches {
        let sizes = shape[rank - batch.len()..].iter_mut().zip(batch);
        sizes
            .filter(|(_, size)| **size != 1)
            .for_each(|(to, size)| *to = *size);
    }
    shape
}
