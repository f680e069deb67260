//! Products of strided matrices. The only `unsafe` of this crate is here: the `gemm` crate takes
//! raw pointers, this module takes slices and checks what they reach.
#![expect(
    unsafe_code,
    reason = "the gemm crate's interface is raw pointers; the safe wrappers of it cannot express strides of both axes"
)]

use std::borrow::Cow;

use haul_ir::tensor::Element;
use num_complex::Complex;
use rayon::prelude::*;

/// A matrix that is only read, in a slice that holds every element it reaches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a, T> {
    data: &'a [T],
    start: usize,
    rows: usize,
    cols: usize,
    row_stride: isize,
    col_stride: isize,
}

impl<'a, T> Matrix<'a, T> {
    /// The matrix whose element `(i, j)` is `data[start + i * strides[0] + j * strides[1]]`.
    ///
    /// # Panics
    /// When an element lies outside `data`.
    pub(crate) fn new(
        data: &'a [T],
        start: usize,
        [rows, cols]: [usize; 2],
        [row_stride, col_stride]: [isize; 2],
    ) -> Self {
        if rows > 0 && cols > 0 {
            let down = (rows as i128 - 1) * row_stride as i128;
            let right = (cols as i128 - 1) * col_stride as i128;
            let first = start as i128 + down.min(0) + right.min(0);
            let last = start as i128 + down.max(0) + right.max(0);
            let inside = first >= 0 && last < data.len() as i128;
            assert!(inside, "a matrix reaches beyond its buffer");
        }
        Self {
            data,
            start,
            rows,
            cols,
            row_stride,
            col_stride,
        }
    }

    /// The row-major matrix without gaps.
    pub(crate) fn row_major(data: &'a [T], rows: usize, cols: usize) -> Self {
        Self::new(data, 0, [rows, cols], [cols as isize, 1])
    }

    fn row(self, row: usize) -> impl Iterator<Item = T>
    where
        T: Copy,
    {
        let start = self.start as isize + row as isize * self.row_stride;
        let columns = 0..self.cols as isize;
        columns.map(move |column| self.data[(start + column * self.col_stride) as usize])
    }

    fn rows(self, from: usize, count: usize) -> Self {
        let start = self.start as isize + from as isize * self.row_stride;
        let strides = [self.row_stride, self.col_stride];
        Self::new(self.data, start as usize, [count, self.cols], strides)
    }

    fn cols(self, from: usize, count: usize) -> Self {
        let start = self.start as isize + from as isize * self.col_stride;
        let strides = [self.row_stride, self.col_stride];
        Self::new(self.data, start as usize, [self.rows, count], strides)
    }
}

/// Whether a product may use the threads of the ambient pool. The result is the same to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    One,
    Pool,
}

/// Elements that matrices can be multiplied of.
pub(crate) trait Multiply: Element {
    const ONE: Self;

    /// `self + left * right`; integers wrap, as NumPy's do.
    fn plus_product(self, left: Self, right: Self) -> Self;

    /// `output = left @ right`, where row `i` of the output starts at `i * row_stride`.
    ///
    /// # Panics
    /// When the shapes do not fit each other or the output.
    fn multiply(
        output: &mut [Self],
        row_stride: usize,
        left: Matrix<'_, Self>,
        right: Matrix<'_, Self>,
        threads: Threads,
    );
}

macro_rules! multiply_floats {
    ($($type:ty),*) => {$(
        impl Multiply for $type {
            const ONE: Self = <$type as num_traits::ConstOne>::ONE;

            #[inline(always)]
            fn plus_product(self, left: Self, right: Self) -> Self {
                self + left * right
            }

            fn multiply(
                output: &mut [Self],
                row_stride: usize,
                left: Matrix<'_, Self>,
                right: Matrix<'_, Self>,
                threads: Threads,
            ) {
                let vector = left.rows.min(right.cols) == 1;
                if left.cols <= THIN || (vector && left.cols <= THIN_VECTOR) {
                    multiply_rows(output, row_stride, left, right, threads);
                } else if threads == Threads::Pool && vector && row_stride == right.cols {
                    multiply_vector(output, left, right);
                } else {
                    let (zero, one) = (num_traits::zero(), num_traits::one());
                    multiply_with_gemm(output, row_stride, left, right, threads, zero, one);
                }
            }
        }
    )*};
}
multiply_floats!(f32, f64, Complex<f32>, Complex<f64>);

/// Inner sizes up to which plain loops are faster than the library.
const THIN: usize = 3;

/// The same where one side is a vector.
const THIN_VECTOR: usize = 16;

/// Elements of the matrix that a chunk of its product with a vector reads.
const VECTOR_CHUNK: usize = 1 << 16;

/// Columns of a matrix that a chunk takes at least: fewer would jump through memory.
const COLUMN_CHUNK: usize = 1 << 11;

