use std::ops::Add;

use haul_ir::dtype::DType;
use haul_ir::op::{KernelCall, KernelError};
use num_complex::Complex;
use rayon::prelude::*;

use super::infer;
use crate::gemm::{Matrix, Multiply, Threads};
use crate::ops::array_op::check;
use crate::ops::conv::groups;
use crate::ops::windows::{Axis, Windows};
use crate::strided::contiguous;
use crate::wide::{narrow, widen};

pub(super) fn conv_transpose(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    let [x, w] = [&call.inputs[0], &call.inputs[1]];
    let window = &w.shape()[2..];
    let known = Axis::all(call.attrs, window).and_then(|axes| Ok((axes, groups(call.attrs)?)));
    let (axes, groups) = known.map_err(|error| KernelError::new(error.message))?;
    let output = &mut call.outputs[0];
    let sizes = Transposed {
        windows: Windows::new(&axes, &output.shape[2..], window, &x.shape()[2..]),
        groups,
        channels: x.shape()[1] / groups,
        filters: w.shape()[1],
    };
    macro_rules! spread {
        ($type:ty) => {
            sizes.spread::<$type>(&contiguous(x), &contiguous(w), output.elements())
        };
    }
    match output.dtype {
        DType::F16 | DType::Bf16 => {
            let mut wide = vec![0.0; output.shape.iter().product()];
            sizes.spread(&widen(x), &widen(w), &mut wide);
            narrow(&wide, output);
        }
        DType::F32 => spread!(f32),
        DType::F64 => spread!(f64),
        DType::C64 => spread!(Complex<f32>),
        DType::C128 => spread!(Complex<f64>),
        other => {
            let message = format!("there is no transposed convolution of {other}");
            return Err(KernelError::new(message));
        }
    }
    Ok(())
}

/// Channels of the result that one task fills.
const TOGETHER: usize = 8;

/// Elements of the scratch matrix of one tile: half a megabyte of f32, within a level 2 cache.
const TILE: usize = 1 << 17;

struct Transposed {
    /// Windows over the result, one for each element of the input.
    windows: Windows,
    groups: usize,
    /// Channels of the input and of the output that one group has.
    channels: usize,
    filters: usize,
}

/// Some channels of the result.
struct Task<'a, T> {
    image_group: usize,
    first: usize,
    planes: &'a mut [T],
}

impl Transposed {
    fn spread<T: Multiply + Add<Output = T>>(&self, x: &[T], w: &[T], output: &mut [T]) {
        output.fill(T::default());
        let plane = self.windows.plane();
        if output.is_empty() || x.is_empty() || w.is_empty() {
            return;
        }
        let mut tasks = Vec::new();
        let blocks = output.chunks_exact_mut(self.filters * plane);
        for (image_group, block) in blocks.enumerate() {
            let parts = block.chunks_mut(TOGETHER * plane).enumerate();
            tasks.extend(parts.map(|(at, planes)| Task {
                image_group,
                first: at * TOGETHER,
                planes,
            }));
        }
        let tasks = tasks.into_par_iter();
        tasks.for_each_init(Vec::new, |scratch, task| self.fill(x, w, task, scratch));
    }

    /// For some rows of the input at a time, multiplies the filters with them and adds the
    /// products to where their windows are.
    fn fill<T: Multiply + Add<Output = T>>(
        &self,
        x: &[T],
        w: &[T],
        task: Task<'_, T>,
        products: &mut Vec<T>,
    ) {
        let (plane, taps) = (self.windows.plane(), self.windows.taps());
        let (rows, width) = (self.windows.rows(), self.windows.output[2]);
        let filters = task.planes.len() / plane;
        let places = rows * width;
        let image = self.channels * places;
        let x = &x[task.image_group * image..][..image];
        let group = task.image_group % self.groups;
        let weights = self.channels * self.filters * taps;
        let w = &w[group * weights..][..weights];
        let strides = [1, (self.filters * taps) as isize];
        let w = Matrix::new(
            w,
            task.first * taps,
            [filters * taps, self.channels],
            strides,
        );
        let together = (TILE / (filters * taps) / width).clamp(1, rows);
        for first in (0..rows).step_by(together) {
            let rows = first..rows.min(first + together);
            let columns = rows.len() * width;
            let shape = [self.channels, columns];
            let x = Matrix::new(x, first * width, shape, [places as isize, 1]);
            products.resize(filters * taps * columns, T::default());
            T::multiply(products, columns, w, x, Threads::One);
            let of_filters = products.chunks_exact(taps * columns);
            for (products, plane) in of_filters.zip(task.planes.chunks_exact_mut(plane)) {
                self.windows.add_back(products, rows.clone(), plane);
            }
        }
    }
}
