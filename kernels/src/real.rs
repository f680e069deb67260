//! Floats of every width, computed in single precision, or in double precision for `f64`.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::tensor::{Layout, View, ViewMut};
use num_traits::AsPrimitive;
use rayon::prelude::*;

use crate::gemm::Multiply;
use crate::math::Math;
use crate::parallel;
use crate::strided::Walk;

/// What floats are computed in.
pub(crate) trait Real: Math + Multiply + AsPrimitive<f64> {
    /// The nearest number.
    fn of(number: f64) -> Self;

    /// Copies elements of a view as [`Walk::copy_from`] does.
    fn read(view: &View<'_>, walk: &Walk, position: usize, into: &mut [Self]);

    /// Rounds to elements of a dtype.
    fn write(values: &[Self], dtype: DType, output: &mut [u8]);

    /// Elements without gaps, as they lie or converted.
    fn plane<'a>(
        view: &View<'a>,
        start: usize,
        len: usize,
        scratch: &'a mut Vec<Self>,
    ) -> &'a [Self];
}

/// Calls a kernel that is generic over [`Real`] with the one in which a dtype is computed.
macro_rules! in_precision {
    ($dtype:expr, $kernel:ident $(, $argument:expr)*) => {
        match $dtype {
            haul_ir::dtype::DType::F64 => $kernel::<f64>($($argument),*),
            _ => $kernel::<f32>($($argument),*),
        }
    };
}
pub(crate) use in_precision;

/// Elements that are converted on the stack at a time.
const BLOCK: usize = 256;

macro_rules! widen {
    ($type:ty, $view:expr, $walk:expr, $position:expr, $into:expr) => {{
        let data = $view.buffer::<$type>();
        let mut narrow = [<$type>::ZERO; BLOCK];
        for (block, into) in $into.chunks_mut(BLOCK).enumerate() {
            let narrow = &mut narrow[..into.len()];
            let position = $position + block * BLOCK;
            $walk.copy_from(data, $view.layout.offset, position, narrow);
            narrow.convert_to_f32_slice(into);
        }
    }};
}

impl Real for f32 {
    fn of(number: f64) -> f32 {
        number as f32
    }

    fn read(view: &View<'_>, walk: &Walk, position: usize, into: &mut [f32]) {
        match view.dtype {
            DType::F16 => widen!(f16, view, walk, position, into),
            DType::Bf16 => widen!(bf16, view, walk, position, into),
            _ => walk.copy_from(view.buffer(), view.layout.offset, position, into),
        }
    }

    fn write(values: &[f32], dtype: DType, output: &mut [u8]) {
        match dtype {
            DType::F16 => {
                bytemuck::cast_slice_mut::<_, f16>(output).convert_from_f32_slice(values);
            }
            DType::Bf16 => {
                bytemuck::cast_slice_mut::<_, bf16>(output).convert_from_f32_slice(values);
            }
            _ => output.copy_from_slice(bytemuck::cast_slice(values)),
        }
    }

    fn plane<'a>(
        view: &View<'a>,
        start: usize,
        len: usize,
        scratch: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        let first = view.layout.offset + start;
        if view.dtype == DType::F32 {
            return &view.buffer()[first..first + len];
        }
        scratch.resize(len, 0.0);
        match view.dtype {
            DType::F16 => view.buffer::<f16>()[first..first + len].convert_to_f32_slice(scratch),
            _ => view.buffer::<bf16>()[first..first + len].convert_to_f32_slice(scratch),
        }
        scratch
    }
}

impl Real for f64 {
    fn of(number: f64) -> f64 {
        number
    }

    fn read(view: &View<'_>, walk: &Walk, position: usize, into: &mut [f64]) {
        walk.copy_from(view.buffer(), view.layout.offset, position, into);
    }

    fn write(values: &[f64], _: DType, output: &mut [u8]) {
        output.copy_from_slice(bytemuck::cast_slice(values));
    }

    fn plane<'a>(view: &View<'a>, start: usize, len: usize, _: &'a mut Vec<f64>) -> &'a [f64] {
        let first = view.layout.offset + start;
        &view.buffer()[first..first + len]
    }
}

/// A view whose elements are read in row-major order.
pub(crate) struct Reader<'a> {
    view: View<'a>,
    walk: Walk,
}

impl<'a> Reader<'a> {
    /// The elements as they stand.
    pub(crate) fn new(view: &View<'a>) -> Self {
        Self::with(view, view.layout.clone())
    }

    /// The elements repeated by broadcasting. The shape must be one that the view broadcasts to.
    pub(crate) fn broadcast(view: &View<'a>, shape: &[usize]) -> Self {
        Self::with(view, view.layout.broadcast_to(shape))
    }

