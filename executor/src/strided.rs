//! Reading strided tensors in row-major order, a range of elements at a time.

use bytemuck::Pod;
use haul_ir::tensor::{Layout, View};

/// A layout with axes merged that lie one after the other, so that runs are long.
pub(crate) struct Walk {
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
}

impl Walk {
    pub(crate) fn new(layout: &Layout) -> Self {
        let mut shape: Vec<usize> = Vec::new();
        let mut strides: Vec<isize> = Vec::new();
        for (&size, &stride) in layout.shape.iter().zip(&layout.strides) {
            match (shape.last_mut(), strides.last_mut()) {
                _ if size == 1 => {}
                (Some(outer), Some(step)) if *step == stride * size as isize => {
                    *outer *= size;
                    *step = stride;
                }
                _ => {
                    shape.push(size);
                    strides.push(stride);
                }
            }
        }
        Self {
            shape,
            strides,
            offset: layout.offset,
        }
    }

    /// Whether every element is the same one.
    pub(crate) fn is_one_element(&self) -> bool {
        self.strides.iter().all(|stride| *stride == 0)
    }

    /// The range of the buffer that holds all elements in order, where there is one.
    pub(crate) fn contiguous(&self) -> Option<std::ops::Range<usize>> {
        match (&self.shape[..], &self.strides[..]) {
            ([], _) => Some(self.offset..self.offset + 1),
            ([size], [1]) => Some(self.offset..self.offset + size),
            _ => None,
        }
    }

    /// Copies elements of `size` bytes from the element `start` on, until `out` is full.
    pub(crate) fn copy(&self, bytes: &[u8], size: usize, start: usize, out: &mut [u8]) {
        match size {
            1 => self.copy_as::<u8>(bytes, start, out),
            2 => self.copy_as::<u16>(bytes, start, out),
            4 => self.copy_as::<u32>(bytes, start, out),
            8 => self.copy_as::<u64>(bytes, start, out),
            _ => self.copy_as::<[u64; 2]>(bytes, start, out),
        }
    }

    fn copy_as<T: Pod>(&self, bytes: &[u8], start: usize, out: &mut [u8]) {
        let source: &[T] = bytemuck::cast_slice(bytes);
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        let Some((&inner, outer)) = self.shape.split_last() else {
            return out.fill(source[self.offset]);
        };
        let stride = self.strides[outer.len()];
        let mut index = self.index_of(start);
        let mut done = 0;
        while done < out.len() {
            let rows = self.whole_rows(&index, out.len() - done);
            if rows > 1 && !matches!(stride, 0 | 1) {
                let strides = [self.strides[outer.len() - 1], stride];
                let end = done + rows * inner;
                copy_rows(
                    source,
                    self.position(&index),
                    strides,
                    inner,
                    &mut out[done..end],
                );
                done = end;
                self.advance(&mut index, outer.len() - 1, rows);
                continue;
            }
            let first = index[outer.len()];
            let run = (inner - first).min(out.len() - done);
            copy_run(
                source,
                self.position(&index),
                stride,
                &mut out[done..done + run],
            );
            done += run;
            self.advance(&mut index, outer.len(), run);
        }
    }

    fn index_of(&self, element: usize) -> Vec<usize> {
        let mut index = vec![0; self.shape.len()];
        let mut rest = element;
        for (axis, size) in self.shape.iter().enumerate().rev() {
            index[axis] = rest % size;
            rest /= size;
        }
        index
    }

    fn position(&self, index: &[usize]) -> usize {
        let steps = index.iter().zip(&self.strides);
        let away: isize = steps.map(|(at, stride)| *at as isize * stride).sum();
        self.offset.wrapping_add_signed(away)
    }

    /// How many rows of the innermost axis lie whole before the next outer index, of at most
    /// `len` elements.
    fn whole_rows(&self, index: &[usize], len: usize) -> usize {
        match (&self.shape[..], index) {
            ([.., rows, inner], [.., row, 0]) => (len / inner).min(rows - row),
            _ => 0,
        }
    }

