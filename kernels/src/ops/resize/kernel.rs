use bytemuck::Pod;
use haul_ir::op::{Attrs, KernelCall, KernelError};
use haul_ir::tensor::View;

use super::taps::{Axis, Taps};
use super::{Mode, infer, scales};
use crate::ops::array_op::check;
use crate::parallel;
use crate::real::{Real, fill_tiles, in_precision};

pub(super) fn resize(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    let failed = |error: haul_ir::op::InferError| KernelError::new(error.message);
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let resized = call.attrs.ints("sizes").map_or(0, |sizes| sizes.len());
    let kept = x.shape().len() - resized;
    let scales = scales(call.attrs, resized).map_err(failed)?;
    let axes: Vec<_> = (0..resized)
        .map(|axis| Axis {
            old: x.shape()[kept + axis],
            new: output.shape[kept + axis],
            scale: scales.as_ref().map(|scales| scales[axis]),
        })
        .collect();
    if output.bytes.is_empty() {
        return Ok(());
    }
    let mode = Mode::of(call.attrs).map_err(failed)?;
    if mode != Mode::Nearest {
        in_precision!(output.dtype, interpolate, call, &axes, mode);
        return Ok(());
    }
    match output.dtype.size() {
        1 => pick::<u8>(x, &axes, call.attrs, output.bytes),
        2 => pick::<u16>(x, &axes, call.attrs, output.bytes),
        4 => pick::<u32>(x, &axes, call.attrs, output.bytes),
        8 => pick::<u64>(x, &axes, call.attrs, output.bytes),
        _ => pick::<[u64; 2]>(x, &axes, call.attrs, output.bytes),
    }
    Ok(())
}

/// The nearest elements, a row of the last axis at a time.
fn pick<T: Pod + Send + Sync>(x: &View<'_>, axes: &[Axis], attrs: &Attrs, output: &mut [u8]) {
    let x: &[T] = &bytemuck::cast_slice(x.bytes)[x.layout.offset..];
    let places: Vec<_> = axes.iter().map(|axis| axis.nearest(attrs)).collect();
    let (Some(columns), Some(last)) = (places.last(), axes.last()) else {
        return output.copy_from_slice(bytemuck::cast_slice(&x[..output.len() / size_of::<T>()]));
    };
    let outer = &axes[..axes.len() - 1];
    parallel::chunks(output, columns.len() * size_of::<T>(), &|row, output| {
        let (mut rest, mut start, mut rows) = (row, 0, 1);
        for (axis, places) in outer.iter().zip(&places).rev() {
            start += places[rest % axis.new] * rows;
            rest /= axis.new;
            rows *= axis.old;
        }
        let line = &x[(rest * rows + start) * last.old..][..last.old];
        let output: &mut [T] = bytemuck::cast_slice_mut(output);
        for (element, column) in output.iter_mut().zip(columns) {
            *element = line[*column];
        }
    });
}

/// One axis after the other, slice by slice of the axes that stay.
fn interpolate<A: Real>(call: &mut KernelCall<'_, '_>, axes: &[Axis], mode: Mode) {
    let x = &call.inputs[0];
    let taps: Vec<_> = axes
        .iter()
        .map(|axis| axis.taps(mode, call.attrs))
        .collect();
    let old: usize = axes.iter().map(|axis| axis.old).product();
    let new: usize = axes.iter().map(|axis| axis.new).product();
    fill_tiles(
        &mut call.outputs[0],
        new,
        new,
        &|slice, _, output: &mut [A]| {
            let mut scratch = Vec::new();
            let mut seen = A::plane(x, slice * old, old, &mut scratch).to_vec();
            let mut inner = old;
            for (axis, taps) in axes.iter().zip(&taps) {
                inner /= axis.old;
                let outer = seen.len() / (axis.old * inner);
                let mut resized = vec![A::zero(); outer * axis.new * inner];
                for (block, seen) in seen.chunks_exact(axis.old * inner).enumerate() {
                    let resized = &mut resized[block * axis.new * inner..][..axis.new * inner];
                    along(seen, taps, inner, resized);
                }
                seen = resized;
            }
            output.copy_from_slice(&seen);
        },
    );
}

/// Weighs the neighbours along the first of two axes, of which the second has `inner` elements.
fn along<A: Real>(seen: &[A], taps: &[Taps], inner: usize, resized: &mut [A]) {
    for (taps, sums) in taps.iter().zip(resized.chunks_exact_mut(inner)) {
        let rows = seen[taps.first * inner..].chunks_exact(inner);
        for (weight, row) in taps.weights.iter().zip(rows) {
            let weight = A::of(*weight);
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum = *sum + weight * *x;
            }
        }
    }
}
