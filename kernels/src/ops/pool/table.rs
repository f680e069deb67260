//! The pools there are.

use haul_ir::op::{CpuKernel, Example, Family, GpuKernel, Param};

use super::{
    AVG_POOL_PARAMS, LP_POOL_PARAMS, MAX_POOL_PARAMS, P, infer_float, infer_max,
    infer_max_with_indices, infer_norm, kernel, tensor, work,
};
use crate::ops::array_op::ArrayOp;

const LIBRARY: GpuKernel = GpuKernel::Library("cudnn pooling");

const WINDOWS: &str = "[N, C, L], [N, C, H, W] or [N, C, D, H, W]; each of the last axes becomes \
                       (size + padding - dilation*(kernel_size - 1) - 1) // stride + 1";

const GLOBAL: &str = "[N, C, ..] -> [N, C, 1, ..]";

/// `max_pool(x, kernel_size, stride=none, padding=0, dilation=1, ceil_mode=false)`.
pub(in crate::ops) static MAX_POOL: ArrayOp = ArrayOp {
    name: "max_pool",
    doc: "The largest element of each window over one to three axes after the second. Sizes of \
          windows, strides (by default the windows' sizes), padding and dilation are one number \
          or one for each axis, padding also all beginnings and then all ends, 'same', \
          'same_lower' or 'valid'. Padding is smaller than every number. With `ceil_mode`, a last \
          window that begins before the end of the input may hang over it. NaN propagates.",
    params: MAX_POOL_PARAMS,
    rule: WINDOWS,
    family: Family::Reduce,
    infer: infer_max,
    work: |call, outputs| work(1, call, outputs),
    work_formula: "1 flop an element of each window",
    cpu: CpuKernel::Contiguous(kernel::max_pool),
    gpu: LIBRARY,
    examples: &[
        Example {
            formula: "max_pool(x, 2)",
            given: &[("x", "f32[1, 1, 5]", "1 3 2 5 4")],
            result: ("f32[1, 1, 2]", "3 5"),
        },
        Example {
            formula: "max_pool(x, [2, 2], stride=1, ceil_mode=true)",
            given: &[("x", "i32[1, 1, 2, 3]", "1 2 3 6 5 4")],
            result: ("i32[1, 1, 1, 2]", "6 5"),
        },
    ],
};

/// `values, indices = max_pool_with_indices(x, …)`.
pub(in crate::ops) static MAX_POOL_WITH_INDICES: ArrayOp = ArrayOp {
    name: "max_pool_with_indices",
    doc: "Two results: what `max_pool` gives, and where in the channel each element was found, \
          counted in row-major order over the axes after the second; the first of equal ones. It \
          is -1 where a window lies wholly on padding.",
    params: MAX_POOL_PARAMS,
    rule: WINDOWS,
    family: Family::Reduce,
    infer: infer_max_with_indices,
    work: |call, outputs| work(1, call, outputs),
    work_formula: "1 flop an element of each window",
    cpu: CpuKernel::Contiguous(kernel::max_pool_with_indices),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "values, indices = max_pool_with_indices(x, 2)",
        given: &[("x", "f32[1, 1, 5]", "1 3 2 5 4")],
        result: ("f32[1, 1, 2]", "3 5"),
    }],
};

