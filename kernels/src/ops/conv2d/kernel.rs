use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{ArgType, Call, KernelCall, KernelError};
use haul_ir::tensor::View;
use haul_ir::types::{Axes, TensorType};
use num_complex::Complex;
use rayon::prelude::*;

use super::geometry::Geometry;
use super::output_shape;
use crate::gemm::{Matrix, Multiply, Threads};
use crate::wide::{narrow, widen};

pub(super) fn conv2d(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call)?;
    let [x, w] = [&call.inputs[0], &call.inputs[1]];
    let output = &mut call.outputs[0];
    let geometry = Geometry::of(call.attrs).map_err(|error| KernelError::new(error.message))?;
    let sizes = Sizes::new(geometry, x.shape(), w.shape(), &output.shape);
    macro_rules! convolve {
        ($type:ty) => {
            sizes.convolve::<$type>(elements(x), elements(w), output.elements())
        };
    }
    match output.dtype {
        DType::F16 | DType::Bf16 => {
            let mut wide = vec![0.0; output.shape.iter().product()];
            sizes.convolve(&widen(x), &widen(w), &mut wide);
            narrow(&wide, output);
        }
        DType::F32 => convolve!(f32),
        DType::F64 => convolve!(f64),
        DType::C64 => convolve!(Complex<f32>),
        DType::C128 => convolve!(Complex<f64>),
        DType::U8 => convolve!(u8),
        DType::U16 => convolve!(u16),
        DType::U32 => convolve!(u32),
        DType::U64 => convolve!(u64),
        DType::I8 => convolve!(i8),
        DType::I16 => convolve!(i16),
        DType::I32 => convolve!(i32),
        DType::I64 => convolve!(i64),
        DType::Bool => return Err(KernelError::new("there is no convolution of bools")),
    }
    Ok(())
}

/// Infers again with the sizes that the data has: they may not suit each other.
fn check(call: &KernelCall<'_, '_>) -> Result<(), KernelError> {
    let ty = |view: &View<'_>| {
        let sizes = view.shape().iter().map(|size| Expr::from(*size as u64));
        ArgType::Value(TensorType::new(view.dtype, sizes.collect()).into())
    };
    let inputs: Vec<_> = call.inputs.iter().map(ty).collect();
    let shape = output_shape(&Call {
        inputs: &inputs,
        attrs: call.attrs,
    });
    let shape = shape.map_err(|error| KernelError::new(error.message))?;
    let planned = &call.outputs[0].shape;
    let sizes = planned.iter().map(|size| Expr::from(*size as u64));
    if sizes.eq(shape.iter().cloned()) {
        return Ok(());
    }
    let shape = Axes(&shape);
    let message = format!("the result has the shape {shape}, not {planned:?} as planned");
    Err(KernelError::new(message))
}

fn elements<'a, T: Multiply>(view: &View<'a>) -> &'a [T] {
    view.contiguous()
        .expect("the caller copies what lies with gaps")
}

/// Elements of the scratch matrix of one tile: half a megabyte of f32, within a level 2 cache.
const TILE: usize = 1 << 17;

struct Sizes {
    geometry: Geometry,
    groups: usize,
    /// Channels of the input and of the output that one group has.
    channels: usize,
    filters: usize,
    input: [usize; 2],
    filter: [usize; 2],
    output: [usize; 2],
    /// Zeros above and to the left of the input.
    zeros: [usize; 2],
}

/// Some rows of the output of one image and group: a row of the matrix for each filter.
struct Tile<'a, T> {
    image_group: usize,
    first_row: usize,
    rows: Vec<&'a mut [T]>,
}

impl Sizes {
    fn new(geometry: Geometry, x: &[usize], w: &[usize], output: &[usize]) -> Self {
        let zeros_rows = geometry.rows.zeros_before(x[2], w[2], output[2]);
        let zeros_cols = geometry.cols.zeros_before(x[3], w[3], output[3]);
        Self {
            geometry,
            groups: geometry.groups,
            channels: w[1],
            filters: w[0] / geometry.groups,
            input: [x[2], x[3]],
            filter: [w[2], w[3]],
            output: [output[2], output[3]],
            zeros: [zeros_rows, zeros_cols],
        }
    }

    /// Elements of the input that one element of the output is made of.
    fn taps(&self) -> usize {
        self.channels * self.filter[0] * self.filter[1]
    }

    /// For each tile of the output, lays out the elements that its filters see as a matrix of
    /// one row per tap, and multiplies the matrix of filters with it.
    fn convolve<T: Multiply>(&self, x: &[T], w: &[T], output: &mut [T]) {
        if output.is_empty() {
            return;
        }
        if x.is_empty() || w.is_empty() {
            output.fill(T::default());
            return;
        }
        let scratch = || (Vec::new(), Vec::new());
        let tiles = self.tiles(output).into_par_iter();
        tiles.for_each_init(scratch, |(seen, sums), tile| {
            self.convolve_tile(x, w, tile, seen, sums);
        });
    }

    fn convolve_tile<T: Multiply>(
        &self,
        x: &[T],
        w: &[T],
        mut tile: Tile<'_, T>,
        seen: &mut Vec<T>,
        sums: &mut Vec<T>,
    ) {
        let width = tile.rows[0].len();
        let image = self.channels * self.input[0] * self.input[1];
        let x = &x[tile.image_group * image..][..image];
        let weights = self.filters * self.taps();
        let w = &w[tile.image_group % self.groups * weights..][..weights];
        let filters = Matrix::row_major(w, self.filters, self.taps());
        sums.resize(self.filters * width, T::default());
        if self.sees_input_as_it_lies() {
            let start = tile.first_row * self.output[1];
            let strides = [(self.input[0] * self.input[1]) as isize, 1];
            let seen = Matrix::new(x, start, [self.channels, width], strides);
            T::multiply(sums, width, filters, seen, Threads::One);
        } else {
            seen.resize(self.taps() * width, T::default());
            self.lay_out(x, tile.first_row, width, seen);
            let seen = Matrix::row_major(seen, self.taps(), width);
            T::multiply(sums, width, filters, seen, Threads::One);
        }
        for (row, sums) in tile.rows.iter_mut().zip(sums.chunks_exact(width)) {
            row.copy_from_slice(sums);
        }
    }

