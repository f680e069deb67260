//! The list of ops, grouped as people look for them.

use std::sync::LazyLock;

use haul_ir::expr::Expr;
use haul_ir::op::{Attrs, Fault, InferError, Op, Work, axis_of};

mod broadcast_to;
mod concat;
mod conv2d;
mod copy;
mod counts;
mod elementwise;
mod fft;
mod gather;
mod index;
mod matmul;
mod order;
mod parse_csv;
mod random;
mod reduce;
mod reshape;
mod scan;
mod softmax;
mod stack;
mod store;
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
    &reduce::Median,
    &reduce::Quantile,
    &reduce::Norm,
    &reduce::LOGSUMEXP,
    &reduce::MIN,
    &reduce::MAX,
    &reduce::ARGMIN,
    &reduce::ARGMAX,
    &reduce::ANY,
    &reduce::ALL,
    &reduce::COUNT_NONZERO,
    &reduce::Trace,
    &softmax::Softmax,

    // Running reductions
    &scan::CUMSUM,
    &scan::CUMPROD,
    &scan::CUMMAX,
    &scan::CUMMIN,

    // Counts and sums by index
    &counts::Histogram,
    &counts::BinCount,
    &counts::SegmentSum,

    // Order
    &order::SORT,
    &order::ARGSORT,
    &order::TopK,
    &order::SearchSorted,

    // Random numbers
    &random::UNIFORM,
    &random::NORMAL,
    &random::BERNOULLI,
    &random::RandomIntegers,
    &random::Permutation,

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

/// The attribute `axis` of ops that work along one.
fn one_axis(attrs: &Attrs, rank: usize) -> Result<usize, InferError> {
    let axis = attrs.int("axis").ok_or_else(|| {
        InferError::new(Fault::Value, "an axis is a known whole number").on_attr("axis")
    })?;
    axis_of(axis, rank).map_err(|error| error.on_attr("axis"))
}
