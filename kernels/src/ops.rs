//! The list of ops, grouped as people look for them.

use std::sync::LazyLock;

use haul_ir::expr::Expr;
use haul_ir::op::{Attrs, Fault, InferError, Op, Work, axis_of};

mod array_op;
mod attention;
mod broadcast_to;
mod collect;
mod concat;
mod contract;
mod conv;
mod conv_transpose;
mod copy;
mod counts;
mod cross;
mod depth_to_space;
mod elementwise;
mod embedding;
mod fft;
mod filter;
mod gather;
mod grid_sample;
mod index;
mod linalg;
mod losses;
mod matmul;
mod moves;
mod normalisation;
mod one_hot;
mod order;
mod parse;
mod pool;
mod random;
mod reduce;
mod reshape;
mod resize;
mod rotary_embedding;
mod scan;
mod signal;
mod sizes;
mod softmax;
mod stack;
mod store;
mod tables;
mod text;
mod transpose;
mod unfold;
mod windows;

pub(crate) use reduce::in_lanes;

/// All ops, in the order in which the catalogue shows them.
pub(crate) static OPS: LazyLock<Vec<&'static dyn Op>> = LazyLock::new(|| {
    let mut ops = elementwise::ops();
    ops.extend(OTHERS);
    ops.extend(contract::OPS);
    ops.extend(linalg::OPS);
    ops.extend(fft::OPS);
    ops.extend(signal::OPS);
    ops.extend(filter::OPS);
    ops
});

#[rustfmt::skip]
static OTHERS: &[&dyn Op] = &[
    // Linear algebra
    &matmul::Matmul,
    &cross::CROSS,

    // Convolutions and pooling
    &conv::CONV1D,
    &conv::CONV2D,
    &conv::CONV3D,
    &conv_transpose::CONV_TRANSPOSE1D,
    &conv_transpose::CONV_TRANSPOSE2D,
    &conv_transpose::CONV_TRANSPOSE3D,
    &pool::MAX_POOL,
    &pool::MAX_POOL_WITH_INDICES,
    &pool::AVG_POOL,
    &pool::LP_POOL,
    &pool::GLOBAL_MAX_POOL,
    &pool::GLOBAL_AVG_POOL,
    &pool::GLOBAL_LP_POOL,
    &unfold::UNFOLD,
    &unfold::FOLD,

    // Resampling
    &resize::RESIZE,
    &grid_sample::GRID_SAMPLE,
    &grid_sample::AFFINE_GRID,

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

    // Neural networks
    &softmax::SOFTMAX,
    &softmax::LOG_SOFTMAX,
    &normalisation::HARDMAX,
    &normalisation::LAYER_NORM,
    &normalisation::RMS_NORM,
    &normalisation::INSTANCE_NORM,
    &normalisation::GROUP_NORM,
    &normalisation::BATCH_NORM,
    &normalisation::MEAN_VARIANCE_NORM,
    &normalisation::NORMALIZE,
    &normalisation::LRN,
    &attention::ATTENTION,
    &rotary_embedding::ROTARY_EMBEDDING,
    &embedding::EMBEDDING,
    &one_hot::ONE_HOT,
    &losses::MSE_LOSS,
    &losses::BCE_LOSS,
    &losses::NLL_LOSS,
    &losses::CROSS_ENTROPY,

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
    &depth_to_space::DEPTH_TO_SPACE,
    &depth_to_space::SPACE_TO_DEPTH,
    &concat::Concat,
    &stack::Stack,
    &copy::Copy,
    &moves::SQUEEZE,
    &moves::EXPAND_DIMS,
    &moves::FLATTEN,
    &moves::SWAPAXES,
    &moves::MOVEAXIS,
    &moves::FLIP,
    &moves::ROLL,
    &moves::FFTSHIFT,
    &moves::IFFTSHIFT,
    &moves::SPLIT,
    &moves::PAD,
    &moves::TILE,
    &moves::REPEAT,
    &moves::DIAGONAL,
    &moves::DIAG,
    &moves::TRIL,
    &moves::TRIU,
    &moves::BITCAST,

    // Made of nothing
    &moves::FULL,
    &moves::ZEROS,
    &moves::ONES,
    &moves::EYE,
    &moves::ARANGE,
    &moves::LINSPACE,
    &moves::MESHGRID,

    // By index
    &moves::TAKE,
    &moves::TAKE_ALONG_AXIS,
    &moves::GATHER_ND,
    &moves::SCATTER,
    &moves::SCATTER_ND,
    &moves::REVERSE_SEQUENCE,

    // Collections
    &gather::Gather,
    &collect::ConcatAll,
    &collect::SUM_ALL,
    &collect::MEAN_ALL,

    // As many as the data has
    &sizes::NONZERO,
    &sizes::UNIQUE_VALUES,
    &sizes::UNIQUE_COUNTS,
    &sizes::UNIQUE_INVERSE,
    &sizes::UNIQUE_ALL,

    // Text
    &text::TEXT_EQUAL,
    &text::TEXT_COMPARE,
    &text::CONTAINS,
    &text::STARTS_WITH,
    &text::ENDS_WITH,
    &text::FULL_MATCH,
    &text::LOWER,
    &text::UPPER,
    &text::STRIP,
    &text::LSTRIP,
    &text::RSTRIP,
    &text::REPLACE,
    &text::CONCAT_TEXT,
    &text::TEXT_LENGTH,
    &text::TO_NUMBER,
    &text::SPLIT_TEXT,

    // Tables
    &tables::COLUMN,
    &tables::SELECT,
    &tables::FILTER,
    &tables::SORT_BY,
    &tables::GROUP_BY,
    &tables::IS_MISSING,
    &tables::FILL_MISSING,
    &tables::DROP_MISSING,
    &tables::TO_TENSOR,

    // Reading
    &parse::PARSE_CSV,
    &parse::PARSE_JSONL,
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
