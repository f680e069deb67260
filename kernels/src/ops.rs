//! The list of ops, grouped as people look for them.

use std::sync::LazyLock;

use haul_ir::op::Op;

mod elementwise;
mod matmul;

/// All ops, in the order in which the catalogue shows them.
pub(crate) static OPS: LazyLock<Vec<&'static dyn Op>> = LazyLock::new(|| {
    let mut ops = elementwise::ops();
    ops.extend(OTHERS);
    ops
});

#[rustfmt::skip]
static OTHERS: &[&dyn Op] = &[
    // Linear algebra
    &matmul::Matmul,

    // Fourier transforms

    // Convolutions

    // Reductions

    // Shapes and layouts

    // Collections

    // Reading
];