    /// Goes on along an axis, by steps that do not leave it.
    fn advance(&self, index: &mut [usize], axis: usize, steps: usize) {
        index[axis] += steps;
        for axis in (0..=axis).rev() {
            if index[axis] < self.shape[axis] {
                return;
            }
            index[axis] = 0;
            if axis > 0 {
                index[axis - 1] += 1;
            }
        }
    }
}

fn copy_run<T: Copy>(source: &[T], start: usize, stride: isize, out: &mut [T]) {
    match stride {
        1 => out.copy_from_slice(&source[start..start + out.len()]),
        0 => out.fill(source[start]),
        _ => {
            let mut at = start as isize;
            for element in out {
                *element = source[at as usize];
                at += stride;
            }
        }
    }
}

/// Copies rows a few columns at a time: where the columns lie far apart and the rows close
/// together, as in a transposed matrix, each line of the cache is read once.
fn copy_rows<T: Copy>(
    source: &[T],
    start: usize,
    [from_row, from_column]: [isize; 2],
    columns: usize,
    out: &mut [T],
) {
    const TILE: usize = 16;
    for first in (0..columns).step_by(TILE) {
        let end = columns.min(first + TILE);
        for (row, out) in out.chunks_exact_mut(columns).enumerate() {
            let away = row as isize * from_row + first as isize * from_column;
            let at = start.wrapping_add_signed(away);
            copy_run(source, at, from_column, &mut out[first..end]);
        }
    }
}

/// Copies all elements of a view, in row-major order.
pub(crate) fn copy(view: &View<'_>, out: &mut [u8]) {
    if !out.is_empty() {
        let size = view.dtype.size() as usize;
        Walk::new(&view.layout).copy(view.bytes, size, 0, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(layout: &Layout, start: usize, len: usize) -> Vec<u16> {
        let source: Vec<u16> = (0..100).collect();
        let mut out = vec![0_u16; len];
        let bytes = bytemuck::cast_slice_mut(&mut out);
        Walk::new(layout).copy(bytemuck::cast_slice(&source), 2, start, bytes);
        out
    }

    #[test]
    fn any_range_of_any_layout_is_read_in_order() {
        let layouts = [
            (vec![3, 4], vec![4, 1], 5),
            (vec![4, 3], vec![1, 4], 0),          // transposed
            (vec![3, 20], vec![1, 4], 3),         // transposed, of more columns than a tile
            (vec![2, 4, 5], vec![3, 6, -18], 72), // neither axis by one, one backwards
            (vec![2, 3, 4], vec![-12, 4, 1], 50), // first axis backwards
            (vec![5, 3], vec![0, 2], 7),          // repeated rows, every other column
            (vec![3, 5], vec![1, 0], 7),          // repeated columns
            (vec![2, 1, 3], vec![30, 99, 10], 0),
            (vec![], vec![], 42),
        ];
        for (shape, strides, offset) in layouts {
            let layout = Layout {
                shape,
                strides,
                offset,
            };
            let all = by_hand(&layout);
            for start in 0..all.len() {
                for len in 0..=all.len() - start {
                    assert_eq!(
                        elements(&layout, start, len),
                        all[start..start + len],
                        "{layout:?}"
                    );
                }
            }
        }
    }

    /// The value at a position of the source is the position.
    fn by_hand(layout: &Layout) -> Vec<u16> {
        let mut positions = vec![layout.offset as isize];
        for (size, stride) in layout.shape.iter().zip(&layout.strides) {
            positions = positions
                .iter()
                .flat_map(|at| (0..*size as isize).map(move |i| at + i * stride))
                .collect();
        }
        positions.into_iter().map(|at| at as u16).collect()
    }

    #[test]
    fn axes_that_follow_each_other_are_one() {
        let walk = Walk::new(&Layout::contiguous(&[2, 1, 3, 4]));
        assert_eq!(walk.contiguous(), Some(0..24));
        let rows = Walk::new(&Layout::contiguous(&[4]).broadcast_to(&[3, 4]));
        assert_eq!(rows.contiguous(), None);
        assert!(Walk::new(&Layout::contiguous(&[1]).broadcast_to(&[3, 4])).is_one_element());
    }
}
