//! Ops that turn each slice along an axis into another slice, whatever lies between its elements.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use haul_ir::tensor::{View, ViewMut};
use rayon::prelude::*;

use crate::parallel;
use crate::strided::{Walk, strips};

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// Slices side by side in memory that one task takes, so that it uses whole lines of cache.
const COLUMNS: usize = 64;

/// Gathers each slice along the axis, and has `turn` fill the slice of the output from it. Both
/// are bytes of whole elements without gaps; the output may have another dtype, and another size
/// along the axis. Needs space for one slice of each a thread.
pub(crate) fn each_slice(
    input: &View<'_>,
    axis: usize,
    output: &mut ViewMut<'_>,
    turn: &(dyn Fn(&mut [u8], &mut [u8]) + Sync),
) {
    let size = output.dtype.size() as usize;
    let (length, out_length) = (input.shape()[axis], output.shape[axis]);
    let inner: usize = output.shape[axis + 1..].iter().product();
    if output.bytes.is_empty() {
        return;
    }
    let slices = Slices::new(input, axis);
    if inner == 1 {
        let rows = (TASK / length.max(1)).max(1);
        let row = out_length * size;
        return parallel::chunks(output.bytes, rows * row, &|chunk, results| {
            let mut elements = slices.space();
            for (at, result) in results.chunks_exact_mut(row).enumerate() {
                turn(slices.gather(chunk * rows + at, 0, &mut elements), result);
            }
        });
    }
    let blocks = output.bytes.par_chunks_mut(out_length * inner * size);
    blocks.enumerate().for_each(|(block, results)| {
        let strips = strips(results, inner * size, COLUMNS * size);
        strips
            .into_par_iter()
            .enumerate()
            .for_each(|(strip, mut rows)| {
                let columns = rows.first().map_or(0, |row| row.len() / size);
                let mut elements = slices.space();
                let mut result = space(out_length * size);
                let result = &mut cast_slice_mut::<_, u8>(&mut result)[..out_length * size];
                for column in 0..columns {
                    let place = strip * COLUMNS + column;
                    turn(slices.gather(block, place, &mut elements), result);
                    for (row, element) in rows.iter_mut().zip(result.chunks_exact(size)) {
                        row[column * size..][..size].copy_from_slice(element);
                    }
                }
            });
    });
}

/// The slices of a view along an axis.
pub(crate) struct Slices<'a> {
    bytes: &'a [u8],
    size: usize,
    start: usize,
    length: usize,
    stride: isize,
    outer: Walk,
    inner: Walk,
}

impl<'a> Slices<'a> {
    pub(crate) fn new(view: &View<'a>, axis: usize) -> Self {
        let layout = &view.layout;
        let after = axis + 1;
        Self {
            bytes: view.bytes,
            size: view.dtype.size() as usize,
            start: layout.offset,
            length: layout.shape[axis],
            stride: layout.strides[axis],
            outer: Walk::new(&layout.shape[..axis], &layout.strides[..axis]),
            inner: Walk::new(&layout.shape[after..], &layout.strides[after..]),
        }
    }

    /// Where an element lies: its place before, along and after the axis.
    pub(crate) fn place(&self, outer: usize, at: usize, inner: usize) -> usize {
        let offset = self.outer.offset(outer) + self.inner.offset(inner);
        self.start
            .wrapping_add_signed(offset + at as isize * self.stride)
    }

    /// Space for a slice.
    fn space(&self) -> Vec<u64> {
        space(self.length * self.size)
    }

    /// The elements of one slice.
    fn gather<'s>(&self, outer: usize, inner: usize, space: &'s mut [u64]) -> &'s mut [u8] {
        let slice = &mut cast_slice_mut(space)[..self.length * self.size];
        let start = match self.length {
            0 => return slice,
            _ => self.place(outer, 0, inner),
        };
        match self.size {
            1 => self.copy::<u8>(start, slice),
            2 => self.copy::<u16>(start, slice),
            4 => self.copy::<u32>(start, slice),
            8 => self.copy::<u64>(start, slice),
            _ => self.copy::<[u64; 2]>(start, slice),
        }
        slice
    }

    fn copy<T: Pod>(&self, start: usize, slice: &mut [u8]) {
        let (data, slice): (&[T], &mut [T]) = (cast_slice(self.bytes), cast_slice_mut(slice));
        if self.stride == 1 {
            return slice.copy_from_slice(&data[start..start + self.length]);
        }
        let mut at = start;
        for element in slice {
            *element = data[at];
            at = at.wrapping_add_signed(self.stride);
        }
    }
}

/// Bytes at an address that suits every element.
fn space(bytes: usize) -> Vec<u64> {
    vec![0; bytes.div_ceil(8)]
}
