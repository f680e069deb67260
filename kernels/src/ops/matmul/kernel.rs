use haul_ir::dtype::DType;
use haul_ir::op::{KernelCall, KernelError};
use haul_ir::tensor::Layout;
use num_complex::Complex;
use rayon::prelude::*;

use crate::gemm::{Matrix, Multiply, Threads};
use crate::strided::Walk;
use crate::wide::{narrow, widen};

pub(super) fn matmul(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (left, right) = (&call.inputs[0], &call.inputs[1]);
    let output = &mut call.outputs[0];
    macro_rules! multiply {
        ($type:ty) => {
            Product::new(&left.layout, &right.layout).compute::<$type>(
                left.buffer(),
                right.buffer(),
                output.elements(),
            )
        };
    }
    match output.dtype {
        DType::F16 | DType::Bf16 => {
            let contiguous = [left, right].map(|view| Layout::contiguous(view.shape()));
            let mut wide = vec![0.0; output.shape.iter().product()];
            let product = Product::new(&contiguous[0], &contiguous[1]);
            product.compute(&widen(left), &widen(right), &mut wide);
            narrow(&wide, output);
        }
        DType::F32 => multiply!(f32),
        DType::F64 => multiply!(f64),
        DType::C64 => multiply!(Complex<f32>),
        DType::C128 => multiply!(Complex<f64>),
        DType::U8 => multiply!(u8),
        DType::U16 => multiply!(u16),
        DType::U32 => multiply!(u32),
        DType::U64 => multiply!(u64),
        DType::I8 => multiply!(i8),
        DType::I16 => multiply!(i16),
        DType::I32 => multiply!(i32),
        DType::I64 => multiply!(i64),
        DType::Bool => return Err(KernelError::new("there is no matrix product of bools")),
    }
    Ok(())
}

/// Where the matrices of an operand lie.
struct Matrices {
    start: usize,
    batch: Walk,
    shape: [usize; 2],
    strides: [isize; 2],
}

impl Matrices {
    fn at<'a, T>(&self, data: &'a [T], offset: isize) -> Matrix<'a, T> {
        let start = self.start.wrapping_add_signed(offset);
        Matrix::new(data, start, self.shape, self.strides)
    }
}

struct Product {
    /// How many products of two matrices it is.
    batch: usize,
    left: Matrices,
    right: Matrices,
}

impl Product {
    fn new(left: &Layout, right: &Layout) -> Self {
        let left = with_axis_for_vector(left, 0);
        let right = with_axis_for_vector(right, 1);
        let batch = batch_shape(&left, &right);
        let product = Self {
            batch: batch.iter().product(),
            left: matrices(&left, &batch),
            right: matrices(&right, &batch),
        };
        product.flattened(&left, &batch).unwrap_or(product)
    }

    /// Many matrices times one, as one matrix of all their rows.
    fn flattened(&self, left: &Layout, batch: &[usize]) -> Option<Self> {
        if self.batch <= 1 || !self.right.batch.is_repeated() {
            return None;
        }
        let rank = left.shape.len();
        let [rows, inner] = self.left.shape;
        let mut shape = batch.to_vec();
        shape.extend([rows, inner]);
        let rows = left.broadcast_to(&shape);
        let axes = rows.shape.len() - 1;
        let rows = Walk::new(&rows.shape[..axes], &rows.strides[..axes]);
        let (rows, stride) = rows.single()?;
        Some(Self {
            batch: 1,
            left: Matrices {
                start: left.offset,
                batch: Walk::default(),
                shape: [rows, inner],
                strides: [stride, left.strides[rank - 1]],
            },
            right: Matrices {
                start: self.right.start,
                batch: Walk::default(),
                ..self.right
            },
        })
    }

    fn compute<T: Multiply>(&self, left: &[T], right: &[T], output: &mut [T]) {
        let [rows, inner] = self.left.shape;
        let cols = self.right.shape[1];
        if output.is_empty() {
            return;
        }
        let one = |(product, output): (usize, &mut [T]), threads| {
            let offset = |walk: &Walk| walk.offset(product);
            let left = self.left.at(left, offset(&self.left.batch));
            let right = self.right.at(right, offset(&self.right.batch));
            T::multiply(output, cols, left, right, threads);
        };
        let flops = rows.saturating_mul(inner).saturating_mul(cols);
        let size = rows * cols;
        if self.batch == 1 || flops > LARGE {
            let products = output.chunks_mut(size).enumerate();
            products.for_each(|product| one(product, Threads::Pool));
        } else {
            let together = (SMALL / flops.max(1)).max(1);
            let products = output.par_chunks_mut(size).with_min_len(together);
            products
                .enumerate()
                .for_each(|product| one(product, Threads::One));
        }
    }
}

/// Multiplications from which one product keeps all threads busy.
const LARGE: usize = 1 << 24;

/// Multiplications below which a task is not worth starting.
const SMALL: usize = 1 << 15;

/// A vector as a matrix of one row or column.
fn with_axis_for_vector(layout: &Layout, axis: usize) -> Layout {
    let mut layout = layout.clone();
    if layout.shape.len() == 1 {
        layout.shape.insert(axis, 1);
        layout.strides.insert(axis, 0);
    }
    layout
}

fn batch_shape(left: &Layout, right: &Layout) -> Vec<usize> {
    let [left, right] = [left, right].map(|layout| &layout.shape[..layout.shape.len() - 2]);
    let rank = left.len().max(right.len());
    let size = |shape: &[usize], axis: usize| match (axis + shape.len()).checked_sub(rank) {
        Some(axis) => shape[axis],
        None => 1,
    };
    let sizes = (0..rank).map(|axis| match size(left, axis) {
        1 => size(right, axis),
        other => other,
    });
    sizes.collect()
}

fn matrices(layout: &Layout, batch: &[usize]) -> Matrices {
    let axes = layout.shape.len() - 2;
    let outer = Layout {
        shape: layout.shape[..axes].to_vec(),
        strides: layout.strides[..axes].to_vec(),
        offset: 0,
    };
    let repeated = outer.broadcast_to(batch);
    Matrices {
        start: layout.offset,
        batch: Walk::new(&repeated.shape, &repeated.strides),
        shape: [layout.shape[axes], layout.shape[axes + 1]],
        strides: [layout.strides[axes], layout.strides[axes + 1]],
    }
}
