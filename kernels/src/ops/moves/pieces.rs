//! Results whose axes are pieces of the input's axes, one after another: forwards, backwards, one
//! index again and again, or a number of the author's.

use bytemuck::Pod;
use haul_ir::tensor::{View, ViewMut};

use crate::parallel;
use crate::strided::{Walk, copy_view};

/// What an axis of the result is made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Axis {
    /// Size of the input's axis.
    pub(in crate::ops) from: usize,
    /// Size of the result's axis.
    pub(in crate::ops) to: usize,
    /// Where index 0 of the input lies in the result; what lies outside is `beyond`.
    pub(in crate::ops) start: i64,
    /// What lies before and after the input.
    pub(in crate::ops) beyond: Beyond,
}

/// What lies before and after the elements of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Beyond {
    /// A number.
    Number,
    /// The element at the edge.
    Edge,
    /// The elements mirrored, those at the edges once.
    Reflect,
    /// The elements mirrored, those at the edges twice.
    Symmetric,
    /// The elements from the other end.
    Wrap,
}

/// Neighbours in the result whose sources are evenly spaced.
#[derive(Clone, Copy, Debug)]
struct Piece {
    length: usize,
    /// The first index of the input; nothing where a number stands.
    source: Option<usize>,
    /// From one index of the input to the next: 1, 0 or -1.
    step: isize,
}

/// The words for what lies beyond.
pub(in crate::ops) const MODES: &[&str] = &["constant", "edge", "reflect", "symmetric", "wrap"];

impl Beyond {
    /// What a word of [`MODES`] stands for.
    pub(in crate::ops) fn of(mode: Option<&str>) -> Self {
        match mode {
            Some("edge") => Self::Edge,
            Some("reflect") => Self::Reflect,
            Some("symmetric") => Self::Symmetric,
            Some("wrap") => Self::Wrap,
            _ => Self::Number,
        }
    }
}

impl Axis {
    /// As the input has it.
    pub(in crate::ops) fn whole(size: usize) -> Self {
        Self {
            from: size,
            to: size,
            start: 0,
            beyond: Beyond::Number,
        }
    }

    fn is_whole(&self) -> bool {
        self.from == self.to && (self.start == 0 || self.from == 0)
    }

    /// The piece that begins at an index of the result.
    fn piece(&self, at: usize) -> Piece {
        let size = self.from as i64;
        let position = (at as i64).saturating_sub(self.start);
        let piece = |source: i64, length: i64, step| Piece {
            length: (self.to - at).min(usize::try_from(length).unwrap_or(usize::MAX)),
            source: usize::try_from(source).ok(),
            step,
        };
        if (0..size).contains(&position) {
            return piece(position, size - position, 1);
        }
        let until = if position < 0 { -position } else { i64::MAX };
        match self.beyond {
            Beyond::Number => piece(-1, until, 0),
            Beyond::Edge => piece(if position < 0 { 0 } else { size - 1 }, until, 0),
            Beyond::Reflect if size == 1 => piece(0, i64::MAX, 0),
            Beyond::Wrap => {
                let position = position.rem_euclid(size);
                piece(position, size - position, 1)
            }
            Beyond::Reflect => mirrored(position.rem_euclid(2 * (size - 1)), size, 2, piece),
            Beyond::Symmetric => mirrored(position.rem_euclid(2 * size), size, 1, piece),
        }
    }

    /// The index of the input at an index of the result; nothing where a number stands.
    pub(in crate::ops) fn source(&self, at: usize) -> Option<usize> {
        self.piece(at).source
    }
}

/// A piece of the elements forwards and then backwards, at a position in these.
fn mirrored(
    position: i64,
    size: i64,
    turn: i64,
    piece: impl Fn(i64, i64, isize) -> Piece,
) -> Piece {
    if position < size {
        return piece(position, size - position, 1);
    }
    let source = 2 * size - turn - position;
    // Of a reflection, the first element belongs to the next piece forwards.
    piece(source, source + 2 - turn, -1)
}

