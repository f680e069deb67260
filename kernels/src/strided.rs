//! Walking and copying elements that lie with steps between them.

use std::borrow::Cow;

use bytemuck::Pod;
use haul_ir::tensor::{Element, View};
use rayon::prelude::*;

/// Elements that one task copies: large enough to be worth a task, and a fixed number, so that
/// tasks are cut at the same places whatever the pool.
const CHUNK: usize = 1 << 14;

/// Side of the square tiles in which a transposing copy moves: a row of a tile is whole lines
/// of cache, and a tile fits a level 1 cache.
const fn tile<T>() -> usize {
    match size_of::<T>() {
        1 | 2 => 64,
        4 => 32,
        _ => 16,
    }
}

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
                (Some(outer), Some(outer_stride)) if *outer_stride == stride * size as isize => {
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
        if output.is_empty() {
            return;
        }
        let (&inner, &stride) = match (self.shape.last(), self.strides.last()) {
            (Some(inner), Some(stride)) => (inner, stride),
            _ => (&1, &1),
        };
        if self.shape.len() <= 1 && stride == 1 {
            copy_slice(&data[start..start + inner], output);
        } else if let Some(axis) = self.transposed_axis() {
            self.copy_transposed(data, start, axis, output);
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

    /// The axis whose elements are neighbours, where it is not the last.
    fn transposed_axis(&self) -> Option<usize> {
        let last = self.shape.len().checked_sub(1)?;
        let neighbours = |axis: &usize| self.strides[*axis].abs() == 1 && self.shape[*axis] > 3;
        let wide = self.strides[last].abs() > 1 && self.shape[last] > 3;
        (0..last).filter(|_| wide).find(neighbours)
    }

    fn copy_transposed<T: Copy + Send + Sync>(
        &self,
        data: &[T],
        start: usize,
        axis: usize,
        output: &mut [T],
    ) {
        let outer = Walk {
            shape: self.shape[..axis].to_vec(),
            strides: self.strides[..axis].to_vec(),
        };
        let inner = Walk {
            shape: self.shape[axis + 1..].to_vec(),
            strides: self.strides[axis + 1..].to_vec(),
        };
        let row: usize = inner.shape.iter().product();
        let blocks = output.par_chunks_mut(self.shape[axis] * row).enumerate();
        blocks.for_each(|(block, output)| {
            let offset = outer.offset(block);
            let start = start.wrapping_add_signed(offset);
            let tiles = output.par_chunks_mut(tile::<T>() * row).enumerate();
            tiles.for_each(|(position, output)| {
                let offset = (position * tile::<T>()) as isize * self.strides[axis];
                let start = start.wrapping_add_signed(offset);
                inner.copy_tiles(data, start, self.strides[axis], output);
            });
        });
    }

    /// Copies several rows of this shape, each `row_stride` after the one before: neighbours in
    /// memory, so that the columns of a tile are read as they lie and turned on the way.
    fn copy_tiles<T: Copy>(&self, data: &[T], start: usize, row_stride: isize, output: &mut [T]) {
        let last = self.shape.len() - 1;
        let (inner, stride) = (self.shape[last], self.strides[last]);
        let row_len: usize = self.shape.iter().product();
        let rows = output.len() / row_len;
        let side = tile::<T>();
        let mut turned = vec![data[start]; side * side];
        let outer = self.outer();
        for (position, offset) in (0..row_len / inner).zip(outer.offsets(0)) {
            let start = start.wrapping_add_signed(offset);
            for column in (0..inner).step_by(side) {
                let width = side.min(inner - column);
                for right in 0..width {
                    let offset = (column + right) as isize * stride;
                    let start = start.wrapping_add_signed(offset);
                    let turned = turned[right..].iter_mut().step_by(side);
                    if row_stride > 0 {
                        let column = &data[start..start + rows];
                        turned.zip(column).for_each(|(to, from)| *to = *from);
                    } else {
                        let column = data[start + 1 - rows..=start].iter().rev();
                        turned.zip(column).for_each(|(to, from)| *to = *from);
                    }
                }
                let at = position * inner + column;
                for (row, turned) in turned.chunks_exact(side).take(rows).enumerate() {
                    output[row * row_len + at..][..width].copy_from_slice(&turned[..width]);
                }
            }
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