/// The library multiplies by vectors on one thread; such products are bound by memory, which
/// one core does not exhaust.
fn multiply_vector<T: Multiply>(output: &mut [T], left: Matrix<'_, T>, right: Matrix<'_, T>) {
    let neighbours = match right.cols {
        1 => left.row_stride,
        _ => right.col_stride,
    };
    let least = if neighbours == 1 { COLUMN_CHUNK } else { 16 };
    let chunk = (VECTOR_CHUNK / left.cols.max(1)).max(least);
    output
        .par_chunks_mut(chunk)
        .enumerate()
        .for_each(|(position, output)| {
            let (from, count) = (position * chunk, output.len());
            let (left, right) = match right.cols {
                1 => (left.rows(from, count), right),
                _ => (left, right.cols(from, count)),
            };
            T::multiply(output, right.cols, left, right, Threads::One);
        });
}

fn multiply_with_gemm<T: Element>(
    output: &mut [T],
    row_stride: usize,
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    threads: Threads,
    zero: T,
    one: T,
) {
    check_output(output.len(), row_stride, &left, &right);
    let parallelism = match threads {
        Threads::One => gemm::Parallelism::None,
        Threads::Pool => gemm::Parallelism::Rayon(rayon::current_num_threads()),
    };
    // SAFETY: `Matrix::new` checked that every element of both operands lies in its slice, and
    // `check_output` that every element of the result lies in `output`, which is borrowed
    // mutably and so overlaps neither. Each type of `multiply_floats` is one that the library
    // knows. It does not read the output where `read_dst` is false, and an operand without
    // elements is not read.
    unsafe {
        gemm::gemm(
            left.rows,
            right.cols,
            left.cols,
            output.as_mut_ptr(),
            1,
            row_stride as isize,
            false,
            left.data.as_ptr().wrapping_add(left.start),
            left.col_stride,
            left.row_stride,
            right.data.as_ptr().wrapping_add(right.start),
            right.col_stride,
            right.row_stride,
            zero,
            one,
            false,
            false,
            false,
            parallelism,
        );
    }
}

fn check_output<T>(len: usize, row_stride: usize, left: &Matrix<'_, T>, right: &Matrix<'_, T>) {
    assert_eq!(left.cols, right.rows, "inner sizes of a product disagree");
    let (rows, cols) = (left.rows, right.cols);
    if rows > 0 && cols > 0 {
        let end = (rows as u128 - 1) * row_stride as u128 + cols as u128;
        let fits = row_stride >= cols && end <= len as u128;
        assert!(fits, "a product does not fit its output");
    }
}

macro_rules! multiply_integers {
    ($($type:ty),*) => {$(
        impl Multiply for $type {
            const ONE: Self = 1;

            #[inline(always)]
            fn plus_product(self, left: Self, right: Self) -> Self {
                self.wrapping_add(left.wrapping_mul(right))
            }

            fn multiply(
                output: &mut [Self],
                row_stride: usize,
                left: Matrix<'_, Self>,
                right: Matrix<'_, Self>,
                threads: Threads,
            ) {
                multiply_rows(output, row_stride, left, right, threads);
            }
        }
    )*};
}
multiply_integers!(u8, u16, u32, u64, i8, i16, i32, i64);

/// Elements of the result that one thread computes at a time, at least.
const ROW_CHUNK: usize = 1 << 12;

/// Sums the rows of the right side, weighted by the elements of a row of the left side.
fn multiply_rows<T: Multiply>(
    output: &mut [T],
    row_stride: usize,
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    threads: Threads,
) {
    check_output(output.len(), row_stride, &left, &right);
    if left.rows == 0 || right.cols == 0 {
        return;
    }
    let packed = packed(right);
    let together = (ROW_CHUNK / right.cols).max(1);
    let rows = |(position, output): (usize, &mut [T])| {
        for (row, output) in output.chunks_mut(row_stride).enumerate() {
            let row = left.row(position * together + row);
            if let [sum] = &mut output[..right.cols] {
                let pairs = row.zip(&*packed);
                *sum = pairs.fold(T::default(), |sum, (a, b)| sum.plus_product(a, *b));
                continue;
            }
            let output = &mut output[..right.cols];
            output.fill(T::default());
            for (factor, right) in row.zip(packed.chunks_exact(right.cols)) {
                for (sum, value) in output.iter_mut().zip(right) {
                    *sum = sum.plus_product(factor, *value);
                }
            }
        }
    };
    let output = &mut output[..(left.rows - 1) * row_stride + right.cols];
    let chunk = together * row_stride;
    match threads {
        Threads::One => output.chunks_mut(chunk).enumerate().for_each(rows),
        Threads::Pool => output.par_chunks_mut(chunk).enumerate().for_each(rows),
    }
}

/// The elements row by row without gaps.
fn packed<T: Element>(matrix: Matrix<'_, T>) -> Cow<'_, [T]> {
    let elements = matrix.rows * matrix.cols;
    if matrix.col_stride == 1 && matrix.row_stride == matrix.cols as isize {
        return matrix.data[matrix.start..matrix.start + elements].into();
    }
    let mut packed = Vec::with_capacity(elements);
    (0..matrix.rows).for_each(|row| packed.extend(matrix.row(row)));
    packed.into()
}
