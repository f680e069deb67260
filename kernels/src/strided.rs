//! Walking and copying elements that lie with steps between them.

mod transpose;

use std::borrow::Cow;

use bytemuck::Pod;
use haul_ir::tensor::{Element, View};
use rayon::prelude::*;

/// Elements that one task copies: large enough to be worth a task, and a fixed number, so that
/// tasks are cut at the same places whatever the pool.
const CHUNK: usize = 1 << 14;

/// Shape and strides with neighbouring axes merged where they lie without a gap, and axes of
/// size 1 left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walk {
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl Walk {
    pub(crate) fn new(shape: &[usize], strides: &[isize]) -> Self {
        let mut walk = Walk::default();
        for (&size, &stride) in shape.iter().zip(strides).filter(|(size, _)| **size != 1) {
            match (walk.shape.last_mut(), walk.strides.last_mut()) {
                (Some(outer), Some(outer_stride))
                    if *outer_stride == stride.wrapping_mul(size as isize) =>
                {
                    *outer *= size;
                    *outer_stride = stride;
                }
                _ => {
                    walk.shape.push(size);
                    walk.strides.push(stride);
                }
            }
        }
        walk
    }

    /// Whether every index lies at the same place.
    pub(crate) fn is_repeated(&self) -> bool {
        self.strides.iter().all(|stride| *stride == 0)
    }

    /// Size and stride where one axis is left, or none.
    pub(crate) fn single(&self) -> Option<(usize, isize)> {
        match (&self.shape[..], &self.strides[..]) {
            ([], []) => Some((1, 0)),
            (&[size], &[stride]) => Some((size, stride)),
            _ => None,
        }
    }

    /// Where the index at a position in row-major order lies, relative to the first.
    pub(crate) fn offset(&self, position: usize) -> isize {
        let (mut rest, mut offset) = (position, 0);
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            offset += (rest % size.max(1)) as isize * stride;
            rest /= size.max(1);
        }
        offset
    }

    /// Where each index lies, in row-major order, relative to the first, from a position on.
    pub(crate) fn offsets(&self, from: usize) -> Offsets<'_> {
        let mut offsets = Offsets {
            walk: self,
            index: vec![0; self.shape.len()],
            offset: 0,
        };
        let mut rest = from;
        for axis in (0..self.shape.len()).rev() {
            let size = self.shape[axis].max(1);
            offsets.index[axis] = rest % size;
            offsets.offset += (rest % size) as isize * self.strides[axis];
            rest /= size;
        }
        offsets
    }

    /// Copies the elements that lie at `start` and from there on into `output`, in order.
    pub(crate) fn copy<T: Copy + Send + Sync>(&self, data: &[T], start: usize, output: &mut [T]) {
        match output {
            [] => return,
            [element] => return *element = data[start],
            _ => {}
        }
        let (&inner, &stride) = match (self.shape.last(), self.strides.last()) {
            (Some(inner), Some(stride)) => (inner, stride),
            _ => (&1, &1),
        };
        if self.shape.len() <= 1 && stride == 1 {
            copy_slice(&data[start..start + inner], output);
        } else if let Some(axis) = self.transposed_axis() {
            // A row of a tile is whole lines of cache, and a tile fits a level 1 cache.
            match size_of::<T>() {
                1 | 2 => self.copy_transposed::<T, 64>(data, start, axis, output),
                4 => self.copy_transposed::<T, 32>(data, start, axis, output),
                _ => self.copy_transposed::<T, 16>(data, start, axis, output),
            }
        } else if output.len() <= CHUNK {
            self.copy_rows(data, start, 0, output);
        } else {
            let rows = (CHUNK / inner).max(1);
            let chunks = output.par_chunks_mut(rows * inner).enumerate();
            chunks.for_each(|(chunk, output)| self.copy_rows(data, start, chunk * rows, output));
        }
    }

    /// Copies the elements from a position in row-major order on, as many as `output` holds.
    pub(crate) fn copy_from<T: Copy>(
        &self,
        data: &[T],
        start: usize,
        position: usize,
        output: &mut [T],
    ) {
        let (outer, inner, stride) = self.split_last();
        let mut column = position % inner;
        let mut offsets = outer.offsets(position / inner);
        let mut rest = output;
        while !rest.is_empty() {
            let offset = offsets.next().unwrap_or(0) + column as isize * stride;
            let (row, after) = rest.split_at_mut(rest.len().min(inner - column));
            copy_row(data, start.wrapping_add_signed(offset), stride, row);
            (rest, column) = (after, 0);
        }
    }

    /// All axes but the last, and size and stride of the last.
    pub(crate) fn split_last(&self) -> (Walk, usize, isize) {
        match (self.shape.last(), self.strides.last()) {
            (Some(&size), Some(&stride)) => (self.outer(), size.max(1), stride),
            _ => (Walk::default(), 1, 1),
        }
    }

    fn copy_rows<T: Copy>(&self, data: &[T], start: usize, first: usize, output: &mut [T]) {
        let last = self.shape.len() - 1;
        let (inner, stride) = (self.shape[last], self.strides[last]);
        let outer = self.outer();
        for (row, offset) in output.chunks_exact_mut(inner).zip(outer.offsets(first)) {
            let start = start.wrapping_add_signed(offset);
            copy_row(data, start, stride, row);
        }
    }

    /// All axes but the last.
    fn outer(&self) -> Walk {
        let last = self.shape.len().saturating_sub(1);
        Walk {
            shape: self.shape[..last].to_vec(),
            strides: self.strides[..last].to_vec(),
        }
    }
}

