use std::borrow::Cow;

use haul_ir::dtype::DType;
use haul_ir::op::{Attrs, InferError, KernelCall, KernelError};
use haul_ir::tensor::{Layout, View};
use num_complex::Complex;
use rayon::prelude::*;

use super::labels::{Contraction, Label, Step, distinct};
use crate::gemm::{Matrix, Multiply, Threads};
use crate::strided::Walk;
use crate::wide::{narrow, widen};

type Rule = fn(&Attrs, &[usize]) -> Result<Contraction, InferError>;

pub(super) fn contract(rule: Rule, call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let ranks: Vec<_> = call
        .inputs
        .iter()
        .map(|input| input.shape().len())
        .collect();
    let contraction = rule(call.attrs, &ranks).map_err(|error| KernelError::new(error.message))?;
    let layouts: Vec<_> = call
        .inputs
        .iter()
        .map(|input| input.layout.clone())
        .collect();
    let output = &mut call.outputs[0];
    macro_rules! compute {
        ($type:ty) => {{
            let data: Vec<_> = call.inputs.iter().map(View::buffer::<$type>).collect();
            compute(&contraction, &data, &layouts, output.elements::<$type>())
        }};
    }
    match output.dtype {
        DType::F16 | DType::Bf16 => {
            let data: Vec<_> = call.inputs.iter().map(widen).collect();
            let data: Vec<_> = data.iter().map(Vec::as_slice).collect();
            let shapes = call.inputs.iter().map(View::shape);
            let layouts: Vec<_> = shapes.map(Layout::contiguous).collect();
            let mut wide = vec![0.0; output.shape.iter().product()];
            compute(&contraction, &data, &layouts, &mut wide);
            narrow(&wide, output);
        }
        DType::F32 => compute!(f32),
        DType::F64 => compute!(f64),
        DType::C64 => compute!(Complex<f32>),
        DType::C128 => compute!(Complex<f64>),
        DType::U8 => compute!(u8),
        DType::U16 => compute!(u16),
        DType::U32 => compute!(u32),
        DType::U64 => compute!(u64),
        DType::I8 => compute!(i8),
        DType::I16 => compute!(i16),
        DType::I32 => compute!(i32),
        DType::I64 => compute!(i64),
        DType::Bool => return Err(KernelError::new("there is no product of bools")),
    }
    Ok(())
}

fn compute<T: Multiply>(
    contraction: &Contraction,
    data: &[&[T]],
    layouts: &[Layout],
    output: &mut [T],
) {
    if output.is_empty() {
        return;
    }
    let sizes = Sizes::of(contraction, layouts);
    let inputs = contraction.inputs.iter().zip(layouts).zip(data);
    let mut operands =
        inputs.map(|((labels, layout), data)| Operand::new(labels, layout, data, &sizes));
    let Some(mut done) = operands.next() else {
        return;
    };
    for (step, next) in contraction.steps().iter().zip(operands) {
        let product = done.times(&next, step, &sizes);
        done = Operand::of(&step.result(), product, &sizes);
    }
    let summed = done
        .labels
        .iter()
        .filter(|label| !contraction.output.contains(label));
    let summed: Vec<_> = summed.copied().collect();
    let sums = done.sum(&contraction.output, &summed, &sizes);
    output.copy_from_slice(&sums);
}

/// The size of each label; 1 for those that no input has.
struct Sizes(Vec<usize>);

impl Sizes {
    fn of(contraction: &Contraction, layouts: &[Layout]) -> Self {
        let largest = contraction
            .inputs
            .iter()
            .flatten()
            .max()
            .map_or(0, |label| label + 1);
        let mut sizes = vec![1; largest];
        for (labels, layout) in contraction.inputs.iter().zip(layouts) {
            let axes = labels.iter().zip(&layout.shape);
            axes.filter(|(_, size)| **size != 1)
                .for_each(|(label, size)| sizes[*label] = *size);
        }
        Self(sizes)
    }