/// Fills the result; `number` are the bytes of an element. An axis of size 0 has only numbers
/// beyond it.
pub(in crate::ops) fn fill(x: &View<'_>, axes: &[Axis], number: &[u8], output: &mut ViewMut<'_>) {
    match output.dtype.size() {
        1 => fill_words::<u8>(x, axes, number, output.bytes),
        2 => fill_words::<u16>(x, axes, number, output.bytes),
        4 => fill_words::<u32>(x, axes, number, output.bytes),
        8 => fill_words::<u64>(x, axes, number, output.bytes),
        _ => fill_words::<[u64; 2]>(x, axes, number, output.bytes),
    }
}

/// Elements that one task fills.
const CHUNK: usize = 1 << 14;

fn fill_words<T: Pod + Send + Sync>(x: &View<'_>, axes: &[Axis], number: &[u8], output: &mut [u8]) {
    let Some(last) = axes.iter().rposition(|axis| !axis.is_whole()) else {
        return copy_view(x, output);
    };
    let layout = &x.layout;
    let rows = Rows::<T> {
        data: bytemuck::cast_slice(x.bytes),
        start: layout.offset,
        strides: &layout.strides[..last],
        outer: &axes[..last],
        axis: axes[last],
        stride: layout.strides[last],
        block: layout.shape[last + 1..].iter().product(),
        inner: Walk::new(&layout.shape[last + 1..], &layout.strides[last + 1..]),
        number: bytemuck::pod_read_unaligned(number),
    };
    let row = axes[last].to * rows.block;
    if row == 0 {
        return;
    }
    let count = (CHUNK / row).max(1);
    parallel::chunks(output, count * row * size_of::<T>(), &|chunk, bytes| {
        let elements: &mut [T] = bytemuck::cast_slice_mut(bytes);
        for (at, row) in elements.chunks_exact_mut(row).enumerate() {
            rows.fill(chunk * count + at, row);
        }
    });
}

/// How to fill what lies along the last axis that is not as in the input.
struct Rows<'a, T> {
    data: &'a [T],
    start: usize,
    /// The axes before it.
    strides: &'a [isize],
    outer: &'a [Axis],
    axis: Axis,
    stride: isize,
    /// Elements at each index, and where they lie.
    block: usize,
    inner: Walk,
    number: T,
}

impl<T: Pod + Send + Sync> Rows<'_, T> {
    fn fill(&self, position: usize, row: &mut [T]) {
        match self.begin(position) {
            Some(start) => self.pieces(start, row),
            None => row.fill(self.number),
        }
    }

    /// Where index 0 of the input's row lies; nothing where the whole row is a number.
    fn begin(&self, position: usize) -> Option<usize> {
        let (mut rest, mut start) = (position, self.start);
        for (axis, stride) in self.outer.iter().zip(self.strides).rev() {
            let source = axis.source(rest % axis.to)?;
            start = start.wrapping_add_signed(source as isize * stride);
            rest /= axis.to;
        }
        Some(start)
    }

    fn pieces(&self, start: usize, row: &mut [T]) {
        let mut at = 0;
        while at < self.axis.to {
            let piece = self.axis.piece(at);
            let space = &mut row[at * self.block..(at + piece.length) * self.block];
            at += piece.length;
            match piece.source {
                Some(source) => {
                    let start = start.wrapping_add_signed(source as isize * self.stride);
                    self.copy(start, piece, space);
                }
                None => space.fill(self.number),
            }
        }
    }

    fn copy(&self, start: usize, piece: Piece, space: &mut [T]) {
        let stride = self.stride * piece.step;
        if self.block == 1 {
            return Walk::new(&[piece.length], &[stride]).copy(self.data, start, space);
        }
        if self.inner.single() == Some((self.block, 1)) && stride == self.block as isize {
            return Walk::new(&[space.len()], &[1]).copy(self.data, start, space);
        }
        for (at, block) in space.chunks_exact_mut(self.block).enumerate() {
            let start = start.wrapping_add_signed(at as isize * stride);
            self.inner.copy(self.data, start, block);
        }
    }
}