/// See [`Walk::offsets`].
#[derive(Debug)]
pub(crate) struct Offsets<'a> {
    walk: &'a Walk,
    index: Vec<usize>,
    offset: isize,
}

/// Never ends: after the last index comes the first.
impl Iterator for Offsets<'_> {
    type Item = isize;

    fn next(&mut self) -> Option<isize> {
        let offset = self.offset;
        for axis in (0..self.index.len()).rev() {
            self.index[axis] += 1;
            self.offset += self.walk.strides[axis];
            if self.index[axis] < self.walk.shape[axis] {
                break;
            }
            self.offset -= self.walk.strides[axis] * self.walk.shape[axis] as isize;
            self.index[axis] = 0;
        }
        Some(offset)
    }
}

/// Copies the elements of a view, in order, into space without gaps.
pub(crate) fn copy_view(view: &View<'_>, output: &mut [u8]) {
    fn copy<T: Pod + Send + Sync>(view: &View<'_>, output: &mut [u8]) {
        let walk = Walk::new(&view.layout.shape, &view.layout.strides);
        let data: &[T] = bytemuck::cast_slice(view.bytes);
        walk.copy(data, view.layout.offset, bytemuck::cast_slice_mut(output));
    }
    match view.dtype.size() {
        1 => copy::<u8>(view, output),
        2 => copy::<u16>(view, output),
        4 => copy::<u32>(view, output),
        8 => copy::<u64>(view, output),
        _ => copy::<[u64; 2]>(view, output),
    }
}

/// A matrix of rows without gaps, cut into strips of so many columns, the last perhaps fewer:
/// the rows of each strip. Strips can be written at the same time.
pub(crate) fn strips<T>(data: &mut [T], row: usize, columns: usize) -> Vec<Vec<&mut [T]>> {
    let rows = data.len() / row;
    let mut strips: Vec<_> = (0..row.div_ceil(columns))
        .map(|_| Vec::with_capacity(rows))
        .collect();
    for row in data.chunks_exact_mut(row) {
        for (strip, part) in strips.iter_mut().zip(row.chunks_mut(columns)) {
            strip.push(part);
        }
    }
    strips
}

/// The elements of a view in order: as they lie, or a copy where they lie with gaps.
pub(crate) fn contiguous<'a, T: Element>(view: &View<'a>) -> Cow<'a, [T]> {
    if let Some(elements) = view.contiguous() {
        return Cow::Borrowed(elements);
    }
    let mut elements = vec![T::default(); view.layout.elements()];
    copy_view(view, bytemuck::cast_slice_mut(&mut elements));
    Cow::Owned(elements)
}

fn copy_slice<T: Copy + Send + Sync>(data: &[T], output: &mut [T]) {
    if output.len() <= CHUNK {
        output.copy_from_slice(data);
        return;
    }
    let chunks = output.par_chunks_mut(CHUNK).zip(data.par_chunks(CHUNK));
    chunks.for_each(|(output, data)| output.copy_from_slice(data));
}

fn copy_row<T: Copy>(data: &[T], start: usize, stride: isize, output: &mut [T]) {
    match stride {
        1 => output.copy_from_slice(&data[start..start + output.len()]),
        0 => output.fill(data[start]),
        _ => {
            let mut at = start;
            for element in output {
                *element = data[at];
                at = at.wrapping_add_signed(stride);
            }
        }
    }
}