    /// A vector along one axis of a shape, repeated along the others.
    pub(crate) fn along(view: &View<'a>, axis: usize, shape: &[usize]) -> Self {
        let mut strides = vec![0; shape.len()];
        strides[axis] = view.layout.strides.first().copied().unwrap_or(0);
        let layout = Layout {
            shape: shape.to_vec(),
            strides,
            offset: view.layout.offset,
        };
        Self::with(view, layout)
    }

    /// The elements with some axes moved behind the others.
    pub(crate) fn axes_last(view: &View<'a>, axes: &[usize]) -> Self {
        let Layout { shape, strides, .. } = &view.layout;
        let kept = (0..shape.len()).filter(|axis| !axes.contains(axis));
        let order: Vec<_> = kept.chain(axes.iter().copied()).collect();
        let layout = Layout {
            shape: order.iter().map(|axis| shape[*axis]).collect(),
            strides: order.iter().map(|axis| strides[*axis]).collect(),
            offset: view.layout.offset,
        };
        Self::with(view, layout)
    }

    fn with(view: &View<'a>, layout: Layout) -> Self {
        Self {
            walk: Walk::new(&layout.shape, &layout.strides),
            view: View {
                layout,
                ..view.clone()
            },
        }
    }

    /// The elements from a position on, as many as `into` holds.
    pub(crate) fn read<A: Real>(&self, position: usize, into: &mut [A]) {
        A::read(&self.view, &self.walk, position, into);
    }

    /// The element at a position.
    pub(crate) fn at<A: Real>(&self, position: usize) -> A {
        let mut element = [A::zero()];
        self.read(position, &mut element);
        element[0]
    }
}

/// The number that a scalar holds.
pub(crate) fn number<A: Real>(view: &View<'_>) -> A {
    Reader::new(view).at(0)
}

/// The product of some sizes; those of an empty tensor may be larger than any memory.
pub(crate) fn elements_of(sizes: &[usize]) -> usize {
    sizes
        .iter()
        .fold(1, |product: usize, size| product.saturating_mul(*size))
}

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// Fills an output by tasks of whole rows: `fill` gets the position of the first element and
/// space for some rows, which are rounded to the output's dtype afterwards.
pub(crate) fn fill_rows<A: Real>(
    output: &mut ViewMut<'_>,
    row: usize,
    fill: &(dyn Fn(usize, &mut [A]) + Sync),
) {
    if output.bytes.is_empty() {
        return;
    }
    let (dtype, size) = (output.dtype, output.dtype.size() as usize);
    let task = row * (TASK / row).max(1);
    parallel::chunks(output.bytes, task * size, &|chunk, bytes| {
        if dtype == A::DTYPE {
            return fill(chunk * task, bytemuck::cast_slice_mut(bytes));
        }
        let mut wide = vec![A::zero(); bytes.len() / size];
        fill(chunk * task, &mut wide);
        A::write(&wide, dtype, bytes);
    });
}

/// Fills an output by tiles of its slices: `fill` gets the number of the slice, the position in
/// it, and space for `tile` elements or what is left of the slice.
pub(crate) fn fill_tiles<A: Real>(
    output: &mut ViewMut<'_>,
    slice: usize,
    tile: usize,
    fill: &(dyn Fn(usize, usize, &mut [A]) + Sync),
) {
    if output.bytes.is_empty() {
        return;
    }
    let (dtype, size) = (output.dtype, output.dtype.size() as usize);
    let slices = output.bytes.par_chunks_mut(slice * size).enumerate();
    slices.for_each(|(number, bytes)| {
        let tiles = bytes.par_chunks_mut(tile * size).enumerate();
        tiles.for_each(|(at, bytes)| {
            if dtype == A::DTYPE {
                return fill(number, at * tile, bytemuck::cast_slice_mut(bytes));
            }
            let mut wide = vec![A::zero(); bytes.len() / size];
            fill(number, at * tile, &mut wide);
            A::write(&wide, dtype, bytes);
        });
    });
}

/// As [`fill_rows`], for ops that look at each element on its own.
pub(crate) fn fill_elements<A: Real>(
    output: &mut ViewMut<'_>,
    fill: &(dyn Fn(usize, &mut [A]) + Sync),
) {
    fill_rows(output, BLOCK, &|position, values: &mut [A]| {
        for (block, values) in values.chunks_mut(BLOCK).enumerate() {
            fill(position + block * BLOCK, values);
        }
    });
}

/// The sum, in double precision of parts in `A`.
pub(crate) fn sum<A: Real>(values: &[A], of: impl Fn(A) -> A) -> f64 {
    let add = |sum: A, x: A, _| sum + of(x);
    let parts = values.chunks(BLOCK).map(|part| {
        let sum = crate::ops::in_lanes(part, 0, A::zero(), add, |a, b| a + b);
        AsPrimitive::<f64>::as_(sum)
    });
    parts.fold(0.0, |total, part| total + part)
}
