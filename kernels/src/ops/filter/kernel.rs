use haul_ir::dtype::DType;
use haul_ir::op::{Attrs, Call, InferError, Inferred, KernelCall, KernelError};
use haul_ir::tensor::Element;
use num_complex::Complex;
use rayon::prelude::*;

use crate::gemm::Multiply;
use crate::ops::array_op::check;
use crate::ops::moves::attrs::{at_run, element, number};
use crate::ops::moves::pieces::{self, Beyond};
use crate::strided::contiguous;
use crate::wide::{narrow, widen};

/// How weights stand by the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weights {
    AsGiven,
    Conjugate,
    /// The last by the first element, along each axis.
    Backwards,
}

pub(super) fn filter(
    call: &mut KernelCall<'_, '_>,
    infer: fn(&Call<'_>) -> Result<Inferred, InferError>,
    order: Weights,
) -> Result<(), KernelError> {
    check(call, infer)?;
    let [x, w] = [&call.inputs[0], &call.inputs[1]];
    let output = &mut call.outputs[0];
    if output.bytes.is_empty() {
        return Ok(());
    }
    let axes = axes(call.attrs, x.shape(), w.shape(), &output.shape);
    let outside = match call.attrs.numbers("value") {
        Some(_) => Some(number(call.attrs, "value").map_err(at_run)?),
        None => None,
    };
    macro_rules! compute {
        ($type:ty, $conjugate:expr) => {{
            let outside = outside.map(|number| one::<$type>(number)).transpose()?;
            let mut weights = contiguous::<$type>(w).into_owned();
            if order == Weights::Conjugate {
                weights.iter_mut().for_each($conjugate);
            }
            let filter = Filter::new(axes, weights, order, outside);
            filter.compute(&contiguous::<$type>(x), output.elements());
        }};
        ($type:ty) => {
            compute!($type, |_| {})
        };
    }
    match output.dtype {
        DType::F16 | DType::Bf16 => {
            let outside = outside.map(|number| number as f32);
            let mut wide = vec![0.0; output.shape.iter().product()];
            Filter::new(axes, widen(w), order, outside).compute(&widen(x), &mut wide);
            narrow(&wide, output);
        }
        DType::F32 => compute!(f32),
        DType::F64 => compute!(f64),
        DType::C64 => compute!(Complex<f32>, |weight| *weight = weight.conj()),
        DType::C128 => compute!(Complex<f64>, |weight| *weight = weight.conj()),
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

fn one<T: Element>(number: f64) -> Result<T, KernelError> {
    let bytes = element(number, T::DTYPE).map_err(KernelError::new)?;
    Ok(bytemuck::pod_read_unaligned(&bytes))
}

/// An axis along which there are weights.
struct Axis {
    /// Elements of `x` and of the result.
    input: usize,
    output: usize,
    /// Weights, and how many of them stand before the first element of `x` for the first result.
    weights: usize,
    before: usize,
    /// From one element of `x` to the next along the axis.
    stride: usize,
    /// The element at each place from `before` places before the first on, where there is one.
    sources: Vec<Option<usize>>,
}

/// The last axes, as many as there are of the weights.
fn axes(attrs: &Attrs, x: &[usize], w: &[usize], output: &[usize]) -> Vec<Axis> {
    let first = x.len() - w.len();
    let beyond = Beyond::of(attrs.word("mode"));
    let axis = |(at, weights): (usize, &usize)| {
        let (input, output) = (x[first + at], output[first + at]);
        let before = match attrs.word("mode") {
            Some("valid") => 0,
            Some("full") => weights - 1,
            _ => weights / 2,
        };
        let places = output + weights - 1;
        let pieces = pieces::Axis {
            from: input,
            to: places,
            start: before as i64,
            beyond,
        };
        Axis {
            input,
            output,
            weights: *weights,
            before,
            stride: x[first + at + 1..].iter().product(),
            sources: (0..places).map(|place| pieces.source(place)).collect(),
        }
    };
    w.iter().enumerate().map(axis).collect()
}

/// Elements that one task computes.
const TASK: usize = 1 << 12;

/// Elements of a row that all weights are added to before the next: with as many of some rows of
/// `x`, they lie in a level 1 cache.
const TOGETHER: usize = 1 << 10;

struct Filter<T> {
    /// The axes but the last, and the last.
    outer: Vec<Axis>,
    last: Axis,
    weights: Vec<T>,
    /// Elements of `x` that the weights move over at a time.
    block: usize,
    /// What stands where there is no element; nothing is added where this is nothing.
    outside: Option<T>,
}

impl<T: Multiply> Filter<T> {
    /// # Panics
    /// There is no axis.
    fn new(mut axes: Vec<Axis>, mut weights: Vec<T>, order: Weights, outside: Option<T>) -> Self {
        if order == Weights::Backwards {
            weights.reverse();
        }
        let block = axes.iter().map(|axis| axis.input).product();
        let last = axes.pop().expect("weights have an axis");
        Self {
            outer: axes,
            last,
            weights,
            block,
            outside,
        }
    }

    /// Adds up, for each element of the result, in the order of the weights.
    fn compute(&self, x: &[T], output: &mut [T]) {
        let row = self.last.output;
        let tasks = output.par_chunks_mut(TASK).enumerate();
        tasks.for_each(|(task, output)| {
            let (mut place, mut rest) = (task * TASK, output);
            while !rest.is_empty() {
                let (number, column) = (place / row, place % row);
                let count = rest.len().min(row - column).min(TOGETHER);
                let (sums, after) = rest.split_at_mut(count);
                sums.fill(T::default());
                let lines = self.weights.chunks_exact(self.last.weights);
                for (line, weights) in lines.enumerate() {
                    match self.source(number, line) {
                        Some(start) => self.add(&x[start..], weights, column, sums),
                        None => self.add_outside(weights, sums),
                    }
                }
                place += sums.len();
                rest = after;
            }
        });
    }

    /// Where the row of `x` begins on which a line of weights lies, for a row of the result.
    fn source(&self, row: usize, line: usize) -> Option<usize> {
        let (mut row, mut line, mut start) = (row, line, 0);
        for axis in self.outer.iter().rev() {
            let place = row % axis.output + line % axis.weights;
            start += axis.sources[place]? * axis.stride;
            row /= axis.output;
            line /= axis.weights;
        }
        Some(row * self.block + start)
    }

    /// Adds a line of weights times a row of `x` to some sums, from a column on.
    fn add(&self, x: &[T], weights: &[T], column: usize, sums: &mut [T]) {
        let Axis { input, before, .. } = self.last;
        for (at, weight) in weights.iter().enumerate() {
            // The sums from `low` to `high` meet the row one to one.
            let first = column + at;
            let low = before.saturating_sub(first).min(sums.len());
            let high = (before + input)
                .saturating_sub(first)
                .clamp(low, sums.len());
            let from = (first + low).saturating_sub(before);
            for (sum, element) in sums[low..high].iter_mut().zip(&x[from.min(input)..]) {
                *sum = sum.plus_product(*weight, *element);
            }
            for column in (0..low).chain(high..sums.len()) {
                let source = self.last.sources[first + column];
                let element = source.map(|source| x[source]).or(self.outside);
                if let Some(element) = element {
                    sums[column] = sums[column].plus_product(*weight, element);
                }
            }
        }
    }

    fn add_outside(&self, weights: &[T], sums: &mut [T]) {
        let Some(outside) = self.outside else {
            return;
        };
        for weight in weights {
            for sum in &mut *sums {
                *sum = sum.plus_product(*weight, outside);
            }
        }
    }
}