/// `avg_pool(x, kernel_size, stride=none, padding=0, dilation=1, ceil_mode=false,
/// count_include_pad=true)`.
pub(in crate::ops) static AVG_POOL: ArrayOp = ArrayOp {
    name: "avg_pool",
    doc: "The mean of each window, whose options are those of `max_pool`. Padding counts as \
          zeros, or not at all without `count_include_pad`; what a last window hangs over the \
          padded end never counts. Integers give `f64`; f16 and bf16 accumulate in f32.",
    params: AVG_POOL_PARAMS,
    rule: WINDOWS,
    family: Family::Reduce,
    infer: infer_float,
    work: |call, outputs| work(1, call, outputs),
    work_formula: "1 flop an element of each window",
    cpu: CpuKernel::Contiguous(kernel::avg_pool),
    gpu: LIBRARY,
    examples: &[
        Example {
            formula: "avg_pool(x, 2)",
            given: &[("x", "f32[1, 1, 5]", "1 3 2 5 4")],
            result: ("f32[1, 1, 2]", "2 3.5"),
        },
        Example {
            formula: "avg_pool(x, 2, padding=1, count_include_pad=false)",
            given: &[("x", "f32[1, 1, 2]", "1 3")],
            result: ("f32[1, 1, 2]", "1 3"),
        },
    ],
};

/// `lp_pool(x, kernel_size, stride=none, padding=0, dilation=1, ceil_mode=false, p=2)`.
pub(in crate::ops) static LP_POOL: ArrayOp = ArrayOp {
    name: "lp_pool",
    doc: "`sum(abs(x)**p)**(1/p)` of each window, whose options are those of `max_pool`; padding \
          is zeros. Integers give `f64`; f16 and bf16 accumulate in f32.",
    params: LP_POOL_PARAMS,
    rule: WINDOWS,
    family: Family::Reduce,
    infer: infer_norm,
    work: |call, outputs| work(41, call, outputs),
    work_formula: "41 flops an element of each window",
    cpu: CpuKernel::Contiguous(kernel::lp_pool),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "lp_pool(x, 2)",
        given: &[("x", "f32[1, 1, 4]", "3 4 -5 12")],
        result: ("f32[1, 1, 2]", "5 13"),
    }],
};

const X: &[Param] = &[tensor("x")];

/// `global_max_pool(x)`.
pub(in crate::ops) static GLOBAL_MAX_POOL: ArrayOp = ArrayOp {
    name: "global_max_pool",
    doc: "The largest element of each channel. NaN propagates.",
    params: X,
    rule: GLOBAL,
    family: Family::Reduce,
    infer: infer_max,
    work: |call, outputs| work(1, call, outputs),
    work_formula: "1 flop an element",
    cpu: CpuKernel::Contiguous(kernel::max_pool),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "global_max_pool(x)",
        given: &[("x", "f32[1, 2, 2]", "1 3 2 -5")],
        result: ("f32[1, 2, 1]", "3 2"),
    }],
};

/// `global_avg_pool(x)`.
pub(in crate::ops) static GLOBAL_AVG_POOL: ArrayOp = ArrayOp {
    name: "global_avg_pool",
    doc: "The mean of each channel. Integers give `f64`; f16 and bf16 accumulate in f32.",
    params: X,
    rule: GLOBAL,
    family: Family::Reduce,
    infer: infer_float,
    work: |call, outputs| work(1, call, outputs),
    work_formula: "1 flop an element",
    cpu: CpuKernel::Contiguous(kernel::avg_pool),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "global_avg_pool(x)",
        given: &[("x", "f32[1, 2, 2]", "1 3 2 -5")],
        result: ("f32[1, 2, 1]", "2 -1.5"),
    }],
};

/// `global_lp_pool(x, p=2)`.
pub(in crate::ops) static GLOBAL_LP_POOL: ArrayOp = ArrayOp {
    name: "global_lp_pool",
    doc: "`sum(abs(x)**p)**(1/p)` of each channel. Integers give `f64`; f16 and bf16 accumulate \
          in f32.",
    params: &[tensor("x"), P],
    rule: GLOBAL,
    family: Family::Reduce,
    infer: infer_norm,
    work: |call, outputs| work(41, call, outputs),
    work_formula: "41 flops an element",
    cpu: CpuKernel::Contiguous(kernel::lp_pool),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "global_lp_pool(x)",
        given: &[("x", "f32[1, 2, 2]", "3 -4 5 12")],
        result: ("f32[1, 2, 1]", "5 13"),
    }],
};
