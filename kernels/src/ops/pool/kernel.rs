use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::op::{InferError, KernelCall, KernelError};
use haul_ir::tensor::{Element, View, ViewMut};

use super::{infer_float, infer_max, infer_max_with_indices, infer_norm, order, window};
use crate::ops::array_op::check;
use crate::ops::windows::{Axis, Windows};
use crate::parallel;
use crate::real::{Real, elements_of, fill_rows, in_precision, sum};

/// The windows of a call that was checked; nothing where one is over everything.
fn windows(call: &KernelCall<'_, '_>) -> Result<Option<Windows>, KernelError> {
    let (input, output) = (&call.inputs[0].shape()[2..], &call.outputs[0].shape[2..]);
    let failed = |error: InferError| KernelError::new(error.message);
    let Some(window) = window(call.attrs, input.len()).map_err(failed)? else {
        return Ok(None);
    };
    let axes = Axis::all(call.attrs, &window).map_err(failed)?;
    Ok(Some(Windows::new(&axes, input, &window, output)))
}

/// Elements of windows that are worth a task.
const TASK: usize = 1 << 16;

pub(super) fn max_pool(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_max)?;
    largest(call)
}

pub(super) fn max_pool_with_indices(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_max_with_indices)?;
    largest(call)
}

fn largest(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let windows = windows(call)?;
    let (x, outputs) = (&call.inputs[0], &mut *call.outputs);
    macro_rules! largest {
        ($type:ty) => {
            match (&windows, outputs) {
                (None, [values, ..]) => largest_of_all::<$type>(x, values),
                (Some(windows), [values]) => largest_of::<$type>(x, windows, values),
                (Some(windows), outputs) => with_indices::<$type>(x, windows, outputs),
                (None, []) => {}
            }
        };
    }
    match x.dtype {
        DType::F16 => largest!(f16),
        DType::Bf16 => largest!(bf16),
        DType::F32 => largest!(f32),
        DType::F64 => largest!(f64),
        DType::U8 => largest!(u8),
        DType::U16 => largest!(u16),
        DType::U32 => largest!(u32),
        DType::U64 => largest!(u64),
        DType::I8 => largest!(i8),
        DType::I16 => largest!(i16),
        DType::I32 => largest!(i32),
        DType::I64 => largest!(i64),
        other => return Err(KernelError::new(format!("is not defined for {other}"))),
    }
    Ok(())
}

/// What is larger than what; NaN is larger than all.
trait Ordered: Element {
    const LEAST: Self;
    fn beats(self, other: Self) -> bool;
}

macro_rules! ordered {
    ($least:ident, $a:ident, $b:ident, $beats:expr, $($type:ty)*) => {$(
        impl Ordered for $type {
            const LEAST: Self = <$type>::$least;

            #[inline(always)]
            fn beats(self, other: Self) -> bool {
                let ($a, $b) = (self, other);
                $beats
            }
        }
    )*};
}

ordered! { MIN, a, b, a > b, u8 u16 u32 u64 i8 i16 i32 i64 }
ordered! { NEG_INFINITY, a, b, a > b || (a.is_nan() && !b.is_nan()), f16 bf16 f32 f64 }

fn larger<T: Ordered>(a: T, b: T) -> T {
    if b.beats(a) { b } else { a }
}

fn largest_of_all<T: Ordered>(x: &View<'_>, values: &mut ViewMut<'_>) {
    let x = elements::<T>(x);
    let size = size_of::<T>();
    let channels = values.bytes.len() / size;
    let plane = (x.len() / channels.max(1)).max(1);
    let together = (TASK / plane).max(1);
    parallel::chunks(values.bytes, together * size, &|chunk, values| {
        let planes = x[chunk * together * plane..].chunks_exact(plane);
        let values: &mut [T] = bytemuck::cast_slice_mut(values);
        for (value, plane) in values.iter_mut().zip(planes) {
            *value = plane.iter().copied().fold(T::LEAST, larger);
        }
    });
}

fn largest_of<T: Ordered>(x: &View<'_>, windows: &Windows, values: &mut ViewMut<'_>) {
    let x = elements::<T>(x);
    let (width, together) = rows_of(windows);
    let chunk_bytes = together
        .saturating_mul(width)
        .saturating_mul(size_of::<T>());
    parallel::chunks(values.bytes, chunk_bytes, &|chunk, values| {
        let values: &mut [T] = bytemuck::cast_slice_mut(values);
        for (at, values) in values.chunks_exact_mut(width).enumerate() {
            let (plane, row) = plane_of(x, windows, chunk * together + at);
            values.fill(T::LEAST);
            windows.each_tap(row, |_, reached, place, step| {
                let elements = plane[place..].iter().step_by(step);
                for (value, x) in values[reached].iter_mut().zip(elements) {
                    *value = larger(*value, *x);
                }
            });
        }
    });
}

