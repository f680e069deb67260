//! Results made of blocks of the input, each from a place of its own.

use bytemuck::Pod;
use haul_ir::tensor::{View, ViewMut};

use crate::parallel;
use crate::strided::Walk;

/// Elements that one task fills.
const CHUNK: usize = 1 << 14;

/// Fills the result with blocks of what lies at the input's axes from `axis` on. `start` says where
/// the block at a position lies, relative to the first.
pub(super) fn rows(
    x: &View<'_>,
    axis: usize,
    output: &mut ViewMut<'_>,
    start: &(dyn Fn(usize) -> isize + Sync),
) {
    match output.dtype.size() {
        1 => row_words::<u8>(x, axis, output.bytes, start),
        2 => row_words::<u16>(x, axis, output.bytes, start),
        4 => row_words::<u32>(x, axis, output.bytes, start),
        8 => row_words::<u64>(x, axis, output.bytes, start),
        _ => row_words::<[u64; 2]>(x, axis, output.bytes, start),
    }
}

fn row_words<T: Pod + Send + Sync>(
    x: &View<'_>,
    axis: usize,
    output: &mut [u8],
    start: &(dyn Fn(usize) -> isize + Sync),
) {
    let layout = &x.layout;
    let block: usize = layout.shape[axis..].iter().product();
    if block == 0 {
        return;
    }
    let data: &[T] = bytemuck::cast_slice(x.bytes);
    let inner = Walk::new(&layout.shape[axis..], &layout.strides[axis..]);
    let count = (CHUNK / block).max(1);
    parallel::chunks(output, count * block * size_of::<T>(), &|chunk, bytes| {
        let elements: &mut [T] = bytemuck::cast_slice_mut(bytes);
        for (at, elements) in elements.chunks_exact_mut(block).enumerate() {
            let start = layout.offset.wrapping_add_signed(start(chunk * count + at));
            inner.copy(data, start, elements);
        }
    });
}
