//! Every op in one place: doc, signature and shape rule, work, CPU kernel, GPU kernel, examples.
//!
//! It owns no device and no scheduling, and allocates nothing that lasts. Kernels run in the
//! ambient rayon pool and give the same bits whatever its width: they cut their work at fixed
//! places and combine in a fixed order.

mod gemm;
mod math;
mod ops;
mod parallel;
mod real;
mod simd;
mod slices;
mod strided;
mod wide;

use haul_ir::op::Catalogue;

/// All ops there are.
pub fn catalogue() -> Catalogue {
    Catalogue(&ops::OPS)
}