/// The indices first, and then what is there.
fn with_indices<T: Ordered>(x: &View<'_>, windows: &Windows, outputs: &mut [ViewMut<'_>]) {
    let x = elements::<T>(x);
    let [values, indices] = outputs else { return };
    let (width, together) = rows_of(windows);
    let chunk = together.saturating_mul(width);
    parallel::chunks(
        indices.bytes,
        chunk.saturating_mul(size_of::<i64>()),
        &|chunk, indices| {
            let indices: &mut [i64] = bytemuck::cast_slice_mut(indices);
            for (at, indices) in indices.chunks_exact_mut(width).enumerate() {
                let (plane, row) = plane_of(x, windows, chunk * together + at);
                indices.fill(-1);
                windows.each_tap(row, |_, reached, place, step| {
                    for (window, index) in indices[reached].iter_mut().enumerate() {
                        let place = place + window * step;
                        if *index < 0 || plane[place].beats(plane[*index as usize]) {
                            *index = place as i64;
                        }
                    }
                });
            }
        },
    );
    let indices: &[i64] = bytemuck::cast_slice(indices.bytes);
    parallel::chunks(
        values.bytes,
        chunk.saturating_mul(size_of::<T>()),
        &|part, values| {
            let values: &mut [T] = bytemuck::cast_slice_mut(values);
            let places = indices[part * chunk..].iter().zip(part * chunk..);
            for (value, (index, position)) in values.iter_mut().zip(places) {
                let (plane, _) = plane_of(x, windows, position / width);
                *value = usize::try_from(*index).map_or(T::LEAST, |index| plane[index]);
            }
        },
    );
}

/// The length of a row of windows, and how many rows one task takes.
fn rows_of(windows: &Windows) -> (usize, usize) {
    let width = windows.output[2].max(1);
    let work = width.saturating_mul(windows.taps()).max(1);
    (width, (TASK / work).max(1))
}

/// The channel of a row of all windows, and the row in it.
fn plane_of<'a, T>(x: &'a [T], windows: &Windows, row: usize) -> (&'a [T], usize) {
    let (channel, row) = (row / windows.rows(), row % windows.rows());
    (&x[channel * windows.plane()..][..windows.plane()], row)
}

fn elements<'a, T: Element>(view: &View<'a>) -> &'a [T] {
    view.contiguous()
        .expect("the caller copies what lies with gaps")
}

pub(super) fn avg_pool(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_float)?;
    in_precision!(call.outputs[0].dtype, mean, call)
}

fn mean<A: Real>(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let Some(windows) = windows(call)? else {
        of_channels(call, &|plane: &[A]| {
            A::of(sum(plane, |x| x) / plane.len() as f64)
        });
        return Ok(());
    };
    let padding = call.attrs.flag("count_include_pad");
    let finish = |sum: A, row: usize, column: usize| {
        let at = [row / windows.output[1], row % windows.output[1], column];
        let count = |axis: usize| match padding {
            true => windows.counted(axis, at[axis]) as f64,
            false => windows.inside(axis, at[axis]).len() as f64,
        };
        sum / A::of(count(0) * count(1) * count(2))
    };
    of_windows(call, &windows, &|x: A| x, &finish);
    Ok(())
}

pub(super) fn lp_pool(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_norm)?;
    in_precision!(call.outputs[0].dtype, norm, call)
}

fn norm<A: Real>(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let p = order(call.attrs).map_err(|error| KernelError::new(error.message))?;
    let (power, root) = (A::of(p), A::of(1.0 / p));
    let raise = move |x: A| match p {
        1.0 => x.abs(),
        2.0 => x * x,
        _ => x.abs().powf(power),
    };
    let root = move |sum: A| match p {
        1.0 => sum,
        2.0 => sum.sqrt(),
        _ => sum.powf(root),
    };
    match windows(call)? {
        None => of_channels(call, &|plane: &[A]| root(A::of(sum(plane, raise)))),
        Some(windows) => of_windows(call, &windows, &raise, &|sum, _, _| root(sum)),
    }
    Ok(())
}

/// One number of each channel.
fn of_channels<A: Real>(call: &mut KernelCall<'_, '_>, of: &(dyn Fn(&[A]) -> A + Sync)) {
    let x = &call.inputs[0];
    let plane = elements_of(&x.shape()[2..]);
    fill_rows(&mut call.outputs[0], 1, &|position, values: &mut [A]| {
        let mut scratch = Vec::new();
        for (at, value) in values.iter_mut().enumerate() {
            let start = (position + at) * plane;
            *value = of(A::plane(x, start, plane, &mut scratch));
        }
    });
}

/// The sum over each window of what becomes of its elements, and what becomes of it by its row
/// and column. Of half precision, a channel is widened at a time.
fn of_windows<A: Real>(
    call: &mut KernelCall<'_, '_>,
    windows: &Windows,
    of: &(impl Fn(A) -> A + Sync),
    finish: &(impl Fn(A, usize, usize) -> A + Sync),
) {
    let x = &call.inputs[0];
    let (width, plane) = (windows.output[2], windows.plane());
    fill_rows(
        &mut call.outputs[0],
        width,
        &|position, values: &mut [A]| {
            let mut scratch = Vec::new();
            let first = position / width;
            let rows = values.len() / width;
            let mut at = 0;
            while at < rows {
                let (channel, row) = ((first + at) / windows.rows(), (first + at) % windows.rows());
                let channel = A::plane(x, channel * plane, plane, &mut scratch);
                let end = rows.min(at + windows.rows() - row);
                let of_channel = values[at * width..end * width].chunks_exact_mut(width);
                for (values, row) in of_channel.zip(row..) {
                    values.fill(A::zero());
                    windows.each_tap(row, |_, reached, place, step| {
                        let elements = channel[place..].iter().step_by(step);
                        for (sum, x) in values[reached].iter_mut().zip(elements) {
                            *sum = *sum + of(*x);
                        }
                    });
                    for (column, value) in values.iter_mut().enumerate() {
                        *value = finish(*value, row, column);
                    }
                }
                at = end;
            }
        },
    );
}
