//! How reductions walk their input.
//!
//! Elements are combined along a binary tree whose shape depends on their number alone: leaves
//! of a fixed size, halves split at powers of two. So the bits of a result do not depend on the
//! pool, and the error of a sum grows with the logarithm of its length.

use bytemuck::cast_slice_mut;
use haul_ir::tensor::{Element, Layout, View, ViewMut};

use crate::parallel;
use crate::strided::Walk;

/// What is done with the elements that come to one place of the result.
pub(in crate::ops) trait Fold: 'static {
    /// Type of the elements.
    type In: Element;
    /// What is known of some of them.
    type Partial: Copy + Send + Sync;
    /// Type of the result.
    type Out: Element;
    /// Whether positions matter, so that elements must come in row-major order.
    const IN_ORDER: bool = false;

    /// Of no elements.
    fn empty() -> Self::Partial;

    /// With one element more, which is at `position` among all that are reduced.
    fn step(partial: Self::Partial, element: Self::In, position: usize) -> Self::Partial;

    /// Of two neighbouring parts, the earlier one first.
    fn merge(early: Self::Partial, late: Self::Partial) -> Self::Partial;

    /// The result from `count` elements.
    fn finish(partial: Self::Partial, count: usize) -> Self::Out;

    /// Of elements that are neighbours in memory, from `position` on.
    fn run(elements: &[Self::In], position: usize) -> Self::Partial {
        in_lanes(elements, position, Self::empty(), Self::step, Self::merge)
    }
}

/// Elements that one leaf of the tree takes.
const LEAF: usize = 1024;

/// Rows that one leaf takes where columns are reduced.
const LEAF_ROWS: usize = 64;

/// Columns that are reduced together: as many partial results as stay in a level 1 cache.
const COLUMNS: usize = 1024;

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// Independent partial results, so that a loop is bound by memory and not by latency.
const LANES: usize = 32;

/// Reduces these axes of a view.
pub(in crate::ops) fn fold<F: Fold>(input: &View<'_>, axes: &[usize], output: &mut ViewMut<'_>) {
    let (kept, reduced) = walks(&input.layout, axes, F::IN_ORDER);
    let source = Source {
        data: input.buffer::<F::In>(),
        count: axes.iter().map(|axis| input.shape()[*axis]).product(),
        reduced,
    };
    let (_, _, reduced_stride) = source.reduced.split_last();
    let (_, width, stride) = kept.split_last();
    if source.count > 1 && reduced_stride != 1 && stride == 1 && width >= 4 {
        fold_columns::<F>(&source, &kept, input.layout.offset, output.bytes);
    } else {
        fold_rows::<F>(&source, &kept, input.layout.offset, output.bytes);
    }
}

/// How the axes that are kept and those that are reduced are walked; the latter in memory's order
/// where theirs does not matter.
pub(super) fn walks(layout: &Layout, axes: &[usize], in_order: bool) -> (Walk, Walk) {
    let Layout { shape, strides, .. } = layout;
    let walk = |axes: &[usize]| {
        let pairs = axes.iter().map(|axis| (shape[*axis], strides[*axis]));
        let (shape, strides): (Vec<_>, Vec<_>) = pairs.unzip();
        Walk::new(&shape, &strides)
    };
    let mut reduced = axes.to_vec();
    if !in_order {
        reduced.sort_by_key(|axis| std::cmp::Reverse(strides[*axis].abs()));
    }
    let axes_of = 0..shape.len();
    let kept: Vec<_> = axes_of.filter(|axis| !axes.contains(axis)).collect();
    (walk(&kept), walk(&reduced))
}

/// Where the elements of a result lie, relative to the first of them.
struct Source<'a, T> {
    data: &'a [T],
    reduced: Walk,
    count: usize,
}

