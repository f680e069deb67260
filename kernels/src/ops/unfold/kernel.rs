use std::num::Wrapping;
use std::ops::Add;

use bytemuck::Pod;
use haul_ir::dtype::DType;
use haul_ir::op::{Attrs, KernelCall, KernelError};
use haul_ir::tensor::View;
use num_complex::Complex;
use rayon::prelude::*;

use super::{infer_fold, infer_unfold};
use crate::ops::array_op::check;
use crate::ops::windows::{Axis, Windows};
use crate::parallel;
use crate::real::Real;

pub(super) fn unfold(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_unfold)?;
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let windows = windows(call.attrs, &x.shape()[2..])?;
    match output.dtype.size() {
        1 => lay_out::<u8>(&windows, x, output.bytes),
        2 => lay_out::<u16>(&windows, x, output.bytes),
        4 => lay_out::<u32>(&windows, x, output.bytes),
        8 => lay_out::<u64>(&windows, x, output.bytes),
        _ => lay_out::<[u64; 2]>(&windows, x, output.bytes),
    }
    Ok(())
}

/// The patches of a tensor whose axes after the second have these sizes.
fn windows(attrs: &Attrs, input: &[usize]) -> Result<Windows, KernelError> {
    let window = attrs.ints("kernel_size").unwrap_or_default();
    let window: Vec<_> = window
        .iter()
        .map(|size| size.unsigned_abs() as usize)
        .collect();
    let failed = |error: haul_ir::op::InferError| KernelError::new(error.message);
    let axes = Axis::all(attrs, &window).map_err(failed)?;
    let mut output = Vec::with_capacity(window.len());
    for (axis, (input, window)) in axes.iter().zip(input.iter().zip(&window)) {
        let (input, window) = ((*input as u64).into(), (*window as u64).into());
        let fit = axis.output(&input, &window).map_err(failed)?;
        output.push(fit.as_u64().unwrap_or(0) as usize);
    }
    Ok(Windows::new(&axes, input, &window, &output))
}

/// One channel of one item after the other.
fn lay_out<T: Pod + Default + Send + Sync>(windows: &Windows, x: &View<'_>, output: &mut [u8]) {
    if output.is_empty() {
        return;
    }
    if output.is_empty() {
        return;
    }
    let (plane, rows) = (windows.plane(), windows.rows());
    let columns = windows.taps() * rows * windows.output[2];
    let x: &[T] = &bytemuck::cast_slice(x.bytes)[x.layout.offset..];
    parallel::chunks(output, columns * size_of::<T>(), &|channel, output| {
        let x = &x[channel * plane..][..plane];
        windows.lay_out(x, 0..rows, bytemuck::cast_slice_mut(output));
    });
}

pub(super) fn fold(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_fold)?;
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let windows = windows(call.attrs, &output.shape[2..])?;
    macro_rules! add_back {
        ($element:ty) => {
            add_back::<$element>(&windows, x, output.bytes)
        };
    }
    match output.dtype {
        DType::F16 | DType::Bf16 => add_back_wide(&windows, x, output.dtype, output.bytes),
        DType::F32 => add_back!(f32),
        DType::F64 => add_back!(f64),
        DType::C64 => add_back!(Complex<f32>),
        DType::C128 => add_back!(Complex<f64>),
        // Sums of signed integers have the same bits.
        _ => add_back!(Wrapping<u64>),
    }
    Ok(())
}

fn add_back<T>(windows: &Windows, x: &View<'_>, output: &mut [u8])
where
    T: Pod + Default + Send + Sync + Add<Output = T>,
{
    if output.is_empty() {
        return;
    }
    let (plane, rows) = (windows.plane(), windows.rows());
    let columns = windows.taps() * rows * windows.output[2];
    let x: &[T] = &bytemuck::cast_slice(x.bytes)[x.layout.offset..];
    parallel::chunks(output, plane * size_of::<T>(), &|channel, output| {
        let output: &mut [T] = bytemuck::cast_slice_mut(output);
        output.fill(T::default());
        windows.add_back(&x[channel * columns..][..columns], 0..rows, output);
    });
}

/// In single precision, a channel at a time.
fn add_back_wide(windows: &Windows, x: &View<'_>, dtype: DType, output: &mut [u8]) {
    if output.is_empty() {
        return;
    }
    let (plane, rows) = (windows.plane(), windows.rows());
    let columns = windows.taps() * rows * windows.output[2];
    let channels = output.par_chunks_mut(plane * 2).enumerate();
    channels.for_each(|(channel, output)| {
        let (mut scratch, mut sums) = (Vec::new(), vec![0.0; plane]);
        let x = f32::plane(x, channel * columns, columns, &mut scratch);
        windows.add_back(x, 0..rows, &mut sums);
        f32::write(&sums, dtype, output);
    });
}
