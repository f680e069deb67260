//! Copies that turn rows into columns, tile by tile.

use rayon::prelude::*;

use super::Walk;

/// Tiles one below the other that are copied together: so much of each column is read at once
/// that walking from page to page of memory does not cost more than reading.
const TILES: usize = 8;

impl Walk {
    /// The axis whose elements are neighbours, where it is not the last.
    pub(super) fn transposed_axis(&self) -> Option<usize> {
        let last = self.shape.len().checked_sub(1)?;
        let neighbours = |axis: &usize| self.strides[*axis].abs() == 1 && self.shape[*axis] > 3;
        let wide = self.strides[last].abs() > 1 && self.shape[last] > 3;
        (0..last).filter(|_| wide).find(neighbours)
    }

    /// `SIDE`: of the square tiles that are turned.
    pub(super) fn copy_transposed<T: Copy + Send + Sync, const SIDE: usize>(
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
            let start = start.wrapping_add_signed(outer.offset(block));
            let few = self.shape[axis] < 2 * SIDE * TILES;
            let rows = if few { SIDE } else { SIDE * TILES };
            let parts = output.par_chunks_mut(rows * row).enumerate();
            parts.for_each(|(part, output)| {
                let offset = (part * rows) as isize * self.strides[axis];
                let start = start.wrapping_add_signed(offset);
                inner.copy_tiles::<T, SIDE>(data, start, self.strides[axis], output);
            });
        });
    }

    /// Copies several rows of this shape, each `row_stride` after the one before: neighbours in
    /// memory, so that columns of tiles are read as they lie and turned on the way.
    fn copy_tiles<T: Copy, const SIDE: usize>(
        &self,
        data: &[T],
        start: usize,
        row_stride: isize,
        output: &mut [T],
    ) {
        let last = self.shape.len() - 1;
        let (inner, stride) = (self.shape[last], self.strides[last]);
        let row_len: usize = self.shape.iter().product();
        let mut turned = [[data[start]; SIDE]; SIDE];
        let outer = self.outer();
        for (position, offset) in (0..row_len / inner).zip(outer.offsets(0)) {
            for column in (0..inner).step_by(SIDE) {
                let width = SIDE.min(inner - column);
                let at = position * inner + column;
                for (block, output) in output.chunks_mut(SIDE * row_len).enumerate() {
                    let offset = offset + (block * SIDE) as isize * row_stride;
                    let offset = offset + column as isize * stride;
                    let start = start.wrapping_add_signed(offset);
                    let rows = output
                        .chunks_mut(row_len)
                        .map(|row| &mut row[at..at + width]);
                    turn(data, start, [row_stride, stride], &mut turned, rows);
                }
            }
        }
    }
}

/// Copies a tile: element `(i, j)` of the rows lies at `start + i * strides[0] + j * strides[1]`.
/// The first stride is 1 or -1.
#[inline(always)]
fn turn<'a, T: Copy + 'a, const SIDE: usize>(
    data: &[T],
    start: usize,
    strides: [isize; 2],
    turned: &mut [[T; SIDE]; SIDE],
    rows: impl ExactSizeIterator<Item = &'a mut [T]>,
) {
    let mut rows = rows.peekable();
    let (height, width) = (rows.len(), rows.peek().map_or(0, |row| row.len()));
    for right in 0..width {
        let start = start.wrapping_add_signed(right as isize * strides[1]);
        if strides[0] < 0 {
            let column = data[start + 1 - height..=start].iter().rev();
            turned
                .iter_mut()
                .zip(column)
                .for_each(|(row, from)| row[right] = *from);
        } else if let Some(column) = data[start..].first_chunk::<SIDE>()
            && height == SIDE
        {
            // Of a length that the compiler knows.
            turned
                .iter_mut()
                .zip(column)
                .for_each(|(row, from)| row[right] = *from);
        } else {
            let column = &data[start..start + height];
            turned
                .iter_mut()
                .zip(column)
                .for_each(|(row, from)| row[right] = *from);
        }
    }
    for (row, turned) in rows.zip(turned) {
        match <&mut [T; SIDE]>::try_from(&mut *row) {
            Ok(row) => *row = *turned,
            Err(_) => row.copy_from_slice(&turned[..width]),
        }
    }
}