    fn each(&self, labels: &[Label]) -> Vec<usize> {
        labels
            .iter()
            .map(|label| self.0.get(*label).copied().unwrap_or(1))
            .collect()
    }

    fn volume(&self, labels: &[Label]) -> usize {
        self.each(labels).iter().product()
    }
}

/// A tensor whose axes have labels, each once.
struct Operand<'a, T: Multiply> {
    data: Cow<'a, [T]>,
    start: usize,
    labels: Vec<Label>,
    strides: Vec<isize>,
}

impl<'a, T: Multiply> Operand<'a, T> {
    /// A label twice walks along the diagonal, an axis of size 1 is repeated.
    fn new(labels: &[Label], layout: &Layout, data: &'a [T], sizes: &Sizes) -> Self {
        let each = distinct(labels);
        let stride = |label: &Label| {
            let axes = labels.iter().zip(layout.shape.iter().zip(&layout.strides));
            let axes =
                axes.filter(|(other, (size, _))| *other == label && **size == sizes.0[*label]);
            axes.map(|(_, (_, stride))| stride).sum()
        };
        Self {
            data: data.into(),
            start: layout.offset,
            strides: each.iter().map(stride).collect(),
            labels: each,
        }
    }

    fn of(labels: &[Label], data: Vec<T>, sizes: &Sizes) -> Self {
        Self {
            data: data.into(),
            start: 0,
            labels: labels.to_vec(),
            strides: Layout::contiguous(&sizes.each(labels)).strides,
        }
    }

    /// The elements in the order of these labels; those it lacks are repeated.
    fn ordered(&self, labels: &[Label], sizes: &Sizes) -> Vec<T> {
        let stride = |label: &Label| match self.labels.iter().position(|own| own == label) {
            Some(axis) => self.strides[axis],
            None => 0,
        };
        let strides: Vec<_> = labels.iter().map(stride).collect();
        let mut ordered = vec![T::default(); sizes.volume(labels)];
        Walk::new(&sizes.each(labels), &strides).copy(&self.data, self.start, &mut ordered);
        ordered
    }

    /// The sums over some labels, in the order of the others: a product with ones.
    fn sum(&self, kept: &[Label], summed: &[Label], sizes: &Sizes) -> Vec<T> {
        let ordered = self.ordered(&[kept, summed].concat(), sizes);
        if summed.is_empty() {
            return ordered;
        }
        let (rows, inner) = (sizes.volume(kept), sizes.volume(summed));
        let ones = vec![T::ONE; inner];
        let mut sums = vec![T::default(); rows];
        let left = Matrix::row_major(&ordered, rows, inner);
        T::multiply(
            &mut sums,
            1,
            left,
            Matrix::row_major(&ones, inner, 1),
            Threads::Pool,
        );
        sums
    }

    fn times(&self, next: &Operand<'_, T>, step: &Step, sizes: &Sizes) -> Vec<T> {
        let Step {
            batch,
            left,
            inner,
            right,
            summed,
        } = step;
        let a = self.sum(&[&batch[..], left, inner].concat(), &summed[0], sizes);
        let b = next.sum(&[&batch[..], inner, right].concat(), &summed[1], sizes);
        let [rows, inner, cols] = [left, inner, right].map(|labels| sizes.volume(labels));
        let mut product = vec![T::default(); sizes.volume(batch) * rows * cols];
        let count = sizes.volume(batch);
        if product.is_empty() {
            return product;
        }
        let one = |(at, product): (usize, &mut [T]), threads| {
            let left = Matrix::row_major(&a[at * rows * inner..][..rows * inner], rows, inner);
            let right = Matrix::row_major(&b[at * inner * cols..][..inner * cols], inner, cols);
            T::multiply(product, cols, left, right, threads);
        };
        match count {
            1 => one((0, &mut product), Threads::Pool),
            _ => {
                let products = product.par_chunks_mut(rows * cols).enumerate();
                products.for_each(|product| one(product, Threads::One));
            }
        }
        product
    }
}
