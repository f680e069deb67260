use haul_ir::dtype::DType;
use haul_ir::op::{KernelCall, KernelError};
use haul_ir::tensor::{Element, View};
use num_complex::Complex;
use rayon::prelude::*;

use super::{Geometry, infer};
use crate::gemm::{Matrix, Multiply, Threads};
use crate::ops::array_op::check;
use crate::ops::windows::Windows;
use crate::wide::{narrow, widen};

pub(super) fn conv(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    let [x, w] = [&call.inputs[0], &call.inputs[1]];
    let output = &mut call.outputs[0];
    let geometry = Geometry::of(call.attrs, &w.shape()[2..]);
    let geometry = geometry.map_err(|error| KernelError::new(error.message))?;
    let sizes = Convolution {
        windows: Windows::new(
            &geometry.axes,
            &x.shape()[2..],
            &w.shape()[2..],
            &output.shape[2..],
        ),
        groups: geometry.groups,
        channels: w.shape()[1],
        filters: w.shape()[0] / geometry.groups,
    };
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

fn elements<'a, T: Element>(view: &View<'a>) -> &'a [T] {
    view.contiguous()
        .expect("the caller copies what lies with gaps")
}

/// Elements of the scratch matrix of one tile: half a megabyte of f32, within a level 2 cache.
const TILE: usize = 1 << 17;

struct Convolution {
    windows: Windows,
    groups: usize,
    /// Channels of the input and of the output that one group has.
    channels: usize,
    filters: usize,
}

/// Some rows of the output of one image and group: a row of the matrix for each filter.
struct Tile<'a, T> {
    image_group: usize,
    first_row: usize,
    rows: Vec<&'a mut [T]>,
}

impl Convolution {
    /// Elements of the input that one element of the output is made of.
    fn taps(&self) -> usize {
        self.channels * self.windows.taps()
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
        let image = self.channels * self.windows.plane();
        let x = &x[tile.image_group * image..][..image];
        let weights = self.filters * self.taps();
        let w = &w[tile.image_group % self.groups * weights..][..weights];
        let filters = Matrix::row_major(w, self.filters, self.taps());
        sums.resize(self.filters * width, T::default());
        if self.windows.are_the_input() {
            let start = tile.first_row * self.windows.output[2];
            let strides = [self.windows.plane() as isize, 1];
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

    /// Cuts the output at fixed rows.
    fn tiles<'a, T>(&self, output: &'a mut [T]) -> Vec<Tile<'a, T>> {
        let (height, width) = (self.windows.rows(), self.windows.output[2]);
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
        let rows = first_row..first_row + width / self.windows.output[2];
        let planes = x.chunks_exact(self.windows.plane());
        let blocks = seen.chunks_exact_mut(self.windows.taps() * width);
        for (plane, seen) in planes.zip(blocks) {
            self.windows.lay_out(plane, rows.clone(), seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use haul_ir::expr::Expr;
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
             "a window reaches over 2 elements, the padded input has 1"),
            ([1, 1, 4, 4], [1, 1, 0, 2], [1, 1, 5, 3], 1, "the windows are empty"),
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
            let result = conv(&mut KernelCall {
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