/// One result after the other.
fn fold_rows<F: Fold>(source: &Source<'_, F::In>, kept: &Walk, start: usize, results: &mut [u8]) {
    let each = (TASK / source.count.max(1)).max(1);
    parallel::chunks(results, each * size_of::<F::Out>(), &|chunk, results| {
        let results: &mut [F::Out] = cast_slice_mut(results);
        for (result, offset) in results.iter_mut().zip(kept.offsets(chunk * each)) {
            let start = start.wrapping_add_signed(offset);
            *result = F::finish(row::<F>(source, start, 0, source.count), source.count);
        }
    });
}

fn row<F: Fold>(source: &Source<'_, F::In>, start: usize, from: usize, len: usize) -> F::Partial {
    // Of an empty tensor not even `start` is there.
    if len == 0 {
        return F::empty();
    }
    if len <= LEAF {
        return leaf::<F>(source, start, from, len);
    }
    let middle = half(len);
    let (mut early, mut late) = (F::empty(), F::empty());
    parallel::join(
        len > TASK,
        &mut || early = row::<F>(source, start, from, middle),
        &mut || late = row::<F>(source, start, from + middle, len - middle),
    );
    F::merge(early, late)
}

fn leaf<F: Fold>(source: &Source<'_, F::In>, start: usize, from: usize, len: usize) -> F::Partial {
    if let Some((_, 1)) = source.reduced.single() {
        return F::run(&source.data[start + from..start + from + len], from);
    }
    let mut gathered = [F::In::default(); LEAF];
    let gathered = &mut gathered[..len];
    source.reduced.copy_from(source.data, start, from, gathered);
    F::run(gathered, from)
}

/// Many results at once, whose elements are neighbours in memory.
fn fold_columns<F: Fold>(
    source: &Source<'_, F::In>,
    kept: &Walk,
    start: usize,
    results: &mut [u8],
) {
    let (outer, width, _) = kept.split_last();
    let size = size_of::<F::Out>();
    parallel::chunks(results, width * size, &|block, results| {
        let start = start.wrapping_add_signed(outer.offset(block));
        parallel::chunks(results, COLUMNS * size, &|tile, results| {
            let results: &mut [F::Out] = cast_slice_mut(results);
            let mut partials = vec![F::empty(); results.len()];
            let start = start + tile * COLUMNS;
            columns::<F>(source, start, 0, source.count, &mut partials);
            for (result, partial) in results.iter_mut().zip(partials) {
                *result = F::finish(partial, source.count);
            }
        });
    });
}

/// Adds `len` rows to the partial results of columns.
fn columns<F: Fold>(
    source: &Source<'_, F::In>,
    start: usize,
    from: usize,
    len: usize,
    partials: &mut [F::Partial],
) {
    if len <= LEAF_ROWS {
        for (position, offset) in (from..from + len).zip(source.reduced.offsets(from)) {
            let start = start.wrapping_add_signed(offset);
            let row = &source.data[start..start + partials.len()];
            for (partial, element) in partials.iter_mut().zip(row) {
                *partial = F::step(*partial, *element, position);
            }
        }
        return;
    }
    let early = half(len);
    let mut late = vec![F::empty(); partials.len()];
    parallel::join(
        len * partials.len() > TASK,
        &mut || columns::<F>(source, start, from, early, partials),
        &mut || columns::<F>(source, start, from + early, len - early, &mut late),
    );
    for (partial, late) in partials.iter_mut().zip(late) {
        *partial = F::merge(*partial, late);
    }
}

/// The largest power of two below a length: a multiple of every smaller leaf.
fn half(len: usize) -> usize {
    len.div_ceil(2).next_power_of_two()
}

/// Folds neighbours in [`LANES`] interleaved parts.
#[inline(always)]
pub(crate) fn in_lanes<T: Copy, P: Copy>(
    elements: &[T],
    position: usize,
    empty: P,
    step: impl Fn(P, T, usize) -> P,
    merge: impl Fn(P, P) -> P,
) -> P {
    let mut lanes = [empty; LANES];
    let chunks = elements.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, element) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, *element, position);
        }
    }
    for (lane, element) in lanes.iter_mut().zip(rest) {
        *lane = step(*lane, *element, position);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = merge(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}
