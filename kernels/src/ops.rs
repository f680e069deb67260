//! The list of ops, grouped as people look for them.

use std::sync::LazyLock;

use haul_ir::expr::Expr;
use haul_ir::op::{Op, Work};

mod broadcast_to;
mod concat;
mod conv2d;
mod copy;
mod elementwise;
mod fft;
mod gather;
mod index;
mod matmul;
mod parse_csv;
mod reduce;
mod reshape;
mod softmax;
mod stack;
mod transpose;

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
    &fft::FFT,
    &fft::IFFT,
    &fft::RFFT,
    &fft::FFT2,
    &fft::IFFT2,

    // Convolutions
    &conv2d::Conv2d,

    // Reductions
    &reduce::SUM,
    &reduce::PROD,
    &reduce::MEAN,
    &reduce::VAR,
    &reduce::STD,
    &reduce::NORM,
    &reduce::MIN,
    &reduce::MAX,
    &reduce::ARGMIN,
    &reduce::ARGMAX,
    &reduce::ANY,
    &reduce::ALL,
    &reduce::Trace,
    &softmax::Softmax,

    // Shapes and layouts
    &transpose::Transpose,
    &reshape::Reshape,
    &index::Index,
    &broadcast_to::BroadcastTo,
    &concat::Concat,
    &stack::Stack,
    &copy::Copy,

    // Collections
    &gather::Gather,

    // Reading
    &parse_csv::ParseCsv,
];

/// The work of a view: it touches nothing.
const NO_WORK: Work = Work::Known {
    flops: Expr::ZERO,
    read: Expr::ZERO,
    written: Expr::ZERO,
};