    /// Whether the matrix of what filters see is the input itself.
    fn sees_input_as_it_lies(&self) -> bool {
        let Geometry { rows, cols, .. } = self.geometry;
        self.filter == [1, 1]
            && self.output == self.input
            && [rows.stride, cols.stride] == [1, 1]
            && self.zeros == [0, 0]
    }

    /// Cuts the output at fixed rows.
    fn tiles<'a, T>(&self, output: &'a mut [T]) -> Vec<Tile<'a, T>> {
        let [height, width] = self.output;
        let together = (TILE / self.taps() / width).clamp(1, height);
        let mut tiles = Vec::new();
        let blocks = output.chunks_exact_mut(self.filters * height * width);
        for (image_group, block) in blocks.enumerate() {
            let first = tiles.len();
            tiles.extend((0..height).step_by(together).map(|first_row| Tile {
                image_group,
                first_row,
                rows: Vec::with_capacity(self.filters),
            }));
            for filter in block.chunks_exact_mut(height * width) {
                let parts = filter.chunks_mut(together * width);
                for (tile, part) in tiles[first..].iter_mut().zip(parts) {
                    tile.rows.push(part);
                }
            }
        }
        tiles
    }

    fn lay_out<T: Multiply>(&self, x: &[T], first_row: usize, width: usize, seen: &mut [T]) {
        let [height, filter_width] = self.filter;
        for (tap, seen) in seen.chunks_exact_mut(width).enumerate() {
            let channel = tap / (height * filter_width);
            let (down, right) = (tap / filter_width % height, tap % filter_width);
            let plane = self.input[0] * self.input[1];
            let x = &x[channel * plane..][..plane];
            for (row, seen) in seen.chunks_exact_mut(self.output[1]).enumerate() {
                let Geometry { rows, .. } = self.geometry;
                let at = (first_row + row) * rows.stride + down * rows.dilation;
                match at.checked_sub(self.zeros[0]).filter(|y| *y < self.input[0]) {
                    Some(y) => {
                        self.lay_out_row(&x[y * self.input[1]..][..self.input[1]], right, seen)
                    }
                    None => seen.fill(T::default()),
                }
            }
        }
    }

    /// What one column of the filters sees of a row of the input, zeros where there is none.
    fn lay_out_row<T: Multiply>(&self, x: &[T], right: usize, seen: &mut [T]) {
        let Geometry { cols, .. } = self.geometry;
        let (shift, zeros) = (right * cols.dilation, self.zeros[1]);
        // Output column j sees input column j * stride + shift - zeros.
        let first = zeros
            .saturating_sub(shift)
            .div_ceil(cols.stride)
            .min(seen.len());
        let end = (x.len() + zeros)
            .saturating_sub(shift)
            .div_ceil(cols.stride);
        let end = end.clamp(first, seen.len());
        seen[..first].fill(T::default());
        seen[end..].fill(T::default());
        let seen = &mut seen[first..end];
        if seen.is_empty() {
            return;
        }
        let x = &x[first * cols.stride + shift - zeros..];
        if cols.stride == 1 {
            seen.copy_from_slice(&x[..seen.len()]);
        } else {
            for (seen, x) in seen.iter_mut().zip(x.iter().step_by(cols.stride)) {
                *seen = *x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use haul_ir::op::{Attr, Attrs};
    use haul_ir::tensor::{Layout, ViewMut};

    use super::*;

    /// Shapes of input, filters and planned result, groups, and what is wrong.
    type Case = ([usize; 4], [usize; 4], [usize; 4], u64, &'static str);

    #[test]
    fn sizes_that_only_the_data_shows_are_checked() {
        #[rustfmt::skip]
        let cases: [Case; 4] = [
            ([1, 2, 4, 4], [3, 1, 2, 2], [1, 3, 3, 3], 2, "3 filters do not divide into 2 groups"),
            ([1, 1, 1, 4], [1, 1, 2, 2], [1, 1, 0, 3], 1,
             "a filter reaches over 2 elements, the padded input has 1"),
            ([1, 1, 4, 4], [1, 1, 0, 2], [1, 1, 5, 3], 1, "the filters are empty"),
            ([1, 1, 4, 4], [1, 1, 2, 2], [1, 1, 3, 4], 1,
             "the result has the shape [1, 1, 3, 3], not [1, 1, 3, 4] as planned"),
        ];
        let view = |shape: &[usize]| View {
            dtype: DType::F32,
            layout: Layout::contiguous(shape),
            bytes: &[],
        };
        for (x, w, planned, groups, message) in cases {
            let ints = |number: u64| Attr::Ints(vec![Expr::from(number)]);
            let result = conv2d(&mut KernelCall {
                inputs: &[view(&x), view(&w)],
                attrs: &Attrs(vec![
                    ("stride", ints(1)),
                    ("padding", ints(0)),
                    ("dilation", ints(1)),
                    ("groups", Attr::Int(Expr::from(groups))),
                ]),
                outputs: &mut [ViewMut {
                    dtype: DType::F32,
                    shape: planned.to_vec(),
                    bytes: &mut [],
                }],
            });
            assert_eq!(result, Err(KernelError::new(message)));
        }
    }
}
