//! Indices that data gives: checked before anything is read or written at them.

use haul_ir::op::KernelError;
use rayon::prelude::*;

/// Refuses the first index that an axis does not have; negative ones count from the end.
pub(super) fn check(indices: &[i64], size: usize, axis: usize) -> Result<(), KernelError> {
    let outside = |index: &&i64| position(**index, size).is_none();
    match indices.par_iter().find_first(outside) {
        Some(index) => Err(out_of_bounds(*index, size, axis)),
        None => Ok(()),
    }
}

/// The same for tuples of indices, which name one index for each of these sizes; `first` is the axis
/// of the first.
pub(super) fn check_tuples(
    indices: &[i64],
    sizes: &[usize],
    first: usize,
) -> Result<(), KernelError> {
    if sizes.is_empty() {
        return Ok(());
    }
    let size = |at: usize| sizes[at % sizes.len()];
    let outside = |(at, index): &(usize, &i64)| position(**index, size(*at)).is_none();
    match indices.par_iter().enumerate().find_first(outside) {
        Some((at, index)) => Err(out_of_bounds(*index, size(at), first + at % sizes.len())),
        None => Ok(()),
    }
}

/// The place that an index names, where there is one.
pub(super) fn position(index: i64, size: usize) -> Option<usize> {
    let from_front = match index {
        0.. => usize::try_from(index).ok()?,
        _ => size.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
    };
    (from_front < size).then_some(from_front)
}

/// The place that a checked index names.
#[inline(always)]
pub(super) fn checked(index: i64, size: usize) -> isize {
    index as isize + if index < 0 { size as isize } else { 0 }
}

fn out_of_bounds(index: i64, size: usize, axis: usize) -> KernelError {
    KernelError::new(format!(
        "index {index} is out of bounds for axis {axis} of size {size}"
    ))
}
