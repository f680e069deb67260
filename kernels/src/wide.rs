//! Half precision on the way through single precision, in which its sums accumulate.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::tensor::{View, ViewMut};
use rayon::prelude::*;

use crate::strided::contiguous;

const CHUNK: usize = 1 << 14;

/// The elements of a view of `f16` or `bf16`, in order.
pub(crate) fn widen(view: &View<'_>) -> Vec<f32> {
    let mut wide = vec![0.0; view.layout.elements()];
    let chunks = wide.par_chunks_mut(CHUNK);
    if view.dtype == DType::F16 {
        let elements = contiguous::<f16>(view);
        let pairs = chunks.zip(elements.par_chunks(CHUNK));
        pairs.for_each(|(wide, elements)| elements.convert_to_f32_slice(wide));
    } else {
        let elements = contiguous::<bf16>(view);
        let pairs = chunks.zip(elements.par_chunks(CHUNK));
        pairs.for_each(|(wide, elements)| elements.convert_to_f32_slice(wide));
    }
    wide
}

/// Rounds to the `f16` or `bf16` of the output.
pub(crate) fn narrow(wide: &[f32], output: &mut ViewMut<'_>) {
    let chunks = wide.par_chunks(CHUNK);
    if output.dtype == DType::F16 {
        let pairs = output.elements::<f16>().par_chunks_mut(CHUNK).zip(chunks);
        pairs.for_each(|(output, wide)| output.convert_from_f32_slice(wide));
    } else {
        let pairs = output.elements::<bf16>().par_chunks_mut(CHUNK).zip(chunks);
        pairs.for_each(|(output, wide)| output.convert_from_f32_slice(wide));
    }
}
